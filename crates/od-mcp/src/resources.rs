//! Resources and prompts: the guide, the project's artifacts, and the view that shows a page in a host.

use od_core::error::ErrorCode;
use od_wire::error::Envelope;
use serde_json::{Map, Value, json};

use crate::call::refusal_text;
use crate::message::{Fault, Request};
use crate::server::{Peer, Server};
use crate::tool::ToolName;

/// The view that shows an artifact's page inside a host (the extension MCP Apps).
pub(crate) const VIEW_URI: &str = "ui://od/artifact";
const VIEW_TYPE: &str = "text/html;profile=mcp-app";
const VIEW: &str = include_str!("view.html");
/// Before the name of a page of the guide.
const GUIDE: &str = "od://guide";
/// Before the id of an artifact.
const ARTIFACTS: &str = "od://artifacts/";
/// After the id of an artifact whose rendered page is meant.
const PAGE: &str = "/page";
const PROMPT: &str = "make_live_artifact";

/// One page of the guide that agents read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GuidePage {
    /// The file's name below the guide; nothing for the guide itself.
    pub name: &'static str,
    /// Its Markdown.
    pub text: &'static str,
}

impl GuidePage {
    fn uri(&self) -> String {
        if self.name.is_empty() { GUIDE.to_owned() } else { format!("{GUIDE}/{}", self.name) }
    }
}

/// Lists the guide, the view, and one page of the project's artifacts.
///
/// Without a project there are no artifacts, which is no fault: the client has not asked for one.
pub(crate) async fn list(
    server: &Server,
    request: &Request,
    peer: &dyn Peer,
) -> Result<Value, Fault> {
    let cursor = request.params.get("cursor").filter(|cursor| !cursor.is_null());
    let mut resources = Vec::new();
    if cursor.is_none() {
        resources.extend(server.guide.iter().map(|page| {
            json!({
                "uri": page.uri(), "name": if page.name.is_empty() { "guide" } else { page.name },
                "description": "how to make a live artifact", "mimeType": "text/markdown",
            })
        }));
        resources.push(json!({
            "uri": VIEW_URI, "name": "artifact-view", "mimeType": VIEW_TYPE,
            "description": "shows the page of an artifact inside the host",
        }));
    }
    let mut asked = Map::new();
    asked.extend(cursor.map(|cursor| ("cursor".to_owned(), cursor.clone())));
    let facts = server.facts(request, peer).await;
    let listed = match server.door.call(ToolName::ListArtifacts, &asked, &facts).await {
        Ok(listed) => listed,
        Err(refused) if cursor.is_some() => return Err(fault(&refused, "")),
        Err(_) => Value::Null,
    };
    for row in listed["artifacts"].as_array().into_iter().flatten() {
        let id = row["id"].as_str().unwrap_or_default();
        resources.push(json!({
            "uri": format!("{ARTIFACTS}{id}"), "name": id, "title": row["title"],
            "description": format!("live artifact, changed {} ago", row["age"].as_str().unwrap_or_default()),
            "mimeType": "application/json",
        }));
    }
    let mut page = json!({ "resources": resources });
    if let Some(next) = listed.get("nextCursor") {
        page["nextCursor"] = next.clone();
    }
    Ok(page)
}

/// Returns the forms of the addresses of artifacts.
pub(crate) fn templates() -> Value {
    json!({ "resourceTemplates": [
        {
            "uriTemplate": format!("{ARTIFACTS}{{artifactId}}"), "name": "artifact",
            "description": "an artifact, its source and the outline of its data", "mimeType": "application/json",
        },
        {
            "uriTemplate": format!("{ARTIFACTS}{{artifactId}}{PAGE}"), "name": "artifact-page",
            "description": "the page as a person sees it", "mimeType": "text/html",
        },
    ] })
}

/// Reads a resource.
pub(crate) async fn read(
    server: &Server,
    request: &Request,
    peer: &dyn Peer,
) -> Result<Value, Fault> {
    let Some(uri) = request.params.get("uri").and_then(Value::as_str) else {
        return Err(Fault::invalid_params("resources/read takes a text `uri`"));
    };
    let contents = |kind: &str, text: &str| json!({ "contents": [{ "uri": uri, "mimeType": kind, "text": text }] });
    if let Some(page) = server.guide.iter().find(|page| page.uri() == uri) {
        return Ok(contents("text/markdown", page.text));
    }
    if uri == VIEW_URI {
        let mut view = contents(VIEW_TYPE, VIEW);
        view["contents"][0]["_meta"] = json!({ "ui": { "prefersBorder": true } });
        return Ok(view);
    }
    let Some(named) = uri.strip_prefix(ARTIFACTS) else {
        let message = format!("there is no resource {uri}; resources/list has them");
        return Err(Fault::new(Fault::UNKNOWN_RESOURCE, message));
    };
    let (id, wants_page) = match named.strip_suffix(PAGE) {
        Some(id) => (id, true),
        None => (named, false),
    };
    let mut asked = Map::from_iter([("artifactId".to_owned(), json!(id))]);
    if wants_page {
        asked.insert("include".to_owned(), json!("page"));
    }
    let facts = server.facts(request, peer).await;
    let found = server.door.call(ToolName::GetArtifact, &asked, &facts).await;
    let found = found.map_err(|refused| fault(&refused, uri))?;
    match found["pageHtml"].as_str() {
        Some(page) if wants_page => Ok(contents("text/html", page)),
        Some(_) | None => Ok(contents("application/json", &found.to_string())),
    }
}

/// Says a refusal of the daemon as a fault of the protocol, which is all that a resource can have.
fn fault(refused: &Envelope, uri: &str) -> Fault {
    let failure = &refused.error.failure;
    let is_unknown = [ErrorCode::LiveArtifactNotFound, ErrorCode::NotFound].contains(&failure.code);
    let code = if is_unknown { Fault::UNKNOWN_RESOURCE } else { Fault::INTERNAL };
    Fault { code, message: refusal_text(failure), data: Some(json!({ "uri": uri })) }
}

/// Lists the prompts.
pub(crate) fn prompts() -> Value {
    json!({ "prompts": [{
        "name": PROMPT,
        "title": "Make a live artifact",
        "description": "A page bound to data that refreshes, with the guide of how to make one.",
        "arguments": [{ "name": "what", "description": "what the page shows", "required": false }],
    }] })
}

/// Returns the prompt: what is wanted, and the guide.
pub(crate) fn prompt(server: &Server, params: &Map<String, Value>) -> Result<Value, Fault> {
    if params.get("name").and_then(Value::as_str) != Some(PROMPT) {
        return Err(Fault::invalid_params(format!("the only prompt is {PROMPT}")));
    }
    let what = params.get("arguments").and_then(|given| given["what"].as_str());
    let wanted = match what.map(str::trim).filter(|what| !what.is_empty()) {
        Some(what) => format!("Make a live artifact: {what}"),
        None => "Make a live artifact. Ask me what it should show.".to_owned(),
    };
    let guide = server.guide.first().map(|page| page.text).unwrap_or_default();
    Ok(json!({
        "description": "Make a live artifact",
        "messages": [
            { "role": "user", "content": { "type": "text", "text": wanted } },
            { "role": "user", "content": { "type": "resource", "resource": {
                "uri": GUIDE, "mimeType": "text/markdown", "text": guide,
            } } },
        ],
    }))
}
