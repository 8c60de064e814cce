//! Lines, areas and bars.

use std::io;

use super::draw::{Drawing, Plot};
use super::pen::{Pen, Sink, UNITS};
use super::points::Points;
use super::spec::ChartKind;

/// The most marks that have a tooltip each; more would be too small to point at.
const TOOLTIPS_MAX: usize = 128;
/// The most points that have a dot each.
const DOTS_MAX: usize = 64;
/// The part of its place that a bar, or a group of bars, takes, in percent.
const BAR_SHARE: i64 = 72;
/// The widest bar.
const BAR_MAX: i64 = UNITS * 16 / 100;

/// Returns where a point lies, in units of the width.
pub(crate) fn place(points: &Points, kind: ChartKind, point: usize) -> i64 {
    let count = points.count as i64;
    let at = point as i64;
    match kind {
        ChartKind::Bar | ChartKind::StackedBar => (2 * at + 1) * UNITS / (2 * count.max(1)),
        ChartKind::Spark
        | ChartKind::Line
        | ChartKind::Area
        | ChartKind::Progress
        | ChartKind::Donut => match (points.places.first(), points.places.last()) {
            (Some(first), Some(last)) if last > first => {
                let here = points.places.get(point).copied().unwrap_or(*first);
                // The quarter keeps the difference of two doubles finite.
                let length = last / 4.0 - first / 4.0;
                ((here / 4.0 - first / 4.0) / length * UNITS as f64).round() as i64
            }
            _ if count > 1 => at * UNITS / (count - 1),
            _ => UNITS / 2,
        },
    }
}

pub(crate) fn draw<S: Sink>(
    drawing: &Drawing<'_>,
    plot: &Plot,
    pen: &mut Pen<'_, S>,
) -> io::Result<()> {
    let Drawing { spec, points, .. } = drawing;
    match spec.kind {
        ChartKind::Bar | ChartKind::StackedBar => bars(drawing, plot, pen),
        ChartKind::Line | ChartKind::Area | ChartKind::Spark => {
            for series in 0..points.series {
                lines(drawing, plot, series, pen)?;
            }
            dots(drawing, plot, pen)
        }
        ChartKind::Progress | ChartKind::Donut => Ok(()),
    }
}

/// Draws the line of a series, and the area below it; it is interrupted where a value is missing.
pub(crate) fn lines<S: Sink>(
    drawing: &Drawing<'_>,
    plot: &Plot,
    series: usize,
    pen: &mut Pen<'_, S>,
) -> io::Result<()> {
    let spec = drawing.spec;
    pen.markup("<svg class=\"od-k")?.integer(series as i64 + 1)?;
    pen.markup("\" width=\"100%\" height=\"")?.integer(plot.height)?;
    pen.markup("\" viewBox=\"0 0 10000 ")?.integer(plot.height * 10)?;
    pen.markup("\" preserveAspectRatio=\"none\" overflow=\"visible\">")?;
    if spec.kind == ChartKind::Area {
        pen.markup("<path class=\"od-a\" d=\"")?;
        path(drawing, plot, series, Some(plot.base()), pen)?;
        pen.markup("\"/>")?;
    }
    pen.markup("<path class=\"od-w\" vector-effect=\"non-scaling-stroke\" d=\"")?;
    path(drawing, plot, series, None, pen)?;
    pen.markup("\"/></svg>")?;
    Ok(())
}

fn path<S: Sink>(
    drawing: &Drawing<'_>,
    plot: &Plot,
    series: usize,
    base: Option<i64>,
    pen: &mut Pen<'_, S>,
) -> io::Result<()> {
    let Drawing { spec, points, .. } = drawing;
    let mut last: Option<i64> = None;
    for point in 0..points.count {
        let Some(value) = points.value(point, series) else {
            close(last.take(), base, pen)?;
            continue;
        };
        let (left, top) = (place(points, spec.kind, point), plot.top(value));
        match (last, base) {
            (None, Some(base)) => {
                pen.markup("M")?.integer(left)?.markup(" ")?.integer(base)?.markup("V")?;
                pen.integer(top)?;
            }
            (None, None) => {
                pen.markup("M")?.integer(left)?.markup(" ")?.integer(top)?;
            }
            (Some(_), _) => {
                pen.markup("L")?.integer(left)?.markup(" ")?.integer(top)?;
            }
        }
        last = Some(left);
    }
    close(last, base, pen)
}

fn close<S: Sink>(last: Option<i64>, base: Option<i64>, pen: &mut Pen<'_, S>) -> io::Result<()> {
    if let (Some(_), Some(base)) = (last, base) {
        pen.markup("V")?.integer(base)?.markup("Z")?;
    }
    Ok(())
}

/// Draws a dot on every point of a short line, and on those that no line reaches.
fn dots<S: Sink>(drawing: &Drawing<'_>, plot: &Plot, pen: &mut Pen<'_, S>) -> io::Result<()> {
    let Drawing { spec, points, .. } = drawing;
    let on_all = points.count <= DOTS_MAX;
    for series in 0..points.series {
        let has = |point: Option<usize>| point.is_some_and(|at| points.value(at, series).is_some());
        for point in 0..points.count {
            let Some(value) = points.value(point, series) else { continue };
            let is_alone = !has(point.checked_sub(1)) && !has(Some(point + 1));
            if !on_all && !is_alone {
                continue;
            }
            pen.markup("<circle class=\"od-b od-k")?.integer(series as i64 + 1)?;
            pen.markup(if points.count > 16 && !is_alone {
                "\" r=\"2\" cx=\""
            } else {
                "\" r=\"3\" cx=\""
            })?;
            pen.percent(place(points, spec.kind, point))?.markup("\" cy=\"")?;
            pen.tenths(plot.top(value))?.markup("\">")?;
            tooltip(drawing, point, series, pen)?;
            pen.markup("</circle>")?;
        }
    }
    Ok(())
}

fn bars<S: Sink>(drawing: &Drawing<'_>, plot: &Plot, pen: &mut Pen<'_, S>) -> io::Result<()> {
    let Drawing { spec, points, .. } = drawing;
    let is_stacked = spec.kind == ChartKind::StackedBar;
    let beside = if is_stacked { 1 } else { points.series.max(1) as i64 };
    let slot = UNITS / (points.count as i64).max(1);
    let group = (slot * BAR_SHARE / 100).min(BAR_MAX * beside);
    // At most a hundredth of the width between the bars of a group.
    let gap = (group / beside / 8).min(if beside > 1 { 60 } else { 0 });
    let width = (group / beside - gap).max(1);
    let with_tooltips = points.count * points.series <= TOOLTIPS_MAX;
    for series in 0..points.series {
        pen.markup("<g class=\"od-b od-k")?.integer(series as i64 + 1)?.markup("\">")?;
        for point in 0..points.count {
            let Some(value) = points.value(point, series) else { continue };
            let from = if is_stacked { stacked_below(points, point, series, value) } else { 0.0 };
            let (one, other) = (plot.top(from), plot.top(from + value));
            let (top, height) = (one.min(other), (one - other).abs());
            let left = place(points, spec.kind, point) - group / 2;
            let left = if is_stacked { left } else { left + series as i64 * (width + gap) };
            // A line of the page's own colour between the parts of a stack; what is not zero is seen.
            let height = if is_stacked && height > 20 { height - 10 } else { height };
            let height = if value == 0.0 { height } else { height.max(10) };
            pen.markup("<rect x=\"")?.percent(left)?.markup("\" y=\"")?.tenths(top)?;
            pen.markup("\" width=\"")?.percent(width)?.markup("\" height=\"")?.tenths(height)?;
            let round = if is_stacked || points.count > 60 { "\">" } else { "\" rx=\"2\">" };
            pen.markup(round)?;
            if with_tooltips {
                tooltip(drawing, point, series, pen)?;
            }
            pen.markup("</rect>")?;
        }
        pen.markup("</g>")?;
    }
    Ok(())
}

/// Returns where the bar of a series begins in its stack.
pub(crate) fn stacked_below(points: &Points, point: usize, series: usize, value: f64) -> f64 {
    let same_side = |other: &f64| (*other < 0.0) == (value < 0.0);
    (0..series).filter_map(|before| points.value(point, before)).filter(same_side).sum()
}

/// Writes what a mark shows, for those who point at it.
pub(crate) fn tooltip<S: Sink>(
    drawing: &Drawing<'_>,
    point: usize,
    series: usize,
    pen: &mut Pen<'_, S>,
) -> io::Result<()> {
    let Drawing { spec, points, .. } = drawing;
    pen.markup("<title>")?.text(points.names.get(point))?.markup(": ")?;
    if points.series > 1 {
        pen.text(spec.label(series))?.markup(" ")?;
    }
    pen.text(points.text(point, series))?.markup("</title>")?;
    Ok(())
}
