//! Connector credentials on disk: AES-256-GCM records beside a key file that only its owner can read.

mod file_vault;
mod private_file;
mod record;
mod seal;

pub use file_vault::FileVault;

#[cfg(test)]
mod tests;
