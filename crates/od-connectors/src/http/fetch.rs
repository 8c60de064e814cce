//! One GET, followed through its redirects, read up to a cap.

use std::time::Duration;

use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, ETAG, HeaderMap, HeaderName, HeaderValue,
    IF_NONE_MATCH, LOCATION, USER_AGENT,
};
use hyper::{Method, StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use od_core::connector::BaseUrl;
use od_ports::connector_provider::ProviderError;
use url::Url;

use super::address::AddressKind;
use super::dial::{Dialer, HostOverride, Origin, refused_kind};

/// Redirects followed before giving up.
const HOPS_MAX: usize = od_core::limits::REDIRECTS.max();
/// Idle connections kept to one host.
const IDLE_MAX: usize = 2;
/// Time an idle connection is kept.
const IDLE_TIME: Duration = Duration::from_secs(30);
/// Response headers accepted, in bytes (hyper also bounds their number).
const HEADER_BYTES_MAX: usize = od_core::limits::PROVIDER_HEAD.max();

/// One GET request.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    /// The address of the resource.
    pub(crate) url: Url,
    /// Media type asked for.
    pub(crate) accept: &'static str,
    /// Further fixed headers.
    pub(crate) headers: &'a [(HeaderName, HeaderValue)],
    /// A header with a secret, sent to the base origin only.
    pub(crate) secret: Option<(HeaderName, HeaderValue)>,
    /// The addresses that a redirect may lead to.
    pub(crate) redirects: Redirects<'a>,
    /// The entity tag of what the caller already holds.
    pub(crate) etag: Option<&'a HeaderValue>,
    /// Bytes of body read before the reply is refused.
    pub(crate) body_bytes_max: usize,
}

/// The addresses that a redirect may lead to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Redirects<'a> {
    /// Any public one; the secret is not sent there.
    Public,
    /// Those below the address that a person registered: the secret goes with every hop.
    Below(&'a BaseUrl),
}

/// The last hop's status and headers, and the body if there was one.
#[derive(Debug)]
pub(crate) struct Reply {
    /// Status of the last hop.
    pub(crate) status: StatusCode,
    /// Headers of the last hop.
    pub(crate) headers: HeaderMap,
    /// At most `body_bytes_max` bytes.
    pub(crate) body: Vec<u8>,
}

impl Reply {
    /// Returns the entity tag, if one was sent.
    pub(crate) fn etag(&self) -> Option<&HeaderValue> {
        self.headers.get(ETAG)
    }

    /// Returns a header that holds a whole number.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.headers.get(name)?.to_str().ok()?.trim().parse().ok()
    }
}

/// A GET that gave nothing usable.
///
/// No message repeats a byte that the server sent: it may echo the secret it was given.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    /// A hop is at an address that is not public.
    #[error("a request was led to a {kind} address and not made")]
    Refused {
        /// The kind of address.
        kind: AddressKind,
    },
    /// A redirect that leads nowhere, away from HTTPS, or round and round.
    #[error("the server answered with {0}")]
    BadRedirect(&'static str),
    /// More bytes than allowed.
    #[error("the answer is larger than {allowed} bytes")]
    TooLarge {
        /// The cap.
        allowed: usize,
    },
    /// A compressed body, although none was asked for.
    #[error("the answer is compressed although no compression was accepted")]
    Encoded,
    /// Name, connection or TLS.
    #[error("the host cannot be reached")]
    Unreachable,
    /// The connection broke, or what came was not HTTP.
    #[error("the connection broke before the answer was complete")]
    Broken,
    /// Our own request could not be built.
    #[error("the request could not be built")]
    Unbuildable,
}

impl From<FetchError> for ProviderError {
    fn from(error: FetchError) -> Self {
        let message = error.to_string();
        match error {
            FetchError::TooLarge { allowed } => Self::TooLarge { allowed: allowed as u64 },
            FetchError::Refused { .. } | FetchError::BadRedirect(_) => Self::Forbidden { message },
            FetchError::Encoded => Self::Malformed { message },
            FetchError::Unreachable | FetchError::Broken | FetchError::Unbuildable => {
                Self::Unavailable { message }
            }
        }
    }
}

/// Makes bounded GET requests for one connector.
#[derive(Clone, Debug)]
pub(crate) struct Fetcher {
    base: Origin,
    client: Client<HttpsConnector<Dialer>, Empty<Bytes>>,
}

impl Fetcher {
    /// Makes a fetcher whose secret belongs to `base`.
    pub(crate) fn new(base: Origin, overrides: Vec<HostOverride>) -> Self {
        // A machine without a certificate store still reaches public hosts.
        let builder = match HttpsConnectorBuilder::new().with_native_roots() {
            Ok(native) => native,
            Err(_) => HttpsConnectorBuilder::new().with_webpki_roots(),
        };
        let connector = builder
            .https_or_http()
            .enable_http1()
            .wrap_connector(Dialer::new(base.clone(), overrides));
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_max_idle_per_host(IDLE_MAX)
            .pool_idle_timeout(IDLE_TIME)
            .http1_max_buf_size(HEADER_BYTES_MAX)
            .build(connector);
        Self { base, client }
    }

    /// Gets one resource. Dropping the future closes the connection.
    pub(crate) async fn get(&self, request: Request<'_>) -> Result<Reply, FetchError> {
        let mut url = request.url.clone();
        for _ in 0..=HOPS_MAX {
            let origin = Origin::of(&url).ok_or(FetchError::BadRedirect("an unknown scheme"))?;
            if let Redirects::Below(base) = request.redirects {
                if origin != self.base {
                    return Err(FetchError::BadRedirect("a redirect to another host"));
                }
                if !base.covers(&url) {
                    return Err(FetchError::BadRedirect(
                        "a redirect out of the registered address",
                    ));
                }
            }
            let response = self.send(&url, &origin, &request).await?;
            if let Some(next) = redirect_target(&url, &response)? {
                url = next;
                continue;
            }
            let is_plain =
                |coding: &HeaderValue| coding.as_bytes().eq_ignore_ascii_case(b"identity");
            if !response.headers().get_all(CONTENT_ENCODING).iter().all(is_plain) {
                return Err(FetchError::Encoded);
            }
            let (head, body) = response.into_parts();
            let body = read_capped(body, request.body_bytes_max).await?;
            return Ok(Reply { status: head.status, headers: head.headers, body });
        }
        Err(FetchError::BadRedirect("too many redirects"))
    }

    async fn send(
        &self,
        url: &Url,
        origin: &Origin,
        request: &Request<'_>,
    ) -> Result<hyper::Response<hyper::body::Incoming>, FetchError> {
        let uri: Uri = url.as_str().parse().map_err(|_| FetchError::Unbuildable)?;
        let mut builder = hyper::Request::builder()
            .method(Method::GET)
            .uri(uri)
            .header(USER_AGENT, concat!("od/", env!("CARGO_PKG_VERSION")))
            .header(ACCEPT, request.accept)
            .header(ACCEPT_ENCODING, "identity");
        for (name, value) in request.headers {
            builder = builder.header(name, value);
        }
        if let Some(etag) = request.etag {
            builder = builder.header(IF_NONE_MATCH, etag);
        }
        if let (Some((name, value)), true) = (&request.secret, *origin == self.base) {
            builder = builder.header(name, value);
        }
        let message = builder.body(Empty::new()).map_err(|_| FetchError::Unbuildable)?;
        self.client.request(message).await.map_err(|err| request_fault(&err))
    }
}

/// Makes the header that carries a secret; nothing prints its value.
pub(crate) fn secret_header(
    name: HeaderName,
    text: String,
) -> Result<(HeaderName, HeaderValue), FetchError> {
    let text = zeroize::Zeroizing::new(text);
    let mut value = HeaderValue::from_str(&text).map_err(|_| FetchError::Unbuildable)?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// Finds out whether it was our own refusal that kept the request from being made.
fn request_fault(error: &hyper_util::client::legacy::Error) -> FetchError {
    if let Some(kind) = refused_kind(error) {
        return FetchError::Refused { kind };
    }
    if error.is_connect() { FetchError::Unreachable } else { FetchError::Broken }
}

/// Returns where a redirect leads, or `None` if the reply is no redirect.
fn redirect_target<B>(from: &Url, reply: &hyper::Response<B>) -> Result<Option<Url>, FetchError> {
    if !matches!(reply.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let target = reply
        .headers()
        .get(LOCATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|text| from.join(text).ok())
        .ok_or(FetchError::BadRedirect("a redirect without a usable target"))?;
    if from.scheme() == "https" && target.scheme() != "https" {
        return Err(FetchError::BadRedirect("a redirect away from HTTPS"));
    }
    if !target.username().is_empty() || target.password().is_some() {
        return Err(FetchError::BadRedirect("a redirect with credentials in its URL"));
    }
    Ok(Some(target))
}

async fn read_capped(
    mut body: hyper::body::Incoming,
    allowed: usize,
) -> Result<Vec<u8>, FetchError> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| FetchError::Broken)?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > allowed {
            return Err(FetchError::TooLarge { allowed });
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}
