//! Starts Chromium with a profile of its own.

use std::time::{Duration, Instant};

use chromiumoxide::browser::{Browser, BrowserConfig};
use chromiumoxide::cdp::browser_protocol::browser::{
    PermissionDescriptor, PermissionSetting, SetPermissionParams,
};
use chromiumoxide::cdp::browser_protocol::target::GetTargetsParams;
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

/// Every name leads nowhere.
const NO_NAMES: &str = "MAP * ~NOTFOUND";

/// The longest that the browser may take for anything. A cold machine with two busy cores needs much of it;
/// nothing waits this long when all is well.
pub(super) const PATIENCE: Duration = Duration::from_secs(90);

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
        Self::launch(NO_NAMES, &[]).await
    }

    /// Starts it with sandboxed frames in the process of the page around them, where [`super::Framed`] can
    /// read them. What they may do stays the same.
    ///
    /// # Panics
    ///
    /// Panics as [`Self::start`] does.
    pub async fn start_with_frames_in_process() -> Self {
        Self::launch(NO_NAMES, &["IsolateSandboxedIframes"]).await
    }

    /// Starts it where names lead elsewhere, by rules such as `MAP evil.test 127.0.0.1`.
    ///
    /// Left alone the browser asks its maker for the time and for updates, whatever flags it is given; with
    /// a rule for every name nothing leaves this machine.
    ///
    /// # Panics
    ///
    /// Panics as [`Self::start`] does.
    pub async fn start_where(rules: &str) -> Self {
        Self::launch(rules, &[]).await
    }

    async fn launch(rules: &str, features_off: &[&str]) -> Self {
        let profile = tempfile::tempdir().expect("a temporary directory");
        let program = std::env::var("CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned());
        let config = BrowserConfig::builder()
            .chrome_executable(program)
            .new_headless_mode()
            .no_sandbox()
            .user_data_dir(profile.path())
            .viewport(None)
            .window_size(1280, 860)
            .launch_timeout(PATIENCE)
            .request_timeout(PATIENCE)
            .args(FLAGS.iter().copied())
            // As a pair, so that the driver adds them to its own: of two such flags the browser takes one.
            .arg(("disable-features", features_off))
            .arg(format!("host-resolver-rules={rules}, EXCLUDE 127.0.0.1"))
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

    /// Opens an empty tab for pages in which no script may run: what the browser logs as a blocked script is
    /// the page's own then.
    ///
    /// # Panics
    ///
    /// Panics if the browser is gone.
    pub async fn bare_tab(&self) -> Tab {
        Tab::bare(self.browser.new_page("about:blank").await.expect("a new tab")).await
    }

    /// Lets pages of an origin read the clipboard, so that a test can see what was copied.
    ///
    /// # Panics
    ///
    /// Panics if the browser is gone.
    pub async fn allow_clipboard(&self, origin: &str) {
        for name in ["clipboard-read", "clipboard-write"] {
            let grant = SetPermissionParams::builder()
                .permission(PermissionDescriptor::new(name))
                .setting(PermissionSetting::Granted)
                .origin(origin)
                .build();
            self.browser.execute(grant.expect("complete")).await.expect("a permission");
        }
    }

    /// Does something and waits for the tab it opens: the first whose address begins like this and whose
    /// title is this.
    ///
    /// # Panics
    ///
    /// Panics if no such tab is opened.
    pub async fn tab_opened_by(&self, act: impl Future<Output = ()>, url: &str, title: &str) {
        act.await;
        let deadline = Instant::now() + PATIENCE;
        let mut tick = tokio::time::interval(Duration::from_millis(25));
        loop {
            let answer = self.browser.execute(GetTargetsParams::default()).await;
            let targets = answer.expect("the tabs").result.target_infos;
            if targets.iter().any(|it| it.url.starts_with(url) && it.title == title) {
                return;
            }
            assert!(Instant::now() < deadline, "no tab at {url} called {title}: {targets:#?}");
            tick.tick().await;
        }
    }

    /// Closes it and waits for its end.
    pub async fn stop(mut self) {
        // A browser that does not end by itself is ended.
        let ends = async { drop((self.browser.close().await, self.browser.wait().await)) };
        if tokio::time::timeout(Duration::from_secs(20), ends).await.is_err() {
            let _ = self.browser.kill().await;
        }
        self.pump.abort();
        drop(self.profile);
    }
}
