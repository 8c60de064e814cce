//! Shows one connector.

use od_core::connector::Connector;
use od_core::error::Failure;
use od_core::ids::ConnectorId;
use od_ports::credential_vault::VaultError;

use super::catalog::{describe, link, provider};
use crate::app::App;
use crate::failure;

/// Why a connector is not shown.
#[derive(Debug, thiserror::Error)]
pub enum GetConnectorError {
    /// There is no such connector.
    #[error("no connector `{connector}`")]
    NotFound {
        /// The id asked for.
        connector: ConnectorId,
    },
    /// What was decided about it cannot be read.
    #[error(transparent)]
    Vault(#[from] VaultError),
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

impl From<GetConnectorError> for Failure {
    fn from(err: GetConnectorError) -> Self {
        match err {
            GetConnectorError::NotFound { .. } => failure::unknown_connector(err.to_string()),
            GetConnectorError::Vault(err) => failure::vault(&err),
        }
    }
}
