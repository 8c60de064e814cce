//! A chart: its frame, its title, its axes, and its values as a table for those who do not see it.

use std::io;

use super::label::{self, AxisLabel, AxisRoom, GAP};
use super::pen::{Pen, Sink, UNITS};
use super::points::Points;
use super::scale::{Extent, Scale};
use super::spec::{ChartKind, ChartSpec};
use super::{donut, marks, rows, style, table};
use crate::format::{Context, TextBuffer};

/// The space above and below the plot, and right of it, in pixels.
const PAD_TOP: i64 = 10;
pub(crate) const PAD_BOTTOM: i64 = 24;
pub(crate) const PAD_RIGHT: i64 = 12;
/// The space between the texts of the axis and the plot.
const GUTTER_GAP: i64 = 8;
/// The height that a tick takes.
const TICK_HEIGHT: i64 = 34;

/// Everything that a chart is drawn from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawing<'c> {
    pub(crate) spec: &'c ChartSpec,
    pub(crate) points: &'c Points,
    pub(crate) context: &'c Context,
}

/// Draws a chart; `with_style` before the first of a page.
pub(crate) fn draw<S: Sink>(
    drawing: &Drawing<'_>,
    with_style: bool,
    out: &mut S,
) -> io::Result<()> {
    let mut pen = Pen::new(out);
    pen.markup("<div class=\"od-c\">")?;
    if with_style {
        pen.markup(style::CHART_STYLE)?;
    }
    let kind = drawing.spec.kind;
    if kind.needs_x()
        && let Some(title) = &drawing.spec.title
    {
        pen.markup("<div class=\"od-h\" aria-hidden=\"true\">")?.text(title)?.markup("</div>")?;
    }
    match kind {
        ChartKind::Spark => spark(drawing, &mut pen)?,
        ChartKind::Progress => progress(drawing, &mut pen)?,
        ChartKind::Donut => donut::draw(drawing, &mut pen)?,
        ChartKind::Bar | ChartKind::StackedBar if rows::fit(drawing) => {
            rows::draw(drawing, &mut pen)?;
            legend(drawing.spec, &mut pen)?;
        }
        ChartKind::Line | ChartKind::Area | ChartKind::Bar | ChartKind::StackedBar => {
            plot(drawing, &mut pen)?;
            legend(drawing.spec, &mut pen)?;
        }
    }
    table::write(drawing, &mut pen)?;
    pen.markup("</div>")?;
    Ok(())
}

/// Writes the name of the chart and what it comes to, for those who do not see it.
pub(crate) fn describe<S: Sink>(drawing: &Drawing<'_>, pen: &mut Pen<'_, S>) -> io::Result<()> {
    let Drawing { spec, points, .. } = drawing;
    pen.markup("<title>")?;
    name(spec, pen)?;
    pen.markup("</title><desc>")?;
    if points.count > 1 && spec.kind.needs_x() {
        let (first, last) = (points.names.get(0), points.names.get(points.count - 1));
        pen.text(first)?.markup(" – ")?.text(last)?.markup(". ")?;
    }
    for series in 0..points.series {
        let Some((least, greatest)) = points.extremes(series) else { continue };
        if series > 0 {
            pen.markup("; ")?;
        }
        pen.text(spec.label(series))?.markup(": ")?.text(points.text(least, series))?;
        if least != greatest {
            pen.markup(" – ")?.text(points.text(greatest, series))?;
        }
    }
    pen.markup("</desc>")?;
    Ok(())
}

/// Writes the title, or the names of the series where there is none.
pub(crate) fn name<S: Sink>(spec: &ChartSpec, pen: &mut Pen<'_, S>) -> io::Result<()> {
    if let Some(title) = &spec.title {
        pen.text(title)?;
        return Ok(());
    }
    for (at, label) in spec.labels.iter().enumerate() {
        pen.markup(if at > 0 { ", " } else { "" })?.text(label)?;
    }
    Ok(())
}

fn legend<S: Sink>(spec: &ChartSpec, pen: &mut Pen<'_, S>) -> io::Result<()> {
    if spec.labels.len() < 2 {
        return Ok(());
    }
    pen.markup("<ul class=\"od-l\" aria-hidden=\"true\">")?;
    for (at, label) in spec.labels.iter().enumerate() {
        pen.markup("<li><i class=\"od-k")?.integer(at as i64 + 1)?.markup("\"></i>")?;
        pen.text(label)?.markup("</li>")?;
    }
    pen.markup("</ul>")?;
    Ok(())
}

/// The places of a plot: the values on the axis, the points along it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plot {
    pub(crate) scale: Scale,
    /// In pixels.
    pub(crate) height: i64,
}

impl Plot {
    /// Returns how far below the top a value lies, in tenths of a pixel.
    pub(crate) fn top(&self, value: f64) -> i64 {
        self.height * 10 - self.scale.units(value, self.height * 10)
    }

    /// Returns how far below the top zero lies, or the end of the axis that is nearest to it.
    pub(crate) fn base(&self) -> i64 {
        self.top(0.0)
    }
}

fn plot<S: Sink>(drawing: &Drawing<'_>, pen: &mut Pen<'_, S>) -> io::Result<()> {
    let Drawing { spec, points, context } = *drawing;
    let height = i64::from(spec.height) - PAD_TOP - PAD_BOTTOM;
    let Some(scale) = scale_of(drawing, (height / TICK_HEIGHT + 1) as usize) else {
        return empty(drawing, pen);
    };
    let plot = Plot { scale, height };
    let mut text = TextBuffer::default();
    let mut gutter = 0;
    for (tick, _) in scale.ticks() {
        label::write_tick(tick, &scale, spec.format.as_ref(), context.locale, &mut text);
        gutter = gutter.max(label::width(text.as_str()));
    }
    let gutter = (gutter + GUTTER_GAP).min(label::WIDTH_MIN / 2);
    open_svg(spec.height.into(), [PAD_TOP, PAD_RIGHT, PAD_BOTTOM, gutter], pen)?;
    describe(drawing, pen)?;
    for (tick, value) in scale.ticks() {
        let top = (plot.top(value) + 5) / 10;
        pen.markup(if value == 0.0 { "<g class=\"od-g od-z\">" } else { "<g class=\"od-g\">" })?;
        pen.markup("<line x2=\"100%\" y1=\"")?.integer(top)?.markup("\" y2=\"")?.integer(top)?;
        pen.markup("\"/></g><text x=\"-8\" y=\"")?.integer(top + 4)?;
        label::write_tick(tick, &scale, spec.format.as_ref(), context.locale, &mut text);
        pen.markup("\" text-anchor=\"end\">")?.text(text.as_str())?.markup("</text>")?;
    }
    marks::draw(drawing, &plot, pen)?;
    let gap = if spec.kind.has_bars() { label::BAR_GAP } else { GAP };
    axis(points, spec.kind, AxisRoom { left: gutter, right: PAD_RIGHT, gap }, height, pen)?;
    pen.markup("</svg>")?;
    Ok(())
}

/// Writes the names of the points that have room below the plot.
fn axis<S: Sink>(
    points: &Points,
    kind: ChartKind,
    room: AxisRoom,
    height: i64,
    pen: &mut Pen<'_, S>,
) -> io::Result<()> {
    let place = |point: usize| marks::place(points, kind, point);
    let mut result = Ok(());
    let names = |point: usize| points.names.get(point);
    label::choose(points.count, names, place, room, |AxisLabel { point, anchor }| {
        let mut write = || -> io::Result<()> {
            pen.markup("<text x=\"")?.percent(place(point))?.markup("\" y=\"")?;
            pen.integer(height + 18)?.markup("\" text-anchor=\"")?.markup(anchor.as_str())?;
            pen.markup("\">")?.text(names(point))?.markup("</text>")?;
            Ok(())
        };
        if result.is_ok() {
            result = write();
        }
    });
    result
}

/// Opens the picture. The padding is room for texts: what is inside is measured without it.
pub(crate) fn open_svg<S: Sink>(
    height: i64,
    [top, right, bottom, left]: [i64; 4],
    pen: &mut Pen<'_, S>,
) -> io::Result<()> {
    pen.markup("<svg class=\"od-s\" role=\"img\" style=\"height:")?.integer(height)?;
    pen.markup("px;padding:")?.integer(top)?.markup("px ")?.integer(right)?.markup("px ")?;
    pen.integer(bottom)?.markup("px ")?.integer(left)?.markup("px\">")?;
    Ok(())
}

/// Draws a chart that has no value.
fn empty<S: Sink>(drawing: &Drawing<'_>, pen: &mut Pen<'_, S>) -> io::Result<()> {
    let height = i64::from(drawing.spec.height);
    open_svg(height, [PAD_TOP, PAD_RIGHT, PAD_BOTTOM, PAD_RIGHT], pen)?;
    describe(drawing, pen)?;
    let bottom = height - PAD_TOP - PAD_BOTTOM;
    pen.markup("<g class=\"od-g od-z\"><line x2=\"100%\" y1=\"")?.integer(bottom)?;
    pen.markup("\" y2=\"")?.integer(bottom)?.markup("\"/></g><text x=\"50%\" y=\"")?;
    pen.integer(bottom / 2)?.markup("\" text-anchor=\"middle\">–</text></svg>")?;
    Ok(())
}

/// Returns the axis of the values; `None` where there is no value.
fn scale_of(drawing: &Drawing<'_>, ticks: usize) -> Option<Scale> {
    let (least, greatest) = reach(drawing)?;
    let from_zero = !matches!(drawing.spec.kind, ChartKind::Line | ChartKind::Spark);
    let Points { min, max, .. } = *drawing.points;
    Some(Scale::new(&Extent { least, greatest, min, max, from_zero }, ticks))
}

/// Returns the least and the greatest value that the marks reach.
pub(crate) fn reach(drawing: &Drawing<'_>) -> Option<(f64, f64)> {
    let Drawing { spec, points, .. } = drawing;
    let mut least = f64::INFINITY;
    let mut greatest = f64::NEG_INFINITY;
    for point in 0..points.count {
        let (mut below, mut above) = (0.0, 0.0);
        for series in 0..points.series {
            let Some(value) = points.value(point, series) else { continue };
            let reached = match spec.kind {
                ChartKind::StackedBar if value < 0.0 => {
                    below += value;
                    below
                }
                ChartKind::StackedBar => {
                    above += value;
                    above
                }
                ChartKind::Spark
                | ChartKind::Line
                | ChartKind::Area
                | ChartKind::Bar
                | ChartKind::Progress
                | ChartKind::Donut => value,
            };
            least = least.min(reached);
            greatest = greatest.max(reached);
        }
    }
    (least <= greatest).then_some((least, greatest))
}

fn spark<S: Sink>(drawing: &Drawing<'_>, pen: &mut Pen<'_, S>) -> io::Result<()> {
    const PAD: i64 = 3;
    let points = drawing.points;
    let height = i64::from(drawing.spec.height);
    pen.markup("<div class=\"od-spark\">")?;
    open_svg(height, [PAD, 4, PAD, 2], pen)?;
    describe(drawing, pen)?;
    if let Some((least, greatest)) = points.extremes(0) {
        let height = height - 2 * PAD;
        let value = |point: usize| points.value(point, 0).unwrap_or_default();
        let (low, high) = (value(least), value(greatest));
        // A line as high as its values go; flat values lie in the middle.
        let (min, max) = (points.min.unwrap_or(low), points.max.unwrap_or(high));
        let flat = max <= min;
        let scale =
            Scale::exactly(if flat { min - 1.0 } else { min }, if flat { min + 1.0 } else { max });
        let plot = Plot { scale, height };
        marks::lines(drawing, &plot, 0, pen)?;
        let last = (0..points.count).rev().find(|point| points.value(*point, 0).is_some());
        if let Some(last) = last {
            let place = marks::place(points, ChartKind::Spark, last);
            pen.markup("<circle class=\"od-b od-k1\" r=\"2.5\" cx=\"")?.percent(place)?;
            pen.markup("\" cy=\"")?.tenths(plot.top(value(last)))?.markup("\"/>")?;
        }
    }
    pen.markup("</svg></div>")?;
    Ok(())
}

fn progress<S: Sink>(drawing: &Drawing<'_>, pen: &mut Pen<'_, S>) -> io::Result<()> {
    let Drawing { spec, points, .. } = drawing;
    let height = i64::from(spec.height);
    let round = height / 2;
    let scale = Scale::exactly(points.min.unwrap_or(0.0), points.max.unwrap_or(1.0));
    let filled = points.value(0, 0).map_or(0, |value| scale.units(value, UNITS));
    open_svg(height, [0; 4], pen)?;
    describe(drawing, pen)?;
    for (class, length) in [("od-q", UNITS), ("od-b od-k1", filled)] {
        if length == 0 {
            continue;
        }
        pen.markup("<rect class=\"")?.markup(class)?.markup("\" width=\"")?.percent(length)?;
        pen.markup("\" height=\"")?.integer(height)?.markup("\" rx=\"")?.integer(round)?;
        pen.markup("\"/>")?;
    }
    pen.markup("</svg>")?;
    Ok(())
}

const _: () = assert!(label::WIDTH_MIN / 2 > GAP);
