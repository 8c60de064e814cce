//! The services outside this machine that a person has registered by name.

use std::fmt;

use async_trait::async_trait;
use od_core::connector::{RegisteredService, ServiceKind, ServiceName, ServiceRequest};
use od_core::error::nearest_name;
use od_core::ids::ConnectorId;
use od_core::limits::{REGISTERED_SERVICES, SERVICE_REQUESTS};

use crate::access::credential_vault::VaultError;
use crate::connector_provider::ProviderError;

/// Keeps the registered services of one machine; their secrets are in the vault.
///
/// # Contract
///
/// - What `put` acknowledged survives a loss of power; a reader sees the registry before a change or
///   after it.
/// - `list` is ordered by name.
/// - A change made by another process is seen by the next call.
/// - Of two requests of one name the later is kept; of too many the newest.
/// - No project, clone or bundle can bring an entry: it is kept outside every data directory.
#[async_trait]
pub trait ServiceRegistry: fmt::Debug + Send + Sync {
    /// Returns every registered service.
    async fn list(&self) -> Result<Vec<RegisteredService>, RegistryError>;

    /// Adds a service, or replaces the one of its name.
    async fn put(&self, service: RegisteredService) -> Result<(), RegistryError>;

    /// Removes a service; returns whether it was there.
    async fn remove(&self, name: &ServiceName) -> Result<bool, RegistryError>;

    /// Returns the services that agents asked for, newest first.
    async fn requests(&self) -> Result<Vec<ServiceRequest>, RegistryError>;

    /// Keeps a request, so that a person sees it.
    async fn ask(&self, request: ServiceRequest) -> Result<(), RegistryError>;

    /// Drops the request for a service; returns whether it was there.
    async fn dismiss(&self, name: &ServiceName) -> Result<bool, RegistryError>;
}

/// A refusal or failure of the registry.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum RegistryError {
    /// There are as many as there may be.
    #[error("{} services are registered, and more are not taken", REGISTERED_SERVICES.allowed)]
    Full,
    /// The file is not what was written.
    #[error("the registered services cannot be read: {reason}")]
    Damaged {
        /// The fault.
        reason: String,
    },
    /// The file cannot be read or written now.
    #[error("the registered services cannot be used: {reason}")]
    Unavailable {
        /// The action that failed.
        reason: String,
    },
}

/// The registry is a private file like those of the vault, and fails in the same ways.
impl From<VaultError> for RegistryError {
    fn from(err: VaultError) -> Self {
        match err {
            VaultError::Damaged { reason } => Self::Damaged { reason },
            VaultError::NotPrivate { reason } | VaultError::Unavailable { reason } => {
                Self::Unavailable { reason }
            }
        }
    }
}

/// Puts a request before the others, by the rules of the registry.
pub fn put_request(requests: &mut Vec<ServiceRequest>, request: ServiceRequest) {
    requests.retain(|held| held.name != request.name);
    requests.insert(0, request);
    requests.truncate(SERVICE_REQUESTS.max());
}

/// Says that no service of a kind has a name, which have, and how a person registers one.
#[must_use]
pub fn unregistered<'s>(
    kind: ServiceKind,
    name: &str,
    services: impl IntoIterator<Item = &'s RegisteredService>,
) -> ProviderError {
    let of_kind = services.into_iter().filter(|service| service.url.kind() == kind);
    let names: Vec<&str> = of_kind.map(|service| service.name.as_str()).collect();
    let known = match nearest_name(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => "none is registered yet".to_owned(),
        None => format!("registered are {}", names.join(", ")),
    };
    let (noun, address) = match kind {
        ServiceKind::Http => ("service", " URL"),
        ServiceKind::Postgres => ("database", ""),
    };
    let example = if name.parse::<ServiceName>().is_ok() { name } else { "NAME" };
    ProviderError::Missing {
        message: format!(
            "no {noun} `{}`; {known}; a person registers one with `od sources add {} {example}{address}`",
            name.chars().take(40).collect::<String>(),
            kind.as_str(),
        ),
    }
}

/// Returns the name under which the vault keeps the secret of a service.
///
/// No connector has an id with this prefix: a catalogue test walks them all.
#[must_use]
pub fn vault_key(name: &ServiceName) -> ConnectorId {
    format!("service.{name}").parse().expect("a service name fits the alphabet of ids")
}
