//! What every use case works with.

use od_ports::Ports;

use crate::connectors::ConnectorState;
use crate::preview::PageCache;
use crate::refresh::ActiveRefreshes;

/// The ports, and what the use cases remember between calls. Nothing in it is truth: another process
/// may work on the same store.
#[derive(Debug)]
pub struct App {
    /// The adapters.
    pub ports: Ports,
    /// Compiled templates and rendered pages.
    pub pages: PageCache,
    /// Calls made and last refusals of connectors.
    pub(crate) connectors: ConnectorState,
    /// The refreshes that run in this process.
    pub(crate) refreshes: ActiveRefreshes,
}

impl App {
    /// Makes one over the given adapters.
    pub fn new(ports: Ports) -> Self {
        Self {
            ports,
            pages: PageCache::default(),
            connectors: ConnectorState::default(),
            refreshes: ActiveRefreshes::default(),
        }
    }
}
