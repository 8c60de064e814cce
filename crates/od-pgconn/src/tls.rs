//! TLS to a database server, on the rustls that the HTTP connectors use.
//!
//! Written here because the crate that joins tokio-postgres and rustls brings an X.509 parser for channel
//! binding, which this does without.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use od_core::connector::{DatabaseAddress, Encryption};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

/// Joins a connection to TLS, or refuses where none is wanted.
#[derive(Clone)]
pub struct Tls {
    connector: Option<TlsConnector>,
    host: String,
}

/// TLS that cannot be set up: no usable host name or no usable roots.
#[derive(Debug, thiserror::Error)]
#[error("TLS cannot be set up")]
pub struct SetupError;

impl Tls {
    /// Prepares TLS for an address.
    ///
    /// # Errors
    ///
    /// Fails if there are no usable roots.
    pub fn new(address: &DatabaseAddress) -> Result<Self, SetupError> {
        let host = address.host().to_owned();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = || {
            ClientConfig::builder_with_provider(Arc::clone(&provider))
                .with_safe_default_protocol_versions()
                .map_err(|_| SetupError)
        };
        let config = match address.encryption() {
            Encryption::Plain => return Ok(Self { connector: None, host }),
            Encryption::Verified => {
                builder()?.with_root_certificates(roots()).with_no_client_auth()
            }
            Encryption::Unverified => builder()?
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AnyServer(Arc::clone(&provider))))
                .with_no_client_auth(),
        };
        Ok(Self { connector: Some(TlsConnector::from(Arc::new(config))), host })
    }

    /// Returns whether the server has to speak TLS.
    #[must_use]
    pub const fn mode(&self) -> SslMode {
        if self.connector.is_some() { SslMode::Require } else { SslMode::Disable }
    }
}

/// Returns the authorities of this machine; one without a certificate store still reaches public hosts.
fn roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("host", &self.host).finish_non_exhaustive()
    }
}

impl<S> TlsConnect<S> for Tls
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let connector =
                self.connector.ok_or_else(|| io::Error::other("TLS was not asked for"))?;
            let name = ServerName::try_from(self.host).map_err(io::Error::other)?;
            connector.connect(name, stream).await.map(|inner| Encrypted(Box::new(inner)))
        })
    }
}

/// A connection over TLS.
#[derive(Debug)]
pub struct Encrypted<S>(Box<tokio_rustls::client::TlsStream<S>>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().0).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_shutdown(context)
    }
}

/// Returns whether a connection failed because the server's certificate is not one that this machine
/// trusts for its host.
#[must_use]
pub fn is_certificate_fault(err: &tokio_postgres::Error) -> bool {
    let mut cause = std::error::Error::source(err);
    while let Some(error) = cause {
        let io = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        let tls = io.and_then(|inner| inner.downcast_ref::<rustls::Error>());
        if let Some(rustls::Error::InvalidCertificate(_)) = tls.or_else(|| error.downcast_ref()) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Takes any certificate, as `sslmode=require` means, and still checks that the server has its key.
#[derive(Debug)]
struct AnyServer(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
