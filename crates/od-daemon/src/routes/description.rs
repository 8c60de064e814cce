//! The API about itself.

use std::sync::LazyLock;

use hyper::StatusCode;
use hyper::body::Bytes;

use crate::http::reply::Reply;

static OPENAPI: LazyLock<Bytes> = LazyLock::new(|| text(&od_wire::schema::openapi()));
static TOOLS: LazyLock<Bytes> = LazyLock::new(|| text(&od_wire::schema::tool_schema()));

/// The whole API as an OpenAPI document.
pub(crate) fn openapi() -> Reply {
    Reply::Json { status: StatusCode::OK, body: OPENAPI.clone() }
}

/// The agent's door with the schemas of its bodies.
pub(crate) fn tools() -> Reply {
    Reply::Json { status: StatusCode::OK, body: TOOLS.clone() }
}

fn text(value: &serde_json::Value) -> Bytes {
    Bytes::from(value.to_string())
}
