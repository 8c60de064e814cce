//! Opens connections, only to addresses that a connector may talk to.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::Uri;
use hyper_util::rt::TokioIo;
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
struct Rules {
    base: Origin,
    overrides: Vec<HostOverride>,
}

impl Dialer {
    /// Makes a dialer; only `base` itself and pinned hosts may be at a local address.
    pub(crate) fn new(base: Origin, overrides: Vec<HostOverride>) -> Self {
        Self { inner: Arc::new(Rules { base, overrides }) }
    }
}

impl Rules {
    async fn dial(&self, host: &str, port: u16) -> Result<TcpStream, DialError> {
        if let Some(known) = self.overrides.iter().find(|known| known.host == host) {
            return TcpStream::connect(known.address).await.map_err(DialError::Unreachable);
        }
        // `Uri` keeps the brackets of an IPv6 literal, the resolver does not take them.
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let addresses: Vec<SocketAddr> =
            tokio::net::lookup_host((bare, port)).await.map_err(DialError::Unreachable)?.collect();
        if (self.base.host.as_str(), self.base.port) != (host, port) {
            // One bad address among several is enough: which one is dialled is up to chance.
            if let Some(kind) = addresses.iter().find_map(|address| non_public(address.ip())) {
                return Err(DialError::Refused(kind));
            }
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
