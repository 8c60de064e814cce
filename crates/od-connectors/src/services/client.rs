//! Reads one resource of a registered service.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderName};
use od_core::connector::{BaseUrl, RegisteredService, ServiceKind, ServiceUrl};
use od_core::json::{Map, Value};
use od_core::limits::{INTAKE_SOURCE, REGISTERED_SERVICES};
use od_ports::access::credential_vault::CredentialVault;
use od_ports::connector_provider::ProviderError;
use od_ports::service_registry::{ServiceRegistry, unregistered, vault_key};

use crate::http::{Fetcher, Origin, Redirects, Reply, Request, secret_header};

/// Reads registered services, and no other address.
///
/// What a source names is a service and a path below it; the address and the header with the secret
/// come from what a person registered. An agent can therefore neither choose a host nor see a key.
#[derive(Debug)]
pub struct ServiceClient {
    registry: Arc<dyn ServiceRegistry>,
    vault: Arc<dyn CredentialVault>,
    /// By address, so that connections are kept between refreshes.
    fetchers: Mutex<HashMap<String, Fetcher>>,
}

/// One resource of a service, as a source names it.
#[derive(Debug)]
pub(super) struct Resource<'a> {
    pub(super) service: &'a str,
    pub(super) path: &'a str,
    pub(super) query: Vec<(String, String)>,
    pub(super) accept: &'static str,
}

/// The body of a resource.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) body: Vec<u8>,
    /// In lower case and without parameters.
    pub(super) content_type: String,
    /// For the record: the service, the path, the bytes.
    pub(super) metadata: Map,
}

impl ServiceClient {
    /// Makes a client of the services in a registry, with their secrets from the vault.
    pub fn new(registry: Arc<dyn ServiceRegistry>, vault: Arc<dyn CredentialVault>) -> Self {
        Self { registry, vault, fetchers: Mutex::default() }
    }

    pub(super) async fn get(&self, resource: Resource<'_>) -> Result<Fetched, ProviderError> {
        let (service, base) = self.find(resource.service).await?;
        let url = base.resource(resource.path, &resource.query).map_err(|err| {
            ProviderError::Input { pointer: "/path".to_owned(), message: err.to_string() }
        })?;
        let secret = match &service.header {
            None => None,
            Some(header) => {
                let held = self
                    .vault
                    .secret(&vault_key(&service.name))
                    .await
                    .map_err(|err| ProviderError::Unavailable { message: err.to_string() })?;
                let Some(held) = held else { return Err(ProviderError::CredentialRefused) };
                let name = HeaderName::from_bytes(header.name().as_bytes()).map_err(|_| {
                    ProviderError::Unavailable { message: "the header has no name".to_owned() }
                })?;
                Some(secret_header(name, header.value(held.expose()))?)
            }
        };
        let request = Request {
            url,
            accept: resource.accept,
            headers: &[],
            secret,
            redirects: Redirects::Below(&base),
            etag: None,
            body_bytes_max: INTAKE_SOURCE.max(),
        };
        let fetcher = self.fetcher(&base)?;
        let reply = fetcher.get(request).await?;
        if !reply.status.is_success() {
            return Err(status_fault(&reply, &service, resource.path));
        }
        let mut metadata = Map::new();
        metadata.insert("service".to_owned(), service.name.as_str().into());
        metadata.insert("path".to_owned(), Value::from(resource.path));
        metadata.insert("bytes".to_owned(), reply.body.len().into());
        let content_type = content_type(&reply);
        Ok(Fetched { body: reply.body, content_type, metadata })
    }

    /// Finds a service by its name, or says which there are and how a person adds one.
    async fn find(&self, name: &str) -> Result<(RegisteredService, BaseUrl), ProviderError> {
        let services = self
            .registry
            .list()
            .await
            .map_err(|err| ProviderError::Unavailable { message: err.to_string() })?;
        let found = services.iter().find(|service| service.name.as_str() == name);
        match found.map(|service| (service, &service.url)) {
            Some((service, ServiceUrl::Http(base))) => Ok((service.clone(), base.clone())),
            Some((_, ServiceUrl::Postgres(_))) => Err(ProviderError::Input {
                pointer: "/source".to_owned(),
                message: format!("`{name}` is a database: read it with `postgres.query`"),
            }),
            None => Err(unregistered(ServiceKind::Http, name, &services)),
        }
    }

    fn fetcher(&self, base: &BaseUrl) -> Result<Fetcher, ProviderError> {
        let key = base.to_string();
        let mut fetchers = self.fetchers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fetcher) = fetchers.get(&key) {
            return Ok(fetcher.clone());
        }
        let origin = Origin::of(base.url()).ok_or_else(|| ProviderError::Unavailable {
            message: "the registered address has no host".to_owned(),
        })?;
        if fetchers.len() >= REGISTERED_SERVICES.max() {
            // Addresses change rarely; dropping idle connections costs a handshake each.
            fetchers.clear();
        }
        let fetcher = Fetcher::new(origin, Vec::new());
        fetchers.insert(key, fetcher.clone());
        Ok(fetcher)
    }
}

fn content_type(reply: &Reply) -> String {
    let text = reply.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let text = text.unwrap_or_default().split(';').next().unwrap_or_default();
    text.trim().to_ascii_lowercase()
}

/// Says what a status means for the person; no byte of the body is repeated.
fn status_fault(reply: &Reply, service: &RegisteredService, path: &str) -> ProviderError {
    let name = &service.name;
    let at = format!("`{}` of service `{name}`", path.chars().take(100).collect::<String>());
    match reply.status {
        StatusCode::UNAUTHORIZED if service.header.is_some() => ProviderError::CredentialRefused,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ProviderError::Forbidden {
            message: format!(
                "{at} answers {}: it wants a secret; a person gives it with `od sources add http {name} {} --header NAME`",
                reply.status.as_u16(),
                service.url
            ),
        },
        StatusCode::NOT_FOUND | StatusCode::GONE => {
            ProviderError::Missing { message: format!("{at} is not there (404)") }
        }
        StatusCode::TOO_MANY_REQUESTS => {
            let seconds = reply.number("retry-after").unwrap_or(60).clamp(1, 3600);
            ProviderError::RateLimited { after_ms: seconds * 1000 }
        }
        status => {
            let message = format!("{at} answers with status {}", status.as_u16());
            if status.is_client_error() {
                ProviderError::Input { pointer: "/query".to_owned(), message }
            } else {
                ProviderError::Unavailable { message }
            }
        }
    }
}

/// Reads the `query` of an input: scalars by name; numbers and truth values as they are written.
pub(super) fn query_pairs(input: &Map) -> Vec<(String, String)> {
    let pairs = input.get("query").and_then(Value::as_object);
    pairs
        .into_iter()
        .flatten()
        .map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (name.clone(), text)
        })
        .collect()
}
