//! The connectors: what providers say about themselves, joined with what a person decided.

use std::sync::Arc;

use od_core::connector::{
    Connector, ConnectorAuth, ConnectorStatus, MinimumApproval, Tool, ToolFacts, ToolSafety,
    classify, stricter,
};
use od_core::error::Failure;
use od_core::ids::ConnectorId;
use od_ports::access::credential_vault::{Connection, Standing, VaultError};
use od_ports::connector_provider::{CatalogEntry, ConnectorAccess, ConnectorProvider};
use od_ports::service_registry::RegistryError;

use crate::{App, Caller, failure};

/// Lists the connectors: all for a person; for an agent the connected ones with the tools it may run.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<Connector>, ListConnectorsError> {
    let connections = app.ports.vault.connections().await?;
    let services = app.ports.services.list().await?;
    let all = app.ports.connectors.iter().map(|provider| {
        let entry = provider.catalog();
        let link = link(&entry, &connections);
        let access = entry.access;
        let mut connector = describe(app, entry, &link);
        if let ConnectorAccess::Registered(kind) = access {
            let of_kind = services.iter().filter(|service| service.url.kind() == kind);
            connector.services = of_kind.cloned().collect();
        }
        connector
    });
    Ok(match caller {
        Caller::Person | Caller::PersonVia(_) | Caller::Schedule => all.collect(),
        Caller::Agent { .. } => all.filter_map(for_agent).collect(),
    })
}

/// Shows one connector with its status and all its tools.
pub async fn get(app: &App, connector: &ConnectorId) -> Result<Connector, GetConnectorError> {
    let Some(provider) = provider(app, connector) else {
        return Err(GetConnectorError::NotFound { connector: connector.clone() });
    };
    let connections = app.ports.vault.connections().await?;
    let entry = provider.catalog();
    let link = link(&entry, &connections);
    Ok(describe(app, entry, &link))
}

/// Cuts a connector down to what an agent may use of it.
fn for_agent(mut connector: Connector) -> Option<Connector> {
    match connector.status {
        ConnectorStatus::Connected | ConnectorStatus::Error => {}
        ConnectorStatus::Available | ConnectorStatus::Disabled => return None,
    }
    connector
        .tools
        .retain(|tool| tool.safety.runs() && connector.allowed_tool_names.contains(&tool.name));
    let kept = |name: &_| connector.tools.iter().any(|tool| tool.name == *name);
    connector.allowed_tool_names.retain(kept);
    connector.featured_tool_names.retain(kept);
    Some(connector)
}

/// Why there is no list.
#[derive(Debug, thiserror::Error)]
pub enum ListConnectorsError {
    /// The decisions about them cannot be read.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The registered services cannot be read.
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

impl From<ListConnectorsError> for Failure {
    fn from(err: ListConnectorsError) -> Self {
        match err {
            ListConnectorsError::Vault(err) => failure::vault(&err),
            ListConnectorsError::Registry(err) => failure::service_registry(&err),
        }
    }
}

/// Why a connector is not shown.
#[derive(Debug, thiserror::Error)]
pub enum GetConnectorError {
    /// There is no such connector.
    #[error("no connector `{connector}`")]
    NotFound {
        /// The id asked for.
        connector: ConnectorId,
    },
    /// The decisions about it cannot be read.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

impl From<GetConnectorError> for Failure {
    fn from(err: GetConnectorError) -> Self {
        match err {
            GetConnectorError::NotFound { .. } => failure::unknown_connector(err.to_string()),
            GetConnectorError::Vault(err) => failure::vault(&err),
        }
    }
}

/// The standing of a connector at this moment.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Link {
    /// The decision of a person, or what holds until there is one.
    pub(super) standing: Standing,
    /// The account whose data it gives.
    pub(super) account_label: Option<String>,
    /// Whether that was decided by a person.
    pub(super) is_decided: bool,
}

/// Finds the provider of a connector.
pub(crate) fn provider(app: &App, id: &ConnectorId) -> Option<Arc<dyn ConnectorProvider>> {
    app.ports.connectors.iter().find(|provider| provider.catalog().id == *id).cloned()
}

/// Returns how a connector is reached, if there is one of that id.
pub(crate) fn access_of(app: &App, id: &ConnectorId) -> Option<ConnectorAccess> {
    provider(app, id).map(|provider| provider.catalog().access)
}

/// Works out how a connector stands, from the vault's entry if there is one.
pub(super) fn link(entry: &CatalogEntry, connections: &[Connection]) -> Link {
    if let Some(connection) = connections.iter().find(|held| held.connector == entry.id) {
        return Link {
            standing: connection.standing,
            account_label: connection.account_label.clone(),
            is_decided: true,
        };
    }
    let standing = match entry.access {
        ConnectorAccess::Local
        | ConnectorAccess::Registered(_)
        | ConnectorAccess::OptionalSecret => Standing::Connected,
        ConnectorAccess::RequiredSecret => Standing::Disconnected,
    };
    let account_label = entry.anonymous_label.map(str::to_owned);
    Link { standing, account_label, is_decided: false }
}

/// Puts a connector together as clients see it.
pub(super) fn describe(app: &App, entry: CatalogEntry, link: &Link) -> Connector {
    let last_error = app.connectors.last_error(&entry.id);
    let status = match (link.standing, &last_error) {
        (Standing::Disabled, _) => ConnectorStatus::Disabled,
        (Standing::Disconnected, _) => ConnectorStatus::Available,
        (Standing::Connected, Some(_)) => ConnectorStatus::Error,
        (Standing::Connected, None) => ConnectorStatus::Connected,
    };
    let is_anonymous = link.account_label.as_deref() == entry.anonymous_label;
    let auth = match entry.access {
        ConnectorAccess::Local | ConnectorAccess::Registered(_) => {
            ConnectorAuth { provider: "none".to_owned(), configured: true }
        }
        ConnectorAccess::OptionalSecret | ConnectorAccess::RequiredSecret => ConnectorAuth {
            provider: "token".to_owned(),
            configured: link.standing == Standing::Connected && link.is_decided && !is_anonymous,
        },
    };
    Connector {
        id: entry.id,
        name: entry.name.to_owned(),
        provider: entry.provider.to_owned(),
        category: entry.category,
        description: Some(entry.description.to_owned()),
        status,
        account_label: link.account_label.clone(),
        last_error,
        tools: entry
            .tools
            .into_iter()
            .map(|mut tool| {
                // The catalogue's own word about safety is replaced by the one that applies.
                tool.safety = safety_of(&tool);
                tool.refresh_eligible &= tool.safety.runs();
                tool
            })
            .collect(),
        allowed_tool_names: entry.allowed_tool_names,
        featured_tool_names: entry.featured_tool_names,
        minimum_approval: MinimumApproval::ReadOnlyAuto,
        auth,
        services: Vec::new(),
    }
}

/// Classifies a tool afresh; the stricter of the catalog's word and the tool's own words holds.
pub(super) fn safety_of(tool: &Tool) -> ToolSafety {
    let scopes: Vec<&str> = tool.scopes.iter().map(String::as_str).collect();
    let facts = ToolFacts {
        name: tool.name.as_str(),
        title: &tool.title,
        description: tool.description.as_deref().unwrap_or_default(),
        scopes: &scopes,
    };
    stricter(&tool.safety, &classify(&facts))
}
