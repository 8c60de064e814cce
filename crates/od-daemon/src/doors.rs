//! The two listeners: API with console, and previews; and the line that each answer leaves in the log.

use std::sync::Arc;
use std::time::Instant;

use hyper::body::{Body as _, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response};
use od_core::error::{ErrorCode, Failure};

use crate::auth;
use crate::console;
use crate::daemon::Daemon;
use crate::exchange::{self, Exchange};
use crate::http::accept::Answer;
use crate::http::access_log::{Record, RequestId};
use crate::http::body::Body;
use crate::http::error;
use crate::http::guard::{Guard, Target, Verdict};
use crate::http::lookup::Lookup;
use crate::http::query::Query;
use crate::http::reply::Reply;
use crate::routes::preview;

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
        let is_read = head.method == Method::GET || head.method == Method::HEAD;
        if let Some(worker) = console::last_worker(&head.headers).filter(|_| is_read) {
            *route_name = "console";
            return Ok(worker);
        }
        if is_file && is_read {
            *route_name = "console";
            return console::find(path, &head.headers).ok_or_else(|| missing(path));
        }
        let (route, params) = match self.daemon.routes.look_up(&head.method, path) {
            Lookup::Found(route, params) => (route, params),
            Lookup::WrongMethod(allowed) => {
                let names: Vec<&str> = allowed.iter().map(|method| method.as_str()).collect();
                let failure = Failure::new(
                    ErrorCode::MethodNotAllowed,
                    "this path does not take this method",
                )
                .suggest(format!("use {}", names.join(" or ")));
                return Err(failure.detail("allowed", names));
            }
            Lookup::Missing => return Err(missing(path)),
        };
        *route_name = route.path;
        let identity = auth::identify(&self.daemon, route, &head.headers).await?;
        let query = Query::parse(head.uri.query(), route.query)?;
        let exchange = Exchange { daemon: &self.daemon, route, params, query, head, identity };
        exchange::perform(&exchange, body).await
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
        timed.finish(Reader::Program, &daemon, route, outcome)
    }
}

fn missing(path: &str) -> Failure {
    let failure = Failure::new(ErrorCode::NotFound, "there is no such route");
    let known = od_wire::route::ROUTES.iter().map(|route| route.path);
    match od_core::error::nearest_name(path, known) {
        Some(near) => failure.suggest(format!("did you mean `{near}`?")),
        None => failure.suggest("GET /openapi.json lists every route"),
    }
}

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
            Verdict::RedirectToConsole => return Err(no_preview()),
        }
        let Some(ticket) = head.uri.path().strip_prefix("/preview/") else {
            return Err(no_preview());
        };
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
        let reader = if wants_page(&head) { Reader::Person } else { Reader::Program };
        timed.finish(reader, &self.daemon, "/preview/{ticket}", outcome)
    }
}

/// The one who reads an answer.
#[derive(Clone, Copy, Debug)]
enum Reader {
    /// A client that reads envelopes.
    Program,
    /// A person, in a tab or a frame.
    Person,
}

/// Returns whether a browser is about to show the answer to a person.
fn wants_page(head: &Parts) -> bool {
    let accept = head.headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    head.method == Method::GET && accept.is_some_and(|accept| accept.contains("text/html"))
}

fn no_preview() -> Failure {
    Failure::new(ErrorCode::NotFound, "nothing but ticketed previews is served here")
        .suggest("ask for a ticket with POST /api/live-artifacts/{artifact}/preview-ticket")
}

/// One request being answered.
#[derive(Debug)]
struct Timed {
    id: RequestId,
    began: Instant,
    method: &'static str,
}

impl Timed {
    fn begin(daemon: &Daemon, method: &Method) -> Self {
        Self { id: daemon.request_ids.next(), began: Instant::now(), method: method_name(method) }
    }

    /// Makes the response and remembers the exchange.
    fn finish(
        self,
        reader: Reader,
        daemon: &Daemon,
        route: &'static str,
        outcome: Result<Reply, Failure>,
    ) -> Response<Body> {
        let (reply, code) = match outcome {
            Ok(reply) => (reply, None),
            Err(failure) => {
                // Under the id that the client can quote. The message is the failure's own, about the
                // daemon: no body, header or token is part of it. It is quoted, so that no character
                // of it steers a terminal or begins another line.
                if failure.code == ErrorCode::Internal {
                    let (request, method, cause) = (&self.id, self.method, &failure.message);
                    tracing::error!(%request, method, route, ?cause, "a request failed inside");
                }
                let code = failure.code.as_str();
                let reply = match reader {
                    Reader::Program => error::reply(failure, self.id),
                    Reader::Person => error::page(&failure, self.id, &daemon.urls.api),
                };
                (reply, Some(code))
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
