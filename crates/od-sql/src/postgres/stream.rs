//! The connection to a server: to the address that was checked, and no more bytes than a source may give.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use od_core::connector::DatabaseAddress;
use od_core::limits::INTAKE_SOURCE;
use od_pgconn::DialError;
use od_ports::connector_provider::ProviderError;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Room for the frames of the protocol and of TLS around the rows.
const FRAMES: usize = 4 * 1024 * 1024;

/// Connects to a database's server.
pub(super) async fn dial(address: &DatabaseAddress) -> Result<TcpStream, ProviderError> {
    od_pgconn::dial(address).await.map_err(|err| {
        let message = err.to_string();
        match err {
            DialError::Unreachable { .. } => ProviderError::Unavailable { message },
            DialError::PlainRemote => ProviderError::Forbidden { message },
        }
    })
}

/// A connection that ends when more came than a source may give.
///
/// The client reads a message whole before it hands it on: one value of a gigabyte would be in memory
/// before anybody could count it. So the bytes are counted here, below the client.
#[derive(Debug)]
pub(super) struct Capped {
    inner: TcpStream,
    left: usize,
    is_over: Arc<AtomicBool>,
}

/// Tells afterwards whether the cap was what ended a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Overflow(Arc<AtomicBool>);

impl Overflow {
    /// Returns whether more came than allowed.
    pub(super) fn happened(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Capped {
    /// Caps a connection.
    pub(super) fn new(inner: TcpStream, overflow: &Overflow) -> Self {
        let left = INTAKE_SOURCE.max() + FRAMES;
        Self { inner, left, is_over: Arc::clone(&overflow.0) }
    }
}

impl AsyncRead for Capped {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.inner).poll_read(context, buffer))?;
        let came = buffer.filled().len() - before;
        match this.left.checked_sub(came) {
            Some(left) => {
                this.left = left;
                Poll::Ready(Ok(()))
            }
            None => {
                this.is_over.store(true, Ordering::Relaxed);
                Poll::Ready(Err(io::Error::other("more came than a source may give")))
            }
        }
    }
}

impl AsyncWrite for Capped {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().inner).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(context)
    }
}
