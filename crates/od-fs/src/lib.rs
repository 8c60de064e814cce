//! Filesystem adapters: the artifact store with its commit protocol, project files, runs, keyring,
//! credential vault.
//!
//! Must not know: HTTP, argv.

mod artifacts;
mod data_dir;
mod disk;
mod keyring;
mod private_dir;
mod project_cache;
mod project_files;
mod projects;
mod runs;
mod system;
mod vault;

pub use artifacts::FileArtifactStore;
pub use data_dir::DataDir;
pub use keyring::FileTokenAuthority;
pub use private_dir::{PrivateDir, PrivateError, shell_quoted};
pub use project_files::DiskProjectFiles;
pub use projects::FileProjectRegistry;
pub use runs::FileRunStore;
pub use system::{Lane, SystemClock, SystemEntropy};
pub use vault::FileVault;
