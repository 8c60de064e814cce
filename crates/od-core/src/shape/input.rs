//! The shapes of every request an agent makes.

use serde_json::json;

use super::builder::{flag, object, or_null, text, typed, words};
use super::source::{provenance, source};
use crate::artifact::{
    DataFile, DocumentFormat, GeneratedPreviewPath, PreviewEntry, PreviewType, Status, TemplatePath,
};
use crate::connector::Purpose;
use crate::ids::{ArtifactId, AttemptId, ConnectorId, Revision, SessionId, Slug, ToolName};
use crate::json::{BoundedObject, Value};
use crate::limits;

/// The shape of one request, with everything inlined.
#[derive(Clone, Copy, Debug)]
pub struct AgentShape {
    /// Its name, as the file is called.
    pub name: &'static str,
    /// Builds its JSON Schema.
    pub schema: fn() -> Value,
}

/// Every request an agent makes.
pub const AGENT_FACING: &[AgentShape] = &[
    AgentShape { name: "create-request", schema: create_request },
    AgentShape { name: "update-request", schema: update_request },
    AgentShape { name: "tool-update-request", schema: tool_update_request },
    AgentShape { name: "refresh-request", schema: refresh_request },
    AgentShape { name: "execute-request", schema: execute_request },
];

pub(super) fn create_request() -> Value {
    object(
        "creates a live artifact",
        [
            ("input", create_input()),
            ("templateHtml", template()),
            ("provenanceJson", provenance()),
            (
                "attemptId",
                typed::<AttemptId>("names this attempt: the same attempt creates one artifact"),
            ),
        ],
        &["input"],
    )
}

pub(super) fn update_request() -> Value {
    object(
        "changes a live artifact; what is absent stays",
        [
            ("input", update_input()),
            ("templateHtml", template()),
            ("provenanceJson", provenance()),
            (
                "ifRevision",
                typed::<Revision>("the revision the change is based on; another one is a conflict"),
            ),
        ],
        &[],
    )
}

pub(super) fn tool_update_request() -> Value {
    let mut schema = update_request();
    schema["properties"]["artifactId"] = typed::<ArtifactId>("the artifact");
    schema["required"] = json!(["artifactId"]);
    schema
}

/// What a validate request carries: all that create would be sent, or all that update would.
pub(super) fn validate_request() -> Value {
    json!({
        "description": "what create would be sent; or, with an artifactId, what update would be",
        "oneOf": [create_request(), tool_update_request()],
    })
}

fn refresh_request() -> Value {
    object(
        "refreshes a live artifact's data from its source",
        [("artifactId", typed::<ArtifactId>("the artifact"))],
        &["artifactId"],
    )
}

pub(super) fn execute_request() -> Value {
    object(
        "executes a read-only tool of a connector",
        [
            ("connectorId", typed::<ConnectorId>("the connector")),
            ("toolName", typed::<ToolName>("the tool, qualified or short")),
            (
                "input",
                typed::<BoundedObject>(
                    "free-form: what the tool's own inputSchema asks for; bounded like all stored JSON",
                ),
            ),
            (
                "purpose",
                words("why; agents say agent_preview", &[Purpose::AgentPreview], Purpose::as_str),
            ),
        ],
        &["connectorId", "toolName"],
    )
}

fn create_input() -> Value {
    object(
        "the artifact; the daemon adds ids, times, revision and digests",
        [
            ("title", text("what a person calls it", 1, &limits::TITLE)),
            ("slug", typed::<Slug>("the title as part of names; made from the title if absent")),
            ("sessionId", typed::<SessionId>("the chat the agent works in")),
            ("status", status()),
            ("pinned", flag("whether the console keeps it at the top of its lists")),
            ("preview", preview()),
            ("document", create_document()),
        ],
        &["title"],
    )
}

fn update_input() -> Value {
    object(
        "the changes; what is absent stays",
        [
            ("title", text("what a person calls it", 1, &limits::TITLE)),
            ("slug", typed::<Slug>("the title as part of names")),
            ("status", status()),
            ("pinned", flag("whether the console keeps it at the top of its lists")),
            ("preview", preview()),
            ("document", update_document()),
        ],
        &[],
    )
}

fn status() -> Value {
    words(
        "active if absent; archived puts it away",
        &[Status::Active, Status::Archived],
        Status::as_str,
    )
}

fn preview() -> Value {
    object(
        "how it is shown; may be left out, for it has one value",
        [
            ("type", words("a rendered page", PreviewType::ALL, PreviewType::as_str)),
            ("entry", words("the rendered page", PreviewEntry::ALL, PreviewEntry::as_str)),
        ],
        &[],
    )
}

fn template() -> Value {
    // Counted in bytes; the schema's characters are never more.
    text(
        "the template (html_template_v1); a plain page for the data if a new artifact has none",
        0,
        &limits::TEMPLATE,
    )
}

fn create_document() -> Value {
    let [format, template_path, preview_path, data_path] = fixed_names();
    object(
        "the data and where it comes from",
        [
            format,
            template_path,
            preview_path,
            data_path,
            ("dataJson", data()),
            ("dataSchemaJson", data_schema()),
            ("sourceJson", source()),
        ],
        &["dataJson"],
    )
}

fn update_document() -> Value {
    let [format, template_path, preview_path, data_path] = fixed_names();
    object(
        "the changes of the document; null removes the schema or the source",
        [
            format,
            template_path,
            preview_path,
            data_path,
            ("dataJson", data()),
            ("dataSchemaJson", or_null(data_schema())),
            ("sourceJson", or_null(source())),
        ],
        &[],
    )
}

fn fixed_names() -> [(&'static str, Value); 4] {
    let fixed = "may be left out, for it has one value";
    [
        ("format", words(fixed, DocumentFormat::ALL, DocumentFormat::as_str)),
        ("templatePath", words(fixed, TemplatePath::ALL, TemplatePath::as_str)),
        (
            "generatedPreviewPath",
            words(fixed, GeneratedPreviewPath::ALL, GeneratedPreviewPath::as_str),
        ),
        ("dataPath", words(fixed, DataFile::ALL, DataFile::as_str)),
    ]
}

fn data() -> Value {
    typed::<BoundedObject>(
        "free-form: the data the template shows; at most 8 levels, 100 keys an object, 500 items an array, 16384 UTF-16 code units a string, 262144 bytes in canonical form; no credentials, no raw responses",
    )
}

fn data_schema() -> Value {
    let keywords = crate::schema::SCHEMA_KEYWORDS.join(", ");
    typed::<BoundedObject>(&format!(
        "free-form: what the data must look like, in a subset of JSON Schema ({keywords}); enforced at create, update and refresh"
    ))
}

#[cfg(test)]
mod tests {
    use super::super::lint;
    use super::*;
    use crate::artifact::{CreateRequest, UpdateRequest};
    use crate::connector::ExecuteRequest;
    use crate::error::Issue;

    /// Names the fields a reader knows, as its refusal of an unknown one lists them.
    fn known(refused: Result<(), Vec<Issue>>, path: &str) -> Vec<String> {
        let issues = refused.unwrap_err();
        let issue = issues.iter().find(|issue| issue.path == path && issue.code == "unknown_field");
        let want = issue.unwrap_or_else(|| panic!("{path}: {issues:?}")).want.clone().unwrap();
        want.trim_start_matches("one of ").split(", ").map(str::to_owned).collect()
    }

    fn declared(schema: &Value, pointer: &str) -> Vec<String> {
        let object = schema.pointer(pointer).unwrap_or_else(|| panic!("{pointer}"));
        object["properties"].as_object().unwrap().keys().cloned().collect()
    }

    #[track_caller]
    fn check(
        schema: &Value,
        parse: impl Fn(&Value) -> Result<(), Vec<Issue>>,
        places: &[(&str, &str)],
    ) {
        for (in_schema, in_value) in places {
            // Builds a value with one unknown field at the place.
            let mut value = json!({ "zzzzzzzz": 1 });
            for step in in_value.split('/').skip(1).collect::<Vec<_>>().into_iter().rev() {
                value = if step == "0" { json!([value]) } else { json!({ step: value }) };
            }
            let mut known = known(parse(&value), &format!("{in_value}/zzzzzzzz"));
            let mut declared = declared(schema, in_schema);
            known.sort();
            declared.sort();
            assert_eq!(known, declared, "{in_value}");
        }
    }

    const DOCUMENT: &str = "/properties/input/properties/document";

    #[test]
    fn the_schemas_declare_what_the_readers_know() {
        let source = format!("{DOCUMENT}/properties/sourceJson");
        let mapping = format!("{source}/properties/outputMapping");
        let origin = "/properties/provenanceJson/properties/sources/items";
        let places = [
            ("", ""),
            ("/properties/input", "/input"),
            ("/properties/input/properties/preview", "/input/preview"),
            (DOCUMENT, "/input/document"),
            (&source, "/input/document/sourceJson"),
            (&format!("{source}/properties/connector"), "/input/document/sourceJson/connector"),
            (&mapping, "/input/document/sourceJson/outputMapping"),
            (
                &format!("{mapping}/properties/dataPaths/items"),
                "/input/document/sourceJson/outputMapping/dataPaths/0",
            ),
            ("/properties/provenanceJson", "/provenanceJson"),
            (origin, "/provenanceJson/sources/0"),
        ];
        check(&create_request(), |value| CreateRequest::parse(value).map(drop), &places);
        check(&update_request(), |value| UpdateRequest::parse(value).map(drop), &places);
        let update = |value: &Value| UpdateRequest::parse_tool(value).map(drop);
        check(&tool_update_request(), update, &places[..2]);
        check(&execute_request(), |value| ExecuteRequest::parse(value).map(drop), &places[..1]);
    }

    #[test]
    fn every_agent_facing_schema_is_strict() {
        for shape in AGENT_FACING {
            assert_eq!(lint(&(shape.schema)()), Vec::new(), "{}", shape.name);
        }
    }
}
