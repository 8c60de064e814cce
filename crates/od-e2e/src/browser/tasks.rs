//! Durations of the tasks that pages keep the processor with.

use std::collections::HashSet;

use chromiumoxide::Page;
use chromiumoxide::cdp::browser_protocol::tracing::{
    EndParams, EventDataCollected, EventTracingComplete, StartParams, TraceConfig,
};
use chromiumoxide::listeners::EventStream;
use futures_util::{FutureExt as _, StreamExt as _};
use serde_json::Value;

use super::chromium::PATIENCE;
use super::tab::Tab;

/// The browser's record of every task, while it is made.
#[derive(Debug)]
pub struct Tasks {
    page: Page,
    events: EventStream<EventDataCollected>,
    complete: EventStream<EventTracingComplete>,
}

#[expect(clippy::missing_panics_doc, reason = "every step of a test panics when it fails")]
impl Tasks {
    /// Begins to record the tasks of all pages of a tab's browser.
    pub async fn record(tab: &Tab) -> Self {
        let page = tab.page.clone();
        let events = page.event_listener().await.expect("events of the trace");
        let complete = page.event_listener().await.expect("the end of the trace");
        let config = TraceConfig {
            included_categories: Some(vec!["disabled-by-default-devtools.timeline".to_owned()]),
            excluded_categories: Some(vec!["*".to_owned()]),
            ..TraceConfig::default()
        };
        let start = StartParams::builder().trace_config(config).build();
        page.execute(start).await.expect("a trace");
        Self { page, events, complete }
    }

    /// Ends the record, and returns how many ms of processor time the longest task of a page took: what
    /// else runs on the machine does not count.
    pub async fn longest_ms(mut self) -> f64 {
        self.page.execute(EndParams::default()).await.expect("the trace ends");
        let complete = tokio::time::timeout(PATIENCE, self.complete.next()).await;
        let complete = complete.expect("the trace in time").expect("the trace");
        assert!(!complete.data_loss_occurred, "the trace is whole");
        let mut events: Vec<Value> = Vec::new();
        // All of it has arrived: its end came after it.
        while let Some(Some(some)) = self.events.next().now_or_never() {
            events.extend(some.value.iter().cloned());
        }
        let thread = |event: &Value| (event["pid"].as_u64(), event["tid"].as_u64());
        let of_pages: HashSet<_> = events
            .iter()
            .filter(|it| it["name"] == "thread_name" && it["args"]["name"] == "CrRendererMain")
            .map(thread)
            .collect();
        let longest_us = events
            .iter()
            .filter(|it| it["name"] == "RunTask" && of_pages.contains(&thread(it)))
            .filter_map(|it| it["tdur"].as_f64())
            .max_by(f64::total_cmp);
        longest_us.expect("tasks of pages, with their processor time") / 1000.0
    }
}
