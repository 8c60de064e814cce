//! A typed client of the daemon, used by the command line and the MCP server.
//!
//! Must not know: rules, storage.
