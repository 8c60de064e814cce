//! The person's key for bundles and the signers that were met: two private files beside the keyring.

use std::path::{Path, PathBuf};

use od_core::bundle::{BundleSignature, KnownSigner, SignerKey};
use od_core::ids::Timestamp;
use od_core::limits::{KEYRING_FILE, KNOWN_SIGNERS, SIGNERS_FILE};
use od_ports::access::signer_keys::{SignerKeys, SignersError, put_signer};
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};

use super::list_file::ListFile;
use super::private_file;

/// Keeps the key in `<home>/keys/bundle.key` and the signers in `<home>/keys/signers.json`.
#[derive(Clone, Debug)]
pub struct FileSignerKeys {
    signers: ListFile,
}

impl FileSignerKeys {
    /// Makes the keeper of a home directory; nothing is touched before the first use.
    #[must_use]
    pub fn in_home(home: &Path) -> Self {
        let signers = ListFile {
            directory: home.join("keys"),
            name: "signers.json",
            member: "signers",
            lock: "signers.lock",
            bytes_max: SIGNERS_FILE.allowed,
            is_forgettable: false,
        };
        Self { signers }
    }

    fn key_path(&self) -> PathBuf {
        self.signers.directory.join("bundle.key")
    }

    fn pair(&self) -> Result<Option<Ed25519KeyPair>, SignersError> {
        let Some(bytes) = private_file::read(&self.key_path(), KEYRING_FILE.allowed)? else {
            return Ok(None);
        };
        let damaged = |_| SignersError::Damaged { reason: "bundle.key is no key".to_owned() };
        Ed25519KeyPair::from_pkcs8(&bytes).map(Some).map_err(damaged)
    }

    fn make(&self) -> Result<Ed25519KeyPair, SignersError> {
        let unavailable = |reason: &str| SignersError::Unavailable { reason: reason.to_owned() };
        let made = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new())
            .map_err(|_| unavailable("no random bytes for a key"))?;
        private_file::make_directory(&self.signers.directory)?;
        private_file::create_once(&self.key_path(), made.as_ref())?;
        // Another process may have been first: there is one key, the one in the file.
        self.pair()?.ok_or_else(|| unavailable("bundle.key is gone again"))
    }

    fn put(&self, signer: KnownSigner) -> Result<(), SignersError> {
        self.signers.change(|signers| {
            put_signer(signers, signer);
            if KNOWN_SIGNERS.allows(signers.len()) { Ok(()) } else { Err(SignersError::Full) }
        })
    }
}

fn public(pair: &Ed25519KeyPair) -> Result<SignerKey, SignersError> {
    let damaged = |_| SignersError::Damaged { reason: "the key has another length".to_owned() };
    pair.public_key().as_ref().try_into().map(SignerKey::of_bytes).map_err(damaged)
}

impl SignerKeys for FileSignerKeys {
    fn own(&self) -> Result<Option<SignerKey>, SignersError> {
        self.pair()?.as_ref().map(public).transpose()
    }

    fn sign(&self, message: &[u8]) -> Result<(SignerKey, BundleSignature), SignersError> {
        let pair = match self.pair()? {
            Some(pair) => pair,
            None => self.make()?,
        };
        let damaged = |_| SignersError::Damaged { reason: "a signature is cut".to_owned() };
        let signature = pair.sign(message).as_ref().try_into().map(BundleSignature::of_bytes);
        Ok((public(&pair)?, signature.map_err(damaged)?))
    }

    fn known(&self) -> Result<Vec<KnownSigner>, SignersError> {
        Ok(self.signers.read()?)
    }

    fn remember(&self, signer: KnownSigner) -> Result<(), SignersError> {
        self.put(signer)
    }

    fn revoke(&self, key: &SignerKey, at: Timestamp) -> Result<(), SignersError> {
        let signer = KnownSigner { key: key.clone(), name: None, since: at, revoked_at: Some(at) };
        self.put(signer)?;
        if self.own()?.as_ref() == Some(key) {
            // Kept beside, not thrown away: what it signed may have to be explained one day.
            let aside = self.signers.directory.join(format!("bundle-{}.revoked", key.short()));
            std::fs::rename(self.key_path(), aside).map_err(|err| SignersError::Unavailable {
                reason: format!("cannot put bundle.key away: {}", err.kind()),
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_keep_the_contract() {
        let home = tempfile::tempdir().unwrap();
        let (one, two) =
            (FileSignerKeys::in_home(home.path()), FileSignerKeys::in_home(home.path()));
        od_ports::contract::check_signer_keys(&one, &two);
    }
}
