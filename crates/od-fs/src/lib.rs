//! Filesystem adapters: the artifact store with its commit protocol, project files, runs, keyring,\n//! credential vault.
//!
//! Must not know: HTTP, argv.
