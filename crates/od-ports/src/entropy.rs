//! Randomness as the use cases see it.

use std::fmt;

/// Gives random bytes fit for keys and ids.
///
/// # Contract
///
/// - `fill` writes every byte of the buffer, from a cryptographic source (a fake may count instead).
/// - It fails rather than hand out bytes that are not random.
pub trait Entropy: fmt::Debug + Send + Sync {
    /// Fills the whole buffer.
    fn fill(&self, buffer: &mut [u8]) -> Result<(), EntropyError>;
}

/// The operating system gave no randomness.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the system gave no random bytes")]
pub struct EntropyError;
