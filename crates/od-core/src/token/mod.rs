//! Tokens: what they grant.

mod claims;
mod scope;

pub use claims::{Claims, CliClaims, ConsoleClaims, PreviewClaims, TokenKind, ToolClaims, Variant};
pub use scope::{Endpoint, Operation};
