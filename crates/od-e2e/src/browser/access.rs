//! Accessibility faults of a page, by rules like those of the usual checkers.
//!
//! Structure, ARIA and contrast are looked at in the page; names are taken from the accessibility tree that
//! the browser itself computes. Nothing has to be installed or loaded for it.

use chromiumoxide::cdp::browser_protocol::accessibility::AxNode;
use serde_json::Value;

use super::tab::Tab;

const IN_THE_PAGE: &str = include_str!("access.js");

/// Roles that a person operates or looks for by name.
const NAMED: &[&str] = &[
    "button",
    "link",
    "textbox",
    "searchbox",
    "combobox",
    "checkbox",
    "radio",
    "switch",
    "tab",
    "tree",
    "treeitem",
    "dialog",
    "Iframe",
    "region",
    "tablist",
    "toolbar",
    "navigation",
    "option",
    "menuitem",
    "heading",
    "image",
];

/// Returns the serious findings of the page as it is shown now, one line each.
///
/// # Panics
///
/// Panics if the page cannot be asked.
pub async fn serious_findings(tab: &Tab) -> Vec<String> {
    let in_page = tab.run(IN_THE_PAGE).await;
    let lines = in_page.as_array().expect("a list of findings").iter();
    let mut found: Vec<String> = lines.filter_map(Value::as_str).map(str::to_owned).collect();
    found.extend(tab.accessibility_tree().await.iter().filter_map(nameless));
    found
}

fn nameless(node: &AxNode) -> Option<String> {
    let text = |value: &Option<chromiumoxide::cdp::browser_protocol::accessibility::AxValue>| {
        let value = value.as_ref().and_then(|it| it.value.as_ref()).and_then(Value::as_str);
        value.unwrap_or_default().trim().to_owned()
    };
    let role = text(&node.role);
    let is_nameless =
        !node.ignored && NAMED.contains(&role.as_str()) && text(&node.name).is_empty();
    is_nameless.then(|| format!("name: a {role} has none (node {:?})", node.backend_dom_node_id))
}
