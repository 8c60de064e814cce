//! Inspection: the page with the path, source and time of every value on its element.

use std::io::Write;

use super::output::Output;
use super::renderer::full_path;
use super::row::Row;
use crate::template::program::{Mark, Program};

/// The origin of the data, which inspection shows beside the paths.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Inspection<'i> {
    /// The source of the data.
    pub source: &'i str,
    /// The time at which it was fetched.
    pub time: &'i str,
}

/// Shows the paths on hover and focus, without script.
pub const INSPECTION_STYLE: &str = "<style>\
[data-od-path]{outline:1px dashed rgba(37,99,235,.45);outline-offset:1px;cursor:help}\
[data-od-path]:hover,[data-od-path]:focus{outline:2px solid rgb(37,99,235);position:relative}\
[data-od-path]:hover::after,[data-od-path]:focus::after{content:attr(data-od-path) \" \\2014 \" attr(data-od-source) \" \\2014 \" attr(data-od-time);\
position:absolute;left:0;top:100%;z-index:2147483647;max-width:40em;width:max-content;padding:4px 8px;\
background:rgb(17,24,39);color:rgb(255,255,255);font:12px/1.4 ui-monospace,monospace;white-space:pre-wrap;text-align:left;border-radius:4px}\
</style>";

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
    out.literal(b" data-od-path=\"")?;
    for (index, binding) in
        mark.bindings.iter().filter_map(|at| program.bindings.get(*at)).enumerate()
    {
        if index > 0 {
            out.literal(b" ")?;
        }
        out.escaped(&full_path(binding, rows))?;
    }
    out.literal(b"\" data-od-source=\"")?;
    out.escaped(inspection.source)?;
    out.literal(b"\" data-od-time=\"")?;
    out.escaped(inspection.time)?;
    out.literal(if mark.wants_focus { b"\" tabindex=\"0\"" } else { b"\"" })
}
