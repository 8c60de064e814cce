//! What a process remembers about connectors between calls.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use od_core::ids::ConnectorId;

use super::rate::RateLimiter;

/// Call counts, and the last refusal of each provider. Lost with the process, and no worse for it.
#[derive(Debug, Default)]
pub(crate) struct ConnectorState {
    pub(crate) rate: RateLimiter,
    last_errors: Mutex<HashMap<ConnectorId, String>>,
}

impl ConnectorState {
    /// Returns what went wrong in the last call of a connector, if it did.
    pub(crate) fn last_error(&self, connector: &ConnectorId) -> Option<String> {
        let errors = self.last_errors.lock().unwrap_or_else(PoisonError::into_inner);
        errors.get(connector).cloned()
    }

    /// Remembers how a call went. There are as many entries as connectors.
    pub(crate) fn note(&self, connector: &ConnectorId, error: Option<String>) {
        let mut errors = self.last_errors.lock().unwrap_or_else(PoisonError::into_inner);
        match error {
            Some(error) => errors.insert(connector.clone(), error),
            None => errors.remove(connector),
        };
    }
}
