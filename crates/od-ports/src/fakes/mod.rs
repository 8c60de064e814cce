//! In-memory adapters for tests. They run the same contract suite as the real ones.

mod canary;
mod echo_query_engine;
mod memory_artifacts;
mod memory_events;
mod memory_projects;
mod memory_runs;
mod memory_tokens;
mod memory_vault;
mod scripted_connector;
mod still_clock;

pub use canary::{CANARY, assert_no_canary, assert_no_canary_below, find_canary};
pub use echo_query_engine::EchoQueryEngine;
pub use memory_artifacts::MemoryArtifactStore;
pub use memory_events::MemoryEvents;
pub use memory_projects::{MemoryProjectFiles, MemoryProjectRegistry};
pub use memory_runs::MemoryRunStore;
pub use memory_tokens::MemoryTokens;
pub use memory_vault::MemoryVault;
pub use scripted_connector::{Act, ScriptedConnector};
pub use still_clock::{CountingEntropy, StillClock};
