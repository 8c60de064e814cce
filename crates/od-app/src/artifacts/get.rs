//! Read one artifact.

use std::sync::Arc;

use od_ports::store::Stored;

use super::find::{Address, FindError, find};
use crate::{App, Caller};

/// One artifact, with what is derived for its readers.
#[derive(Clone, Debug)]
pub struct Detail {
    /// What is stored.
    pub stored: Arc<Stored>,
    /// Whether it may be refreshed now.
    pub refreshable: bool,
}

impl Detail {
    pub(crate) fn of(stored: Arc<Stored>) -> Self {
        let refreshable = stored.summary.refreshable;
        Self { stored, refreshable }
    }
}

/// Returns one artifact, damaged or not.
pub async fn get(app: &App, caller: &Caller, address: Address) -> Result<Detail, FindError> {
    let project = find(app, caller, &address).await?;
    Ok(Detail::of(app.ports.artifacts.load(&project, &address.artifact).await?))
}
