use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use od_core::ids::Timestamp;
use od_ports::access::credential_vault::{
    Connection, CredentialVault as _, Secret, Standing, VaultError,
};
use od_ports::contract::check_credential_vault;
use tempfile::TempDir;

use super::FileVault;

const SECRET: &str = "ghp_canary0123456789";

fn connection() -> Connection {
    Connection {
        connector: "github".parse().unwrap(),
        standing: Standing::Connected,
        account_label: Some("octocat".to_owned()),
        changed_at: Timestamp::from_unix_ms(1_777_507_200_000),
    }
}

async fn filled() -> (TempDir, FileVault) {
    let home = TempDir::new().unwrap();
    let vault = FileVault::in_home(home.path());
    vault.put(connection(), Some(Secret::parse(SECRET).unwrap())).await.unwrap();
    (home, vault)
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn it_keeps_the_contract() {
    let home = TempDir::new().unwrap();
    check_credential_vault(&FileVault::in_home(home.path())).await;
}

#[tokio::test]
async fn reading_an_empty_vault_creates_nothing() {
    let home = TempDir::new().unwrap();
    let vault = FileVault::in_home(home.path());
    assert_eq!(vault.secrets().await, Ok(Vec::new()));
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn only_the_owner_can_read_and_no_file_shows_the_secret() {
    let (home, _) = filled().await;
    let directory = home.path().join("connectors");
    assert_eq!(mode(&directory), 0o700);
    let mut names = Vec::new();
    for entry in fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        let bytes = fs::read(&path).unwrap();
        assert!(!bytes.windows(6).any(|window| window == b"canary"), "{}", path.display());
        names.push(path.file_name().unwrap().to_str().unwrap().to_owned());
    }
    names.sort();
    assert_eq!(names, ["credentials.enc", "vault.key", "vault.lock"]);
}

#[tokio::test]
async fn another_process_sees_what_was_put() {
    let (home, _) = filled().await;
    let other = FileVault::in_home(home.path());
    assert_eq!(other.connections().await.unwrap(), [connection()]);
    let secret = other.secret(&connection().connector).await.unwrap().unwrap();
    assert_eq!(secret.expose(), SECRET);
}

#[tokio::test]
async fn a_file_that_others_can_read_is_refused() {
    for name in ["credentials.enc", "vault.key"] {
        let (home, vault) = filled().await;
        let path = home.path().join("connectors").join(name);
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let fault = vault.secrets().await.unwrap_err();
        assert!(matches!(fault, VaultError::NotPrivate { .. }), "{name}: {fault}");
    }
}

#[tokio::test]
async fn a_link_in_place_of_a_file_is_refused() {
    let (home, vault) = filled().await;
    let directory = home.path().join("connectors");
    fs::rename(directory.join("vault.key"), directory.join("moved")).unwrap();
    std::os::unix::fs::symlink(directory.join("moved"), directory.join("vault.key")).unwrap();
    let fault = vault.secrets().await.unwrap_err();
    assert!(matches!(fault, VaultError::NotPrivate { .. }), "{fault}");
}

#[tokio::test]
async fn any_changed_byte_of_a_record_is_noticed_and_nothing_is_written_beside_it() {
    let (home, vault) = filled().await;
    let path = home.path().join("connectors/credentials.enc");
    let whole = fs::read(&path).unwrap();
    let text = String::from_utf8(whole.clone()).unwrap();
    for (from, to) in [
        ("octocat", "hexocat"),
        ("\"connected\"", "\"disabled\""),
        ("\"github\"", "\"gitlab\""),
        ("2026-04-30", "2026-05-01"),
    ] {
        assert!(text.contains(from), "{text}");
        fs::write(&path, text.replace(from, to)).unwrap();
        let fault = vault.connections().await.unwrap_err();
        assert!(matches!(fault, VaultError::Damaged { .. }), "{from}: {fault}");
        let put = vault.put(connection(), None).await.unwrap_err();
        assert!(matches!(put, VaultError::Damaged { .. }), "{from}: {put}");
    }
    for cut in 0..whole.len() - 1 {
        fs::write(&path, &whole[..cut]).unwrap();
        assert!(vault.connections().await.is_err(), "cut at {cut}");
    }
}

#[tokio::test]
async fn credentials_without_their_key_are_not_overwritten_with_a_new_one() {
    let (home, vault) = filled().await;
    fs::remove_file(home.path().join("connectors/vault.key")).unwrap();
    let fault = vault.put(connection(), None).await.unwrap_err();
    assert!(matches!(fault, VaultError::Damaged { .. }), "{fault}");
    assert!(!home.path().join("connectors/vault.key").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_puts_all_arrive() {
    let home = TempDir::new().unwrap();
    let tasks: Vec<_> = (0..20)
        .map(|number| {
            let vault = FileVault::in_home(home.path());
            let connector = format!("connector-{number:02}").parse().unwrap();
            let connection = Connection { connector, ..connection() };
            tokio::spawn(async move {
                let secret = Secret::parse(&format!("secret-number-{number:02}")).unwrap();
                vault.put(connection, Some(secret)).await
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    let vault = FileVault::in_home(home.path());
    assert_eq!(vault.secrets().await.unwrap().len(), 20);
}
