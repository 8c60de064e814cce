//! One request to the daemon, built from the route table.

use od_wire::route::{Operation, QueryName, Route};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::client::Client;
use crate::error::CallError;

/// A request being put together.
#[derive(Debug)]
pub struct Call<'c> {
    client: &'c Client,
    route: &'static Route,
    parameters: Vec<String>,
    query: Vec<(QueryName, String)>,
    body: Option<Vec<u8>>,
}

/// An answer of the daemon, before it is read as a type.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The media type.
    pub content_type: String,
    /// The body.
    pub body: Vec<u8>,
}

impl<'c> Call<'c> {
    pub(crate) fn new(client: &'c Client, operation: Operation) -> Self {
        let route = operation.route();
        Self { client, route, parameters: Vec::new(), query: Vec::new(), body: None }
    }

    /// Gives the next parameter of the path.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "callers give numbers and texts in place")]
    pub fn parameter(mut self, value: impl ToString) -> Self {
        self.parameters.push(value.to_string());
        self
    }

    /// Adds a query parameter.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "callers give numbers and texts in place")]
    pub fn query(mut self, name: QueryName, value: impl ToString) -> Self {
        self.query.push((name, value.to_string()));
        self
    }

    /// Adds a query parameter if there is a value for it.
    #[must_use]
    pub fn maybe_query(self, name: QueryName, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.query(name, value),
            None => self,
        }
    }

    /// Gives the body.
    ///
    /// # Errors
    ///
    /// Fails if the value cannot be written as JSON.
    pub fn json(self, body: &impl Serialize) -> Result<Self, CallError> {
        let bytes = serde_json::to_vec(body).map_err(|source| CallError::Encode { source })?;
        Ok(self.json_bytes(bytes))
    }

    /// Gives the body as bytes that are JSON already.
    #[must_use]
    pub fn json_bytes(mut self, body: Vec<u8>) -> Self {
        self.body = Some(body);
        self
    }

    /// Sends the request and reads the answer as a type.
    ///
    /// # Errors
    ///
    /// Fails if the daemon refuses ([`CallError::Refused`]), cannot be reached, or answers something
    /// else than the contract says.
    pub async fn send<T: DeserializeOwned>(self) -> Result<T, CallError> {
        let answer = self.send_raw().await?;
        serde_json::from_slice(&answer.body).map_err(|source| CallError::Decode { source })
    }

    /// Sends the request and returns the answer's JSON as it is.
    ///
    /// # Errors
    ///
    /// As [`Call::send`].
    pub async fn send_value(self) -> Result<Value, CallError> {
        self.send().await
    }

    /// Sends the request and returns a successful answer unread.
    ///
    /// # Errors
    ///
    /// As [`Call::send`].
    pub async fn send_raw(self) -> Result<Answer, CallError> {
        let target = self.target();
        self.client.exchange(self.route, &target, self.body).await
    }

    pub(crate) fn into_target(self) -> (&'static Route, String) {
        (self.route, self.target())
    }

    fn target(&self) -> String {
        let mut given = self.parameters.iter();
        let mut target = String::new();
        for segment in self.route.path.split('/').skip(1) {
            target.push('/');
            if segment.starts_with('{') {
                encode_into(&mut target, given.next().map_or("", String::as_str));
            } else {
                target.push_str(segment);
            }
        }
        for (n, (name, value)) in self.query.iter().enumerate() {
            target.push(if n == 0 { '?' } else { '&' });
            target.push_str(name.as_str());
            target.push('=');
            encode_into(&mut target, value);
        }
        target
    }
}

/// Percent-encodes everything but unreserved characters.
fn encode_into(target: &mut String, text: &str) {
    use std::fmt::Write as _;
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            target.push(char::from(byte));
        } else {
            let _ = write!(target, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Bearer;

    #[test]
    fn a_parameter_cannot_leave_its_segment() {
        let client = Client::new("http://127.0.0.1:7456", Bearer::None).unwrap();
        let call = client
            .call(Operation::ShowSnapshot)
            .parameter("../a?b")
            .parameter("refresh-000001")
            .query(QueryName::ProjectId, "a&b=c");
        assert_eq!(
            call.target(),
            "/api/live-artifacts/..%2Fa%3Fb/snapshots/refresh-000001?projectId=a%26b%3Dc"
        );
    }
}
