//! The contract suite of every credential vault.

use od_core::ids::{ConnectorId, Timestamp};

use crate::access::credential_vault::{Connection, CredentialVault, Secret, Standing};

/// Puts an empty vault through the contract of [`CredentialVault`].
///
/// # Panics
///
/// When the vault breaks the contract.
pub async fn check_credential_vault(vault: &dyn CredentialVault) {
    assert_eq!(vault.connections().await, Ok(Vec::new()), "a new vault is empty");
    assert_eq!(vault.secrets().await, Ok(Vec::new()), "a new vault holds no secret");

    let (git, github) = (connection("git", Standing::Disabled), labelled("github", "octocat"));
    put(vault, &github, Some("ghp_first_secret")).await;
    put(vault, &git, None).await;
    assert_eq!(
        vault.connections().await,
        Ok(vec![git.clone(), github.clone()]),
        "connections come ordered by connector, with what was put"
    );
    assert_eq!(secret(vault, "github").await.as_deref(), Some("ghp_first_secret"));
    assert_eq!(secret(vault, "git").await, None, "one connector's secret is not another's");
    assert_eq!(secret(vault, "unknown").await, None);

    let other = labelled("github", "hubot");
    put(vault, &other, Some("ghp_second_secret")).await;
    assert_eq!(
        secret(vault, "github").await.as_deref(),
        Some("ghp_second_secret"),
        "a put replaces the secret"
    );
    assert_eq!(vault.connections().await, Ok(vec![git.clone(), other]), "and the connection");
    assert_eq!(vault.secrets().await.map(|secrets| secrets.len()), Ok(1));

    let gone = connection("github", Standing::Disconnected);
    put(vault, &gone, None).await;
    assert_eq!(secret(vault, "github").await, None, "a put without a secret forgets the old one");
    assert_eq!(vault.secrets().await, Ok(Vec::new()));
    assert_eq!(vault.connections().await, Ok(vec![git, gone]));
}

async fn put(vault: &dyn CredentialVault, connection: &Connection, secret: Option<&str>) {
    let secret =
        secret.map(|text| Secret::parse(text).expect("the suite's secrets are well formed"));
    assert_eq!(vault.put(connection.clone(), secret).await, Ok(()));
}

async fn secret(vault: &dyn CredentialVault, connector: &str) -> Option<String> {
    let found = vault.secret(&id(connector)).await.expect("a whole vault gives its secrets");
    found.map(|secret| secret.expose().to_owned())
}

fn connection(connector: &str, standing: Standing) -> Connection {
    Connection {
        connector: id(connector),
        standing,
        account_label: None,
        changed_at: Timestamp::from_unix_ms(1_777_507_200_000),
    }
}

fn labelled(connector: &str, label: &str) -> Connection {
    Connection {
        account_label: Some(label.to_owned()),
        ..connection(connector, Standing::Connected)
    }
}

fn id(connector: &str) -> ConnectorId {
    connector.parse().expect("the suite's ids are well formed")
}
