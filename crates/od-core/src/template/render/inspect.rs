//! Inspection: the page with the path, source and time of every value on its element.

use std::borrow::Cow;
use std::io::Write;

use super::output::Output;
use super::renderer::full_path;
use super::row_lookup::Row;
use crate::template::check::Coverage;
use crate::template::program::{Mark, Program};

/// The origins of the values, which inspection shows beside their paths.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inspection<'i> {
    /// The origins; of two that hold for a value, the one with the longer path counts.
    pub paths: &'i [InspectedPath],
}

/// The origin of everything below a path.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct InspectedPath {
    /// The path as bindings write it: `data.rows`.
    pub path: String,
    /// Where the value comes from.
    pub source: String,
    /// Since when.
    pub time: String,
    /// Whether no refresh changes it.
    pub is_fixed: bool,
}

impl<'i> Inspection<'i> {
    fn find(self, path: &str) -> Option<&'i InspectedPath> {
        let holds = |origin: &&InspectedPath| {
            let below = path.strip_prefix(origin.path.as_str());
            below.is_some_and(|below| below.is_empty() || below.starts_with('.'))
        };
        self.paths.iter().filter(holds).max_by_key(|origin| origin.path.len())
    }
}

/// Shows the paths on hover and focus, without script.
///
/// The label lies at the lower edge of the window: below its value it covered the next ones, took the pointer away
/// from them, and was cut off by the page's edge or by a parent that hides what sticks out.
pub const INSPECTION_STYLE: &str = "<style>\
[data-od-path]{outline:1px dashed rgba(37,99,235,.45);outline-offset:1px;cursor:help}\
[data-od-path]:hover,[data-od-path]:focus{outline:2px solid rgb(37,99,235)}\
[data-od-fixed]{outline:2px dotted rgba(180,83,9,.75)}\
[data-od-fixed]:hover,[data-od-fixed]:focus{outline:2px solid rgb(180,83,9)}\
[data-od-path]:hover::after,[data-od-path]:focus::after{content:attr(data-od-path) \" \\2014  \" attr(data-od-source) \" \\2014  \" attr(data-od-time);\
position:fixed;left:0;right:0;bottom:0;z-index:2147483647;pointer-events:none;box-sizing:border-box;margin:0;padding:6px 10px;\
background:rgb(17,24,39);color:rgb(255,255,255);font:12px/1.4 ui-monospace,monospace;letter-spacing:normal;text-transform:none;\
white-space:pre-wrap;overflow-wrap:anywhere;text-align:left}\
[data-od-path]:focus::after{z-index:2147483646}\
</style>";

/// Returns a style that says in a corner of the page how many of its numbers come from the data; empty
/// where it shows none.
pub(crate) fn coverage_style(coverage: Coverage) -> String {
    let Coverage { bound, typed, .. } = coverage;
    if bound + typed == 0 {
        return String::new();
    }
    format!(
        "<style>html::after{{content:\"{bound} of {} numbers come from the data\";position:fixed;top:0;right:0;\
         z-index:2147483645;pointer-events:none;padding:2px 8px;background:rgb(17,24,39);color:rgb(255,255,255);\
         font:12px/1.4 ui-monospace,monospace}}</style>",
        bound + typed
    )
}

/// Writes literal bytes, with the attributes of the marked elements among them.
pub(crate) fn write_marked<W: Write>(
    program: &Program,
    range: std::ops::Range<usize>,
    rows: &[Row<'_>],
    inspection: Inspection<'_>,
    out: &mut Output<'_, W>,
) -> std::io::Result<()> {
    let bytes = program.literals.as_bytes();
    let first = program.marks.partition_point(|mark| mark.at < range.start);
    let mut from = range.start;
    for mark in program.marks[first..].iter().take_while(|mark| mark.at < range.end) {
        out.literal(&bytes[from..mark.at])?;
        from = mark.at;
        write_mark(program, mark, rows, inspection, out)?;
    }
    out.literal(&bytes[from..range.end])
}

fn write_mark<W: Write>(
    program: &Program,
    mark: &Mark,
    rows: &[Row<'_>],
    inspection: Inspection<'_>,
    out: &mut Output<'_, W>,
) -> std::io::Result<()> {
    let bindings = mark.bindings.iter().filter_map(|at| program.bindings.get(*at));
    let paths: Vec<Cow<'_, str>> = bindings.map(|binding| full_path(binding, rows)).collect();
    out.literal(b" data-od-path=\"")?;
    for (index, path) in paths.iter().enumerate() {
        if index > 0 {
            out.literal(b" ")?;
        }
        out.escaped(path)?;
    }
    let mut origins: Vec<(&InspectedPath, Vec<&str>)> = Vec::new();
    for path in &paths {
        let Some(found) = inspection.find(path) else { continue };
        match origins.iter_mut().find(|(origin, _)| *origin == found) {
            Some((_, of)) => of.push(path),
            None => origins.push((found, vec![path])),
        }
    }
    out.literal(b"\" data-od-source=\"")?;
    write_each(&origins, |origin| &origin.source, out)?;
    out.literal(b"\" data-od-time=\"")?;
    write_each(&origins, |origin| &origin.time, out)?;
    out.literal(b"\"")?;
    if origins.iter().any(|(origin, _)| origin.is_fixed) {
        out.literal(b" data-od-fixed=\"\"")?;
    }
    let focus: &[u8] = if mark.wants_focus { b" tabindex=\"0\"" } else { b"" };
    out.literal(focus)
}

/// Writes what is known of each origin. An element that shows values of several names the paths of each:
/// "stats.json, written by an agent" would leave open which number is the source's.
fn write_each<W: Write>(
    origins: &[(&InspectedPath, Vec<&str>)],
    text: impl Fn(&InspectedPath) -> &str,
    out: &mut Output<'_, W>,
) -> std::io::Result<()> {
    let mut is_first = true;
    for (origin, paths) in origins.iter().filter(|(origin, _)| !text(origin).is_empty()) {
        if !is_first {
            out.literal(b" | ")?;
        }
        is_first = false;
        if origins.len() > 1 {
            out.escaped(&paths.join(" "))?;
            out.literal(b": ")?;
        }
        out.escaped(text(origin))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::template::{Grammar, Template};

    #[test]
    fn an_element_with_values_of_two_origins_says_which_is_whose() {
        let html = "<p>{{data.n}} of {{data.goal}}, {{data.m}}</p><b>{{data.n}}</b>";
        let (template, _) = Template::compile_as(html, Grammar::V1).unwrap();
        let origin = |path: &str, source: &str, time: &str, is_fixed| InspectedPath {
            path: path.to_owned(),
            source: source.to_owned(),
            time: time.to_owned(),
            is_fixed,
        };
        let from = |path| origin(path, "a.json", "noon", false);
        let paths = [
            from("data.n"),
            origin("data", "written by an agent", "since dawn", true),
            from("data.m"),
        ];
        let mut page = Vec::new();
        let data = json!({ "n": 1, "goal": 2, "m": 3 });
        template.render_inspect(&data, Inspection { paths: &paths }, &mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        let source = "data.n: a.json | data.goal: written by an agent | data.m: a.json";
        assert!(page.contains(&format!("data-od-source=\"{source}\"")), "{page}");
        let time = "data.n: noon | data.goal: since dawn | data.m: noon";
        assert!(page.contains(&format!("data-od-time=\"{time}\" data-od-fixed")), "{page}");
        let alone = "<b data-od-path=\"data.n\" data-od-source=\"a.json\" data-od-time=\"noon\"";
        assert!(page.contains(alone), "{page}");
    }
}
