//! Notifications on the person's desktop, by the program that the system has for them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;

use async_trait::async_trait;
use od_core::checks::{CheckState, Severity};
use od_core::notification::Notification;
use od_platform::{DESKTOP, Desktop};
use od_ports::notifier::{Notifier, NotifyError, Readiness};
use tokio::process::Command;

/// The variables that lead to the person's session; the program is given no other.
const SESSION: [&str; 6] = [
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "HOME",
];

/// The script that `osascript` runs: texts are its arguments, never part of it.
const SCRIPT: [&str; 3] =
    ["on run argv", "display notification (item 3 of argv) with title (item 2 of argv)", "end run"];

/// Whether a person wants notifications on the desktop.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum DesktopNotifications {
    /// Yes.
    On,
    /// No; so it is until somebody says otherwise, because agents choose what is in them.
    #[default]
    Off,
}

/// Shows notifications with `notify-send`, on macOS with `osascript`.
#[derive(Clone, Debug)]
pub struct DesktopNotifier {
    wanted: DesktopNotifications,
    desktop: Desktop,
    /// The directories that programs are looked for in.
    path: OsString,
}

impl DesktopNotifier {
    /// Makes the notifier of this system, with programs from `PATH`.
    #[must_use]
    pub fn new(wanted: DesktopNotifications) -> Self {
        Self::of(wanted, DESKTOP, std::env::var_os("PATH").unwrap_or_default())
    }

    /// Makes the notifier of a system, with programs from these directories.
    #[must_use]
    pub const fn of(wanted: DesktopNotifications, desktop: Desktop, path: OsString) -> Self {
        Self { wanted, desktop, path }
    }

    const fn program(&self) -> &'static str {
        match self.desktop {
            Desktop::Freedesktop => "notify-send",
            Desktop::Mac => "osascript",
        }
    }

    fn find(&self) -> Option<PathBuf> {
        // A relative entry of PATH would be looked for wherever the daemon was started: in a clone, perhaps.
        let places = std::env::split_paths(&self.path).filter(|place| place.is_absolute());
        places.map(|place| place.join(self.program())).find(|file| file.is_file())
    }

    fn command(&self, file: PathBuf, notification: &Notification) -> Command {
        let (headline, text) = (notification.headline(), notification.text());
        let mut command = Command::new(file);
        command.env_clear();
        for name in SESSION {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        match self.desktop {
            Desktop::Freedesktop => {
                let urgency = format!("--urgency={}", urgency(notification));
                command.args(["--app-name=od", urgency.as_str(), "--"]);
                // Servers read the text as markup; the headline is plain by their specification.
                command.arg(headline).arg(escaped(&text));
            }
            Desktop::Mac => {
                for line in SCRIPT {
                    command.args(["-e", line]);
                }
                // A first argument that is no option ends the options, whatever the next ones begin with.
                command.arg("od").arg(headline).arg(text);
            }
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // A group of its own: Ctrl-C at the daemon's terminal is not for it.
        command.kill_on_drop(true).process_group(0);
        command
    }
}

#[async_trait]
impl Notifier for DesktopNotifier {
    fn readiness(&self) -> Readiness {
        let program = self.program();
        match self.wanted {
            DesktopNotifications::Off => Readiness::Off,
            DesktopNotifications::On if self.find().is_none() => Readiness::Absent { program },
            DesktopNotifications::On => Readiness::Ready { program },
        }
    }

    async fn show(&self, notification: &Notification) -> Result<(), NotifyError> {
        if self.wanted == DesktopNotifications::Off {
            return Err(NotifyError::NotReady);
        }
        let Some(file) = self.find() else { return Err(NotifyError::NotReady) };
        let program = self.program();
        let unstartable = |err: std::io::Error| {
            let reason = err.kind().to_string();
            NotifyError::Unstartable { program, reason }
        };
        let mut child = self.command(file, notification).spawn().map_err(unstartable)?;
        let status = child.wait().await.map_err(unstartable)?;
        if status.success() {
            return Ok(());
        }
        Err(NotifyError::Failed { program, code: status.code().unwrap_or(-1) })
    }
}

const fn urgency(notification: &Notification) -> &'static str {
    match (notification.check.state, notification.check.severity) {
        (CheckState::Passing, _) | (_, Severity::Info) => "low",
        (CheckState::Failing, Severity::Critical) => "critical",
        (CheckState::Failing | CheckState::Unknown, Severity::Warning | Severity::Critical) => {
            "normal"
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
