//! Disconnects a connector.

use od_core::connector::Connector;
use od_core::error::Failure;
use od_core::ids::ConnectorId;
use od_ports::connector_provider::ConnectorAccess;
use od_ports::credential_vault::{Connection, Standing, VaultError};

use super::catalog::provider;
use super::get::{self, GetConnectorError};
use crate::app::App;
use crate::{Caller, PersonOnly, failure};

/// Why a connector was not disconnected.
#[derive(Debug, thiserror::Error)]
pub enum DisconnectError {
    /// An agent asked.
    #[error(transparent)]
    PersonOnly(#[from] PersonOnly),
    /// There is no such connector.
    #[error("no connector `{connector}`")]
    NotFound {
        /// The id asked for.
        connector: ConnectorId,
    },
    /// The vault could not forget it.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

/// Disconnects a connector and forgets its secret; a local one is switched off. Only a person may.
pub async fn disconnect(
    app: &App,
    caller: &Caller,
    connector: &ConnectorId,
) -> Result<Connector, DisconnectError> {
    caller.require_person()?;
    let Some(provider) = provider(app, connector) else {
        return Err(DisconnectError::NotFound { connector: connector.clone() });
    };
    let standing = match provider.catalog().access {
        ConnectorAccess::Local => Standing::Disabled,
        ConnectorAccess::OptionalSecret | ConnectorAccess::RequiredSecret => Standing::Disconnected,
    };
    let connection = Connection {
        connector: connector.clone(),
        standing,
        account_label: None,
        changed_at: app.ports.clock.now(),
    };
    app.ports.vault.put(connection, None).await?;
    app.connectors.note(connector, None);
    get::get(app, connector).await.map_err(|err| match err {
        GetConnectorError::NotFound { connector } => DisconnectError::NotFound { connector },
        GetConnectorError::Vault(err) => DisconnectError::Vault(err),
    })
}

impl From<DisconnectError> for Failure {
    fn from(err: DisconnectError) -> Self {
        match err {
            DisconnectError::PersonOnly(err) => err.into(),
            DisconnectError::NotFound { .. } => failure::unknown_connector(err.to_string()),
            DisconnectError::Vault(err) => failure::vault(&err),
        }
    }
}
