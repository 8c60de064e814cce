//! Errors in a tab, in the order they happened.

use std::sync::{Arc, Mutex, PoisonError};

use chromiumoxide::Page;
use chromiumoxide::cdp::browser_protocol::log::{EventEntryAdded, LogEntryLevel, LogEntrySource};
use chromiumoxide::cdp::browser_protocol::network::{EventRequestWillBeSent, InitiatorType};
use chromiumoxide::cdp::browser_protocol::page::{
    EventJavascriptDialogOpening, HandleJavaScriptDialogParams,
};
use chromiumoxide::cdp::js_protocol::runtime::{
    ConsoleApiCalledType, EventConsoleApiCalled, EventExceptionThrown,
};
use futures_util::StreamExt as _;

/// One thing that should not have happened.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Problem {
    /// An error on the page's console: its own, or a violation of its policy.
    Console(String),
    /// An exception that nobody caught.
    Exception(String),
    /// A request that was answered with an error, as the browser logs it.
    Network(String),
}

/// One request of a tab.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Request {
    /// The address that was asked for.
    pub url: String,
    /// Whether a script asked for it (by running, or by naming another one), and not the page itself.
    pub by_script: bool,
}

/// Collects what a tab does.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch {
    problems: Arc<Mutex<Vec<Problem>>>,
    requests: Arc<Mutex<Vec<Request>>>,
    dialogs: Arc<Mutex<Vec<String>>>,
}

/// Makes the page report violations of its policy on its console, where the watch sees them; and keep the
/// times of every request, where it would forget those after the first 250.
pub(super) const REPORT_VIOLATIONS: &str = "document.addEventListener('securitypolicyviolation', \
    (event) => console.error('policy violated:', event.violatedDirective, event.blockedURI)); \
    performance.setResourceTimingBufferSize(100_000)";

impl Watch {
    /// Begins to listen.
    pub(super) async fn begin(page: &Page) -> Self {
        let watch = Self::default();
        page.enable_log().await.expect("the log can be read");
        page.enable_runtime().await.expect("the console can be read");
        let sink = watch.clone();
        let mut entries = page.event_listener::<EventEntryAdded>().await.expect("log events");
        tokio::spawn(async move {
            while let Some(event) = entries.next().await {
                let entry = &event.entry;
                if entry.level != LogEntryLevel::Error {
                    continue;
                }
                let text = format!("{} {}", entry.text, entry.url.as_deref().unwrap_or_default());
                sink.add(if entry.source == LogEntrySource::Network {
                    Problem::Network(text)
                } else {
                    Problem::Console(text)
                });
            }
        });
        let sink = watch.clone();
        let mut calls = page.event_listener::<EventConsoleApiCalled>().await.expect("console");
        tokio::spawn(async move {
            while let Some(event) = calls.next().await {
                if matches!(
                    event.r#type,
                    ConsoleApiCalledType::Error | ConsoleApiCalledType::Assert
                ) {
                    let words = event.args.iter().map(|arg| {
                        arg.value.as_ref().map_or_else(
                            || arg.description.clone().unwrap_or_default(),
                            ToString::to_string,
                        )
                    });
                    sink.add(Problem::Console(words.collect::<Vec<_>>().join(" ")));
                }
            }
        });
        watch.follow_the_rest(page).await;
        watch
    }

    async fn follow_the_rest(&self, page: &Page) {
        let sink = self.clone();
        let mut thrown = page.event_listener::<EventExceptionThrown>().await.expect("exceptions");
        tokio::spawn(async move {
            while let Some(event) = thrown.next().await {
                sink.add(Problem::Exception(format!("{:?}", event.exception_details)));
            }
        });
        let sink = self.clone();
        let mut sent = page.event_listener::<EventRequestWillBeSent>().await.expect("requests");
        tokio::spawn(async move {
            while let Some(event) = sent.next().await {
                let mut requests = sink.requests.lock().unwrap_or_else(PoisonError::into_inner);
                requests.push(Request {
                    url: event.request.url.clone(),
                    by_script: event.initiator.r#type == InitiatorType::Script,
                });
            }
        });
        let (sink, own) = (self.clone(), page.clone());
        let mut opening =
            page.event_listener::<EventJavascriptDialogOpening>().await.expect("dialogs");
        tokio::spawn(async move {
            while let Some(event) = opening.next().await {
                sink.add_dialog(event.message.clone());
                // A page waits for the answer to its dialog.
                let _ = own.execute(HandleJavaScriptDialogParams::new(true)).await;
            }
        });
    }

    fn add(&self, problem: Problem) {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner).push(problem);
    }

    fn add_dialog(&self, text: String) {
        self.dialogs.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    pub(super) fn problems(&self) -> Vec<Problem> {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn dialogs(&self) -> Vec<String> {
        self.dialogs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
