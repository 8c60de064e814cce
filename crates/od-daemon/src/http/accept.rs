//! The accept loop: bounded connections, deadlines before the first byte, and a clean end.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioTimer;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::body::Body;
use super::connection_cap::{ConnectionCap, Slot};
use super::stall::StallGuard;

/// The time a connection has to send a whole request head, from the moment it is accepted or
/// has been answered.
const HEAD_DEADLINE: Duration = od_core::limits::HEAD_TIMEOUT.duration();
/// The time a peer may leave what is written to it unread.
const WRITE_STALL_MAX: Duration = od_core::limits::UNREAD_ANSWER.duration();
/// Bytes of request line and headers.
const HEAD_BYTES_MAX: usize = od_core::limits::REQUEST_HEAD.max();
/// Number of headers.
const HEADERS_MAX: usize = od_core::limits::REQUEST_HEADERS.max();
/// Bytes buffered for one connection.
const BUFFER_BYTES_MAX: usize = od_core::limits::CONNECTION_BUFFER.max();
/// The pause after the system has refused a connection for want of resources: without it the loop
/// would spin on the same error until a descriptor is free.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// Answers the requests of one listener.
pub(crate) trait Answer: Send + Sync + 'static {
    /// Answers one request. There is an answer to everything.
    fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> impl Future<Output = Response<Body>> + Send;
}

/// Accepts connections until told to stop.
pub(crate) async fn run<A: Answer>(
    listener: TcpListener,
    connections: Arc<ConnectionCap>,
    answer: Arc<A>,
    mut stopping: watch::Receiver<bool>,
) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopping.wait_for(|stop| *stop) => return,
        };
        match accepted {
            Ok((stream, _)) => {
                // Without a place the stream is dropped, which closes it: every other connection is being
                // answered, and a queue of the waiting would be one more thing to fill.
                if let Some(slot) = connections.take() {
                    tokio::spawn(serve(stream, slot, Arc::clone(&answer), stopping.clone()));
                }
            }
            // Out of file descriptors: somebody silent gives way, or the next try fails as well.
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                // ENFILE, EMFILE, ENOBUFS, ENOMEM; anything else is about the one connection.
                if matches!(error.raw_os_error(), Some(23 | 24 | 105 | 12)) {
                    connections.evict_one();
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

async fn serve<A: Answer>(
    stream: TcpStream,
    slot: Slot,
    answer: Arc<A>,
    mut stopping: watch::Receiver<bool>,
) {
    // Answers are written whole; waiting to merge them would only delay them.
    let _ = stream.set_nodelay(true);
    let slot = Arc::new(slot);
    let service = {
        let slot = Arc::clone(&slot);
        service_fn(move |mut request: Request<Incoming>| {
            let presence = slot.request();
            // Whoever reads a body says when it is there; without one, all is there already.
            if request.body().is_end_stream() {
                presence.answer();
            }
            request.extensions_mut().insert(presence.clone());
            let answer = Arc::clone(&answer);
            async move {
                let mut response = answer.answer(request).await;
                presence.answer();
                response.body_mut().hold(presence);
                Ok::<_, std::convert::Infallible>(response)
            }
        })
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_DEADLINE)
        .max_headers(HEADERS_MAX)
        .max_header_size(HEAD_BYTES_MAX)
        .max_buf_size(BUFFER_BYTES_MAX)
        .serve_connection(StallGuard::new(stream, WRITE_STALL_MAX, slot.reading()), service);
    let mut connection = pin!(connection);
    let mut is_stopping = false;
    loop {
        tokio::select! {
            // The connection first: one that has just finished its answer is over, and not evicted.
            biased;
            // A broken connection is the client's business; there is nobody left to tell.
            _ = connection.as_mut() => return,
            () = slot.evicted() => return,
            _ = stopping.wait_for(|stop| *stop), if !is_stopping => {
                is_stopping = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}
