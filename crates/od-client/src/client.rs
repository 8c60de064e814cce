//! The client: one address, one bearer, a connection kept for the next call.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{self, HeaderValue};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use od_core::error::{ErrorCode, Failure};
use od_core::ledger::Door;
use od_wire::route::{DOOR_HEADER, Operation, Route};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::call::{Answer, Call};
use crate::error::CallError;

/// The longest a connection on loopback takes.
const CONNECT_MAX: Duration = od_core::limits::CLIENT_CONNECT.duration();
/// The longest an answer takes: a whole refresh, and a little.
const ANSWER_MAX: Duration = od_core::limits::CLIENT_ANSWER_TIMEOUT.duration();
/// The longest answer: a rendered preview is at most half of it.
const ANSWER_BYTES_MAX: usize = od_core::limits::CLIENT_ANSWER.max();

/// The credential that a client shows the daemon.
#[derive(Clone)]
pub enum Bearer {
    /// Nothing: health and session only.
    None,
    /// One token for every call: an agent's, from its environment.
    Token(String),
    /// A token made for each call: the person's, which lives a minute.
    Fresh(std::sync::Arc<dyn Fn() -> Result<String, CallError> + Send + Sync>),
}

impl std::fmt::Debug for Bearer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Never the token itself.
        f.write_str(match self {
            Self::None => "None",
            Self::Token(_) => "Token",
            Self::Fresh(_) => "Fresh",
        })
    }
}

/// A client of one daemon.
#[derive(Debug)]
pub struct Client {
    url: String,
    address: SocketAddr,
    host: HeaderValue,
    bearer: Bearer,
    /// The door that the client is, for the timeline.
    door: Option<Door>,
    /// The fingerprint of the key that the daemon has to prove, before it is sent anything else.
    daemon_id: Option<String>,
    /// The connection of the last call, if it can be used again.
    idle: Mutex<Option<SendRequest<Full<Bytes>>>>,
}

impl Client {
    /// Makes a client of the daemon at `url`, which is `http://127.0.0.1:<port>`.
    ///
    /// # Errors
    ///
    /// Fails for any other address: a daemon binds nowhere else, and a token sent elsewhere is lost.
    pub fn new(url: &str, bearer: Bearer) -> Result<Self, CallError> {
        let bad = || CallError::Address { url: url.to_owned() };
        let authority = url.strip_prefix("http://").ok_or_else(bad)?;
        let authority = authority.strip_suffix('/').unwrap_or(authority);
        let address: SocketAddr = authority.parse().map_err(|_| bad())?;
        // Not `localhost`: that is a name, which a resolver may lead elsewhere, or to another program on
        // ::1.
        if address.ip() != Ipv4Addr::LOCALHOST {
            return Err(bad());
        }
        let host = HeaderValue::try_from(address.to_string()).map_err(|_| bad())?;
        let url = format!("http://{address}");
        let (door, daemon_id, idle) = (None, None, Mutex::new(None));
        Ok(Self { url, address, host, bearer, door, daemon_id, idle })
    }

    /// Demands that each connection is one to the daemon whose key has this fingerprint: it proves that
    /// before it is shown a credential.
    #[must_use]
    pub fn of_daemon(self, fingerprint: String) -> Self {
        Self { daemon_id: Some(fingerprint), ..self }
    }

    /// Says which door the calls come through.
    #[must_use]
    pub fn through(self, door: Door) -> Self {
        Self { door: Some(door), ..self }
    }

    /// Returns the daemon's URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Starts a request.
    #[must_use]
    pub fn call(&self, operation: Operation) -> Call<'_> {
        Call::new(self, operation)
    }

    pub(crate) async fn exchange(
        &self,
        route: &Route,
        target: &str,
        body: Option<Vec<u8>>,
    ) -> Result<Answer, CallError> {
        let request = self.request(route, target, body, None)?;
        let work = async {
            let response = self.send(request).await?;
            self.read_whole(response).await
        };
        match timeout(ANSWER_MAX, work).await {
            Ok(answer) => answer,
            Err(_) => Err(CallError::TimedOut { url: self.url.clone(), after: ANSWER_MAX }),
        }
    }

    pub(crate) fn request(
        &self,
        route: &Route,
        target: &str,
        body: Option<Vec<u8>>,
        last_event_id: Option<&str>,
    ) -> Result<Request<Full<Bytes>>, CallError> {
        let mut request = self.bare_request(route, target, body)?;
        let headers = request.headers_mut();
        if let Some(door) = self.door {
            headers.insert(DOOR_HEADER, HeaderValue::from_static(door.as_str()));
        }
        if let Some(token) = self.token()? {
            let mut value =
                HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| CallError::Bearer)?;
            // Left out of debug output.
            value.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, value);
        }
        if let Some(id) = last_event_id.and_then(|id| HeaderValue::try_from(id).ok()) {
            headers.insert("last-event-id", id);
        }
        Ok(request)
    }

    /// Builds a request that carries no credential.
    pub(crate) fn bare_request(
        &self,
        route: &Route,
        target: &str,
        body: Option<Vec<u8>>,
    ) -> Result<Request<Full<Bytes>>, CallError> {
        let mut request = Request::new(Full::new(Bytes::from(body.unwrap_or_default())));
        *request.method_mut() = match route.method {
            od_wire::route::Method::Get => hyper::Method::GET,
            od_wire::route::Method::Post => hyper::Method::POST,
            od_wire::route::Method::Patch => hyper::Method::PATCH,
            od_wire::route::Method::Delete => hyper::Method::DELETE,
        };
        *request.uri_mut() =
            target.parse().map_err(|_| CallError::Address { url: target.to_owned() })?;
        let headers = request.headers_mut();
        headers.insert(header::HOST, self.host.clone());
        if route.method.changes_state() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        Ok(request)
    }

    fn token(&self) -> Result<Option<String>, CallError> {
        match &self.bearer {
            Bearer::None => Ok(None),
            Bearer::Token(token) => Ok(Some(token.clone())),
            Bearer::Fresh(make) => make().map(Some),
        }
    }

    /// Sends on the kept connection if it still stands, else on a new one.
    pub(crate) async fn send(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, CallError> {
        let broken = |source| CallError::Broken { url: self.url.clone(), source };
        let mut request = request;
        // Taken out while it is in use: a second call at the same time opens a connection of its own and
        // does not wait behind a refresh.
        let kept = self.idle.lock().await.take();
        if let Some(mut sender) = kept
            && sender.ready().await.is_ok()
        {
            match sender.try_send_request(request).await {
                Ok(response) => {
                    *self.idle.lock().await = Some(sender);
                    return Ok(response);
                }
                // The daemon closed it before the request left: nothing has happened yet.
                Err(mut refused) => match refused.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(broken(refused.into_error())),
                },
            }
        }
        let mut sender = self.dial().await?;
        if let Some(fingerprint) = &self.daemon_id {
            // On the connection that the request takes: whoever accepted it is who proves himself.
            self.have_proven(&mut sender, fingerprint).await?;
        }
        let response = sender.send_request(request).await.map_err(broken)?;
        *self.idle.lock().await = Some(sender);
        Ok(response)
    }

    async fn dial(&self) -> Result<SendRequest<Full<Bytes>>, CallError> {
        let unreachable = |source| CallError::Unreachable { url: self.url.clone(), source };
        let stream = match timeout(CONNECT_MAX, TcpStream::connect(self.address)).await {
            Ok(connected) => connected.map_err(unreachable)?,
            Err(_) => {
                return Err(CallError::TimedOut { url: self.url.clone(), after: CONNECT_MAX });
            }
        };
        // A request is written at once; nothing follows that could be merged with it.
        stream.set_nodelay(true).map_err(unreachable)?;
        let (sender, connection) = http1::Builder::new()
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|source| CallError::Broken { url: self.url.clone(), source })?;
        // The sender reports what goes wrong with the connection.
        tokio::spawn(async move { drop(connection.await) });
        Ok(sender)
    }

    pub(crate) async fn read_whole(
        &self,
        response: Response<Incoming>,
    ) -> Result<Answer, CallError> {
        let status = response.status().as_u16();
        let content_type = response
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
            .to_owned();
        let body = match Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await {
            Ok(collected) => Vec::from(collected.to_bytes()),
            Err(error) if error.is::<LengthLimitError>() => {
                let url = self.url.clone();
                return Err(CallError::TooLarge { url, allowed: ANSWER_BYTES_MAX });
            }
            Err(error) => match error.downcast::<hyper::Error>() {
                Ok(source) => {
                    return Err(CallError::Broken { url: self.url.clone(), source: *source });
                }
                Err(_) => {
                    let url = self.url.clone();
                    return Err(CallError::TooLarge { url, allowed: ANSWER_BYTES_MAX });
                }
            },
        };
        if (200..300).contains(&status) {
            Ok(Answer { status, content_type, body })
        } else {
            Err(refusal(status, &body))
        }
    }
}

fn refusal(status: u16, body: &[u8]) -> CallError {
    let envelope = serde_json::from_slice(body).unwrap_or_else(|_| {
        let message = format!("the daemon answered {status} without an error envelope");
        Failure::new(ErrorCode::Internal, message)
            .suggest("`od doctor` checks that daemon and program are of one version")
            .into()
    });
    CallError::Refused { status, envelope }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_sent_to_loopback_only() {
        for url in [
            "https://127.0.0.1:1",
            "http://localhost:7456",
            "http://127.0.0.1",
            "http://[::1]:1",
            "http://127.0.0.1:1/x",
            "http://10.0.0.1:1",
            "http://user@127.0.0.1:1",
            "",
        ] {
            assert!(Client::new(url, Bearer::None).is_err(), "{url}");
        }
        let client = Client::new("http://127.0.0.1:7456/", Bearer::None).unwrap();
        assert_eq!(client.url(), "http://127.0.0.1:7456");
    }

    #[test]
    fn a_debug_line_shows_no_token() {
        let client = Client::new("http://127.0.0.1:1", Bearer::Token("odt.v1.x".to_owned()));
        assert!(!format!("{client:?}").contains("odt"));
    }
}
