//! Starts Chromium with a profile of its own.

use chromiumoxide::browser::{Browser, BrowserConfig};
use futures_util::StreamExt as _;
use tokio::task::JoinHandle;

use super::tab::Tab;

/// Flags under which it neither asks anybody anything nor needs privileges.
const FLAGS: &[&str] = &[
    "disable-gpu",
    "disable-quic",
    "no-first-run",
    "disable-background-networking",
    "disable-component-update",
    "disable-sync",
    "hide-scrollbars",
];

/// A browser that dies with this value.
#[derive(Debug)]
pub struct Chromium {
    browser: Browser,
    pump: JoinHandle<()>,
    profile: tempfile::TempDir,
}

impl Chromium {
    /// Starts it.
    ///
    /// # Panics
    ///
    /// Panics if there is no Chromium that can be started: nothing in this suite works without one.
    pub async fn start() -> Self {
        let profile = tempfile::tempdir().expect("a temporary directory");
        let program = std::env::var("CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned());
        let config = BrowserConfig::builder()
            .chrome_executable(program)
            .new_headless_mode()
            .no_sandbox()
            .user_data_dir(profile.path())
            .viewport(None)
            .window_size(1280, 860)
            .args(FLAGS.iter().copied())
            .build()
            .expect("a complete configuration");
        let (browser, mut handler) = Browser::launch(config).await.expect("Chromium starts");
        let pump = tokio::spawn(async move { while handler.next().await.is_some() {} });
        Self { browser, pump, profile }
    }

    /// Opens an empty tab and begins to watch it.
    ///
    /// # Panics
    ///
    /// Panics if the browser is gone.
    pub async fn tab(&self) -> Tab {
        Tab::watched(self.browser.new_page("about:blank").await.expect("a new tab")).await
    }

    /// Closes it and waits for its end.
    pub async fn stop(mut self) {
        let _ = self.browser.close().await;
        let _ = self.browser.wait().await;
        self.pump.abort();
        drop(self.profile);
    }
}
