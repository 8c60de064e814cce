//! What every use case works with.

use od_ports::Ports;

use crate::preview::PageCache;

/// The ports, and what the use cases remember between calls. Nothing in it is truth: another process
/// may work on the same store.
#[derive(Debug)]
pub struct App {
    /// The adapters.
    pub ports: Ports,
    /// Compiled templates and rendered pages.
    pub pages: PageCache,
}

impl App {
    /// Makes one over the given adapters.
    pub fn new(ports: Ports) -> Self {
        Self { ports, pages: PageCache::default() }
    }
}
