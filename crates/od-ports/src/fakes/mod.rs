//! In-memory adapters for tests. They run the same contract suite as the real ones.

mod memory_vault;

pub use memory_vault::MemoryVault;
