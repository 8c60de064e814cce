//! Where blocking calls run.

use std::io;

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

/// The runtime is shutting down, or the call panicked.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the worker thread ended early")]
pub(crate) struct LaneClosed;

impl From<LaneClosed> for io::Error {
    fn from(err: LaneClosed) -> Self {
        Self::other(err)
    }
}

impl Lane {
    pub(crate) async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, LaneClosed> {
        match self {
            Self::Pool => tokio::task::spawn_blocking(work).await.map_err(|_| LaneClosed),
            Self::Inline => Ok(work()),
        }
    }
}
