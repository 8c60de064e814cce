//! From an outcome to a response and its line in the log.

use std::time::Instant;

use hyper::body::Body as _;
use hyper::{Method, Response};
use od_core::error::Failure;

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
            Err(failure) => (error::reply(&failure, self.id), Some(failure.code.as_str())),
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
