//! The contract of each port as a function that panics when an adapter breaks it.

mod credential_vault;

pub use credential_vault::check_credential_vault;
