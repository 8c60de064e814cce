//! The door of API and console.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::http::request::Parts;
use hyper::{Method, Request, Response};
use od_core::error::{ErrorCode, Failure};

use super::record::Timed;
use crate::auth;
use crate::console;
use crate::daemon::Daemon;
use crate::dispatch;
use crate::exchange::Exchange;
use crate::http::accept::Answer;
use crate::http::body::Body;
use crate::http::guard::{Guard, Target, Verdict};
use crate::http::lookup::Lookup;
use crate::http::query::Query;
use crate::http::reply::Reply;

/// Answers on the API port.
#[derive(Debug)]
pub(crate) struct ApiDoor {
    daemon: Arc<Daemon>,
    guard: Guard,
    console: HeaderValue,
}

impl ApiDoor {
    pub(crate) fn new(daemon: Arc<Daemon>, guard: Guard, console: HeaderValue) -> Self {
        Self { daemon, guard, console }
    }

    async fn decide(&self, request: Request<Incoming>) -> (&'static str, Result<Reply, Failure>) {
        let (head, body) = request.into_parts();
        let mut route = "-";
        let outcome = self.pass(&head, body, &mut route).await;
        (route, outcome)
    }

    /// Guard, lookup, authorization, query, dispatch: in this order, whatever is asked.
    async fn pass(
        &self,
        head: &Parts,
        body: Incoming,
        route_name: &mut &'static str,
    ) -> Result<Reply, Failure> {
        let path = head.uri.path();
        let is_file = console::is_file(path);
        let target = if is_file { Target::ConsoleFile } else { Target::Other };
        match self.guard.check(head, target)? {
            Verdict::Pass => {}
            Verdict::RedirectToConsole => return Ok(Reply::Redirect(self.console.clone())),
        }
        if is_file && (head.method == Method::GET || head.method == Method::HEAD) {
            *route_name = "console";
            return console::find(path, &head.headers).ok_or_else(|| missing(path));
        }
        let (route, params) = match self.daemon.routes.look_up(&head.method, path) {
            Lookup::Found(route, params) => (route, params),
            Lookup::WrongMethod(allowed) => return Err(wrong_method(&allowed)),
            Lookup::Missing => return Err(missing(path)),
        };
        *route_name = route.path;
        let identity = auth::identify(&self.daemon, route, &head.headers).await?;
        let query = Query::parse(head.uri.query(), route.query)?;
        let exchange = Exchange { daemon: &self.daemon, route, params, query, head, identity };
        dispatch::perform(&exchange, body).await
    }
}

impl Answer for ApiDoor {
    /// A change runs in a task of its own: a client that hangs up does not cut it in two.
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        let timed = Timed::begin(&self.daemon, request.method());
        let daemon = Arc::clone(&self.daemon);
        let (route, outcome) = if request.method() == Method::GET
            || request.method() == Method::HEAD
        {
            self.decide(request).await
        } else {
            let begun = daemon.in_flight.begin();
            let change = async move {
                let _begun = begun;
                self.decide(request).await
            };
            match tokio::spawn(change).await {
                Ok(decided) => decided,
                Err(_) => {
                    ("-", Err(Failure::new(ErrorCode::Internal, "the request's handler panicked")))
                }
            }
        };
        timed.finish(&daemon, route, outcome)
    }
}

fn wrong_method(allowed: &[od_wire::route::Method]) -> Failure {
    let names: Vec<&str> = allowed.iter().map(|method| method.as_str()).collect();
    Failure::new(ErrorCode::BadRequest, "this path does not take this method")
        .suggest(format!("use {}", names.join(" or ")))
        .detail("allowed", names)
}

fn missing(path: &str) -> Failure {
    let failure = Failure::new(ErrorCode::NotFound, "there is no such route");
    let known = od_wire::route::ROUTES.iter().map(|route| route.path);
    match od_core::error::nearest_name(path, known) {
        Some(near) => failure.suggest(format!("did you mean `{near}`?")),
        None => failure.suggest("GET /openapi.json lists every route"),
    }
}
