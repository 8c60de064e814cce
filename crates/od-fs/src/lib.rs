//! Filesystem adapters: the artifact store with its commit protocol, project files, runs, keyring,
//! credential vault.
//!
//! Must not know: HTTP, argv.

mod agent_sessions;
mod artifacts;
mod data_dir;
/// The few disk operations everything else is built from.
mod disk {
    mod dir;
    mod error;
    mod file_lock;
    mod file_stat;
    mod frame;

    pub(crate) use dir::{Dir, sync_file};
    pub(crate) use error::{
        DiskError, is_damage, is_foreign, is_no_directory, is_taken_by_directory,
    };
    pub(crate) use file_lock::{FileLock, LockAttempt};
    pub(crate) use file_stat::{EntryKind, FileStat};
    pub(crate) use frame::{Frame, FrameError};
}
mod folder_watch;
mod grants;
mod keyring;
mod private_dir;
mod project_cache;
mod project_files;
mod projects;
mod runs;
mod system;
/// Files that only their owner can read: connector credentials (AES-256-GCM records beside a key), registered services and webhooks, console sessions.
mod vault {
    mod console_sessions;
    mod file_vault;
    mod list_file;
    mod private_file;
    mod record;
    mod seal;
    mod services;
    mod signer_keys;
    mod webhooks;

    pub use console_sessions::FileConsoleSessions;
    pub use file_vault::FileVault;
    pub use services::FileServiceRegistry;
    pub use signer_keys::FileSignerKeys;
    pub use webhooks::FileWebhooks;

    #[cfg(test)]
    mod tests;
}

pub use agent_sessions::FileAgentSessions;
pub use artifacts::FileArtifactStore;
pub use data_dir::DataDir;
pub use folder_watch::FolderWatch;
pub use grants::GrantGuard;
pub use keyring::FileTokenAuthority;
pub use private_dir::{PrivateDir, PrivateError, shell_quoted};
pub use project_files::DiskProjectFiles;
pub use projects::FileProjectRegistry;
pub use runs::FileRunStore;
pub use system::{Lane, SystemClock, SystemEntropy};
pub use vault::{
    FileConsoleSessions, FileServiceRegistry, FileSignerKeys, FileVault, FileWebhooks,
};
