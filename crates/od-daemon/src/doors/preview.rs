//! The door of previews: one path, opened by a ticket, and nothing else.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header;
use hyper::http::request::Parts;
use hyper::{Request, Response};
use od_core::error::{ErrorCode, Failure};

use super::record::Timed;
use crate::auth;
use crate::daemon::Daemon;
use crate::http::accept::Answer;
use crate::http::body::Body;
use crate::http::guard::{Guard, Target, Verdict};
use crate::http::reply::Reply;
use crate::routes::preview;

/// Answers on the preview port.
#[derive(Debug)]
pub(crate) struct PreviewDoor {
    daemon: Arc<Daemon>,
    guard: Guard,
}

impl PreviewDoor {
    pub(crate) fn new(daemon: Arc<Daemon>, guard: Guard) -> Self {
        Self { daemon, guard }
    }

    async fn pass(&self, head: &Parts) -> Result<Reply, Failure> {
        match self.guard.check(head, Target::Other)? {
            Verdict::Pass => {}
            // The preview guard redirects nobody.
            Verdict::RedirectToConsole => return Err(missing()),
        }
        let Some(ticket) = head.uri.path().strip_prefix("/preview/") else { return Err(missing()) };
        let claims = auth::verify_ticket(&self.daemon, ticket)?;
        let validator = head.headers.get(header::IF_NONE_MATCH);
        preview::by_ticket(&self.daemon, &claims, validator).await
    }
}

impl Answer for PreviewDoor {
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        let (head, _) = request.into_parts();
        let timed = Timed::begin(&self.daemon, &head.method);
        let outcome = self.pass(&head).await;
        timed.finish(&self.daemon, "/preview/{ticket}", outcome)
    }
}

fn missing() -> Failure {
    Failure::new(ErrorCode::NotFound, "nothing but ticketed previews is served here")
        .suggest("ask for a ticket with POST /api/live-artifacts/{artifact}/preview-ticket")
}
