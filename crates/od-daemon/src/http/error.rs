//! The one place where a failure meets HTTP.

use hyper::StatusCode;
use hyper::header::{self, HeaderName};
use od_core::error::{ErrorCode, Failure, Retry};
use od_wire::error::Envelope;

use super::access_log::RequestId;
use super::body::ReadBodyError;
use super::guard::Refusal;
use super::reply::Reply;
use crate::event_streams::FollowError;

/// Answers a failure in the envelope, under the id that stands in the log.
pub(crate) fn reply(failure: Failure, request: RequestId) -> Reply {
    let status = StatusCode::from_u16(failure.code.http_status())
        .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let header = header_of(&failure);
    let reply = Reply::json_with(status, &Envelope::new(failure, Some(request.to_string())));
    match header {
        Some((name, text)) => reply.with_header(name, text),
        None => reply,
    }
}

/// Answers a person who opened a preview that cannot be shown: in a tab of their browser an envelope is no
/// answer. Nothing of the request or of an artifact is part of the page.
pub(crate) fn page(failure: &Failure, request: RequestId, console: &str) -> Reply {
    let status = StatusCode::from_u16(failure.code.http_status())
        .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let (title, why) = match status {
        StatusCode::UNAUTHORIZED => (
            "This link has ended",
            "A link to a single preview opens for five minutes. The live artifact itself is still there.",
        ),
        StatusCode::NOT_FOUND => (
            "This page is not here any more",
            "The live artifact was deleted, or the link is not complete. The trash keeps what was deleted for 7 days.",
        ),
        _ => ("This page cannot be shown now", "The console says what is wrong with it."),
    };
    let code = failure.code.as_str();
    let body = format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <meta name=color-scheme content=\"light dark\"><title>{title} · od</title>\
         <style>body{{font:1rem/1.6 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1.5rem}}\
         small{{opacity:.75}}</style><main><h1>{title}</h1><p>{why}</p>\
         <p><a href=\"{console}/\" target=_blank rel=noopener>Open the console</a>, or run <code>od open</code> in a terminal.</p>\
         <p><small>{code}, {request}</small></p></main></html>"
    );
    Reply::Sorry { status, body }
}

/// Returns the header that HTTP asks for beside the status, with what the envelope says in it.
fn header_of(failure: &Failure) -> Option<(HeaderName, String)> {
    match (failure.code, failure.retry) {
        (ErrorCode::MethodNotAllowed, _) => {
            let allowed = failure.details.as_ref()?.get("allowed")?.as_array()?;
            let names: Vec<&str> = allowed.iter().filter_map(|name| name.as_str()).collect();
            Some((header::ALLOW, names.join(", ")))
        }
        (_, Retry::RetryableAfterMs { after_ms }) => {
            Some((header::RETRY_AFTER, after_ms.div_ceil(1_000).to_string()))
        }
        (_, Retry::NotRetryable | Retry::RetryableImmediate) => None,
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let code = match refusal {
            Refusal::Version
            | Refusal::HostCount
            | Refusal::Authority
            | Refusal::TransferEncoding => ErrorCode::BadRequest,
            Refusal::Host
            | Refusal::Origin
            | Refusal::FetchSite
            | Refusal::FetchMode
            | Refusal::FetchDest
            | Refusal::PreviewMethod => ErrorCode::Forbidden,
            Refusal::ContentType => ErrorCode::UnsupportedMediaType,
        };
        let suggestion = match refusal {
            Refusal::Version => "speak HTTP/1.1",
            Refusal::HostCount | Refusal::Authority | Refusal::Host => {
                "use the address that the daemon printed: 127.0.0.1 and its port"
            }
            Refusal::TransferEncoding => "send the body with Content-Length",
            Refusal::Origin | Refusal::FetchSite => {
                "call from the console, or from a program that sends no browser headers"
            }
            Refusal::FetchMode | Refusal::FetchDest | Refusal::PreviewMethod => {
                "open the ticketed URL in a tab or a frame of the console"
            }
            Refusal::ContentType => "send Content-Type: application/json, also without a body",
        };
        let failure = Self::new(code, refusal.to_string()).suggest(suggestion);
        match refusal.header() {
            Some(header) => failure.detail("header", header),
            None => failure,
        }
    }
}

impl From<ReadBodyError> for Failure {
    fn from(error: ReadBodyError) -> Self {
        match error {
            ReadBodyError::TooLarge { limit, measured } => {
                Self::new(ErrorCode::PayloadTooLarge, error.to_string())
                    .suggest(format!("send at most {} bytes", limit.allowed))
                    .detail("limit", limit.name)
                    .detail("measured", measured)
                    .detail("allowed", limit.allowed)
                    .detail("howMeasured", limit.how_measured)
            }
            ReadBodyError::TooSlow { .. } | ReadBodyError::Broken => {
                Self::new(ErrorCode::BadRequest, error.to_string())
                    .suggest("send the whole body at once, with a correct Content-Length")
            }
        }
    }
}

impl From<FollowError> for Failure {
    fn from(error: FollowError) -> Self {
        let failure = Self::new(ErrorCode::RateLimited, error.to_string());
        match error {
            FollowError::Full => failure.suggest(
                "close an event stream that nobody reads, or try again after the time that \
                 Retry-After names",
            ),
            FollowError::Closed => failure.suggest("connect again once the daemon is back"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::access_log::RequestIds;

    #[test]
    fn a_refusal_carries_the_header_that_its_status_asks_for() {
        let wrong =
            Failure::new(ErrorCode::MethodNotAllowed, "no").detail("allowed", ["GET", "POST"]);
        assert_eq!(header_of(&wrong), Some((header::ALLOW, "GET, POST".to_owned())));
        let full = Failure::from(FollowError::Full);
        assert_eq!(header_of(&full), Some((header::RETRY_AFTER, "1".to_owned())));
        assert_eq!(header_of(&Failure::new(ErrorCode::NotFound, "no")), None);
        let response = |failure| reply(failure, RequestIds::new(1).next());
        let Reply::Json { status, header, .. } = response(wrong) else { panic!("a JSON answer") };
        assert_eq!((status, header.is_some()), (StatusCode::METHOD_NOT_ALLOWED, true));
    }
}
