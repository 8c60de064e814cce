//! The reference of the HTTP API, as text.

use std::fmt::Write as _;

use schemars::Schema;
use serde_json::Value;

use crate::event::EventName;
use crate::route::{Access, ROUTES, Route};
use crate::schema::{AnswerShape, bodies, event_data};

const HEAD: &str = "\
# HTTP API

Generated from the route table by `cargo xtask codegen`; do not edit.

The daemon listens on 127.0.0.1 only: API and console on one port (7456 unless told otherwise), previews on
another. Every request passes the guard first, on every path:

1. HTTP/1.1 with exactly one `Host`, bodies framed by `Content-Length` alone, at most 64 headers in 16 KiB.
2. `Host` is `127.0.0.1:<port>` of that very listener, letter for letter. (`GET /` under `localhost` is sent there.)
3. `Origin`, if present, is the console's; `Sec-Fetch-Site`, if present, is `same-origin`. Otherwise 403 `FORBIDDEN`
   with `details.header`.
4. Whatever may change something carries `Content-Type: application/json`, also without a body. Otherwise 415.
5. The bearer that the table below asks for, as `Authorization: Bearer <token>`.

`GET` never has an effect, and `HEAD` is answered wherever `GET` is. Bodies are JSON objects of at most 2 MiB; unknown
fields and query parameters are refused with the nearest known name. Errors have one shape:

```json
{ \"error\": { \"code\": \"…\", \"message\": \"…\", \"retry\": { \"kind\": \"not_retryable\" }, \"suggestion\": \"…\", \"details\": {}, \"requestId\": \"req-…\" } }
```

Codes, statuses and exit codes are in [errors.md](errors.md). The schemas of every body are in
[openapi.json](openapi.json), which a running daemon serves as `GET /openapi.json`.

";

const PREVIEW_PORT: &str = "\
## The preview port

`GET /preview/<ticket>` and nothing else: GET and HEAD, no `Origin`, a navigation into a frame of the console or a tab.
A ticket names one page (project, artifact, variant, snapshot) and opens it for five minutes. Pages carry a strong
`ETag` and honour `If-None-Match`; their policy is `default-src 'none'` with inline styles and `data:` images and fonts,
in a sandbox without scripts.

";

/// Writes the reference.
#[must_use]
pub fn markdown() -> String {
    let mut text = HEAD.to_owned();
    text.push_str("## Routes\n\n| method | path | who | does |\n|---|---|---|---|\n");
    for route in ROUTES {
        let Route { method, path, doc, .. } = route;
        let _ = writeln!(text, "| {method} | `{path}` | {} | {doc} |", who(route.access));
    }
    text.push('\n');
    text.push_str(PREVIEW_PORT);
    push_events(&mut text);
    text.push_str("## Bodies\n\nFields with `?` may be left out.\n\n");
    for route in ROUTES {
        push_bodies(&mut text, route);
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

const fn who(access: Access) -> &'static str {
    match access {
        Access::Open => "anyone on this machine",
        Access::Person => "console bearer or CLI token",
        Access::Terminal => "CLI token",
        Access::Tool(_) => "tool token with this endpoint",
        Access::AnyTool => "any live tool token",
    }
}

fn push_events(text: &mut String) {
    text.push_str(
        "## Events\n\nServer-sent events, read with `fetch` so that the bearer is a header. Every event has an id; send the last one \
         back as `Last-Event-ID` and the stream goes on from there. `ready` comes first; `resync` means that \
         something may have been missed: read everything again. A comment line comes at least every 15 seconds. \
         Whoever does not read is dropped.\n\n| event | data |\n|---|---|\n",
    );
    for name in EventName::ALL {
        let _ = writeln!(text, "| `{}` | {} |", name.as_str(), fields(&event_data(name)));
    }
    text.push('\n');
}

fn push_bodies(text: &mut String, route: &Route) {
    let bodies = bodies(route.operation);
    let _ = writeln!(text, "### {} {}\n", route.method, route.path);
    for parameter in route.query {
        let _ = writeln!(text, "- query `{}`: {}", parameter.name.as_str(), parameter.doc);
    }
    if let Some(request) = &bodies.request {
        let _ = writeln!(text, "- request: {}", fields(request));
    }
    let answer = match &bodies.answer {
        AnswerShape::Json(schema) => fields(schema),
        AnswerShape::Page => "the page as HTML, or its source as plain text".to_owned(),
        AnswerShape::Events => "an event stream".to_owned(),
        AnswerShape::Description => "a description of the API".to_owned(),
        AnswerShape::Message => "a JSON-RPC message, or 202 and nothing".to_owned(),
    };
    let _ = writeln!(text, "- answer: {answer}\n");
}

/// Lists the fields of an object, one level deep: the schemas say the rest.
fn fields(schema: &Schema) -> String {
    if let Some(Value::Array(choices)) = schema.get("oneOf") {
        let choices = choices.iter().filter_map(|choice| Schema::try_from(choice.clone()).ok());
        return choices.map(|choice| fields(&choice)).collect::<Vec<_>>().join(" or ");
    }
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return "`{}`".to_owned();
    };
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let listed: Vec<String> = properties
        .keys()
        .map(
            |name| {
                if required.contains(&name.as_str()) { name.clone() } else { format!("{name}?") }
            },
        )
        .collect();
    if listed.is_empty() { "`{}`".to_owned() } else { format!("`{{ {} }}`", listed.join(", ")) }
}
