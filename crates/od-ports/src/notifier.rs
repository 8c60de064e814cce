//! The person's desktop, as far as it shows notifications.

use std::fmt;

use async_trait::async_trait;
use od_core::notification::Notification;

/// Shows notifications to the person at this machine.
///
/// # Contract
///
/// - `show` is one attempt; nothing of a notification is read as anything but text.
/// - It needs no console, and does nothing that a person would have to undo.
/// - Dropping it ends whatever it started.
#[async_trait]
pub trait Notifier: fmt::Debug + Send + Sync {
    /// Returns whether something would be shown now.
    fn readiness(&self) -> Readiness;

    /// Shows one notification.
    async fn show(&self, notification: &Notification) -> Result<(), NotifyError>;
}

/// Whether a desktop shows notifications.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Readiness {
    /// Nobody switched them on.
    Off,
    /// The program that would show them is not there.
    Absent {
        /// The program.
        program: &'static str,
    },
    /// It would.
    Ready {
        /// The program that shows them.
        program: &'static str,
    },
}

/// Why a notification was not shown.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NotifyError {
    /// They are switched off, or the program is not there.
    #[error("this machine shows no notifications")]
    NotReady,
    /// The program could not be started.
    #[error("`{program}` cannot be started: {reason}")]
    Unstartable {
        /// The program.
        program: &'static str,
        /// What the system said.
        reason: String,
    },
    /// The program said no, as it does where nobody is logged in.
    #[error("`{program}` ended with code {code}")]
    Failed {
        /// The program.
        program: &'static str,
        /// Its exit code.
        code: i32,
    },
}
