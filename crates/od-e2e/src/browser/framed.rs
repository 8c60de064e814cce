//! The page inside a frame: pointed at, reached with the Tab key, and read as it is drawn.

#![expect(clippy::panic, reason = "a browser test fails by panicking")]

use std::time::{Duration, Instant};

use chromiumoxide::cdp::browser_protocol::page::{
    CreateIsolatedWorldParams, FrameTree, GetFrameTreeParams,
};
use chromiumoxide::cdp::js_protocol::runtime::{EvaluateParams, ExecutionContextId};
use chromiumoxide::layout::Point;
use serde_json::Value;

use super::chromium::PATIENCE;
use super::tab::Tab;

/// The pause between two looks at a condition.
const LOOK_EVERY: Duration = Duration::from_millis(15);

/// The page in a frame of a tab.
///
/// A preview's sandbox runs no script and has an origin of its own, so the page around it sees nothing of it.
/// This asks the browser itself. It needs [`super::Chromium::start_with_frames_in_process`]: the driver follows
/// no frame into another process.
#[derive(Debug)]
pub struct Framed<'t> {
    tab: &'t Tab,
    selector: Value,
    context: ExecutionContextId,
}

#[expect(clippy::missing_panics_doc, reason = "every step of a test panics when it fails")]
impl Tab {
    /// Waits until the frame that a selector names shows the page it was given, and returns that page.
    pub async fn framed(&self, selector: &str) -> Framed<'_> {
        let selector = Value::from(selector);
        let deadline = Instant::now() + PATIENCE;
        let mut tick = tokio::time::interval(LOOK_EVERY);
        while Instant::now() < deadline {
            let wanted = self.run(&format!("document.querySelector({selector})?.src ?? ''")).await;
            if let Some(context) = self.context_at(wanted.as_str().unwrap_or_default()).await {
                let framed = Framed { tab: self, selector, context };
                framed.until("document.readyState === 'complete' && document.body").await;
                return framed;
            }
            tick.tick().await;
        }
        panic!("no page in {selector}\nproblems: {:#?}", self.problems());
    }

    /// Makes a world of its own in the frame at an address, if there is one.
    async fn context_at(&self, url: &str) -> Option<ExecutionContextId> {
        let tree = self.page.execute(GetFrameTreeParams::default()).await.expect("the frames");
        let mut waiting: Vec<&FrameTree> = vec![&tree.frame_tree];
        while let Some(tree) = waiting.pop() {
            if !url.is_empty() && tree.frame.url == url {
                let world = CreateIsolatedWorldParams::new(tree.frame.id.clone());
                // The frame may be gone by now: then the next look finds another.
                return Some(self.page.execute(world).await.ok()?.result.execution_context_id);
            }
            waiting.extend(tree.child_frames.iter().flatten());
        }
        None
    }
}

#[expect(clippy::missing_panics_doc, reason = "every step of a test panics when it fails")]
impl Framed<'_> {
    /// Evaluates an expression in the framed page.
    pub async fn run(&self, expression: &str) -> Value {
        let params = EvaluateParams::builder()
            .expression(expression)
            .context_id(self.context)
            .return_by_value(true)
            .build()
            .expect("complete");
        match self.tab.page.evaluate_expression(params).await {
            Ok(result) => result.value().cloned().unwrap_or(Value::Null),
            Err(error) => panic!("{expression}\nfailed in the frame: {error}"),
        }
    }

    /// Waits until a condition holds in the framed page.
    pub async fn until(&self, condition: &str) {
        let deadline = Instant::now() + PATIENCE;
        let mut tick = tokio::time::interval(LOOK_EVERY);
        while Instant::now() < deadline {
            if self.run(&format!("Boolean({condition})")).await == Value::Bool(true) {
                return;
            }
            tick.tick().await;
        }
        let shown = self.run("document.documentElement.outerHTML").await;
        panic!("never true in the frame: {condition}\n{shown}");
    }

    /// Moves the mouse to the middle of an element of the framed page.
    pub async fn point_at(&self, selector: &str) {
        let middle = "(() => { const box = FIND.getBoundingClientRect(); \
             return [box.x + box.width / 2, box.y + box.height / 2]; })()";
        let inside = format!("document.querySelector({})", Value::from(selector));
        let inner = self.run(&middle.replace("FIND", &inside)).await;
        let outer = self
            .tab
            .run(&format!(
                "(() => {{ const el = document.querySelector({}), box = el.getBoundingClientRect(); \
                 return [box.x + el.clientLeft, box.y + el.clientTop]; }})()",
                self.selector
            ))
            .await;
        let add =
            |n: usize| inner[n].as_f64().expect("a place") + outer[n].as_f64().expect("a place");
        self.tab.page.bring_to_front().await.expect("the tab comes to the front");
        self.tab.page.move_mouse(Point::new(add(0), add(1))).await.expect("a mouse");
    }
}
