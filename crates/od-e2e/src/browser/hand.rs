//! Input of a person in a tab: clicks, keys, going from place to place.
//!
//! Nothing is done to a page that is still on its way to what it shows: every step waits first until the page
//! has dealt with the step before it.

#![expect(clippy::panic, reason = "a browser test fails by panicking")]

use std::time::Instant;

use chromiumoxide::cdp::browser_protocol::input::{
    DispatchKeyEventParams, DispatchKeyEventType, InsertTextParams,
};
use chromiumoxide::layout::Point;
use serde_json::Value;

use super::chromium::PATIENCE;
use super::tab::Tab;

const AIM: &str = include_str!("aim.js");

/// Resolves when the page has dealt with every event so far and drawn what came of it. A link changes the
/// address at once, but the page hears of it a task later and draws it a frame after that. A hidden tab draws
/// no frames; there the timer ends the wait.
const SETTLED: &str = "new Promise((done) => { setTimeout(done, 1000); \
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))); })";

/// Stops of the Tab key that a walk may take before it counts as lost.
const STOPS_MAX: usize = 80;

/// The focused element, if a person cannot see that it has the focus. Asked at once: the focus moves into a frame
/// of another process a moment after the key.
const HIDDEN_FOCUS: &str = "(() => { const el = document.activeElement; \
    const visible = el === document.body || el.tagName === 'IFRAME' || \
    getComputedStyle(el).outlineStyle !== 'none' || getComputedStyle(el, '::after').outlineStyle !== 'none'; \
    return visible ? '' : el.outerHTML.slice(0, 200); })()";

#[expect(clippy::missing_panics_doc, reason = "every step of a test panics when it fails")]
impl Tab {
    /// Waits until the page has dealt with what was done to it so far.
    pub async fn settles(&self) {
        self.run(&format!("{SETTLED}.then(() => true)")).await;
    }

    /// Goes to another place of the page by its fragment, and waits until the page has followed.
    pub async fn go(&self, fragment: &str) {
        let fragment = Value::from(fragment);
        self.run(&format!(
            "new Promise((done) => {{ if (location.hash === {fragment}) done(true); \
             addEventListener('hashchange', () => done(true), {{ once: true }}); location.hash = {fragment}; }})"
        ))
        .await;
        self.settles().await;
    }

    /// Waits for an element and clicks in its middle with the mouse.
    pub async fn click(&self, selector: &str) {
        let selector = Value::from(selector);
        self.click_at(&format!("document.querySelector({selector})")).await;
    }

    /// Clicks the element of a kind that has a name: its label for screen readers, or its text.
    pub async fn click_named(&self, selector: &str, name: &str) {
        let (selector, name) = (Value::from(selector), Value::from(name));
        self.click_at(&format!(
            "[...document.querySelectorAll({selector})].find((el) => \
             (el.getAttribute('aria-label') ?? el.innerText.trim()) === {name} && !el.disabled)"
        ))
        .await;
    }

    async fn click_at(&self, element: &str) {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            let point = self.aim_at(element).await;
            if let Some(point) = point {
                self.page.click(point).await.expect("a click");
                let hit = "(() => { const hit = window.aim?.hit ?? true; window.aim = undefined; return hit; })()";
                if self.run(hit).await == Value::Bool(true) {
                    return;
                }
            }
        }
        panic!("never hit: {element}\nproblems: {:#?}", self.problems());
    }

    /// Points at an element, so that what goes away by itself stays.
    pub async fn point_at(&self, selector: &str) {
        let selector = Value::from(selector);
        let point = self.aim_at(&format!("document.querySelector({selector})")).await;
        self.run("void (window.aim = undefined)").await;
        self.page.move_mouse(point.expect("it went away")).await.expect("a mouse");
    }

    /// Waits until an element is there and rests, and returns its middle; `None` if it went away again.
    async fn aim_at(&self, element: &str) -> Option<Point> {
        self.until(element).await;
        // A hand can only click in the tab that is in front.
        self.page.bring_to_front().await.expect("the tab comes to the front");
        self.settles().await;
        let found = self.run(&format!("({AIM})(() => {element})")).await;
        let (x, y) = found.as_str()?.split_once(',')?;
        Some(Point::new(x.parse().ok()?, y.parse().ok()?))
    }

    /// Types into whatever has the focus.
    pub async fn type_text(&self, text: &str) {
        self.settles().await;
        self.page.execute(InsertTextParams::new(text)).await.expect("typing");
    }

    /// Presses and releases a key.
    pub async fn press(&self, key: &str) {
        self.settles().await;
        let text = match key {
            "Enter" => Some("\r"),
            one if one.chars().count() == 1 => Some(one),
            _ => None,
        };
        for kind in [DispatchKeyEventType::KeyDown, DispatchKeyEventType::KeyUp] {
            let mut event = DispatchKeyEventParams::builder().r#type(kind.clone()).key(key);
            if virtual_code(key) > 0 {
                event = event.code(key).windows_virtual_key_code(virtual_code(key));
            }
            if let (DispatchKeyEventType::KeyDown, Some(text)) = (kind, text) {
                event = event.text(text);
            }
            self.page.execute(event.build().expect("complete")).await.expect("a key");
        }
    }

    /// Presses Tab until a condition holds; at every stop the focus must be visible.
    pub async fn tab_to(&self, condition: &str) {
        // What is not there yet cannot be reached.
        self.settles().await;
        self.until("!document.querySelector('.loading')").await;
        for _ in 0..STOPS_MAX {
            self.press("Tab").await;
            assert_eq!(self.run(HIDDEN_FOCUS).await, "", "the focus cannot be seen");
            if self.run(&format!("Boolean({condition})")).await == Value::Bool(true) {
                return;
            }
        }
        panic!("Tab never reaches {condition}");
    }
}

/// Returns the code of a key by its name, as the DevTools protocol wants it; 0 for a character.
fn virtual_code(key: &str) -> i64 {
    match key {
        "Tab" => 9,
        "Enter" => 13,
        "Escape" => 27,
        " " => 32,
        "End" => 35,
        "Home" => 36,
        "ArrowLeft" => 37,
        "ArrowUp" => 38,
        "ArrowRight" => 39,
        "ArrowDown" => 40,
        _ => 0,
    }
}
