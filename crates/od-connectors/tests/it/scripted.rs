//! The scripted connector, and acts that wait.

use std::sync::Arc;

use od_core::json::Value;
pub(crate) use od_ports::fakes::{Act, ScriptedConnector};
use tokio::sync::Semaphore;

/// Answers when the gate has a permit.
pub(crate) fn wait(gate: Arc<Semaphore>, value: Value) -> Act {
    Act::work(move || {
        let (gate, value) = (Arc::clone(&gate), value.clone());
        async move {
            gate.acquire().await.unwrap().forget();
            value
        }
    })
}
