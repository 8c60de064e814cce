//! Connector adapters: project files, git, GitHub.
//!
//! Must not know: storage.
