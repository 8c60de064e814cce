//! The one way to the daemon: a call of a tool becomes a call of its endpoint.

use od_client::{Call, CallError, Client};
use od_core::error::{ErrorCode, Failure, Issue};
use serde_json::{Map, Value};

use crate::outcome::Refusal;
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
    ) -> Result<Value, Refusal> {
        let client = self.client.as_ref().map_err(|failure| Refusal::of_ours(failure.clone()))?;
        let call = client.call(tool.operation());
        let call =
            if tool.sends_body() { call.json(&arguments)? } else { with_query(call, &arguments)? };
        Ok(call.send_value().await?)
    }
}

/// The endpoints without a body know two parameters, only to compare them with the token's.
fn with_query<'c>(mut call: Call<'c>, arguments: &Map<String, Value>) -> Result<Call<'c>, Refusal> {
    const COMPARED: [&str; 2] = ["projectId", "runId"];
    let mut issues = Vec::new();
    for (name, value) in arguments {
        match (COMPARED.iter().find(|known| *known == name), value.as_str()) {
            (Some(known), Some(text)) => call = call.query(known, text),
            _ => issues.push(
                Issue::new(format!("/{name}"), "unknown_field", "the tool takes no arguments")
                    .fix(format!("leave `{name}` out")),
            ),
        }
    }
    if issues.is_empty() {
        Ok(call)
    } else {
        Err(Refusal::of_ours(Failure::validation(ErrorCode::BadRequest, &issues)))
    }
}

impl From<CallError> for Refusal {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused { request_id, failure, .. } => Self { failure, request_id },
            CallError::Unreachable { .. }
            | CallError::Gone { .. }
            | CallError::TimedOut { .. }
            | CallError::Address { .. }
            | CallError::Bearer
            | CallError::Encode { .. }
            | CallError::Decode { .. }
            | CallError::Broken { .. }
            | CallError::TooLarge { .. } => Self::of_ours(error.into()),
        }
    }
}
