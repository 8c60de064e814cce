//! The one place where a failure meets HTTP.

use hyper::StatusCode;
use od_core::error::{ErrorCode, Failure};
use od_wire::error::Envelope;

use super::access_log::RequestId;
use super::body::ReadBodyError;
use super::guard::Refusal;
use super::reply::Reply;
use crate::sse::hub::FollowError;

/// Answers a failure in the envelope, under the id that stands in the log.
pub(crate) fn reply(failure: Failure, request: RequestId) -> Reply {
    let status = StatusCode::from_u16(failure.code.http_status())
        .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Reply::json_with(status, &Envelope::new(failure, Some(request.to_string())))
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
            FollowError::Full => failure.suggest("close an event stream that nobody reads"),
            FollowError::Closed => failure.suggest("connect again once the daemon is back"),
        }
    }
}
