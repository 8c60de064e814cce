//! Directories and files that only their owner may change, and links that lead elsewhere.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use od_fs::{DataDir, FileTokenAuthority, PrivateDir, PrivateError, SystemEntropy};
use od_ports::access::token_authority::KeyringError;
use tempfile::TempDir;

fn scratch() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

fn open_to(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
}

/// Returns a directory of another user's: one given away where we may, else one of the system's.
fn foreign(scratch: &TempDir) -> PathBuf {
    let path = scratch.path().join("theirs");
    fs::create_dir(&path).expect("a directory");
    match std::os::unix::fs::chown(&path, Some(12_345), None) {
        Ok(()) => path,
        Err(_) => PathBuf::from("/usr"),
    }
}

#[test]
fn a_directory_of_another_user_is_neither_a_data_directory_nor_a_home() {
    let scratch = scratch();
    let theirs = foreign(&scratch);
    for refused in [DataDir::open(&theirs).map(|_| ()), DataDir::open_existing(&theirs).map(|_| ())]
    {
        let error = refused.expect_err("a refusal");
        assert!(matches!(&error, PrivateError::Foreign { path, .. } if *path == theirs), "{error}");
        assert!(error.fix().contains("OD_DATA_DIR"), "{}", error.fix());
    }
    let refused = FileTokenAuthority::open(&theirs, &SystemEntropy::new());
    let error = refused.expect_err("a refusal");
    let KeyringError::Untrusted { message, fix } = error else { panic!("{error:?}") };
    assert!(message.contains("belongs to user"), "{message}");
    assert!(fix.contains("OD_HOME"), "{fix}");
    assert!(!theirs.join("projects").exists(), "nothing is made in it");
}

#[test]
fn a_directory_that_others_can_write_to_is_refused_until_the_fix_is_done() {
    let scratch = scratch();
    let path = scratch.path().join("it's $HOME data");
    fs::create_dir(&path).expect("a directory");
    for mode in [0o770, 0o702, 0o1777] {
        open_to(&path, mode);
        let error = DataDir::open(&path).expect_err("a refusal");
        assert!(matches!(error, PrivateError::Writable { .. }), "{mode:o}: {error}");
        assert!(FileTokenAuthority::open(&path, &SystemEntropy::new()).is_err(), "{mode:o}");
        let fix = error.fix();
        assert!(fix.contains("keeps no permissions: set OD_DATA_DIR"), "{fix}");
        let command = fix.split('`').nth(1).expect("a command");
        let fixed = std::process::Command::new("sh").args(["-c", command]).status();
        assert!(fixed.expect("a shell").success());
        DataDir::open_existing(&path).expect("a directory of our own");
    }
    open_to(&path, 0o755);
    DataDir::open(&path).expect("others may look at the names");
}

#[test]
fn a_data_directory_beside_a_project_is_no_link_and_holds_none() {
    let scratch = scratch();
    let (elsewhere, beside) = (scratch.path().join("elsewhere"), scratch.path().join(".od"));
    fs::create_dir(&elsewhere).expect("a directory");
    symlink(&elsewhere, &beside).expect("a link");
    for named in [".od", ".od/", ".od/.", ".od//./"] {
        let named = scratch.path().join(named);
        for refused in
            [DataDir::open(&named).map(|_| ()), DataDir::open_existing(&named).map(|_| ())]
        {
            let error = refused.expect_err("a refusal");
            assert!(matches!(&error, PrivateError::Link { .. }), "{}: {error}", named.display());
            assert_eq!(error.fix(), format!("rm '{}'", beside.display()));
        }
    }
    fs::remove_file(&beside).expect("no link");
    for name in ["projects", "runs"] {
        fs::create_dir(&beside).expect("a directory");
        symlink(&elsewhere, beside.join(name)).expect("a link");
        let error = DataDir::open(&beside).expect_err("a refusal");
        assert!(matches!(&error, PrivateError::Link { path, .. } if path.ends_with(name)));
        assert!(error.fix().starts_with("put the directory"), "{}", error.fix());
        fs::remove_file(beside.join(name)).expect("no link");
        fs::write(beside.join(name), "x").expect("a file");
        let error = DataDir::open(&beside).expect_err("a refusal");
        let path = beside.join(name);
        assert_eq!(error.fix(), format!("mv '{0}' '{0}.old'", path.display()), "{error}");
        fs::remove_dir_all(&beside).expect("no directory");
    }
    assert_eq!(fs::read_dir(&elsewhere).expect("a directory").count(), 0);
    // A person who names a data directory may name it by a link.
    let named = scratch.path().join("named");
    symlink(&elsewhere, &named).expect("a link");
    DataDir::open(&named).expect("a data directory");
}

#[test]
fn no_file_of_a_private_directory_is_followed_shared_or_anything_but_a_file() {
    let scratch = scratch();
    let kept = scratch.path().join("kept");
    let place = scratch.path().join("place");
    fs::create_dir(&place).expect("a directory");
    fs::write(&kept, "mine").expect("a file");
    symlink(&kept, place.join("link")).expect("a link");
    symlink(scratch.path().join("made"), place.join("dangling")).expect("a link");
    fs::create_dir(place.join("directory")).expect("a directory");
    fs::write(place.join("shared"), "x").expect("a file");
    open_to(&place.join("shared"), 0o666);
    fs::write(place.join("readable"), "x").expect("a file");
    open_to(&place.join("readable"), 0o644);
    let dir = PrivateDir::open(&place).expect("a directory of our own");
    for name in ["link", "dangling", "directory", "shared"] {
        assert!(dir.read(name, 9).is_err(), "{name}");
        assert!(dir.lock_file(name).is_err(), "{name}");
        assert!(dir.existing_lock_file(name).is_err(), "{name}");
    }
    assert!(!scratch.path().join("made").exists());
    assert_eq!(dir.read("readable", 9).expect("a file").as_deref(), Some(b"x".as_slice()));
    assert!(dir.read("readable", 0).is_err(), "it is longer than that");
    let lock = dir.existing_lock_file("readable").expect_err("whoever reads it can lock it");
    assert!(matches!(lock, PrivateError::TooOpen { .. }), "{lock}");
    assert!(dir.read("missing", 9).expect("no file").is_none());
    dir.replace("link", b"new").expect("a file");
    assert_eq!(fs::read(&kept).expect("a file"), b"mine", "the link is replaced, not followed");
    assert_eq!(dir.read("link", 9).expect("a file").as_deref(), Some(b"new".as_slice()));
}

#[test]
fn an_audience_names_one_directory_and_stays_the_same() {
    let scratch = scratch();
    let audience = |name: &str| {
        let path = scratch.path().join(name);
        PrivateDir::open(&path).expect("a directory").audience().expect("an audience")
    };
    for name in ["one", "two"] {
        fs::create_dir(scratch.path().join(name)).expect("a directory");
    }
    symlink(scratch.path().join("one"), scratch.path().join("link")).expect("a link");
    assert_eq!(audience("one"), audience("link"));
    assert_ne!(audience("one"), audience("two"));
    fs::rename(scratch.path().join("one"), scratch.path().join("three")).expect("a move");
    let before = audience("two");
    fs::write(scratch.path().join("two/file"), "x").expect("a file");
    assert_eq!(audience("two"), before);
}
