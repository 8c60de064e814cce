//! The contract suite of every run store.

use od_core::ids::{ProjectId, RunId};

use super::sample;
use crate::agents::run_store::{Run, RunState, RunStore, RunStoreError};

/// Puts an empty store through the contract of [`RunStore`].
///
/// # Panics
///
/// When the store breaks the contract.
pub async fn check_run_store(store: &dyn RunStore, project: &ProjectId) {
    let id = RunId::generate([7; 16]);
    assert!(matches!(store.get(&id).await, Ok(None)), "a new store is empty");
    let run = Run {
        id: id.clone(),
        project_id: project.clone(),
        agent: None,
        state: RunState::Live,
        started_at: sample::now(),
        lease_until: sample::now().plus_ms(1000),
        ended_at: None,
        endpoints: Vec::new(),
        operations: Vec::new(),
    };
    store.create(&run).await.expect("a run is added");
    assert!(matches!(store.create(&run).await, Err(RunStoreError::Exists { .. })));
    assert_eq!(store.get(&id).await.expect("it can be read"), Some(run.clone()));
    assert!(run.is_live(sample::now()) && !run.is_live(run.lease_until), "a lease ends");
    let ended = Run { state: RunState::Ended, ended_at: Some(sample::now()), ..run.clone() };
    store.replace(&run, &ended).await.expect("a run moves");
    let again = store.replace(&run, &ended).await;
    assert!(matches!(again, Err(RunStoreError::Changed { .. })), "from one state, once");
    assert_eq!(store.get(&id).await.expect("it can be read"), Some(ended.clone()));
    assert!(!ended.is_live(sample::now()), "what ended stays ended");
    let live = Run { id: RunId::generate([8; 16]), ..run };
    store.create(&live).await.expect("a run is added");
    store.forget(sample::now()).await.expect("runs are forgotten");
    assert_eq!(store.get(&id).await.expect("it can be read"), None, "it was over");
    assert_eq!(store.get(&live.id).await.expect("it can be read"), Some(live), "it is not");
}
