//! Registered services.

use od_core::connector::{
    BaseUrl, DatabaseTable, RegisteredService, SecretHeader, ServiceKind, ServiceName,
    ServiceRequest,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Registers a service, or changes the one of its name.
#[derive(Clone, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddService {
    /// The name that sources will use.
    pub name: ServiceName,
    /// The kind of service; over HTTP if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ServiceKind>,
    /// The address below which they may read, of a service over HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<BaseUrl>,
    /// The header of its secret; it takes none if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<SecretHeader>,
    /// The secret of that header, or the connection string of a database; kept in the vault, given
    /// back to nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096))]
    pub secret: Option<String>,
}

impl std::fmt::Debug for AddService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AddService").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Asks a service for one resource.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TestService {
    /// The path below its address; the address itself if absent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 1024))]
    pub path: String,
}

/// `{ service }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct ServiceAnswer {
    /// The service, without its secret.
    pub service: RegisteredService,
    /// What it answered, in a few words, when it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub answered: Option<String>,
    /// The tables of a database that its role may read, when it was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 200))]
    pub tables: Vec<DatabaseTable>,
}

/// `{ services }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct ServicesAnswer {
    /// The services, by name.
    #[schemars(length(max = 100))]
    pub services: Vec<RegisteredService>,
    /// The services that agents asked for and nobody has registered, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub requests: Vec<ServiceRequest>,
}
