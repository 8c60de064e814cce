//! Desktop notifications by programs that stand in for those of a desktop.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;

use od_connectors::{DesktopNotifications, DesktopNotifier};
use od_core::checks::{CheckState, Severity};
use od_core::notification::Notification;
use od_platform::Desktop;
use od_ports::Notifier as _;
use od_ports::contract::check_notifier;
use od_ports::notifier::{NotifyError, Readiness};
use tempfile::TempDir;

use crate::scene::clock;

/// A directory with a program that writes down its arguments, and the variables that it was given.
fn stand_in(name: &str, ending: &str) -> (TempDir, OsString) {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join(name);
    // No program is found without PATH, and none is needed.
    let script = format!(
        "#!/bin/sh\nfor word; do printf '%s\\036' \"$word\"; done >> \"$0.words\"\n\
         export -p > \"$0.variables\"\n{ending}\n"
    );
    std::fs::write(&file, script).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = dir.path().as_os_str().to_owned();
    (dir, path)
}

fn read(dir: &TempDir, name: &str) -> String {
    std::fs::read_to_string(dir.path().join(name)).unwrap()
}

fn told() -> Notification {
    let mut told = Notification::trial(od_ports::Clock::now(&*clock()));
    told.title = "--replace-id=1 <b>".to_owned();
    told.check.state = CheckState::Failing;
    told.check.severity = Severity::Critical;
    told.check.message = "a <a href=x>link</a> & more".to_owned();
    told
}

#[tokio::test]
async fn it_keeps_the_contract() {
    let (_dir, path) = stand_in("notify-send", "");
    let ready = DesktopNotifier::of(DesktopNotifications::On, Desktop::Freedesktop, path.clone());
    let off = DesktopNotifier::of(DesktopNotifications::Off, Desktop::Freedesktop, path);
    check_notifier(&ready, &off).await;
}

#[tokio::test]
async fn texts_are_neither_options_nor_markup_nor_script() {
    let (dir, path) = stand_in("notify-send", "");
    let linux = DesktopNotifier::of(DesktopNotifications::On, Desktop::Freedesktop, path);
    assert_eq!(linux.show(&told()).await, Ok(()));
    let words = read(&dir, "notify-send.words");
    let words: Vec<&str> = words.trim_end_matches('\u{1e}').split('\u{1e}').collect();
    assert_eq!(words[..4], ["--app-name=od", "--urgency=critical", "--", "--replace-id=1 <b>"]);
    let text = "test does not hold (1): a &lt;a href=x&gt;link&lt;/a&gt; &amp; more";
    assert_eq!(words[4..], [text]);
    let (dir, path) = stand_in("osascript", "");
    let mac = DesktopNotifier::of(DesktopNotifications::On, Desktop::Mac, path);
    assert_eq!(mac.show(&told()).await, Ok(()));
    let words = read(&dir, "osascript.words");
    let words: Vec<&str> = words.trim_end_matches('\u{1e}').split('\u{1e}').collect();
    let (script, texts) = words.split_at(6);
    assert!(!script.join(" ").contains("replace-id"), "{script:?}");
    assert_eq!(texts[..2], ["od", "--replace-id=1 <b>"]);
}

#[tokio::test]
async fn the_program_gets_the_session_and_no_other_variable() {
    let (dir, path) = stand_in("notify-send", "");
    let linux = DesktopNotifier::of(DesktopNotifications::On, Desktop::Freedesktop, path);
    assert_eq!(linux.show(&told()).await, Ok(()));
    let variables = read(&dir, "notify-send.variables");
    assert!(std::env::var_os("CARGO_PKG_NAME").is_some(), "there is something to leave out");
    for absent in ["CARGO", "OD_", "PATH="] {
        assert!(!variables.contains(absent), "{variables}");
    }
}

#[tokio::test]
async fn a_desktop_that_is_not_there_is_said_and_nothing_fails() {
    let on =
        |path: OsString| DesktopNotifier::of(DesktopNotifications::On, Desktop::Freedesktop, path);
    let empty = TempDir::new().unwrap();
    let program = "notify-send";
    for path in [OsString::new(), empty.path().as_os_str().to_owned(), ".".into()] {
        let absent = on(path);
        assert_eq!(absent.readiness(), Readiness::Absent { program });
        assert_eq!(absent.show(&told()).await, Err(NotifyError::NotReady));
    }
    let (_dir, path) = stand_in("notify-send", "exit 3");
    let failed = on(path).show(&told()).await;
    assert_eq!(failed, Err(NotifyError::Failed { program, code: 3 }));
}
