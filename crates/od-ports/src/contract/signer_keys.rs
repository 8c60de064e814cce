//! The contract suite of every keeper of signers.

use od_core::bundle::{KnownSigner, SignerKey, Standing};
use od_core::ids::Timestamp;

use crate::access::signer_keys::SignerKeys;

/// Puts an empty keeper, and a second one over the same place, through the contract of [`SignerKeys`].
///
/// # Panics
///
/// When a keeper breaks the contract.
pub fn check_signer_keys(keys: &dyn SignerKeys, again: &dyn SignerKeys) {
    assert_eq!(keys.own(), Ok(None), "reading makes no key");
    let (own, signature) = keys.sign(b"a message").expect("a signature");
    assert_eq!(again.own(), Ok(Some(own.clone())), "the key is made once");
    assert_eq!(again.sign(b"a message"), Ok((own.clone(), signature.clone())), "one spelling");
    assert_ne!(again.sign(b"another").expect("a signature").1, signature);

    let at = Timestamp::from_unix_ms(5);
    let key = SignerKey::of_bytes(&[1; 32]);
    let signer = KnownSigner { key: key.clone(), name: None, since: at, revoked_at: None };
    assert_eq!(keys.remember(signer.clone()), Ok(()));
    assert_eq!(again.known(), Ok(vec![signer.clone()]));
    let named = KnownSigner {
        name: Some("Ada".to_owned()),
        since: Timestamp::from_unix_ms(9),
        ..signer.clone()
    };
    assert_eq!(again.remember(named), Ok(()));
    let known = keys.known().expect("signers");
    assert_eq!((known.len(), known[0].name.as_deref(), known[0].since), (1, Some("Ada"), at));

    assert_eq!(again.revoke(&key, at), Ok(()));
    assert_eq!(keys.remember(signer), Ok(()));
    let standing = Standing::of(&key, None, &keys.known().expect("signers"));
    assert!(matches!(standing, Standing::Revoked(_)), "what was revoked stays so: {standing:?}");

    assert_eq!(keys.revoke(&own, at), Ok(()));
    assert_eq!(again.own(), Ok(None), "a revoked key of one's own is put away");
    let (next, _) = again.sign(b"a message").expect("a signature");
    assert_ne!(next, own, "another is made");
    let standing = Standing::of(&own, Some(&next), &keys.known().expect("signers"));
    assert!(matches!(standing, Standing::Revoked(_)), "{standing:?}");
}
