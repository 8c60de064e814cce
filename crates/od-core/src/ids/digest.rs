//! SHA-256 digests, as text.

use ring::digest::{Context, SHA256, digest};

use super::{ParseIdError, hex, string_newtype};
use crate::json::{self, Value};

/// The SHA-256 of some bytes: `sha256:` and 64 lower-case hex digits.
#[derive(
    Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, serde::Deserialize, serde::Serialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(String);

string_newtype!(Digest, "^sha256:[0-9a-f]{64}$", 71, "SHA-256 digest");

impl Digest {
    /// Digests bytes as they are.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self::from_hash(digest(&SHA256, bytes).as_ref())
    }

    /// Digests the canonical form (RFC 8785) of a value.
    #[must_use]
    pub fn of_json(value: &Value) -> Self {
        Self::of_bytes(&json::canonical_bytes(value))
    }

    /// Digests several pieces as if they stood in one buffer.
    #[must_use]
    pub fn of_pieces<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut context = Context::new(&SHA256);
        for piece in pieces {
            context.update(piece);
        }
        Self::from_hash(context.finish().as_ref())
    }

    /// Returns the 64 hex digits without the `sha256:` before them.
    #[must_use]
    pub fn hex_digits(&self) -> &str {
        &self.0["sha256:".len()..]
    }

    fn from_hash(hash: &[u8]) -> Self {
        Self(format!("sha256:{}", hex(hash)))
    }
}

impl std::str::FromStr for Digest {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let is_digest = text.strip_prefix("sha256:").is_some_and(|digits| {
            digits.len() == 64 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        });
        if is_digest {
            Ok(Self(text.to_owned()))
        } else {
            Err(ParseIdError { what: "digest", want: "sha256: and 64 lower-case hex digits" })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_nothing_is_the_published_one() {
        assert_eq!(
            Digest::of_bytes(b"").as_str(),
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }

    #[test]
    fn pieces_digest_as_their_concatenation() {
        assert_eq!(Digest::of_pieces([&b"ab"[..], b"", b"c"]), Digest::of_bytes(b"abc"));
    }

    #[test]
    fn key_order_and_spacing_do_not_change_a_json_digest() {
        let a: Value = serde_json::from_str(r#"{"b":1.0,"a":[true]}"#).unwrap();
        let b: Value = serde_json::from_str(r#"{ "a": [true], "b": 1 }"#).unwrap();
        assert_eq!(Digest::of_json(&a), Digest::of_json(&b));
    }

    #[test]
    fn other_spellings_are_refused() {
        let good = Digest::of_bytes(b"x").to_string();
        assert!(good.parse::<Digest>().is_ok());
        assert!(good.to_uppercase().parse::<Digest>().is_err());
        assert!(good[..70].parse::<Digest>().is_err());
        assert!(good.replace("sha256:", "").parse::<Digest>().is_err());
    }
}
