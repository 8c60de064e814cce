//! The person's key for bundles, and the signers that were met.

use std::fmt;

use od_core::bundle::{BundleSignature, KnownSigner, SignerKey};
use od_core::ids::Timestamp;

use crate::access::credential_vault::VaultError;

/// Signs bundles, and keeps which signers are trusted here.
///
/// # Contract
///
/// - The private half never leaves; `sign` makes the key on first use, and nothing else does.
/// - `remember` adds a signer, or gives a known one another name; a revoked one stays revoked.
/// - `revoke` of the person's own key also puts it away: the next `sign` makes another.
/// - A change by another process is seen by the next call, and reading creates nothing.
pub trait SignerKeys: fmt::Debug + Send + Sync {
    /// Returns the person's public key, if there is one.
    fn own(&self) -> Result<Option<SignerKey>, SignersError>;

    /// Signs bytes with the person's key.
    fn sign(&self, message: &[u8]) -> Result<(SignerKey, BundleSignature), SignersError>;

    /// Returns the signers that were met, by key.
    fn known(&self) -> Result<Vec<KnownSigner>, SignersError>;

    /// Trusts a signer.
    fn remember(&self, signer: KnownSigner) -> Result<(), SignersError>;

    /// Stops trusting a signer, met before or not.
    fn revoke(&self, key: &SignerKey, at: Timestamp) -> Result<(), SignersError>;
}

/// Adds a signer to those that are known, or changes its name; a revocation is never taken back by it.
pub fn put_signer(known: &mut Vec<KnownSigner>, signer: KnownSigner) {
    match known.iter_mut().find(|other| other.key == signer.key) {
        Some(other) => {
            if signer.name.is_some() {
                other.name = signer.name;
            }
            other.revoked_at = other.revoked_at.or(signer.revoked_at);
        }
        None => known.push(signer),
    }
    known.sort_by(|one, other| one.key.cmp(&other.key));
}

/// A failure of the keeper of signers.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SignersError {
    /// A file is not what was written.
    #[error("the signers of bundles cannot be read: {reason}")]
    Damaged {
        /// The fault.
        reason: String,
    },
    /// A file cannot be read or written now, or others could read it.
    #[error("the signers of bundles cannot be used: {reason}")]
    Unavailable {
        /// The action that failed.
        reason: String,
    },
    /// No more signers are remembered.
    #[error("{} signers are known, and no more are remembered", od_core::limits::KNOWN_SIGNERS.allowed)]
    Full,
}

/// Signers are kept in private files like those of the vault, and fail in the same ways.
impl From<VaultError> for SignersError {
    fn from(err: VaultError) -> Self {
        match err {
            VaultError::Damaged { reason } => Self::Damaged { reason },
            VaultError::NotPrivate { reason } | VaultError::Unavailable { reason } => {
                Self::Unavailable { reason }
            }
        }
    }
}
