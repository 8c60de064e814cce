//! Runs kept in memory.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use od_core::ids::RunId;

use crate::run_store::{Run, RunStore, RunStoreError};

/// Keeps runs in memory.
#[derive(Debug, Default)]
pub struct MemoryRunStore {
    runs: Mutex<HashMap<RunId, Run>>,
}

impl MemoryRunStore {
    fn runs(&self) -> MutexGuard<'_, HashMap<RunId, Run>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl RunStore for MemoryRunStore {
    async fn create(&self, run: &Run) -> Result<(), RunStoreError> {
        let mut runs = self.runs();
        if runs.contains_key(&run.id) {
            return Err(RunStoreError::Exists { run: run.id.clone() });
        }
        runs.insert(run.id.clone(), run.clone());
        Ok(())
    }

    async fn get(&self, run: &RunId) -> Result<Option<Run>, RunStoreError> {
        Ok(self.runs().get(run).cloned())
    }

    async fn replace(&self, from: &Run, to: &Run) -> Result<(), RunStoreError> {
        let mut runs = self.runs();
        if runs.get(&from.id) != Some(from) {
            return Err(RunStoreError::Changed { run: from.id.clone() });
        }
        runs.insert(to.id.clone(), to.clone());
        Ok(())
    }
}
