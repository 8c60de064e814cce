//! The shares of a whole, as a ring.

use std::io;

use super::draw::{Drawing, describe};
use super::label;
use super::pen::{Pen, Sink, UNITS};
use super::points::drawable;
use super::scale::Scale;
use crate::format::TextBuffer;
use crate::format::decimal::Decimal;
use crate::format::number::{Digits, Sign, write_number, write_percent};
use crate::format::value::Formatted;
use crate::limits::CHART_SERIES;

/// The room for the sum inside the ring, in its own units.
const INNER: i64 = 112;
/// The gap between two parts, in units of the ring.
const GAP: i64 = 60;

/// A part of the ring: one point, or all that have no colour of their own.
#[derive(Clone, Copy, Debug)]
struct Part {
    point: Option<usize>,
    value: f64,
}

pub(crate) fn draw<S: Sink>(drawing: &Drawing<'_>, pen: &mut Pen<'_, S>) -> io::Result<()> {
    let Drawing { spec, points, .. } = drawing;
    let mut parts = [Part { point: None, value: 0.0 }; CHART_SERIES.allowed as usize];
    let shown = take_parts(drawing, &mut parts);
    let parts = &parts[..shown];
    let sum: f64 = parts.iter().map(|part| part.value).sum();
    let scale = Scale::exactly(0.0, sum);
    let size = i64::from(spec.height);
    pen.markup("<div class=\"od-o\"><svg class=\"od-s\" role=\"img\" viewBox=\"-100 -100 200 200\" style=\"width:")?;
    pen.integer(size)?.markup("px;height:")?.integer(size)?.markup("px\">")?;
    describe(drawing, pen)?;
    if sum <= 0.0 {
        pen.markup("<circle class=\"od-e od-e0\" r=\"80\"/>")?;
    }
    pen.markup("<g transform=\"rotate(-90)\">")?;
    let mut before = 0.0;
    let several = parts.iter().filter(|part| part.value > 0.0).count() > 1;
    for (at, part) in parts.iter().enumerate() {
        let (start, end) = (scale.units(before, UNITS), scale.units(before + part.value, UNITS));
        before += part.value;
        let length = end - start;
        if part.value <= 0.0 || sum <= 0.0 {
            continue;
        }
        let length = if several && length > 2 * GAP { length - GAP } else { length.max(10) };
        pen.markup("<circle r=\"80\" pathLength=\"10000\" class=\"od-e ")?;
        colour(at, part, pen)?;
        pen.markup("\" stroke-dasharray=\"")?.integer(length)?.markup(" ")?;
        // A gap that ends with the ring shows a splinter of the next dash (Chromium 156).
        pen.integer(2 * UNITS)?.markup("\" stroke-dashoffset=\"")?.integer(-start)?;
        pen.markup("\"/>")?;
    }
    pen.markup("</g>")?;
    write_sum(drawing, sum, pen)?;
    pen.markup("</svg><ul class=\"od-l\" aria-hidden=\"true\">")?;
    let mut share = TextBuffer::default();
    for (at, part) in parts.iter().enumerate() {
        pen.markup("<li><i class=\"")?;
        colour(at, part, pen)?;
        pen.markup("\"></i><span>")?;
        match part.point {
            Some(point) => {
                pen.text(points.names.get(point))?.markup("</span><b>")?;
                pen.text(points.text(point, 0))?;
            }
            None => {
                let more = (points.count + 1 - shown) as i64;
                pen.markup("+")?.integer(more)?.markup("</span><b>")?;
            }
        }
        share.clear();
        let part = if sum > 0.0 { scale.units(part.value, UNITS) } else { 0 };
        let part = Decimal::scaled(part, -4);
        write_percent(part, Digits::exactly(0), Sign::Negative, drawing.context.locale, &mut share);
        pen.markup("</b><em>")?.text(share.as_str())?.markup("</em></li>")?;
    }
    pen.markup("</ul></div>")?;
    Ok(())
}

/// Takes the points as parts; where there are more than colours, the smallest become one part.
fn take_parts(drawing: &Drawing<'_>, parts: &mut [Part]) -> usize {
    let points = drawing.points;
    let value = |point: usize| points.value(point, 0).map_or(0.0, |value| value.max(0.0));
    if points.count <= parts.len() {
        for (point, part) in (0..points.count).zip(parts.iter_mut()) {
            *part = Part { point: Some(point), value: value(point) };
        }
        return points.count;
    }
    let own = parts.len() - 1;
    // The greatest ones, by insertion: there are seven places.
    let mut filled = 0;
    for point in 0..points.count {
        let at = parts[..filled].iter().position(|part| part.value < value(point));
        let at = at.unwrap_or(filled);
        if at >= own {
            continue;
        }
        filled = (filled + 1).min(own);
        parts[at..filled].rotate_right(1);
        parts[at] = Part { point: Some(point), value: value(point) };
    }
    let all: f64 = (0..points.count).map(value).sum();
    let taken: f64 = parts[..own].iter().map(|part| part.value).sum();
    parts[own] = Part { point: None, value: (drawable(all) - drawable(taken)).max(0.0) };
    own + 1
}

fn colour<S: Sink>(at: usize, part: &Part, pen: &mut Pen<'_, S>) -> io::Result<()> {
    match part.point {
        Some(_) => pen.markup("od-k")?.integer(at as i64 + 1)?,
        None => pen.markup("od-k0 od-e0")?,
    };
    Ok(())
}

/// Writes the sum into the ring, as large as it fits.
fn write_sum<S: Sink>(drawing: &Drawing<'_>, sum: f64, pen: &mut Pen<'_, S>) -> io::Result<()> {
    let Drawing { spec, context, .. } = drawing;
    let mut text = TextBuffer::default();
    // A sum of decimals has more digits than they do: 0.1 + 0.2.
    let mut exact = Decimal::of_float(sum);
    exact.round(9);
    let number = serde_json::Number::from_f64(sum);
    let formatted = match (&spec.format, number.map(serde_json::Value::Number)) {
        (Some(format), Some(value)) => {
            let applied = format.apply(&value, context, &mut text);
            matches!(applied, Ok(Formatted::Buffered))
        }
        _ => false,
    };
    if !formatted {
        text.clear();
        write_number(exact, Digits::up_to(3), context.locale, &mut text);
    }
    let width = label::width(text.as_str()).max(1);
    let size = (12 * INNER / width).clamp(9, 30);
    pen.markup("<text class=\"od-v\" text-anchor=\"middle\" y=\"")?.integer(size * 36 / 100)?;
    pen.markup("\" style=\"font-size:")?.integer(size)?.markup("px\">")?;
    pen.text(text.as_str())?.markup("</text>")?;
    Ok(())
}
