//! The keyring: private, rotated, read afresh.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use od_core::token::{Claims, CliClaims, TokenError};
use od_fs::{FileTokenAuthority, SystemEntropy};
use od_ports::access::token_authority::{KeyringError, TokenAuthority, VerifyError};
use od_ports::contract::sample;

fn claims() -> Claims {
    Claims::Cli(CliClaims {
        token_id: od_core::ids::TokenId::generate([1; 16]),
        audience: od_core::ids::Audience::of_data_dir([1; 16]),
        issued_at: sample::now(),
        expires_at: sample::now().plus_ms(60_000),
    })
}

#[test]
fn a_token_survives_one_rotation_by_another_process_and_not_two() {
    let home = tempfile::tempdir().expect("a directory");
    let entropy = SystemEntropy::new();
    let daemon = FileTokenAuthority::open(home.path(), &entropy).expect("a keyring");
    let other = FileTokenAuthority::open(home.path(), &entropy).expect("the same keyring");
    let token = other.sign(&claims()).expect("a token");
    assert!(daemon.verify(&token, sample::now()).is_ok());
    other.rotate(&entropy).expect("a rotation");
    assert!(daemon.verify(&token, sample::now()).is_ok(), "the previous key still counts");
    assert!(daemon.has_previous().expect("a keyring"));
    other.rotate(&entropy).expect("a rotation");
    let refused = daemon.verify(&token, sample::now());
    assert!(matches!(refused, Err(VerifyError::Token(TokenError::BadSignature))));
}

#[test]
fn a_keyring_that_others_can_read_or_that_is_damaged_refuses_everything() {
    let home = tempfile::tempdir().expect("a directory");
    let entropy = SystemEntropy::new();
    let authority = FileTokenAuthority::open(home.path(), &entropy).expect("a keyring");
    let token = authority.sign(&claims()).expect("a token");
    let file = home.path().join("keys/keyring.json");
    let mode = fs::metadata(&file).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("a mode");
    let open = authority.verify(&token, sample::now());
    assert!(matches!(open, Err(VerifyError::Keyring(KeyringError::TooOpen))));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("a mode");
    fs::write(&file, b"{}").expect("a write");
    let damaged = authority.verify(&token, sample::now());
    assert!(matches!(damaged, Err(VerifyError::Keyring(KeyringError::Damaged))));
    assert!(FileTokenAuthority::open(home.path(), &entropy).is_err(), "and no new one is made");
    fs::remove_file(&file).expect("a removal");
    assert!(authority.verify(&token, sample::now()).is_err(), "missing means refused");
}

#[test]
fn a_token_that_was_good_a_moment_ago_is_refused_once_its_time_is_over() {
    let home = tempfile::tempdir().expect("a directory");
    let entropy = SystemEntropy::new();
    let authority = FileTokenAuthority::open(home.path(), &entropy).expect("a keyring");
    let token = authority.sign(&claims()).expect("a token");
    assert!(authority.verify(&token, sample::now()).is_ok());
    assert!(authority.verify(&token, sample::now().plus_ms(59_999)).is_ok());
    let over = authority.verify(&token, sample::now().plus_ms(60_000));
    assert!(matches!(over, Err(VerifyError::Token(TokenError::Expired))));
}

#[test]
fn no_debug_output_shows_a_token_that_was_verified() {
    let home = tempfile::tempdir().expect("a directory");
    let authority =
        FileTokenAuthority::open(home.path(), &SystemEntropy::new()).expect("a keyring");
    let token = authority.sign(&claims()).expect("a token");
    assert!(authority.verify(&token, sample::now()).is_ok());
    let shown = format!("{authority:?}");
    assert!(shown.contains("verified: 1"), "{shown}");
    assert!(!shown.contains("odt.v1."), "a token is shown");
}
