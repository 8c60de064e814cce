//! In-memory adapters for tests. They run the same contract suite as the real ones.

mod canary;
mod echo_query_engine;
mod memory_access;
mod memory_agents;
mod memory_artifacts;
mod memory_events;
mod memory_notifications;
mod memory_projects;
mod memory_sessions;
mod memory_signers;
mod scripted_connector;
mod still_clock;

pub use canary::{CANARY, assert_no_canary, assert_no_canary_below, find_canary};
pub use echo_query_engine::EchoQueryEngine;
pub use memory_access::{MemoryRunStore, MemoryServiceRegistry, MemoryTokens, MemoryVault};
pub use memory_agents::{Heard, MemoryAgentSessions, ScriptedAgent, ScriptedAgents};
pub use memory_artifacts::MemoryArtifactStore;
pub use memory_events::MemoryEvents;
pub use memory_notifications::{MemoryNotifier, MemoryWebhooks, PathSender};
pub use memory_projects::{MemoryProjectFiles, MemoryProjectRegistry};
pub use memory_sessions::MemoryConsoleSessions;
pub use memory_signers::MemorySignerKeys;
pub use scripted_connector::{Act, ScriptedConnector};
pub use still_clock::{CountingEntropy, StillClock};
