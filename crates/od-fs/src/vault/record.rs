//! The vault's file: one record a connector, the secret sealed, the rest readable and bound to it.

use std::collections::BTreeMap;

use od_core::ids::{ConnectorId, Timestamp};
use od_ports::access::credential_vault::{Connection, Secret, Standing, VaultError};
use serde::{Deserialize, Serialize};

use super::seal::Key;

/// The format written and the only one read.
const VERSION: u32 = 1;

/// Everything the vault keeps.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Records {
    version: u32,
    records: BTreeMap<ConnectorId, Record>,
}

/// One connector's record.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Record {
    standing: StoredStanding,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    account_label: Option<String>,
    changed_at: Timestamp,
    /// Nonce and ciphertext, as hex digits. Without a secret, a sealed nothing: it vouches for the rest.
    sealed: String,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum StoredStanding {
    Connected,
    Disconnected,
    Disabled,
}

impl Default for Records {
    fn default() -> Self {
        Self { version: VERSION, records: BTreeMap::new() }
    }
}

impl Records {
    /// Reads the file's bytes.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, VaultError> {
        let records: Self = serde_json::from_slice(bytes).map_err(|err| VaultError::Damaged {
            reason: format!("credentials.enc cannot be read at line {}", err.line()),
        })?;
        if records.version != VERSION {
            let reason = format!("credentials.enc has the unknown version {}", records.version);
            return Err(VaultError::Damaged { reason });
        }
        Ok(records)
    }

    /// Returns the bytes to write.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, VaultError> {
        let mut bytes = serde_json::to_vec_pretty(self)
            .map_err(|err| VaultError::Damaged { reason: err.to_string() })?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Replaces one record.
    pub(super) fn put(
        &mut self,
        key: &Key,
        connection: &Connection,
        secret: Option<&Secret>,
    ) -> Result<(), VaultError> {
        let sealed = key.seal(&context(connection), secret.map_or("", Secret::expose))?;
        let record = Record {
            standing: connection.standing.into(),
            account_label: connection.account_label.clone(),
            changed_at: connection.changed_at,
            sealed: to_hex(&sealed),
        };
        self.records.insert(connection.connector.clone(), record);
        Ok(())
    }

    /// Opens every record: a connection is believed only if its seal is whole.
    pub(super) fn open(&self, key: &Key) -> Result<Vec<(Connection, Option<Secret>)>, VaultError> {
        self.records.iter().map(|(connector, record)| record.open(connector, key)).collect()
    }
}

impl Record {
    fn open(
        &self,
        connector: &ConnectorId,
        key: &Key,
    ) -> Result<(Connection, Option<Secret>), VaultError> {
        let connection = Connection {
            connector: connector.clone(),
            standing: self.standing.into(),
            account_label: self.account_label.clone(),
            changed_at: self.changed_at,
        };
        let sealed = from_hex(&self.sealed).ok_or_else(|| VaultError::Damaged {
            reason: "a record is not written in hex digits".to_owned(),
        })?;
        let text = key.open(&context(&connection), &sealed)?;
        // What was kept was accepted once; a record without a secret seals the empty text.
        let secret = Secret::parse(&text).ok();
        Ok((connection, secret))
    }
}

impl From<Standing> for StoredStanding {
    fn from(standing: Standing) -> Self {
        match standing {
            Standing::Connected => Self::Connected,
            Standing::Disconnected => Self::Disconnected,
            Standing::Disabled => Self::Disabled,
        }
    }
}

impl From<StoredStanding> for Standing {
    fn from(standing: StoredStanding) -> Self {
        match standing {
            StoredStanding::Connected => Self::Connected,
            StoredStanding::Disconnected => Self::Disconnected,
            StoredStanding::Disabled => Self::Disabled,
        }
    }
}

/// Returns what a seal is bound to: each part with its length, so that no two records read alike.
fn context(connection: &Connection) -> Vec<u8> {
    let standing = match connection.standing {
        Standing::Connected => "connected",
        Standing::Disconnected => "disconnected",
        Standing::Disabled => "disabled",
    };
    let label = connection.account_label.as_deref();
    let parts = [
        "od-vault-1",
        connection.connector.as_str(),
        standing,
        if label.is_some() { "labelled" } else { "unlabelled" },
        label.unwrap_or(""),
    ];
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes.extend_from_slice(&connection.changed_at.unix_ms().to_be_bytes());
    bytes
}

fn to_hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits
        .chunks_exact(2)
        .map(|pair| {
            let high = char::from(pair[0]).to_digit(16)?;
            let low = char::from(pair[1]).to_digit(16)?;
            u8::try_from(high * 16 + low).ok()
        })
        .collect()
}
