//! The listeners: on loopback and nowhere else, with as many connections as the system allows.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::net::TcpListener;

/// The port that a daemon has unless told otherwise.
pub const DEFAULT_PORT: u16 = 7456;
/// The number of ports after the API's are tried for previews.
const PREVIEW_PORTS_TRIED: u16 = 64;

/// Files kept for everything that is no connection: store, logs, sources.
const RESERVED: u64 = 256;
/// More connections than this are never held.
const CONNECTIONS_MAX: u64 = od_core::limits::CONNECTIONS.allowed;
const CONNECTIONS_MIN: u64 = 64;

/// Which port the API gets. The address is always 127.0.0.1.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Port {
    /// The default one, and no other.
    #[default]
    Default,
    /// This one, and no other.
    Fixed(u16),
    /// Whatever the system gives: for tests, and for daemons that `od run` starts.
    Any,
}

/// Why the daemon cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Somebody else listens there.
    #[error("port {port} is taken by another program")]
    PortTaken {
        /// The port.
        port: u16,
    },
    /// No port after the API's is free.
    #[error("no port from {first} to {last} is free for previews")]
    NoPreviewPort {
        /// The first that was tried.
        first: u16,
        /// The last that was tried.
        last: u16,
    },
    /// The system refused.
    #[error("could not listen on 127.0.0.1:{port}")]
    Io {
        /// The port.
        port: u16,
        /// What the system said.
        source: io::Error,
    },
}

/// The two listeners, bound and not yet accepting.
#[derive(Debug)]
pub(crate) struct Listeners {
    pub(crate) api: TcpListener,
    pub(crate) api_address: SocketAddr,
    pub(crate) preview: TcpListener,
    pub(crate) preview_address: SocketAddr,
}

impl Listeners {
    pub(crate) async fn bind(port: Port) -> Result<Self, ListenError> {
        let wanted = match port {
            Port::Default => DEFAULT_PORT,
            Port::Fixed(port) => port,
            Port::Any => 0,
        };
        let (api, api_address) = bind(wanted).await?;
        let (preview, preview_address) = match port {
            Port::Any => bind(0).await?,
            // Near the API's port, and mostly the same after a restart.
            Port::Default | Port::Fixed(_) => bind_after(api_address.port()).await?,
        };
        Ok(Self { api, api_address, preview, preview_address })
    }
}

async fn bind_after(api: u16) -> Result<(TcpListener, SocketAddr), ListenError> {
    let first = api.saturating_add(1);
    let last = api.saturating_add(PREVIEW_PORTS_TRIED);
    // Only a port that is taken is passed over; any other error would be the same at the next one.
    for port in first..=last {
        match bind(port).await {
            Err(ListenError::PortTaken { .. }) => {}
            other => return other,
        }
    }
    Err(ListenError::NoPreviewPort { first, last })
}

async fn bind(port: u16) -> Result<(TcpListener, SocketAddr), ListenError> {
    let listen = async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    };
    listen.await.map_err(|source: io::Error| {
        // Told apart because the person can do something about it: stop the other program, or name another port.
        if source.kind() == io::ErrorKind::AddrInUse {
            ListenError::PortTaken { port }
        } else {
            ListenError::Io { port, source }
        }
    })
}

/// Raises the soft limit as far as it is needed and allowed; returns how many connections fit.
pub(super) fn connections_allowed() -> usize {
    let mut limit = getrlimit(Resource::Nofile);
    let needed = CONNECTIONS_MAX + RESERVED;
    if limit.current.is_some_and(|current| current < needed) {
        let raised = limit.maximum.map_or(needed, |hard| hard.min(needed));
        limit.current = Some(raised);
        // Refused means: fewer connections, not no daemon.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    let current = getrlimit(Resource::Nofile).current.unwrap_or(needed);
    let fits = current.saturating_sub(RESERVED).clamp(CONNECTIONS_MIN, CONNECTIONS_MAX);
    usize::try_from(fits).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_taken_port_is_named_and_previews_take_the_next_free_one() {
        let first = Listeners::bind(Port::Any).await.unwrap();
        let port = first.api_address.port();
        let error = Listeners::bind(Port::Fixed(port)).await.unwrap_err();
        assert!(matches!(error, ListenError::PortTaken { port: taken } if taken == port));
        let (_held, held) = bind_after(port).await.unwrap();
        let (_next, next) = bind_after(port).await.unwrap();
        assert!(next.port() > held.port() && held.port() > port);
        assert!(next.ip().is_loopback());
    }
}
