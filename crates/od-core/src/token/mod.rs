//! Tokens: what they grant, how they are signed, and what they cover.

mod claims;
mod keyring;
mod payload;
mod scope;
mod seal;

pub use claims::{Claims, CliClaims, ConsoleClaims, PreviewClaims, TokenKind, ToolClaims, Variant};
pub use keyring::Keyring;
pub use scope::{Endpoint, Operation};
pub use seal::{ScopeError, TOKEN_PREFIX, TokenError, VerifiedToken, encode, verify};
