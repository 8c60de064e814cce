//! Tokens: what they grant, how they are signed, and what they cover.

mod claims;
mod keyring;
mod payload;
mod seal;

pub use claims::{
    Claims, CliClaims, ConsoleClaims, Endpoint, Operation, PreviewClaims, TokenKind, ToolClaims,
    Variant,
};
pub use keyring::Keyring;
pub use seal::{ScopeError, TOKEN_PREFIX, TokenError, VerifiedToken, encode, verify};
