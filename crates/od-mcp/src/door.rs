//! The one way to the daemon: a call of a tool becomes a call of its endpoint.

use od_client::{Call, Client};
use od_core::error::{ErrorCode, Failure, Issue};
use od_wire::error::Envelope;
use serde_json::{Map, Value};

use crate::tool::ToolName;

/// The daemon as the tools see it, or why there is none.
///
/// A server without a token or an address still answers: it lists its tools, and every call says
/// what to do.
#[derive(Debug)]
pub struct Door {
    client: Result<Client, Failure>,
}

impl Door {
    /// Makes the door from a client, or from the reason why there is none.
    #[must_use]
    pub fn new(client: Result<Client, Failure>) -> Self {
        Self { client }
    }

    /// Makes the call and returns the daemon's answer as it is.
    pub(crate) async fn call(
        &self,
        tool: ToolName,
        arguments: Map<String, Value>,
    ) -> Result<Value, Envelope> {
        let client = self.client.as_ref().map_err(|failure| Envelope::from(failure.clone()))?;
        let call = client.call(tool.operation());
        let call = if tool.sends_body() {
            call.json(&arguments)?
        } else {
            with_query(tool, call, &arguments)?
        };
        Ok(call.send_value().await?)
    }
}

/// Sends the arguments of a tool without a body as the query of its endpoint, which takes project and run
/// only to compare them with the token's.
fn with_query<'c>(
    tool: ToolName,
    mut call: Call<'c>,
    arguments: &Map<String, Value>,
) -> Result<Call<'c>, Envelope> {
    let known = tool.operation().route().query;
    let mut issues = Vec::new();
    for (name, value) in arguments {
        let known = known.iter().find(|known| known.name.as_str() == name);
        match (known, value.as_str()) {
            (Some(known), Some(text)) => call = call.query(known.name, text),
            (None, _) | (Some(_), None) => issues.push(
                Issue::new(format!("/{name}"), "unknown_field", "the tool takes no arguments")
                    .fix(format!("leave `{name}` out")),
            ),
        }
    }
    if issues.is_empty() {
        Ok(call)
    } else {
        Err(Failure::validation(ErrorCode::BadRequest, &issues).into())
    }
}
