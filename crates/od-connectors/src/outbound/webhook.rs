//! One signed POST to a webhook: a checked address, no redirect, nothing kept of the answer.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, USER_AGENT};
use hyper::{Method, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use od_core::limits::PROVIDER_HEAD;
use od_core::notification::Reach;
use od_ports::webhooks::{PostError, WebhookCall, WebhookSender};

use crate::http::{Dialer, refused_kind};

/// The header with the proof of who sent the body, and when.
pub const SIGNATURE_HEADER: &str = "od-signature";
/// The header with the name of the delivery, the same for every try.
pub const DELIVERY_HEADER: &str = "od-delivery";

type Poster = Client<HttpsConnector<Dialer>, Full<Bytes>>;

/// Posts to webhooks.
#[derive(Debug, Default)]
pub struct HttpWebhookSender {
    /// Made when first used: reading the machine's certificates takes some milliseconds.
    posters: Mutex<HashMap<Reach, Poster>>,
}

impl HttpWebhookSender {
    fn poster(&self, reach: Reach) -> Poster {
        let mut posters = self.posters.lock().unwrap_or_else(PoisonError::into_inner);
        posters.entry(reach).or_insert_with(|| poster(reach)).clone()
    }
}

fn poster(reach: Reach) -> Poster {
    // A machine without a certificate store still reaches public hosts.
    let builder = match HttpsConnectorBuilder::new().with_native_roots() {
        Ok(native) => native,
        Err(_) => HttpsConnectorBuilder::new().with_webpki_roots(),
    };
    let connector = builder.https_or_http().enable_http1().wrap_connector(Dialer::reaching(reach));
    Client::builder(TokioExecutor::new())
        // Each delivery connects anew: its address is checked again, and no idle connection wakes anybody.
        .pool_max_idle_per_host(0)
        .http1_max_buf_size(PROVIDER_HEAD.max())
        .build(connector)
}

#[async_trait]
impl WebhookSender for HttpWebhookSender {
    async fn post(&self, call: WebhookCall) -> Result<u16, PostError> {
        let WebhookCall { url, reach, delivery, signature, body } = call;
        let uri: Uri = url.url().as_str().parse().map_err(|_| PostError::Unbuildable)?;
        let request = hyper::Request::builder()
            .method(Method::POST)
            .uri(uri)
            .header(USER_AGENT, concat!("od/", env!("CARGO_PKG_VERSION")))
            .header(CONTENT_TYPE, "application/json")
            .header(DELIVERY_HEADER, delivery)
            .header(SIGNATURE_HEADER, signature)
            .body(Full::new(Bytes::from(body)))
            .map_err(|_| PostError::Unbuildable)?;
        let sent = self.poster(reach).request(request).await;
        let response = sent.map_err(|error| match refused_kind(&error) {
            Some(kind) => PostError::Refused { kind: kind.name() },
            None if error.is_connect() => PostError::Unreachable,
            None => PostError::Broken,
        })?;
        // The body is dropped unread, and the connection with it.
        match response.status().as_u16() {
            status @ 200..=299 => Ok(status),
            status @ 300..=399 => Err(PostError::Redirected { status }),
            status => Err(PostError::Status { status }),
        }
    }
}
