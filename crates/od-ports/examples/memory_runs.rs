//! A store of one's own: the runs of agents in memory, put through the contract suite that the files of the
//! daemon pass. Whoever keeps runs in a database writes this file with other bodies.
//!
//! `cargo run -p od-ports --features fakes --example memory_runs`

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use od_core::ids::{RunId, Timestamp};
use od_ports::RunStore;
use od_ports::agents::run_store::{Run, RunStoreError};

/// Runs in a map.
#[derive(Debug, Default)]
pub(crate) struct Runs(Mutex<BTreeMap<RunId, Run>>);

impl Runs {
    fn all(&self) -> MutexGuard<'_, BTreeMap<RunId, Run>> {
        // A panic elsewhere leaves whole runs behind: each change is one insertion.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl RunStore for Runs {
    async fn create(&self, run: &Run) -> Result<(), RunStoreError> {
        let mut all = self.all();
        if all.contains_key(&run.id) {
            return Err(RunStoreError::Exists { run: run.id.clone() });
        }
        all.insert(run.id.clone(), run.clone());
        Ok(())
    }

    async fn get(&self, run: &RunId) -> Result<Option<Run>, RunStoreError> {
        Ok(self.all().get(run).cloned())
    }

    async fn replace(&self, from: &Run, to: &Run) -> Result<(), RunStoreError> {
        match self.all().get_mut(&from.id).filter(|stored| *stored == from) {
            Some(stored) => {
                stored.clone_from(to);
                Ok(())
            }
            None => Err(RunStoreError::Changed { run: from.id.clone() }),
        }
    }

    async fn forget(&self, over_at: Timestamp) -> Result<(), RunStoreError> {
        self.all().retain(|_, run| !run.was_over_at(over_at));
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let project = "demo".parse()?;
    // Panics, and says what, where the store breaks its contract.
    od_ports::contract::check_run_store(&Runs::default(), &project).await;
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_store_keeps_the_contract() {
        super::main().unwrap();
    }
}
