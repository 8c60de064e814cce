//! Bars that lie: for names that have no room below a bar.

use std::io;

use super::draw::{Drawing, describe, open_svg, reach};
use super::label::{self, BAR_GAP, GAP, WIDTH_MIN};
use super::marks::{stacked_below, tooltip};
use super::pen::{Pen, Sink, UNITS};
use super::scale::Scale;
use super::spec::ChartKind;

/// The most bars that lie; more stand, and only some of them have a name.
const ROWS_MAX: usize = 40;
/// The height of the line with the name, of a bar, and of what is between two rows, in pixels.
const NAME: i64 = 18;
const BAR: i64 = 8;
const THIN_BAR: i64 = 6;
const BETWEEN: i64 = 12;
/// The widest name that is short, and the shortest axis below standing bars, in pixels.
const SHORT: i64 = 40;
const AXIS_MIN: i64 = WIDTH_MIN - 60;

/// Returns whether the bars of a chart lie: where they have names that do not fit below them.
pub(crate) fn fit(drawing: &Drawing<'_>) -> bool {
    let points = drawing.points;
    if !points.places.is_empty() || points.count > ROWS_MAX || points.count == 0 {
        return false;
    }
    let widest = (0..points.count).map(|at| label::width(points.names.get(at))).max();
    let widest = widest.unwrap_or_default();
    // Of short names, as of months, some are left out; of others every one is wanted.
    widest > SHORT && (widest + BAR_GAP) * points.count as i64 > AXIS_MIN
}

pub(crate) fn draw<S: Sink>(drawing: &Drawing<'_>, pen: &mut Pen<'_, S>) -> io::Result<()> {
    let Drawing { spec, points, .. } = drawing;
    let is_stacked = spec.kind == ChartKind::StackedBar;
    let beside = if is_stacked { 1 } else { points.series.max(1) as i64 };
    let thick = if beside > 1 { THIN_BAR } else { BAR };
    let pitch = NAME + beside * (thick + 2) + BETWEEN;
    let height = pitch * points.count as i64 - BETWEEN;
    open_svg(height, [0; 4], pen)?;
    describe(drawing, pen)?;
    let scale = reach(drawing).map(|(least, greatest)| {
        let low = points.min.unwrap_or(least.min(0.0));
        Scale::exactly(low, points.max.unwrap_or(greatest.max(0.0)).max(low))
    });
    for point in 0..points.count {
        let top = pitch * point as i64;
        let has_value = !is_stacked && points.series == 1;
        let value = if has_value { points.text(point, 0) } else { "" };
        write_name(points.names.get(point), value, top, pen)?;
        pen.markup("<rect class=\"od-q\" width=\"100%\" y=\"")?.integer(top + NAME)?;
        pen.markup("\" height=\"")?.integer(beside * (thick + 2) - 2)?.markup("\" rx=\"2\"/>")?;
        let Some(scale) = scale else { continue };
        for series in 0..points.series {
            let Some(value) = points.value(point, series) else { continue };
            let from = if is_stacked { stacked_below(points, point, series, value) } else { 0.0 };
            let (one, other) = (scale.units(from, UNITS), scale.units(from + value, UNITS));
            let length = (one - other).abs();
            let length = if value == 0.0 { length } else { length.max(20) };
            let row = if is_stacked { 0 } else { series as i64 };
            pen.markup("<rect class=\"od-b od-k")?.integer(series as i64 + 1)?;
            pen.markup("\" x=\"")?.percent(one.min(other))?.markup("\" y=\"")?;
            pen.integer(top + NAME + row * (thick + 2))?.markup("\" width=\"")?;
            pen.percent(length)?.markup("\" height=\"")?.integer(thick)?;
            pen.markup(if is_stacked { "\">" } else { "\" rx=\"2\">" })?;
            tooltip(drawing, point, series, pen)?;
            pen.markup("</rect>")?;
        }
    }
    pen.markup("</svg>")?;
    Ok(())
}

fn write_name<S: Sink>(name: &str, value: &str, top: i64, pen: &mut Pen<'_, S>) -> io::Result<()> {
    let taken = if value.is_empty() { 0 } else { label::width(value) + 2 * GAP };
    pen.markup("<text y=\"")?.integer(top + NAME - 6)?.markup("\">")?;
    match label::cut(name, WIDTH_MIN - taken) {
        None => pen.text(name)?,
        Some(end) => {
            pen.text(name[..end].trim_end())?.markup("…<title>")?.text(name)?.markup("</title>")?
        }
    };
    pen.markup("</text>")?;
    if !value.is_empty() {
        pen.markup("<text class=\"od-v\" x=\"100%\" text-anchor=\"end\" y=\"")?;
        pen.integer(top + NAME - 6)?.markup("\">")?.text(value)?.markup("</text>")?;
    }
    Ok(())
}
