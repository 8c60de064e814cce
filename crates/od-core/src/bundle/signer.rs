//! The key that a bundle is signed with, and what is known of it here.

use ring::signature::{ED25519, UnparsedPublicKey};

use crate::ids::{ParseIdError, Timestamp, hex, string_newtype};

/// Stands before what is signed, so that a signature for a bundle is worth nothing elsewhere.
const DOMAIN: &[u8] = b"od bundle v1\n";
const KEY_PREFIX: &str = "ed25519:";
const KEY_BYTES: usize = 32;
const SIGNATURE_BYTES: usize = 64;

/// The public key of a signer: `ed25519:` and 64 hex digits.
#[derive(
    Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, serde::Deserialize, serde::Serialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct SignerKey(String);

string_newtype!(SignerKey, "^ed25519:[0-9a-f]{64}$", 72, "public key of a signer");

impl SignerKey {
    /// Returns the key of its 32 bytes.
    #[must_use]
    pub fn of_bytes(bytes: &[u8; KEY_BYTES]) -> Self {
        Self(format!("{KEY_PREFIX}{}", hex(bytes)))
    }

    /// Returns the first digits, by which people tell keys apart.
    #[must_use]
    pub fn short(&self) -> &str {
        self.0.get(KEY_PREFIX.len()..KEY_PREFIX.len() + 16).unwrap_or(&self.0)
    }

    /// Returns whether the signature is this key's over the manifest.
    #[must_use]
    pub fn has_signed(&self, manifest: &[u8], signature: &BundleSignature) -> bool {
        let key = unhex(self.0.get(KEY_PREFIX.len()..).unwrap_or_default()).unwrap_or_default();
        if is_weak(&key) {
            return false;
        }
        let signature = unhex(signature.as_str()).unwrap_or_default();
        UnparsedPublicKey::new(&ED25519, key).verify(&signed_bytes(manifest), &signature).is_ok()
    }
}

impl std::str::FromStr for SignerKey {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let is_key = text.strip_prefix(KEY_PREFIX).is_some_and(|digits| is_hex(digits, KEY_BYTES));
        if is_key {
            Ok(Self(text.to_owned()))
        } else {
            Err(ParseIdError { what: "public key", want: "ed25519: and 64 lower-case hex digits" })
        }
    }
}

/// A signature over a manifest: 128 hex digits.
#[derive(Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct BundleSignature(String);

string_newtype!(BundleSignature, "^[0-9a-f]{128}$", 128, "signature of a bundle");

impl BundleSignature {
    /// Returns the signature of its 64 bytes.
    #[must_use]
    pub fn of_bytes(bytes: &[u8; SIGNATURE_BYTES]) -> Self {
        Self(hex(bytes))
    }
}

impl std::str::FromStr for BundleSignature {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        if is_hex(text, SIGNATURE_BYTES) {
            Ok(Self(text.to_owned()))
        } else {
            Err(ParseIdError { what: "signature", want: "128 lower-case hex digits" })
        }
    }
}

/// Returns whether a key is one of the points of small order, or a point written in a second way.
///
/// Signatures can be made for them that hold for any text, without a secret; the library follows
/// RFC 8032, which does not look for them.
fn is_weak(key: &[u8]) -> bool {
    const SMALL_ORDER: [&str; 5] = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ];
    let Ok(mut place) = <[u8; KEY_BYTES]>::try_from(key) else { return true };
    // The highest bit is a sign: a point and its negative have the same order.
    place[KEY_BYTES - 1] &= 0x7f;
    // 2^255 - 19 and above are small numbers once more.
    let is_second_form = place[0] >= 0xed
        && place[1..KEY_BYTES - 1].iter().all(|byte| *byte == 0xff)
        && place[KEY_BYTES - 1] == 0x7f;
    is_second_form || SMALL_ORDER.contains(&hex(&place).as_str())
}

/// Returns the bytes that are signed for a manifest.
#[must_use]
pub(super) fn signed_bytes(manifest: &[u8]) -> Vec<u8> {
    [DOMAIN, manifest].concat()
}

/// A signer that was met before.
#[derive(Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KnownSigner {
    /// The key.
    pub key: SignerKey,
    /// The name that the person here gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// When it was first trusted here.
    pub since: Timestamp,
    /// When the person here stopped trusting it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
}

/// What is known here of the key that signed a bundle.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Standing {
    /// It is the person's own.
    Own,
    /// It was trusted before.
    Known(KnownSigner),
    /// Nobody has met it here: the first import trusts it.
    New,
    /// The person has revoked it.
    Revoked(KnownSigner),
}

impl Standing {
    /// Looks a key up. A revoked key stays revoked, also the person's own.
    #[must_use]
    pub fn of(key: &SignerKey, own: Option<&SignerKey>, known: &[KnownSigner]) -> Self {
        match known.iter().find(|signer| signer.key == *key) {
            Some(signer) if signer.revoked_at.is_some() => Self::Revoked(signer.clone()),
            _ if own == Some(key) => Self::Own,
            Some(signer) => Self::Known(signer.clone()),
            None => Self::New,
        }
    }

    /// Returns the word for it in answers.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Known(_) => "known",
            Self::New => "new",
            Self::Revoked(_) => "revoked",
        }
    }
}

fn is_hex(text: &str, bytes: usize) -> bool {
    text.len() == 2 * bytes && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = text.as_bytes().chunks_exact(2);
    pairs.map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

#[cfg(test)]
mod tests {
    use ring::signature::{Ed25519KeyPair, KeyPair as _};

    use super::*;

    #[test]
    fn a_key_that_anybody_can_sign_for_has_signed_nothing() {
        // R is the neutral point and S is 0: that holds for any text under a key of order one.
        let signature: BundleSignature = format!("01{}", "00".repeat(63)).parse().unwrap();
        let last = |key: &str, byte: &str| format!("{}{byte}", &key[..62]);
        let one = format!("01{}", "00".repeat(31));
        let minus_one = format!("ec{}7f", "ff".repeat(30));
        let keys = [
            one.clone(),
            last(&one, "80"),
            "00".repeat(32),
            minus_one.clone(),
            last(&minus_one, "ff"),
            format!("ee{}7f", "ff".repeat(30)),
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85".to_owned(),
        ];
        for digits in keys {
            let key: SignerKey = format!("ed25519:{digits}").parse().unwrap();
            for manifest in ["one", "two", "three"] {
                assert!(!key.has_signed(manifest.as_bytes(), &signature), "{digits} {manifest}");
            }
        }
    }

    #[test]
    fn a_signature_holds_for_its_manifest_and_its_key_alone() {
        let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
        let key = SignerKey::of_bytes(pair.public_key().as_ref().try_into().unwrap());
        let sign =
            |bytes: &[u8]| BundleSignature::of_bytes(pair.sign(bytes).as_ref().try_into().unwrap());
        assert!(key.has_signed(b"m", &sign(&signed_bytes(b"m"))));
        assert!(!key.has_signed(b"n", &sign(&signed_bytes(b"m"))));
        assert!(!key.has_signed(b"m", &sign(b"m")), "another domain");
        let other = SignerKey::of_bytes(&[9; 32]);
        assert!(!other.has_signed(b"m", &sign(&signed_bytes(b"m"))));
    }

    #[test]
    fn a_revoked_key_is_revoked_whoever_it_belongs_to() {
        let (key, at) = (SignerKey::of_bytes(&[1; 32]), Timestamp::from_unix_ms(0));
        let mut signer = KnownSigner { key: key.clone(), name: None, since: at, revoked_at: None };
        let standing = |known: &[KnownSigner], own| Standing::of(&key, own, known).word();
        assert_eq!(standing(&[], None), "new");
        assert_eq!(standing(&[], Some(&key)), "own");
        assert_eq!(standing(std::slice::from_ref(&signer), None), "known");
        signer.revoked_at = Some(at);
        assert_eq!(standing(&[signer], Some(&key)), "revoked");
    }
}
