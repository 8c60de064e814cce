//! Connecting and disconnecting a connector.

use od_core::connector::Connector;
use od_core::credential::Scrubber;
use od_core::error::{ErrorCode, Failure, Retry};
use od_core::ids::{ConnectorId, Timestamp};
use od_core::limits::SOURCE_TIMEOUT;
use od_ports::access::credential_vault::{Connection, Secret, Standing, VaultError};
use od_ports::connector_provider::{ConnectorAccess, ConnectorProvider, ProviderError};

use super::catalog::{GetConnectorError, get, provider};
use crate::{App, Caller, PersonOnly, failure};

/// Characters of an account label.
const LABEL_LENGTH_MAX: usize = od_core::limits::CONNECTION_LABEL.max();

/// Connects a connector: asks the provider whose secret it is, then keeps both. Only a person may.
pub async fn connect(
    app: &App,
    caller: &Caller,
    request: Connect,
) -> Result<Connector, ConnectError> {
    caller.require_person()?;
    let Connect { connector, secret } = request;
    let Some(provider) = provider(app, &connector) else {
        return Err(ConnectError::NotFound { connector });
    };
    let entry = provider.catalog();
    let account_label = match (&secret, entry.access) {
        (Some(_), ConnectorAccess::Local | ConnectorAccess::Registered(_)) => {
            return Err(ConnectError::SecretNotTaken { connector });
        }
        (None, ConnectorAccess::RequiredSecret) => {
            return Err(ConnectError::SecretNeeded { connector });
        }
        (
            None,
            ConnectorAccess::Local
            | ConnectorAccess::Registered(_)
            | ConnectorAccess::OptionalSecret,
        ) => entry.anonymous_label.map(str::to_owned),
        (Some(secret), ConnectorAccess::OptionalSecret | ConnectorAccess::RequiredSecret) => {
            Some(identify(app, provider.as_ref(), secret).await?)
        }
    };
    let connection = Connection {
        connector: connector.clone(),
        standing: Standing::Connected,
        account_label,
        changed_at: app.ports.clock.now(),
    };
    app.ports.vault.put(connection, secret).await?;
    app.connectors.note(&connector, None);
    get(app, &connector).await.map_err(|err| match err {
        GetConnectorError::NotFound { connector } => ConnectError::NotFound { connector },
        GetConnectorError::Vault(err) => ConnectError::Vault(err),
    })
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
        ConnectorAccess::Local | ConnectorAccess::Registered(_) => Standing::Disabled,
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
    get(app, connector).await.map_err(|err| match err {
        GetConnectorError::NotFound { connector } => DisconnectError::NotFound { connector },
        GetConnectorError::Vault(err) => DisconnectError::Vault(err),
    })
}

/// Keeps the secret of something that a person registered under its key in the vault.
pub(crate) async fn keep_secret(
    app: &App,
    key: ConnectorId,
    label: String,
    secret: Secret,
    at: Timestamp,
) -> Result<(), VaultError> {
    let connection = Connection {
        connector: key,
        standing: Standing::Connected,
        account_label: Some(label),
        changed_at: at,
    };
    app.ports.vault.put(connection, Some(secret)).await
}

/// Forgets the secret of something that a person registered, if one is kept.
pub(crate) async fn forget_secret(app: &App, key: ConnectorId) -> Result<(), VaultError> {
    let is_known = app.ports.vault.connections().await?.iter().any(|held| held.connector == key);
    if !is_known {
        return Ok(());
    }
    let connection = Connection {
        connector: key,
        standing: Standing::Disconnected,
        account_label: None,
        changed_at: app.ports.clock.now(),
    };
    app.ports.vault.put(connection, None).await
}

async fn identify(
    app: &App,
    provider: &dyn ConnectorProvider,
    secret: &Secret,
) -> Result<String, ConnectError> {
    let deadline = std::time::Duration::from_millis(SOURCE_TIMEOUT.allowed);
    let label = tokio::select! {
        answer = provider.identify(secret) => answer.map_err(ConnectError::Unconfirmed)?,
        () = app.ports.clock.sleep(deadline) => return Err(ConnectError::TimedOut),
    };
    // A label is shown and stored; one that carries the secret is an attack, not an account.
    let is_plain = !label.is_empty()
        && label.chars().count() <= LABEL_LENGTH_MAX
        && !label.chars().any(char::is_control)
        && Scrubber::new([secret.expose()]).scrub_text(&label).is_none();
    if is_plain {
        Ok(label)
    } else {
        let message = "the provider gave no usable account name".to_owned();
        Err(ConnectError::Unconfirmed(ProviderError::Malformed { message }))
    }
}

/// A connector to connect, and its credential.
#[derive(Debug)]
pub struct Connect {
    /// The connector.
    pub connector: ConnectorId,
    /// The credential, for connectors that take one.
    pub secret: Option<Secret>,
}

/// Why a connector was not connected. Nothing is kept then.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// An agent asked.
    #[error(transparent)]
    PersonOnly(#[from] PersonOnly),
    /// There is no such connector.
    #[error("no connector `{connector}`")]
    NotFound {
        /// The id asked for.
        connector: ConnectorId,
    },
    /// It takes no secret.
    #[error("connector `{connector}` takes no secret")]
    SecretNotTaken {
        /// The connector.
        connector: ConnectorId,
    },
    /// It needs a secret.
    #[error("connector `{connector}` needs a secret")]
    SecretNeeded {
        /// The connector.
        connector: ConnectorId,
    },
    /// The provider was asked whose secret it is, and did not say.
    #[error("the provider did not confirm the secret: {0}")]
    Unconfirmed(ProviderError),
    /// The provider did not answer in time.
    #[error("the provider did not confirm the secret in time")]
    TimedOut,
    /// The vault could not keep it.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

impl From<ConnectError> for Failure {
    fn from(err: ConnectError) -> Self {
        let message = err.to_string();
        match err {
            ConnectError::PersonOnly(err) => err.into(),
            ConnectError::NotFound { .. } => failure::unknown_connector(message),
            ConnectError::SecretNotTaken { connector } => Self::new(ErrorCode::BadRequest, message)
                .suggest(format!("connect `{connector}` without a secret")),
            ConnectError::SecretNeeded { connector } => Self::new(ErrorCode::BadRequest, message)
                .suggest(format!("give the secret to `od connectors connect {connector}`")),
            ConnectError::Unconfirmed(ProviderError::CredentialRefused) => {
                Self::new(ErrorCode::ConnectorNotConnected, message)
                    .suggest("make a new token at the provider and connect again")
            }
            ConnectError::Unconfirmed(ProviderError::RateLimited { after_ms }) => {
                Self::new(ErrorCode::ConnectorRateLimited, message)
                    .retry(Retry::RetryableAfterMs { after_ms })
                    .suggest(format!("wait {} s, then connect again", after_ms.div_ceil(1000)))
            }
            ConnectError::Unconfirmed(_) | ConnectError::TimedOut => {
                Self::new(ErrorCode::ConnectorExecutionFailed, message)
                    .suggest("check that the provider can be reached, then connect again")
            }
            ConnectError::Vault(err) => failure::vault(&err),
        }
    }
}

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

impl From<DisconnectError> for Failure {
    fn from(err: DisconnectError) -> Self {
        match err {
            DisconnectError::PersonOnly(err) => err.into(),
            DisconnectError::NotFound { .. } => failure::unknown_connector(err.to_string()),
            DisconnectError::Vault(err) => failure::vault(&err),
        }
    }
}
