//! The payload of a token, as JSON.

use super::{
    Claims, CliClaims, ConsoleClaims, Endpoint, Operation, PreviewClaims, TokenKind, ToolClaims,
    Variant,
};
use crate::json::{self, Map, Value};
use crate::limits;

/// Writes the claims; the caller makes them canonical.
pub(super) fn to_json(claims: &Claims) -> Value {
    let mut payload = Map::new();
    let mut add = |key: &str, value: Value| payload.insert(key.to_owned(), value);
    add("tokenVersion", 1.into());
    add("tokenKind", claims.kind().as_str().into());
    match claims {
        Claims::Tool(claims) => {
            add("tokenId", claims.token_id.as_str().into());
            add("runId", claims.run_id.as_str().into());
            add("projectId", claims.project_id.as_str().into());
            let endpoints = claims.endpoints.iter().map(|endpoint| endpoint.as_str().into());
            add("endpoints", Value::Array(endpoints.collect()));
            let operations = claims.operations.iter().map(|operation| operation.as_str().into());
            add("operations", Value::Array(operations.collect()));
        }
        Claims::Cli(CliClaims { token_id, audience, .. }) => {
            add("tokenId", token_id.as_str().into());
            add("audience", audience.as_str().into());
        }
        Claims::Console(ConsoleClaims { token_id, session_id, audience, .. }) => {
            add("tokenId", token_id.as_str().into());
            add("sessionId", session_id.as_str().into());
            add("audience", audience.as_str().into());
        }
        Claims::Preview(claims) => {
            add("projectId", claims.project_id.as_str().into());
            add("artifactId", claims.artifact_id.as_str().into());
            add("variant", claims.variant.as_str().into());
            if let Some(snapshot) = &claims.snapshot {
                add("snapshot", snapshot.as_str().into());
            }
            if let Some(revision) = claims.revision {
                add("revision", revision.to_string().into());
            }
        }
    }
    add("issuedAt", claims.issued_at().to_string().into());
    add("expiresAt", claims.expires_at().to_string().into());
    Value::Object(payload)
}

/// Reads the claims of a payload whose signature was checked; nothing if any part is not understood.
pub(super) fn from_json(payload: &[u8]) -> Option<Claims> {
    let Value::Object(payload) = json::parse_message(payload).ok()? else { return None };
    let mut fields = PayloadFields { left: payload.len(), payload: &payload };
    if fields.take("tokenVersion")?.as_u64()? != 1 {
        return None;
    }
    let kind = TokenKind::from_word(fields.text("tokenKind")?)?;
    let claims = match kind {
        TokenKind::Tool => Claims::Tool(ToolClaims {
            token_id: fields.parsed("tokenId")?,
            run_id: fields.parsed("runId")?,
            project_id: fields.parsed("projectId")?,
            endpoints: fields.words("endpoints", Endpoint::from_word)?,
            operations: fields.words("operations", Operation::from_word)?,
            issued_at: fields.parsed("issuedAt")?,
            expires_at: fields.parsed("expiresAt")?,
        }),
        TokenKind::Cli => Claims::Cli(CliClaims {
            token_id: fields.parsed("tokenId")?,
            audience: fields.parsed("audience")?,
            issued_at: fields.parsed("issuedAt")?,
            expires_at: fields.parsed("expiresAt")?,
        }),
        TokenKind::Console => Claims::Console(ConsoleClaims {
            token_id: fields.parsed("tokenId")?,
            session_id: fields.parsed("sessionId")?,
            audience: fields.parsed("audience")?,
            issued_at: fields.parsed("issuedAt")?,
            expires_at: fields.parsed("expiresAt")?,
        }),
        TokenKind::Preview => Claims::Preview(PreviewClaims {
            project_id: fields.parsed("projectId")?,
            artifact_id: fields.parsed("artifactId")?,
            variant: Variant::from_word(fields.text("variant")?)?,
            snapshot: match payload.contains_key("snapshot") {
                true => Some(fields.parsed("snapshot")?),
                false => None,
            },
            revision: match payload.contains_key("revision") {
                true => Some(fields.parsed("revision")?),
                false => None,
            },
            issued_at: fields.parsed("issuedAt")?,
            expires_at: fields.parsed("expiresAt")?,
        }),
    };
    // A signed payload still may not outlive what its kind allows: the limit is part of the contract.
    let limit = match claims.kind() {
        TokenKind::Tool => limits::TOOL_TOKEN_LIFETIME,
        TokenKind::Cli => limits::CLI_TOKEN_LIFETIME,
        TokenKind::Console => limits::CONSOLE_TOKEN_LIFETIME,
        TokenKind::Preview => limits::PREVIEW_TICKET_LIFETIME,
    };
    let lifetime_ms = claims.expires_at().ms_since(claims.issued_at());
    // A member that this build does not know may restrict the token: ignoring it would widen what was granted.
    (fields.left == 0 && lifetime_ms <= limit.allowed).then_some(claims)
}

/// The members of a payload, counted as they are taken: one left over is not understood.
struct PayloadFields<'a> {
    payload: &'a Map,
    left: usize,
}

impl<'a> PayloadFields<'a> {
    fn take(&mut self, key: &str) -> Option<&'a Value> {
        let value = self.payload.get(key)?;
        self.left = self.left.checked_sub(1)?;
        Some(value)
    }

    fn text(&mut self, key: &str) -> Option<&'a str> {
        self.take(key)?.as_str()
    }

    fn parsed<T: std::str::FromStr>(&mut self, key: &str) -> Option<T> {
        self.text(key)?.parse().ok()
    }

    fn words<T>(&mut self, key: &str, from_word: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
        self.take(key)?.as_array()?.iter().map(|item| from_word(item.as_str()?)).collect()
    }
}
