//! Answers: a handler says what, this file says with which headers.

use hyper::body::Bytes;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde::Serialize;

use super::body::Body;
use crate::event_streams::EventStream;

const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const NO_REFERRER: HeaderValue = HeaderValue::from_static("no-referrer");
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
const OFF: HeaderValue = HeaderValue::from_static("off");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const PRIVATE_NO_CACHE: HeaderValue = HeaderValue::from_static("private, no-cache");
const ACCEPT_ENCODING: HeaderValue = HeaderValue::from_static("accept-encoding");
const GZIP: HeaderValue = HeaderValue::from_static("gzip");
const DENY_ALL: HeaderValue =
    HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; base-uri 'none'");
const WORKER_ALLOWED: HeaderName = HeaderName::from_static("service-worker-allowed");
const CORP: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// The policies of one daemon, made once: they name its two origins.
#[derive(Clone, Debug)]
pub(crate) struct Policies {
    pub(crate) console: HeaderValue,
    pub(crate) preview: HeaderValue,
}

impl Policies {
    pub(crate) fn new(console_origin: &str, preview_origin: &str) -> Result<Self, InvalidOrigin> {
        let value = |text: String| HeaderValue::try_from(text).map_err(|_| InvalidOrigin);
        Ok(Self {
            // Its own files, its own API, and frames from the preview origin.
            console: value(format!(
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                 connect-src 'self'; frame-src {preview_origin}; base-uri 'none'; \
                 form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
                 trusted-types 'none'"
            ))?,
            // No script and no network, whatever the page holds.
            preview: value(format!(
                "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; \
                 base-uri 'none'; form-action 'none'; frame-ancestors {console_origin}; \
                 sandbox allow-popups allow-popups-to-escape-sandbox"
            ))?,
        })
    }
}

/// An origin that cannot stand in a header. Socket addresses always can.
#[derive(Debug, thiserror::Error)]
#[error("an origin cannot stand in a header")]
pub(crate) struct InvalidOrigin;

/// An answer, before its headers.
#[derive(Debug)]
pub(crate) enum Reply {
    /// A JSON document, never stored by anyone.
    Json {
        /// The status.
        status: StatusCode,
        /// The document.
        body: Bytes,
        /// A header that the status asks for: `Allow`, `Retry-After`.
        header: Option<(HeaderName, HeaderValue)>,
    },
    /// A page of the daemon's own words about a preview that cannot be shown, under the preview policy.
    Sorry {
        /// The status.
        status: StatusCode,
        /// The page.
        body: String,
    },
    /// A page or a source text under the preview policy.
    Preview {
        /// The bytes, shared with the cache they come from.
        body: Bytes,
        /// A strong validator, quotes included.
        etag: HeaderValue,
        /// HTML or plain text.
        content_type: &'static str,
    },
    /// A file of the console.
    ConsoleFile {
        /// The bytes.
        body: Bytes,
        /// A strong validator, quotes included.
        etag: HeaderValue,
        /// By its extension.
        content_type: &'static str,
        /// The coding of the bytes.
        coding: Coding,
    },
    /// The script of a service worker; no browser may keep it.
    Worker(Bytes),
    /// The client has this already.
    NotModified {
        /// The validator that matched.
        etag: HeaderValue,
        /// The policy that the stored answer has.
        policy: Policy,
    },
    /// Go to the console's one origin.
    Redirect(HeaderValue),
    /// Events until one side leaves.
    Events(EventStream),
}

/// The coding of a file of the console on the wire.
///
/// Only these files are ever compressed. They are public and the same for everybody; an answer that
/// puts a secret beside text of somebody else's choosing would tell its length (BREACH).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Coding {
    /// As it is written.
    Identity,
    /// By gzip.
    Gzip,
}

/// Which content security policy an answer carries.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Policy {
    /// The console's.
    Console,
    /// The sandbox.
    Preview,
}

impl Reply {
    /// Answers 200 with a JSON document.
    pub(crate) fn json(value: &impl Serialize) -> Self {
        Self::json_with(StatusCode::OK, value)
    }

    /// Answers with a JSON document.
    pub(crate) fn json_with(status: StatusCode, value: &impl Serialize) -> Self {
        let body =
            serde_json::to_vec(value).expect("wire types have string keys and no failing parts");
        Self::Json { status, body: Bytes::from(body), header: None }
    }

    /// Adds a header to a JSON answer.
    pub(crate) fn with_header(self, name: HeaderName, text: String) -> Self {
        match (self, HeaderValue::try_from(text)) {
            (Self::Json { status, body, .. }, Ok(value)) => {
                Self::Json { status, body, header: Some((name, value)) }
            }
            (reply, _) => reply,
        }
    }

    /// Makes the response, with the headers that every answer carries.
    pub(crate) fn into_response(self, policies: &Policies) -> Response<Body> {
        let mut response = match self {
            Self::Json { status, body, header: extra } => {
                let mut response = unstored(status, body, "application/json", DENY_ALL);
                response.headers_mut().extend(extra);
                response
            }
            Self::Sorry { status, body } => {
                unstored(status, body.into(), "text/html; charset=utf-8", policies.preview.clone())
            }
            Self::Preview { body, etag, content_type } => {
                cached(body, etag, content_type, &policies.preview)
            }
            Self::ConsoleFile { body, etag, content_type, coding } => {
                let mut response = cached(body, etag, content_type, &policies.console);
                let headers = response.headers_mut();
                headers.insert(header::VARY, ACCEPT_ENCODING);
                match coding {
                    Coding::Identity => {}
                    Coding::Gzip => {
                        headers.insert(header::CONTENT_ENCODING, GZIP);
                    }
                }
                response
            }
            Self::Worker(body) => worker_script(body),
            Self::NotModified { etag, policy: policy_of } => {
                let policy = match policy_of {
                    Policy::Console => &policies.console,
                    Policy::Preview => &policies.preview,
                };
                let mut response = Response::new(Body::empty());
                *response.status_mut() = StatusCode::NOT_MODIFIED;
                let headers = response.headers_mut();
                headers.insert(header::ETAG, etag);
                headers.insert(header::CACHE_CONTROL, PRIVATE_NO_CACHE);
                headers.insert(header::CONTENT_SECURITY_POLICY, policy.clone());
                if matches!(policy_of, Policy::Console) {
                    headers.insert(header::VARY, ACCEPT_ENCODING);
                }
                response
            }
            Self::Redirect(location) => {
                let mut response = Response::new(Body::empty());
                *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
                response.headers_mut().insert(header::LOCATION, location);
                response.headers_mut().insert(header::CACHE_CONTROL, NO_STORE);
                response
            }
            Self::Events(stream) => {
                let mut response = Response::new(Body::events(stream));
                let headers = response.headers_mut();
                headers.insert(
                    header::CONTENT_TYPE,
                    HeaderValue::from_static("text/event-stream; charset=utf-8"),
                );
                headers.insert(header::CACHE_CONTROL, NO_STORE);
                headers.insert(header::CONTENT_SECURITY_POLICY, DENY_ALL);
                response
            }
        };
        let headers = response.headers_mut();
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
        headers.insert(header::REFERRER_POLICY, NO_REFERRER);
        headers.insert(CORP, SAME_ORIGIN);
        headers.insert(header::X_DNS_PREFETCH_CONTROL, OFF);
        response
    }
}

/// An answer that nobody keeps.
fn unstored(
    status: StatusCode,
    body: Bytes,
    content_type: &'static str,
    policy: HeaderValue,
) -> Response<Body> {
    let mut response = Response::new(Body::whole(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, NO_STORE);
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

fn worker_script(body: Bytes) -> Response<Body> {
    let mut response = unstored(StatusCode::OK, body, "text/javascript; charset=utf-8", DENY_ALL);
    // A worker for the whole origin may have been registered from a folder below it; without this a
    // browser refuses the new script, and goes on with the old one.
    response.headers_mut().insert(WORKER_ALLOWED, HeaderValue::from_static("/"));
    response
}

fn cached(
    body: Bytes,
    etag: HeaderValue,
    content_type: &'static str,
    policy: &HeaderValue,
) -> Response<Body> {
    let mut response = Response::new(Body::whole(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::ETAG, etag);
    headers.insert(header::CACHE_CONTROL, PRIVATE_NO_CACHE);
    headers.insert(header::CONTENT_SECURITY_POLICY, policy.clone());
    response
}

/// Returns true if `If-None-Match` names this strong validator, or anything.
pub(crate) fn matches_etag(if_none_match: Option<&HeaderValue>, etag: &HeaderValue) -> bool {
    let Some(Ok(given)) = if_none_match.map(HeaderValue::to_str) else { return false };
    given.split(',').map(str::trim).any(|candidate| {
        candidate == "*"
            || candidate.strip_prefix("W/").unwrap_or(candidate).as_bytes() == etag.as_bytes()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_validator_is_compared_as_http_says() {
        let etag = HeaderValue::from_static("\"abc\"");
        let check = |given: &'static str, expected: bool| {
            assert_eq!(
                matches_etag(Some(&HeaderValue::from_static(given)), &etag),
                expected,
                "{given}"
            );
        };
        check("\"abc\"", true);
        check("W/\"abc\"", true);
        check("\"x\", \"abc\"", true);
        check("*", true);
        check("abc", false);
        check("\"abcd\"", false);
        assert!(!matches_etag(None, &etag));
    }
}
