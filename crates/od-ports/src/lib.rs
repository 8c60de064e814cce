//! What the rules need from outside: one small, object-safe trait each, and the contract test-suite
//! that every adapter and every fake runs.
//!
//! Must not know: any adapter.

pub mod clock;
#[cfg(any(test, feature = "fakes"))]
pub mod contract;
pub mod credential_vault;
pub mod entropy;
#[cfg(any(test, feature = "fakes"))]
pub mod fakes;
pub mod project_files;
pub mod project_registry;

pub use clock::Clock;
pub use credential_vault::CredentialVault;
pub use entropy::Entropy;
pub use project_files::ProjectFiles;
pub use project_registry::ProjectRegistry;
