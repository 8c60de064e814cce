//! The stdio MCP server: a thin client of `/api/tools/*`.
//!
//! Must not know: storage, policy.
