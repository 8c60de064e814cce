//! Claims to text and back: `odt.v1.<payload>.<mac>`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::payload;
use super::{Claims, Endpoint, Keyring, Operation, TokenKind};
use crate::error::ErrorCode;
use crate::ids::Timestamp;
use crate::{json, limits};

/// The beginning of every token.
pub const TOKEN_PREFIX: &str = "odt.v1.";

/// The longest token that is looked at: the payload of any grant is far shorter.
const LONGEST: usize = limits::TOKEN_TEXT.max();

/// The time that a token may have been made ahead of the clock; clocks are set back sometimes.
const SKEW_MS: u64 = limits::CLOCK_SKEW.allowed;

/// Writes claims as a token, signed with the current key.
#[must_use]
pub fn encode(claims: &Claims, keyring: &Keyring) -> String {
    let payload = json::canonical_bytes(&payload::to_json(claims));
    let tag = keyring.sign(&payload);
    format!(
        "{TOKEN_PREFIX}{}.{}",
        URL_SAFE_NO_PAD.encode(&payload),
        URL_SAFE_NO_PAD.encode(tag.as_ref())
    )
}

/// Claims whose signature and time were checked; only [`verify`] makes one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VerifiedToken {
    claims: Claims,
}

/// Why a token is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TokenError {
    /// It does not have the form of a token.
    #[error("the token is malformed")]
    Malformed,
    /// No key of the ring signed it.
    #[error("the token is not signed by this daemon")]
    BadSignature,
    /// It is signed, but says something this build does not understand.
    #[error("the token's claims are not understood")]
    BadClaims,
    /// It was made in the future.
    #[error("the token is not valid yet")]
    NotYetValid,
    /// It is past its time.
    #[error("the token has expired")]
    Expired,
}

impl TokenError {
    /// Returns the code of the refusal for a tool token.
    #[must_use]
    pub const fn code(self) -> ErrorCode {
        match self {
            Self::Malformed | Self::BadSignature | Self::BadClaims | Self::NotYetValid => {
                ErrorCode::ToolTokenInvalid
            }
            Self::Expired => ErrorCode::ToolTokenExpired,
        }
    }
}

/// Checks a token's form, signature and time.
///
/// Whether the run of a tool token still lives is for the caller to ask.
///
/// # Errors
///
/// Fails with the first check that does: form, signature, claims, time.
pub fn verify(token: &str, keyring: &Keyring, now: Timestamp) -> Result<VerifiedToken, TokenError> {
    let (payload, tag) = split(token).ok_or(TokenError::Malformed)?;
    // The signature first: the JSON reader never meets a byte that a stranger wrote.
    if !keyring.made(&payload, &tag) {
        return Err(TokenError::BadSignature);
    }
    let claims = payload::from_json(&payload).ok_or(TokenError::BadClaims)?;
    let verified = VerifiedToken { claims };
    verified.check_time(now)?;
    Ok(verified)
}

fn split(token: &str) -> Option<(Vec<u8>, Vec<u8>)> {
    if token.len() > LONGEST {
        return None;
    }
    let (payload, tag) = token.strip_prefix(TOKEN_PREFIX)?.split_once('.')?;
    // Strict decoding: one token has one spelling.
    Some((URL_SAFE_NO_PAD.decode(payload).ok()?, URL_SAFE_NO_PAD.decode(tag).ok()?))
}

/// Why a valid token does not cover a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ScopeError {
    /// It is a token of another kind.
    #[error("a {wanted} token is needed here, not a {found} token")]
    WrongKind {
        /// The kind that is needed.
        wanted: TokenKind,
        /// The kind that was given.
        found: TokenKind,
    },
    /// It does not cover the endpoint.
    #[error("the token does not cover {endpoint}")]
    EndpointDenied {
        /// The endpoint.
        endpoint: Endpoint,
    },
    /// It does not cover the operation.
    #[error("the token does not cover {operation}")]
    OperationDenied {
        /// The operation.
        operation: Operation,
    },
}

impl ScopeError {
    /// Returns the code of the refusal.
    #[must_use]
    pub const fn code(self) -> ErrorCode {
        match self {
            Self::WrongKind { .. } => ErrorCode::ToolTokenInvalid,
            Self::EndpointDenied { .. } => ErrorCode::ToolEndpointDenied,
            Self::OperationDenied { .. } => ErrorCode::ToolOperationDenied,
        }
    }
}

impl VerifiedToken {
    /// Returns what the token says.
    #[must_use]
    pub const fn claims(&self) -> &Claims {
        &self.claims
    }

    /// Checks the token's time once more: a token that was good may be over by now.
    ///
    /// # Errors
    ///
    /// Fails before it was made, and from its end on.
    pub fn check_time(&self, now: Timestamp) -> Result<(), TokenError> {
        // Leeway on one side only. A clock that was set back would otherwise shut everybody out; past its end a
        // token gets none, or a revoked key would live on by the same amount.
        if self.claims.issued_at() > now.plus_ms(SKEW_MS) {
            return Err(TokenError::NotYetValid);
        }
        if now >= self.claims.expires_at() {
            return Err(TokenError::Expired);
        }
        Ok(())
    }

    /// Checks that the token is a tool token that covers an endpoint and its operation, and returns
    /// its claims.
    ///
    /// # Errors
    ///
    /// Fails if it is of another kind, or does not cover the one or the other.
    pub fn tool_scope(&self, endpoint: Endpoint) -> Result<&super::ToolClaims, ScopeError> {
        let Claims::Tool(claims) = &self.claims else {
            let found = self.claims.kind();
            return Err(ScopeError::WrongKind { wanted: TokenKind::Tool, found });
        };
        let operation = endpoint.operation();
        if !claims.endpoints.contains(&endpoint) {
            return Err(ScopeError::EndpointDenied { endpoint });
        }
        if !claims.operations.contains(&operation) {
            return Err(ScopeError::OperationDenied { operation });
        }
        Ok(claims)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{CliClaims, PreviewClaims, ToolClaims, Variant};
    use super::*;

    const T0: i64 = 1_777_507_200_000;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_unix_ms(T0 + ms)
    }

    fn ring() -> Keyring {
        Keyring::new([7; 32], None)
    }

    fn tool() -> Claims {
        Claims::Tool(ToolClaims {
            token_id: "t-1".parse().unwrap(),
            run_id: "run-1".parse().unwrap(),
            project_id: "demo".parse().unwrap(),
            endpoints: Endpoint::ALL.to_vec(),
            operations: Operation::ALL.to_vec(),
            issued_at: at(0),
            expires_at: at(60_000),
        })
    }

    #[test]
    fn what_was_encoded_is_verified() {
        let preview = Claims::Preview(PreviewClaims {
            project_id: "demo".parse().unwrap(),
            artifact_id: "la-x-000000000000".parse().unwrap(),
            variant: Variant::Inspect,
            snapshot: Some("refresh-000003".parse().unwrap()),
            revision: Some("7".parse().unwrap()),
            issued_at: at(0),
            expires_at: at(300_000),
        });
        let cli = Claims::Cli(CliClaims {
            token_id: "c-1".parse().unwrap(),
            audience: "a-1".parse().unwrap(),
            issued_at: at(0),
            expires_at: at(60_000),
        });
        for claims in [tool(), preview, cli] {
            let token = encode(&claims, &ring());
            assert_eq!(verify(&token, &ring(), at(1)).unwrap().claims(), &claims);
        }
    }

    #[test]
    fn time_and_rotation_end_a_token() {
        let token = encode(&tool(), &ring());
        assert!(verify(&token, &ring(), at(59_999)).is_ok());
        assert_eq!(verify(&token, &ring(), at(60_000)), Err(TokenError::Expired));
        assert_eq!(verify(&token, &ring(), at(-300_001)), Err(TokenError::NotYetValid));
        let once = ring().rotated([8; 32]);
        assert!(verify(&token, &once, at(1)).is_ok());
        assert_eq!(verify(&token, &once.rotated([9; 32]), at(1)), Err(TokenError::BadSignature));
    }

    #[test]
    fn a_lifetime_past_its_kind_is_not_believed() {
        let mut claims = tool();
        if let Claims::Tool(tool) = &mut claims {
            tool.expires_at = at(86_400_001);
        }
        let token = encode(&claims, &ring());
        assert_eq!(verify(&token, &ring(), at(1)), Err(TokenError::BadClaims));
    }

    #[test]
    fn every_single_bit_flip_is_refused() {
        let token = encode(&tool(), &ring());
        for i in 0..token.len() {
            for bit in 0..8 {
                let mut bytes = token.clone().into_bytes();
                bytes[i] ^= 1 << bit;
                if let Ok(text) = String::from_utf8(bytes) {
                    assert!(verify(&text, &ring(), at(1)).is_err(), "byte {i} bit {bit}");
                }
            }
        }
    }

    #[test]
    fn scope_is_endpoint_and_operation() {
        let mut claims = tool();
        if let Claims::Tool(tool) = &mut claims {
            tool.endpoints = vec![Endpoint::LiveArtifactsValidate, Endpoint::ConnectorsList];
            tool.operations = vec![Operation::LiveArtifactsCreate];
        }
        let verified = verify(&encode(&claims, &ring()), &ring(), at(1)).unwrap();
        assert!(verified.tool_scope(Endpoint::LiveArtifactsValidate).is_ok());
        assert_eq!(
            verified.tool_scope(Endpoint::LiveArtifactsCreate),
            Err(ScopeError::EndpointDenied { endpoint: Endpoint::LiveArtifactsCreate })
        );
        assert_eq!(
            verified.tool_scope(Endpoint::ConnectorsList),
            Err(ScopeError::OperationDenied { operation: Operation::ConnectorsList })
        );
    }

    #[test]
    fn debug_output_holds_no_key() {
        assert_eq!(format!("{:?}", ring()), "Keyring { has_previous: false, .. }");
    }

    proptest! {
        #[test]
        fn no_text_is_verified_by_chance(text in ".{0,200}") {
            prop_assert!(verify(&text, &ring(), at(1)).is_err());
            let prefixed = [TOKEN_PREFIX, text.as_str()].concat();
            prop_assert!(verify(&prefixed, &ring(), at(1)).is_err());
        }
    }
}
