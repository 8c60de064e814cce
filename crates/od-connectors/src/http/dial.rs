//! Opens connections, only to addresses that a connector may talk to.

use std::error::Error as _;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::Uri;
use hyper_util::rt::TokioIo;
use od_core::notification::Reach;
use tokio::net::TcpStream;
use url::Url;

use super::address::{AddressKind, non_public};

/// Scheme, host and port: what a secret belongs to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Origin {
    scheme: String,
    host: String,
    port: u16,
}

impl Origin {
    /// Returns the origin of an `http` or `https` URL.
    pub(crate) fn of(url: &Url) -> Option<Self> {
        let scheme = url.scheme();
        if scheme != "http" && scheme != "https" {
            return None;
        }
        Some(Self {
            scheme: scheme.to_owned(),
            host: url.host_str()?.to_owned(),
            port: url.port_or_known_default()?,
        })
    }
}

/// A host name that the person configured to live at one address, whatever DNS says.
#[derive(Clone, Debug)]
pub(crate) struct HostOverride {
    /// The host, as it stands in the URL.
    pub(crate) host: String,
    /// Its address.
    pub(crate) address: SocketAddr,
}

/// A connection that was not opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DialError {
    /// The host is, or resolves to, something that is not public.
    #[error("the host is at a {0} address")]
    Refused(AddressKind),
    /// The URL has no host.
    #[error("the URL names no host")]
    NoHost,
    /// The name did not resolve, or nothing listens there.
    #[error("the host cannot be reached")]
    Unreachable(#[source] std::io::Error),
}

/// Resolves, checks, then connects to the very address that was checked.
///
/// Resolving once and dialling the result is what keeps a name from changing between check and use.
#[derive(Clone, Debug)]
pub(crate) struct Dialer {
    inner: Arc<Rules>,
}

#[derive(Debug)]
enum Rules {
    /// Public addresses; only the base itself and pinned hosts may be at a local one.
    Around { base: Origin, overrides: Vec<HostOverride> },
    /// Addresses of one kind, whatever the host.
    Reaching(Reach),
}

impl Dialer {
    /// Makes a dialer; only `base` itself and pinned hosts may be at a local address.
    pub(crate) fn new(base: Origin, overrides: Vec<HostOverride>) -> Self {
        Self { inner: Arc::new(Rules::Around { base, overrides }) }
    }

    /// Makes a dialer of hosts at addresses of one kind.
    pub(crate) fn reaching(reach: Reach) -> Self {
        Self { inner: Arc::new(Rules::Reaching(reach)) }
    }
}

/// Returns the kind of address that kept a request from being made, if one did.
pub(crate) fn refused_kind(error: &hyper_util::client::legacy::Error) -> Option<AddressKind> {
    let mut cause = error.source();
    while let Some(err) = cause {
        if let Some(DialError::Refused(kind)) = err.downcast_ref::<DialError>() {
            return Some(*kind);
        }
        cause = err.source();
    }
    None
}

impl Rules {
    fn pinned(&self, host: &str) -> Option<SocketAddr> {
        match self {
            Self::Around { overrides, .. } => {
                overrides.iter().find(|known| known.host == host).map(|known| known.address)
            }
            Self::Reaching(_) => None,
        }
    }

    /// Returns the kind of an address that may not be dialled for a host.
    fn refuses(&self, host: &str, port: u16, address: IpAddr) -> Option<AddressKind> {
        match (self, non_public(address)) {
            (Self::Around { base, .. }, kind) => {
                kind.filter(|_| (base.host.as_str(), base.port) != (host, port))
            }
            (Self::Reaching(Reach::Public), kind) => kind,
            (Self::Reaching(Reach::Loopback), Some(AddressKind::Loopback)) => None,
            // Even there nobody means a cloud's metadata service.
            (
                Self::Reaching(Reach::Private),
                kind @ Some(AddressKind::LinkLocal | AddressKind::Reserved),
            ) => kind,
            (Self::Reaching(Reach::Private), _) => None,
            // `localhost` that leads elsewhere is a trap, or a broken machine.
            (Self::Reaching(Reach::Loopback), kind) => Some(kind.unwrap_or(AddressKind::Public)),
        }
    }

    async fn dial(&self, host: &str, port: u16) -> Result<TcpStream, DialError> {
        if let Some(address) = self.pinned(host) {
            return TcpStream::connect(address).await.map_err(DialError::Unreachable);
        }
        // `Uri` keeps the brackets of an IPv6 literal, the resolver does not take them.
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let addresses: Vec<SocketAddr> =
            tokio::net::lookup_host((bare, port)).await.map_err(DialError::Unreachable)?.collect();
        // One bad address among several is enough: which one is dialled is up to chance.
        let refused = addresses.iter().find_map(|address| self.refuses(host, port, address.ip()));
        if let Some(kind) = refused {
            return Err(DialError::Refused(kind));
        }
        // The addresses that were checked, not the name: it may resolve to another one by now.
        TcpStream::connect(addresses.as_slice()).await.map_err(DialError::Unreachable)
    }
}

impl tower_service::Service<Uri> for Dialer {
    type Response = TokioIo<TcpStream>;
    type Error = DialError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, DialError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), DialError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let rules = Arc::clone(&self.inner);
        Box::pin(async move {
            let host = uri.host().ok_or(DialError::NoHost)?;
            let default = if uri.scheme_str() == Some("https") { 443 } else { 80 };
            let stream = rules.dial(host, uri.port_u16().unwrap_or(default)).await?;
            Ok(TokioIo::new(stream))
        })
    }
}
