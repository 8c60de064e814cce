//! Lists the connectors.

use od_core::connector::{Connector, ConnectorStatus};
use od_core::error::Failure;
use od_ports::credential_vault::VaultError;

use super::catalog::{describe, link};
use crate::failure;
use crate::{App, Caller};

/// Why there is no list.
#[derive(Debug, thiserror::Error)]
pub enum ListConnectorsError {
    /// What was decided about them cannot be read.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

/// Lists the connectors: all for a person; for an agent the connected ones with the tools it may run.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<Connector>, ListConnectorsError> {
    let connections = app.ports.vault.connections().await?;
    let all = app.ports.connectors.iter().map(|provider| {
        let entry = provider.catalog();
        let link = link(&entry, &connections);
        describe(app, entry, &link)
    });
    Ok(match caller {
        Caller::Person => all.collect(),
        Caller::Agent { .. } => all.filter_map(for_agent).collect(),
    })
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

impl From<ListConnectorsError> for Failure {
    fn from(err: ListConnectorsError) -> Self {
        match err {
            ListConnectorsError::Vault(err) => failure::vault(&err),
        }
    }
}
