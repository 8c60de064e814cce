//! Services that a person registers, so that sources may read them.

use std::sync::Arc;
use std::time::Duration;

use od_core::connector::{
    BaseUrl, ConnectionString, ConnectionStringError, DatabaseTable, RegisteredService,
    SecretHeader, ServiceKind, ServiceName, ServiceRequest, ServiceUrl, protect_text,
};
use od_core::credential::Scrubber;
use od_core::error::{ErrorCode, Failure, nearest_name};
use od_core::json::{Map, Value};
use od_core::limits::{SHORT_TEXT, SOURCE_TIMEOUT, cut};
use od_ports::access::credential_vault::{Secret, VaultError};
use od_ports::connector_provider::{ConnectorAccess, ProviderError, ToolCall};
use od_ports::service_registry::{RegistryError, vault_key};

use crate::connectors::connect::{forget_secret, keep_secret};
use crate::connectors::execute::ExecuteTool;
use crate::connectors::provider;
use crate::{App, Caller, PersonOnly, failure};

/// Registers a service, or changes the one of its name. Only a person may.
///
/// The secret of an earlier registration is never kept: it was meant for the address of then.
pub async fn add(
    app: &App,
    caller: &Caller,
    request: AddService,
) -> Result<RegisteredService, AddServiceError> {
    caller.require_person()?;
    let (name, header) = (request.name.clone(), request.header.clone());
    let (url, secret) = place(request)?;
    let at = app.ports.clock.now();
    let service = RegisteredService { name: name.clone(), url, header, registered_at: at };
    // The old secret goes before the new address comes: between the two a source fails, and no secret
    // reaches a host that it was not given for.
    forget_secret(app, vault_key(&name)).await?;
    app.ports.services.put(service.clone()).await?;
    if let Some(secret) = secret {
        keep_secret(app, vault_key(&name), service.url.to_string(), secret, at).await?;
    }
    app.ports.services.dismiss(&name).await?;
    Ok(service)
}

/// Checks that a registration has what its kind needs, and returns where the service is.
fn place(request: AddService) -> Result<(ServiceUrl, Option<Secret>), AddServiceError> {
    let AddService { name, kind, url, header, secret } = request;
    match (kind, url, header, secret) {
        (ServiceKind::Http, None, _, _) => Err(AddServiceError::AddressNeeded { name }),
        (ServiceKind::Http, Some(_), Some(_), None) => Err(AddServiceError::SecretNeeded { name }),
        (ServiceKind::Http, Some(_), None, Some(_)) => Err(AddServiceError::HeaderNeeded { name }),
        (ServiceKind::Http, Some(url), _, secret) => Ok((ServiceUrl::Http(url), secret)),
        (ServiceKind::Postgres, None, None, Some(secret)) => {
            let connection: ConnectionString = secret.expose().parse()?;
            Ok((ServiceUrl::Postgres(connection.address().clone()), Some(secret)))
        }
        (ServiceKind::Postgres, _, _, _) => Err(AddServiceError::ConnectionNeeded { name }),
    }
}

/// Lists the registered services, by name.
pub async fn list(app: &App) -> Result<Vec<RegisteredService>, ListServicesError> {
    Ok(app.ports.services.list().await?)
}

/// Lists the services that agents asked for and nobody registered, newest first.
pub async fn requests(app: &App) -> Result<Vec<ServiceRequest>, ListServicesError> {
    Ok(app.ports.services.requests().await?)
}

/// Drops the request for a service. Only a person may.
pub async fn dismiss(
    app: &App,
    caller: &Caller,
    name: &str,
) -> Result<Vec<ServiceRequest>, RemoveServiceError> {
    caller.require_person()?;
    let requests = app.ports.services.requests().await?;
    let Some(request) = requests.iter().find(|request| request.name.as_str() == name) else {
        return Err(RemoveServiceError::NotAsked { name: name.chars().take(40).collect() });
    };
    app.ports.services.dismiss(&request.name).await?;
    Ok(app.ports.services.requests().await?)
}

/// Notes that an agent named a service which is not registered, so that a person is asked for it.
///
/// Nothing is granted by this, and nothing is told apart from the name: a person types the address.
pub(crate) async fn note_request(app: &App, request: &ExecuteTool, access: ConnectorAccess) {
    let ConnectorAccess::Registered(kind) = access else { return };
    let name = request.input.object().get("source").and_then(Value::as_str).unwrap_or_default();
    let Ok(name) = name.parse::<ServiceName>() else { return };
    let Ok(services) = app.ports.services.list().await else { return };
    // A near miss is a slip of the pen, and the answer says so.
    let names = services.iter().map(|service| service.name.as_str());
    if nearest_name(name.as_str(), names).is_some() {
        return;
    }
    let (project_id, asked_at) = (request.project.clone(), app.ports.clock.now());
    // The call has failed already; a request that cannot be kept is no further failure.
    let _ = app.ports.services.ask(ServiceRequest { name, kind, project_id, asked_at }).await;
}

/// Removes a service and forgets its secret. Only a person may. Artifacts that read it keep their last
/// data; their next refresh says that it is gone.
pub async fn remove(
    app: &App,
    caller: &Caller,
    name: &str,
) -> Result<RegisteredService, RemoveServiceError> {
    caller.require_person()?;
    let service = find(app, name).await?;
    // The secret first: broken off in between, a service without its secret is left, and not a secret that
    // nothing names.
    forget_secret(app, vault_key(&service.name)).await?;
    app.ports.services.remove(&service.name).await?;
    Ok(service)
}

/// Asks a service for one resource, and says in a few words what came. Only a person may.
pub async fn test(
    app: &App,
    caller: &Caller,
    request: TestService,
) -> Result<TestedService, TestServiceError> {
    caller.require_person()?;
    let service = find(app, &request.name).await.map_err(TestServiceError::Unknown)?;
    let kind = service.url.kind();
    let connector = kind.as_str().parse().expect("the id of a connector of ours fits the alphabet");
    let Some(provider) = provider(app, &connector) else {
        return Err(TestServiceError::Failed(ProviderError::Unavailable {
            message: format!("this od has no {connector} connector"),
        }));
    };
    let mut input = Map::new();
    input.insert("source".to_owned(), service.name.as_str().into());
    let tool = match kind {
        ServiceKind::Http => {
            input.insert("path".to_owned(), request.path.into());
            "http.get_text"
        }
        ServiceKind::Postgres => "postgres.schema",
    };
    // All secrets, not only its own: a service may answer with one that it was given elsewhere.
    let secrets = app.ports.vault.secrets().await?;
    let scrubber = Arc::new(Scrubber::new(secrets.iter().map(Secret::expose)));
    let call = ToolCall {
        // The tool reads no project; a person tests a service before any source names it.
        project: "none".parse().expect("a word fits the alphabet of ids"),
        tool: tool.parse().expect("the name of a tool of ours fits the alphabet"),
        input,
        secret: None,
        scrubber: Arc::clone(&scrubber),
    };
    let deadline = Duration::from_millis(SOURCE_TIMEOUT.allowed);
    let answer = tokio::select! {
        answer = provider.execute(call) => answer.map_err(TestServiceError::Failed)?,
        () = app.ports.clock.sleep(deadline) => return Err(TestServiceError::TimedOut),
    };
    let summary = answer.summary.unwrap_or_else(|| "it answered".to_owned());
    let summary = cut(protect_text(&summary, &scrubber), SHORT_TEXT);
    let tables = match kind {
        ServiceKind::Http => Vec::new(),
        ServiceKind::Postgres => {
            let mut output = answer.output.to_value();
            scrubber.scrub_json(&mut output);
            DatabaseTable::gather(&output)
        }
    };
    Ok(TestedService { service, summary, tables })
}

/// Returns one registered service.
pub async fn find(app: &App, name: &str) -> Result<RegisteredService, RemoveServiceError> {
    let services = app.ports.services.list().await?;
    let found = services.iter().find(|service| service.name.as_str() == name);
    found.cloned().ok_or_else(|| RemoveServiceError::NotFound {
        name: name.chars().take(40).collect(),
        nearest: nearest_name(name, services.iter().map(|service| service.name.as_str()))
            .map(str::to_owned),
    })
}

/// A service to register.
#[derive(Debug)]
pub struct AddService {
    /// The name that sources will use.
    pub name: ServiceName,
    /// The kind of service.
    pub kind: ServiceKind,
    /// The address below which they may read, of a service over HTTP.
    pub url: Option<BaseUrl>,
    /// The header of its secret.
    pub header: Option<SecretHeader>,
    /// The secret; of a database the whole connection string.
    pub secret: Option<Secret>,
}

/// A resource of a service, to see whether it answers.
#[derive(Clone, Debug)]
pub struct TestService {
    /// The service.
    pub name: String,
    /// The path below its address; empty is the address itself.
    pub path: String,
}

/// A service that answered.
#[derive(Clone, Debug)]
pub struct TestedService {
    /// The service.
    pub service: RegisteredService,
    /// The answer in a few words.
    pub summary: String,
    /// The tables of a database that its role may read.
    pub tables: Vec<DatabaseTable>,
}

/// Why a service was not registered.
#[derive(Debug, thiserror::Error)]
pub enum AddServiceError {
    /// An agent asked.
    #[error(transparent)]
    PersonOnly(#[from] PersonOnly),
    /// A header without its secret.
    #[error("service `{name}` has a header for a secret, and no secret was given")]
    SecretNeeded {
        /// The service.
        name: ServiceName,
    },
    /// A secret without its header.
    #[error("a secret was given for service `{name}`, and no header that carries it")]
    HeaderNeeded {
        /// The service.
        name: ServiceName,
    },
    /// A service over HTTP without its address.
    #[error("service `{name}` has no address")]
    AddressNeeded {
        /// The service.
        name: ServiceName,
    },
    /// A database without its connection string, or with more than that.
    #[error("database `{name}` is registered with a connection string and nothing else")]
    ConnectionNeeded {
        /// The service.
        name: ServiceName,
    },
    /// The connection string is none.
    #[error(transparent)]
    Connection(#[from] ConnectionStringError),
    /// The registry refused or failed.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The vault failed.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

impl From<AddServiceError> for Failure {
    fn from(err: AddServiceError) -> Self {
        let message = err.to_string();
        match err {
            AddServiceError::PersonOnly(err) => err.into(),
            AddServiceError::SecretNeeded { .. } => Self::new(ErrorCode::BadRequest, message)
                .suggest("give the secret on stdin or at the prompt, or leave --header out"),
            AddServiceError::HeaderNeeded { .. } => Self::new(ErrorCode::BadRequest, message)
                .suggest("name the header, such as --header Authorization or --header X-Api-Key"),
            AddServiceError::AddressNeeded { .. } => Self::new(ErrorCode::BadRequest, message)
                .suggest("give the address, such as https://api.example.com/v1"),
            AddServiceError::ConnectionNeeded { .. } => Self::new(ErrorCode::BadRequest, message)
                .suggest(
                    "give postgresql://USER:PASSWORD@HOST:5432/DATABASE on stdin or at the prompt",
                ),
            AddServiceError::Connection(_) => Self::new(ErrorCode::BadRequest, message).suggest(
                "give a role that may only read: postgresql://USER:PASSWORD@HOST:5432/DATABASE",
            ),
            AddServiceError::Registry(err) => failure::service_registry(&err),
            AddServiceError::Vault(err) => failure::vault(&err),
        }
    }
}

/// Why there is no list.
#[derive(Debug, thiserror::Error)]
pub enum ListServicesError {
    /// The registry failed.
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

impl From<ListServicesError> for Failure {
    fn from(err: ListServicesError) -> Self {
        match err {
            ListServicesError::Registry(err) => failure::service_registry(&err),
        }
    }
}

/// Why a service was not removed.
#[derive(Debug, thiserror::Error)]
pub enum RemoveServiceError {
    /// An agent asked.
    #[error(transparent)]
    PersonOnly(#[from] PersonOnly),
    /// There is none of this name.
    #[error("no service `{name}` is registered")]
    NotFound {
        /// The name asked for, cut.
        name: String,
        /// The nearest there is.
        nearest: Option<String>,
    },
    /// Nobody asked for one of this name.
    #[error("nobody has asked for a service `{name}`")]
    NotAsked {
        /// The name asked for, cut.
        name: String,
    },
    /// The registry failed.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The vault failed.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

impl From<RemoveServiceError> for Failure {
    fn from(err: RemoveServiceError) -> Self {
        let message = err.to_string();
        match err {
            RemoveServiceError::PersonOnly(err) => err.into(),
            RemoveServiceError::NotFound { nearest, .. } => {
                let hint = match nearest {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "`od sources list` shows them all".to_owned(),
                };
                Self::new(ErrorCode::NotFound, message).suggest(hint)
            }
            RemoveServiceError::NotAsked { .. } => Self::new(ErrorCode::NotFound, message)
                .suggest("`od sources list` shows what agents asked for"),
            RemoveServiceError::Registry(err) => failure::service_registry(&err),
            RemoveServiceError::Vault(err) => failure::vault(&err),
        }
    }
}

/// Why a service did not answer.
#[derive(Debug, thiserror::Error)]
pub enum TestServiceError {
    /// An agent asked.
    #[error(transparent)]
    PersonOnly(#[from] PersonOnly),
    /// There is none of this name, or none can be read.
    #[error(transparent)]
    Unknown(RemoveServiceError),
    /// It answered with a refusal, or not at all.
    #[error("{0}")]
    Failed(ProviderError),
    /// It took too long.
    #[error("the service did not answer in time")]
    TimedOut,
    /// The vault failed.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

impl From<TestServiceError> for Failure {
    fn from(err: TestServiceError) -> Self {
        let message = err.to_string();
        match err {
            TestServiceError::PersonOnly(err) => err.into(),
            TestServiceError::Unknown(err) => err.into(),
            TestServiceError::Failed(ProviderError::CredentialRefused) => {
                Self::new(ErrorCode::ConnectorNotConnected, message)
                    .suggest("register it again with the secret, or the user and password, that it takes")
            }
            TestServiceError::Failed(ProviderError::Forbidden { .. }) => {
                Self::new(ErrorCode::ConnectorExecutionFailed, message)
                    .suggest("register it again in the way that the message says")
            }
            TestServiceError::Failed(_) | TestServiceError::TimedOut => {
                Self::new(ErrorCode::ConnectorExecutionFailed, message).suggest(
                    "check the address; of a service over HTTP name a resource that is there with --path",
                )
            }
            TestServiceError::Vault(err) => failure::vault(&err),
        }
    }
}
