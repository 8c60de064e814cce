//! A repeat inside a repeat, written out: one element for each outer row of the data.

use std::ops::Range;

use super::lists::follow;
use super::marks::read_loop;
use super::outline::Outline;
use crate::json::Value;

/// The most outer rows that are written out.
const ROWS_MAX: usize = 12;

/// Returns the edits that write the outer repeat around a place out, or `None` if it has too many
/// rows for that.
pub(super) fn unroll(html: &str, data: &Value, at: usize) -> Option<Vec<(Range<usize>, String)>> {
    let outline = Outline::of(html);
    let outer = outline
        .ancestors(at)
        .into_iter()
        .rfind(|it| outline.attribute(*it, "data-od-repeat").is_some())?;
    let attribute = outline.attribute(outer, "data-od-repeat")?;
    let head = read_loop(&html[attribute.value.clone()]);
    let (alias, list) = (head.alias?, head.list);
    let steps: Vec<&str> = list.split('.').skip(1).collect();
    let rows = follow(data, &steps)?.as_array()?.len();
    if rows == 0 || rows > ROWS_MAX {
        return None;
    }
    let span = outline.elements[outer].span.clone();
    let start = html[..attribute.span.start].trim_end().len();
    let element = [&html[span.start..start], &html[attribute.span.end..span.end]].concat();
    let written: Vec<String> =
        (0..rows).map(|row| named(&element, &alias, &format!("{list}.{row}"))).collect();
    Some(vec![(span, written.join("\n"))])
}

/// Puts a path in the place of an alias, in bindings and repeats.
fn named(html: &str, alias: &str, path: &str) -> String {
    let mut text = html.to_owned();
    for (before, behind) in [("{{", "."), ("{{ ", "."), (" in ", ".")] {
        text =
            text.replace(&format!("{before}{alias}{behind}"), &format!("{before}{path}{behind}"));
    }
    text
}
