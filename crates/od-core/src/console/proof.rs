//! The proof that page and daemon give each other before a bearer is handed out.
//!
//! A page knows the daemon by its public key, the daemon a browser by the public key of its session. Each
//! signs a text that both nonces, the address and the daemon's key are part of: what one meeting gave is
//! worth nothing at another, and a daemon at another address cannot be made to answer for this one.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

use crate::ids::{ConsoleSessionId, ParseIdError, hex, string_newtype};

/// The bytes of an uncompressed point of P-256: a mark and two coordinates.
const KEY_BYTES: usize = 65;
/// The mark of an uncompressed point.
const UNCOMPRESSED: u8 = 4;
/// The bytes of a signature: `r` and `s`, as `WebCrypto` writes them.
const SIGNATURE_BYTES: usize = 64;
const NONCE_DIGITS: usize = 32;

macro_rules! checked_text {
    ($(#[$doc:meta])* $name:ident, $what:literal, $pattern:literal, $max:literal, $want:literal, $is:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Eq, Hash, PartialEq, serde::Deserialize, serde::Serialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        string_newtype!($name, $pattern, $max, $what);

        impl std::str::FromStr for $name {
            type Err = ParseIdError;
            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                let is: fn(&str) -> bool = $is;
                if is(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(ParseIdError { what: $what, want: $want })
                }
            }
        }
    };
}

checked_text! {
    /// A public key (ECDSA on P-256): its uncompressed point in base64url.
    PublicKey, "public key", "^B[A-Za-z0-9_-]{86}$", 87,
    "an uncompressed point of P-256 in base64url without padding",
    |text| decode(text).is_some_and(|bytes| {
        bytes.len() == KEY_BYTES && bytes.first() == Some(&UNCOMPRESSED)
    })
}

checked_text! {
    /// A signature (ECDSA on P-256 with SHA-256): `r` and `s` in base64url.
    Signature, "signature", "^[A-Za-z0-9_-]{86}$", 86,
    "64 bytes in base64url without padding",
    |text| decode(text).is_some_and(|bytes| bytes.len() == SIGNATURE_BYTES)
}

checked_text! {
    /// A number that was never used before: 128 random bits as hex digits.
    Nonce, "nonce", "^[0-9a-f]{32}$", 32, "32 hex digits",
    |text| text.len() == NONCE_DIGITS && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

impl PublicKey {
    /// Reads the bytes of an uncompressed point.
    #[must_use]
    pub fn from_bytes(point: &[u8]) -> Option<Self> {
        URL_SAFE_NO_PAD.encode(point).parse().ok()
    }

    /// Returns 128 bits of the key's digest as hex digits: enough to know the key by, short enough for a link.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let point = decode(&self.0).unwrap_or_default();
        hex(&ring::digest::digest(&ring::digest::SHA256, &point).as_ref()[..16])
    }

    /// Returns whether the owner of the key signed this text.
    #[must_use]
    pub fn signed(&self, text: &str, signature: &Signature) -> bool {
        let (Some(point), Some(bytes)) = (decode(&self.0), decode(&signature.0)) else {
            return false;
        };
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)
            .verify(text.as_bytes(), &bytes)
            .is_ok()
    }
}

impl Signature {
    /// Reads the bytes of a signature.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        URL_SAFE_NO_PAD.encode(bytes).parse().ok()
    }
}

impl Nonce {
    /// Makes a nonce from random bytes.
    #[must_use]
    pub fn generate(entropy: [u8; 16]) -> Self {
        Self(hex(&entropy))
    }
}

/// One meeting of a page and a daemon: what every signature of it covers.
#[derive(Clone, Copy, Debug)]
pub struct Meeting<'a> {
    /// The address, `host:port`, at which they meet.
    pub address: &'a str,
    /// The daemon's key.
    pub daemon: &'a PublicKey,
    /// The nonce that the page chose.
    pub page_nonce: &'a Nonce,
    /// The nonce that the daemon chose.
    pub daemon_nonce: &'a Nonce,
}

impl Meeting<'_> {
    /// Returns the text that the daemon signs: it is who it says, here and now.
    #[must_use]
    pub fn daemon_text(&self) -> String {
        self.text("daemon", &[])
    }

    /// Returns the text that a page signs to get a bearer of its session.
    #[must_use]
    pub fn bearer_text(&self, session: &ConsoleSessionId) -> String {
        self.text("bearer", &[session.as_str()])
    }

    /// Returns the text that a page signs to register its key with a one-time code.
    #[must_use]
    pub fn registration_text(&self, code: &str, page: &PublicKey) -> String {
        self.text("register", &[code, page.as_str()])
    }

    /// One line each. No part has a line break, and the purpose stands first, so that no two meetings or
    /// purposes give the same text.
    fn text(&self, purpose: &str, more: &[&str]) -> String {
        let Self { address, daemon, page_nonce, daemon_nonce } = self;
        let mut text =
            format!("od console v1\n{purpose}\n{address}\n{daemon}\n{page_nonce}\n{daemon_nonce}");
        for part in more {
            text.push('\n');
            text.push_str(part);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nonce(digit: u8) -> Nonce {
        Nonce::generate([digit; 16])
    }

    fn key(fill: u8) -> PublicKey {
        let mut point = [fill; KEY_BYTES];
        point[0] = UNCOMPRESSED;
        PublicKey::from_bytes(&point).unwrap()
    }

    #[test]
    fn every_part_of_a_meeting_and_the_purpose_change_the_text() {
        let (daemon, other, page, own) = (key(1), key(2), nonce(1), nonce(2));
        let meeting = Meeting {
            address: "127.0.0.1:7456",
            daemon: &daemon,
            page_nonce: &page,
            daemon_nonce: &own,
        };
        let session: ConsoleSessionId = "cs-1".parse().unwrap();
        let texts = [
            meeting.daemon_text(),
            Meeting { address: "127.0.0.1:7458", ..meeting }.daemon_text(),
            Meeting { daemon: &other, ..meeting }.daemon_text(),
            Meeting { page_nonce: &own, ..meeting }.daemon_text(),
            Meeting { daemon_nonce: &page, ..meeting }.daemon_text(),
            meeting.bearer_text(&session),
            meeting.bearer_text(&"cs-2".parse().unwrap()),
            meeting.registration_text("a", &daemon),
            meeting.registration_text("b", &daemon),
            meeting.registration_text("a", &other),
        ];
        let different: std::collections::HashSet<_> = texts.iter().collect();
        assert_eq!(different.len(), texts.len());
        assert_eq!(
            meeting.bearer_text(&session).lines().take(3).collect::<Vec<_>>(),
            ["od console v1", "bearer", "127.0.0.1:7456"],
            "the page writes the same text"
        );
    }

    #[test]
    fn what_is_no_key_signature_or_nonce_is_refused() {
        for text in ["", "AAAA", &"A".repeat(87), &format!("B{}=", "A".repeat(86))] {
            assert!(text.parse::<PublicKey>().is_err(), "{text}");
        }
        assert!(format!("B{}", "A".repeat(86)).parse::<PublicKey>().is_ok());
        assert!("A".repeat(85).parse::<Signature>().is_err());
        for text in ["", "0", &"g".repeat(32), &"A".repeat(32), &"0".repeat(33)] {
            assert!(text.parse::<Nonce>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_signature_is_good_for_its_text_and_key_only() {
        use ring::rand::SystemRandom;
        use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
        let random = SystemRandom::new();
        let make = || {
            let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
            let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
            EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap()
        };
        let (one, two) = (make(), make());
        let public =
            |pair: &EcdsaKeyPair| PublicKey::from_bytes(pair.public_key().as_ref()).unwrap();
        let signature = one.sign(&random, b"text").unwrap();
        let signature = Signature::from_bytes(signature.as_ref()).unwrap();
        assert!(public(&one).signed("text", &signature));
        assert!(!public(&one).signed("texT", &signature));
        assert!(!public(&two).signed("text", &signature));
        // A point that is not on the curve has signed nothing.
        assert!(!key(1).signed("text", &signature));
    }
}
