//! A key for bundles, and signers, kept in memory.

use std::sync::{Mutex, MutexGuard, PoisonError};

use od_core::bundle::{BundleSignature, KnownSigner, SignerKey};
use od_core::ids::Timestamp;
use ring::signature::{Ed25519KeyPair, KeyPair as _};

use crate::access::signer_keys::{SignerKeys, SignersError, put_signer};

/// Signs with keys that are the same in every run of a test: golden bundles need them.
#[derive(Debug, Default)]
pub struct MemorySignerKeys {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    made: u8,
    is_there: bool,
    known: Vec<KnownSigner>,
}

impl MemorySignerKeys {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn pair(number: u8) -> (Ed25519KeyPair, SignerKey) {
    let pair = Ed25519KeyPair::from_seed_unchecked(&[number; 32]).expect("a seed");
    let key = SignerKey::of_bytes(pair.public_key().as_ref().try_into().expect("32 bytes"));
    (pair, key)
}

impl SignerKeys for MemorySignerKeys {
    fn own(&self) -> Result<Option<SignerKey>, SignersError> {
        let kept = self.kept();
        Ok(kept.is_there.then(|| pair(kept.made).1))
    }

    fn sign(&self, message: &[u8]) -> Result<(SignerKey, BundleSignature), SignersError> {
        let mut kept = self.kept();
        if !kept.is_there {
            kept.made += 1;
            kept.is_there = true;
        }
        let (pair, key) = pair(kept.made);
        let signature = pair.sign(message);
        Ok((key, BundleSignature::of_bytes(signature.as_ref().try_into().expect("64 bytes"))))
    }

    fn known(&self) -> Result<Vec<KnownSigner>, SignersError> {
        Ok(self.kept().known.clone())
    }

    fn remember(&self, signer: KnownSigner) -> Result<(), SignersError> {
        put_signer(&mut self.kept().known, signer);
        Ok(())
    }

    fn revoke(&self, key: &SignerKey, at: Timestamp) -> Result<(), SignersError> {
        let mut kept = self.kept();
        if kept.is_there && pair(kept.made).1 == *key {
            kept.is_there = false;
        }
        let signer = KnownSigner { key: key.clone(), name: None, since: at, revoked_at: Some(at) };
        put_signer(&mut kept.known, signer);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_keep_the_contract() {
        let keys = MemorySignerKeys::default();
        crate::contract::check_signer_keys(&keys, &keys);
    }
}
