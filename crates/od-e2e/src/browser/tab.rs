//! One tab: drive it, wait for what should happen, and ask at the end whether all was well.

#![expect(clippy::panic, reason = "a browser test fails by panicking")]

use std::path::Path;
use std::time::{Duration, Instant};

use chromiumoxide::Page;
use chromiumoxide::cdp::browser_protocol::accessibility::{AxNode, GetFullAxTreeParams};
use chromiumoxide::cdp::browser_protocol::emulation::{
    MediaFeature, SetDeviceMetricsOverrideParams, SetFocusEmulationEnabledParams,
};
use chromiumoxide::cdp::browser_protocol::page::CaptureScreenshotFormat;
use chromiumoxide::cdp::browser_protocol::target::SetAutoAttachParams;
use chromiumoxide::cdp::js_protocol::runtime::EvaluateParams;
use chromiumoxide::page::ScreenshotParams;
use serde_json::Value;

use super::chromium::PATIENCE;
use super::watch::{Problem, REPORT_VIOLATIONS, Request, Watch};

/// The pause between two looks at a condition.
const LOOK_EVERY: Duration = Duration::from_millis(15);

/// A tab under watch.
#[derive(Debug)]
pub struct Tab {
    pub(super) page: Page,
    watch: Watch,
}

#[expect(clippy::missing_panics_doc, reason = "every step of a test panics when it fails")]
impl Tab {
    pub(super) async fn watched(page: Page) -> Self {
        page.evaluate_on_new_document(REPORT_VIOLATIONS).await.expect("an init script");
        Self::bare(page).await
    }

    /// Watches a tab without a script of its own in it.
    pub(super) async fn bare(page: Page) -> Self {
        let watch = Watch::begin(&page).await;
        // Tabs behind another one keep their timers and frames: a test looks at them too.
        page.execute(SetFocusEmulationEnabledParams::new(true)).await.expect("focus");
        Self { page, watch }
    }

    /// Lets the service workers of the page start by themselves. The driver has every new target wait for it,
    /// and with some builds of the browser a worker that it has let go of waits for ever.
    pub async fn lets_workers_start(&self) {
        let off = SetAutoAttachParams::builder()
            .auto_attach(false)
            .wait_for_debugger_on_start(false)
            .flatten(true)
            .build()
            .expect("complete");
        self.page.execute(off).await.expect("the driver lets go");
    }

    /// Goes to an address as if a person had typed it, and waits until its document is there.
    pub async fn open(&self, url: &str) {
        let (page, address) = (self.page.clone(), url.to_owned());
        // The driver waits for every frame to load and loses sight of those of other processes; the
        // condition below does not need it.
        tokio::spawn(async move { drop(page.goto(address).await) });
        let address = Value::from(url);
        self.until(&format!("location.href === {address} && document.readyState !== 'loading'"))
            .await;
    }

    /// Goes to an address as a link leads there, and waits until its document is the current one.
    ///
    /// A page that frames another process's page may never be reported as loaded: whoever calls this
    /// waits for what the page should show.
    pub async fn follow(&self, url: &str) {
        let mark = "window.before = true";
        self.run(&format!("void ({mark}, location.href = {})", Value::from(url))).await;
        self.until("!window.before && document.readyState !== 'loading'").await;
    }

    /// Closes the tab.
    pub async fn close(self) {
        self.page.close().await.expect("the tab closes");
    }

    /// Loads the page again, and waits until its document is the current one.
    pub async fn reload(&self) {
        self.run("void (window.before = true, location.reload())").await;
        self.until("!window.before && document.readyState !== 'loading'").await;
    }

    /// Evaluates an expression, awaiting it if it is a promise.
    pub async fn run(&self, expression: &str) -> Value {
        match self.try_run(expression).await {
            Ok(value) => value,
            Err(error) => panic!("{expression}\nfailed: {error}"),
        }
    }

    async fn try_run(&self, expression: &str) -> Result<Value, String> {
        let params = EvaluateParams::builder()
            .expression(expression)
            .await_promise(true)
            .return_by_value(true)
            .user_gesture(true)
            .build()?;
        let answer = tokio::time::timeout(PATIENCE, self.page.evaluate_expression(params)).await;
        let result = answer.map_err(|e| e.to_string())?.map_err(|e| e.to_string())?;
        Ok(result.value().cloned().unwrap_or(Value::Null))
    }

    /// Waits until a condition holds in the page, and fails with what the page shows if it never does.
    pub async fn until(&self, condition: &str) {
        let deadline = Instant::now() + PATIENCE;
        // Asked from outside: in a sandboxed page no timer runs, and a navigation would lose a promise.
        let look = format!(
            "(() => {{ try {{ return Boolean({condition}); }} catch {{ return false; }} }})()"
        );
        let mut tick = tokio::time::interval(LOOK_EVERY);
        while Instant::now() < deadline {
            if self.try_run(&look).await == Ok(Value::Bool(true)) {
                return;
            }
            tick.tick().await;
        }
        let shown = self.try_run("location.href + '\\n' + document.body.innerText").await;
        panic!(
            "never true: {condition}\nproblems: {:#?}\npage: {}",
            self.watch.problems(),
            shown.unwrap_or_default()
        );
    }

    /// Waits until the page shows a text.
    pub async fn sees(&self, text: &str) {
        let text = Value::from(text);
        self.until(&format!("document.body.innerText.includes({text})")).await;
    }

    /// Waits until the page in the preview's frame has arrived.
    pub async fn shows_preview(&self) {
        self.shows_frames(".preview-frame").await;
    }

    /// Waits until there are such frames and the page of every one has arrived.
    pub async fn shows_frames(&self, selector: &str) {
        let selector = Value::from(selector);
        self.until(&format!(
            "(() => {{ const arrived = new Set(performance.getEntriesByType('resource') \
             .filter((entry) => entry.responseEnd > 0).map((entry) => entry.name)); \
             const frames = [...document.querySelectorAll({selector})]; \
             return frames.length > 0 && frames.every((frame) => arrived.has(frame.src)); }})()"
        ))
        .await;
    }

    /// Waits until enough has gone wrong: the browser reports it a moment after it has happened.
    pub async fn until_problems(&self, enough: impl Fn(&[Problem]) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        let mut tick = tokio::time::interval(LOOK_EVERY);
        while !enough(&self.watch.problems()) {
            assert!(Instant::now() < deadline, "never seen; only {:#?}", self.watch.problems());
            tick.tick().await;
        }
    }

    /// Sets the size of the page.
    pub async fn resize(&self, width: i64, height: i64) {
        let size = SetDeviceMetricsOverrideParams::new(width, height, 1.0, false);
        self.page.execute(size).await.expect("a size");
    }

    /// Sets a preference such as `prefers-color-scheme`.
    pub async fn prefer(&self, features: &[(&str, &str)]) {
        let features = features.iter().map(|(name, value)| MediaFeature::new(*name, *value));
        self.page.emulate_media_features(features.collect()).await.expect("a preference");
    }

    /// Writes what the page shows to a file.
    pub async fn screenshot(&self, path: &Path) {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        let params = ScreenshotParams::builder().format(CaptureScreenshotFormat::Png).build();
        self.page.save_screenshot(params, path).await.expect("a picture");
    }

    /// Returns the accessibility tree as the browser gives it to a screen reader.
    pub async fn accessibility_tree(&self) -> Vec<AxNode> {
        let answer = self.page.execute(GetFullAxTreeParams::default()).await;
        answer.expect("the accessibility tree").result.nodes
    }

    /// Returns the texts of the dialogs that the page opened. Each was closed at once.
    #[must_use]
    pub fn dialogs(&self) -> Vec<String> {
        self.watch.dialogs()
    }

    /// Returns what was asked for so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.watch.requests()
    }

    /// Returns what went wrong so far.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        self.watch.problems()
    }

    /// Fails if the page's console has an error, if its policy was violated, if an exception was not
    /// caught, or if anything but these origins was asked for anything. Answers with an error status
    /// whose log line contains all the words of one of `expected` are fine.
    pub fn assert_clean(&self, origins: &[&str], expected: &[&str]) {
        let unexpected: Vec<_> = self
            .watch
            .problems()
            .into_iter()
            .filter(|problem| match problem {
                Problem::Network(text) => {
                    !expected.iter().any(|words| words.split(' ').all(|word| text.contains(word)))
                }
                Problem::Console(_) | Problem::Exception(_) => true,
            })
            .collect();
        assert!(unexpected.is_empty(), "{unexpected:#?}");
        let strangers: Vec<_> = self
            .watch
            .requests()
            .into_iter()
            .map(|request| request.url)
            .filter(|url| url != "about:blank" && !origins.iter().any(|own| is_of(url, own)))
            .collect();
        assert!(strangers.is_empty(), "asked other origins: {strangers:#?}");
    }
}

fn is_of(url: &str, origin: &str) -> bool {
    url.strip_prefix(origin).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
