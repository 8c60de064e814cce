//! Where blocking calls run.

use std::io;

use crate::disk::DiskError;

/// Where blocking calls run: on the runtime's worker threads, or right here.
///
/// `Inline` keeps every system call of a process in one order, which is what a test that interrupts
/// the n-th of them needs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Lane {
    /// On the runtime's blocking threads.
    #[default]
    Pool,
    /// On the calling thread.
    Inline,
}

/// Says that the runtime is shutting down, or that the call panicked.
pub(crate) fn ended_early() -> DiskError {
    DiskError::new("run on a worker thread", io::Error::other("the worker thread ended early"))
}

impl Lane {
    pub(crate) async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, DiskError> {
        match self {
            Self::Pool => tokio::task::spawn_blocking(work).await.map_err(|_| ended_early()),
            Self::Inline => Ok(work()),
        }
    }
}
