//! From an outcome to a response and its line in the log.

use std::time::Instant;

use hyper::body::Body as _;
use hyper::{Method, Response};
use od_core::error::{ErrorCode, Failure};

use crate::daemon::Daemon;
use crate::http::access_log::Record;
use crate::http::body::Body;
use crate::http::error;
use crate::http::reply::Reply;
use crate::http::request_id::RequestId;

/// One request being answered.
#[derive(Debug)]
pub(super) struct Timed {
    id: RequestId,
    began: Instant,
    method: &'static str,
}

impl Timed {
    pub(super) fn begin(daemon: &Daemon, method: &Method) -> Self {
        Self { id: daemon.request_ids.next(), began: Instant::now(), method: method_name(method) }
    }

    /// Makes the response and remembers the exchange.
    pub(super) fn finish(
        self,
        daemon: &Daemon,
        route: &'static str,
        outcome: Result<Reply, Failure>,
    ) -> Response<Body> {
        let (reply, code) = match outcome {
            Ok(reply) => (reply, None),
            Err(failure) => {
                self.log_cause(route, &failure);
                let code = failure.code.as_str();
                (error::reply(failure, self.id), Some(code))
            }
        };
        let response = reply.into_response(&daemon.policies);
        daemon.access_log.push(Record {
            at_unix_ms: daemon.app.ports.clock.now().unix_ms(),
            request: self.id,
            method: self.method,
            route,
            status: response.status().as_u16(),
            bytes: response.body().size_hint().exact().unwrap_or_default(),
            micros: u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX),
            code,
        });
        response
    }
}

impl Timed {
    /// Writes down why the daemon itself failed, under the id that the client can quote.
    ///
    /// The message is the failure's own, about the daemon: no body, header or token is part of it.
    /// It is quoted, so that no character of it steers a terminal or begins another line.
    fn log_cause(&self, route: &'static str, failure: &Failure) {
        if failure.code == ErrorCode::Internal {
            let (request, method, cause) = (&self.id, self.method, &failure.message);
            tracing::error!(%request, method, route, ?cause, "a request failed inside");
        }
    }
}

/// Methods are logged by name only if they are well known: the client chooses the others.
fn method_name(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        "PUT" => "PUT",
        _ => "OTHER",
    }
}
