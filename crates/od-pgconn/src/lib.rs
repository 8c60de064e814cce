//! The way to a PostgreSQL server: the checked address, TLS. Under the feature `cluster`, a server that a
//! test starts and ends itself.
//!
//! Must not know: what is asked of the server.

#[cfg(feature = "cluster")]
pub mod cluster;
mod tls;

use std::net::SocketAddr;

use od_core::connector::{DatabaseAddress, Encryption};
use tokio::net::TcpStream;

pub use tls::{Encrypted, SetupError, Tls, is_certificate_fault};

/// Why no connection to a server came about.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// Nobody answers there.
    #[error("the database server at {host}:{port} cannot be reached")]
    Unreachable {
        /// The host.
        host: String,
        /// The port.
        port: u16,
        /// The system's error.
        source: std::io::Error,
    },
    /// The connection would be plain text over a network.
    #[error("the host is on another machine, and the connection would not be encrypted")]
    PlainRemote,
}

/// Connects to a database's server.
///
/// # Errors
///
/// Fails if nobody answers, or if a connection without TLS would leave this machine.
pub async fn dial(address: &DatabaseAddress) -> Result<TcpStream, DialError> {
    let unreachable = |source| DialError::Unreachable {
        host: address.host().to_owned(),
        port: address.port(),
        source,
    };
    let found: Vec<SocketAddr> = tokio::net::lookup_host((address.host(), address.port()))
        .await
        .map_err(unreachable)?
        .collect();
    // `localhost` is a name like any other, and whoever answers for it may give another machine.
    let is_plain = address.encryption() == Encryption::Plain;
    if is_plain && !found.iter().all(|address| address.ip().is_loopback()) {
        return Err(DialError::PlainRemote);
    }
    let stream = TcpStream::connect(found.as_slice()).await.map_err(unreachable)?;
    // A commit is two small messages: held back until the first one's answer, the second would wait for
    // the timer of delayed acknowledgements.
    stream.set_nodelay(true).map_err(unreachable)?;
    Ok(stream)
}
