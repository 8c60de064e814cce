//! Rendering of charts: collects the points and hands them to `chart`.

use std::io::{self, Write};

use serde_json::Value;

use super::error::RenderError;
use super::output::{Digits, Output};
use super::renderer::{Renderer, kind};
use super::row_lookup::Row;
use crate::chart::ChartTable;
use crate::chart::draw::{self, Drawing};
use crate::chart::pen::Sink;
use crate::chart::points::{Points, TextList, drawable};
use crate::format::date::{DateStyle, Moment, write_date, write_time};
use crate::format::decimal::Decimal;
use crate::format::value::{Format, Formatted};
use crate::format::{Context, TextBuffer};
use crate::template::program::{Chart, ChartBound, ChartName, Program};

/// Renders the program to nowhere and returns the values of its charts, in the order of the page.
pub(crate) fn chart_tables(
    program: &Program,
    data: &Value,
    context: &Context,
) -> Result<Vec<ChartTable>, RenderError> {
    let mut nowhere = io::sink();
    let mut renderer: Renderer<'_, '_, _, false> =
        Renderer::new(program, data, context, &mut nowhere);
    renderer.tables = Some(Vec::new());
    renderer.run(0..program.ops.len())?;
    Ok(renderer.tables.unwrap_or_default())
}

impl<W: Write> Sink for Output<'_, W> {
    fn markup(&mut self, markup: &str) -> io::Result<()> {
        self.literal(markup.as_bytes())
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        self.escaped(text)
    }
}

impl<'d, W: Write, const AUDIT: bool> Renderer<'_, 'd, Output<'_, W>, AUDIT> {
    /// Draws a chart.
    #[inline(never)]
    pub(crate) fn chart(&mut self, chart: usize) -> Result<(), RenderError> {
        let chart = &self.program.charts[chart];
        let with_style = self.points.is_none();
        let mut points = self.points.take().unwrap_or_default();
        let depth = self.depth;
        let result = self.collect_points(chart, &mut points);
        self.depth = depth;
        let drawing = Drawing { spec: &chart.spec, points: &points, context: self.context };
        let result = result.and_then(|()| Ok(draw::draw(&drawing, with_style, &mut self.out)?));
        self.points = Some(points);
        result
    }

    fn collect_points(&mut self, chart: &Chart, points: &mut Points) -> Result<(), RenderError> {
        points.clear(chart.y.len());
        points.min = self.bound(chart.min)?;
        points.max = self.bound(chart.max)?;
        let mut table = self.tables.is_some().then(|| ChartTable::new(&chart.spec));
        let Some(repeat) = chart.repeat else {
            points.count = 1;
            points.names.push(chart.spec.title.as_deref().unwrap_or_default());
            self.collect_values(chart, points, &mut table)?;
            return self.keep_table(table);
        };
        let repeat = &self.program.repeats[repeat];
        if AUDIT {
            self.note_list(repeat);
        }
        let items = self.list(repeat)?;
        if !Points::allows(items.len()) {
            let at = self.place(&self.program.bindings[repeat.list]);
            return Err(RenderError::TooManyPoints { at, points: items.len() });
        }
        self.count_rows(items.len())?;
        let depth = self.depth;
        points.count = items.len();
        let style = chart.x.as_ref().and_then(|x| self.date_style(x, items));
        for (position, item) in items.iter().enumerate() {
            self.enter_row(depth, Row { item, position, count: items.len() });
            self.collect_name(chart, position, style, points, &mut table)?;
            self.collect_values(chart, points, &mut table)?;
        }
        self.depth = depth;
        points.settle_places();
        self.keep_table(table)
    }

    fn keep_table(&mut self, table: Option<ChartTable>) -> Result<(), RenderError> {
        if let (Some(tables), Some(table)) = (&mut self.tables, table) {
            tables.push(table);
        }
        Ok(())
    }

    fn bound(&mut self, bound: Option<ChartBound>) -> Result<Option<f64>, RenderError> {
        match bound {
            None => Ok(None),
            Some(ChartBound::Number(number)) => Ok(Some(number)),
            Some(ChartBound::Binding(binding)) => {
                let value = self.chart_value(binding);
                Ok(self.number(binding, value)?.map(drawable))
            }
        }
    }

    fn chart_value(&mut self, binding: usize) -> Option<&'d Value> {
        self.report.values += 1;
        let value = self.follow_path(&self.program.bindings[binding]);
        if AUDIT {
            self.note(binding, value);
        }
        value
    }

    /// Returns the number that is drawn; `None` for a gap.
    fn number(
        &mut self,
        binding: usize,
        value: Option<&Value>,
    ) -> Result<Option<f64>, RenderError> {
        let number = match value {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Number(number)) => number.as_f64(),
            Some(Value::String(text)) if text.is_empty() => return Ok(None),
            // Databases write exact decimals as text.
            Some(Value::String(text)) => {
                value.and_then(Decimal::of).and_then(|_| text.parse().ok())
            }
            Some(Value::Bool(_) | Value::Array(_) | Value::Object(_)) => None,
        };
        if number.is_none() {
            let at = self.place(&self.program.bindings[binding]);
            self.collect(RenderError::NotDrawable { at, found: kind(value) })?;
        }
        Ok(number)
    }

    fn collect_values(
        &mut self,
        chart: &Chart,
        points: &mut Points,
        table: &mut Option<ChartTable>,
    ) -> Result<(), RenderError> {
        for binding in &chart.y {
            let value = self.chart_value(*binding);
            let number = self.number(*binding, value)?;
            points.values.push(number.map_or(f64::NAN, drawable));
            let drawn = value.filter(|_| number.is_some());
            self.report.empty += usize::from(drawn.is_none());
            match drawn {
                None => points.texts.push(""),
                Some(value) => {
                    write_value(value, chart, self.context, &mut self.text, &mut points.texts);
                }
            }
            if let Some(row) = table.as_mut().and_then(|table| table.rows.last_mut()) {
                row.push(drawn.map(plain_text));
            } else if let Some(table) = table {
                let title = chart.spec.title.as_deref().unwrap_or_default().to_owned();
                table.rows.push(vec![Some(title), drawn.map(plain_text)]);
            }
        }
        Ok(())
    }

    /// Adds the name of a point.
    fn collect_name(
        &mut self,
        chart: &Chart,
        position: usize,
        style: Option<NameStyle>,
        points: &mut Points,
        table: &mut Option<ChartTable>,
    ) -> Result<(), RenderError> {
        let Some(ChartName { binding, pipes }) = &chart.x else {
            let mut digits = itoa::Buffer::new();
            let number = digits.format(position + 1);
            points.names.push(number);
            if let Some(table) = table {
                table.rows.push(vec![Some(number.to_owned())]);
            }
            return Ok(());
        };
        let value = self.chart_value(*binding);
        if let Some(table) = table {
            table.rows.push(vec![value.filter(|value| !value.is_null()).map(plain_text)]);
        }
        points.places.extend(place_of(value));
        let present = value.filter(|value| !value.is_null());
        match (present, &pipes.format, style) {
            (None, _, _) => {
                self.report.empty += 1;
                points.names.push(pipes.or.as_deref().unwrap_or_default());
            }
            (Some(value), Some(format), _) => {
                let formatted = format.apply(value, self.context, &mut self.text);
                match formatted {
                    Ok(formatted) => push_formatted(formatted, &self.text, &mut points.names),
                    Err(fault) => {
                        let at = self.place(&self.program.bindings[*binding]);
                        let (format, found) = (format.name(), kind(Some(value)));
                        self.collect(RenderError::Format { at, format, found, fault })?;
                        points.names.push("");
                    }
                }
            }
            (Some(value), None, Some(style)) => {
                style.write(value, self.context, &mut self.text);
                points.names.push(self.text.as_str());
            }
            (Some(Value::String(text)), None, None) => points.names.push(text),
            (Some(Value::Number(number)), None, None) => {
                points.names.push(Digits::new().format(number));
            }
            (Some(value), None, None) => {
                // In an audit the error was collected, and something must stand for the name.
                let text = self.plain(*binding, Some(value));
                match text {
                    Ok(text) => points.names.push(text),
                    Err(error) => {
                        self.collect(error)?;
                        points.names.push("");
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns how the names are written when all of them are times and the template says no format.
    fn date_style(&self, name: &ChartName, items: &[Value]) -> Option<NameStyle> {
        if name.pipes.format.is_some() {
            return None;
        }
        let path = &self.program.bindings[name.binding].path;
        let mut first = None;
        let mut last = None;
        for item in items {
            let value = path.resolve_from(item)?;
            let moment = Moment::parse(value.as_str()?)?;
            first.get_or_insert(moment);
            last = Some(moment);
        }
        let (first_date, time) = first?.in_zone(&self.context.zone);
        let (last_date, _) = last?.in_zone(&self.context.zone);
        Some(if time.is_some() && first_date == last_date {
            NameStyle::Time
        } else if first_date.saturating_add(jiff::Span::new().days(366)) > last_date {
            NameStyle::Date(DateStyle::Day)
        } else {
            NameStyle::Date(DateStyle::Medium)
        })
    }
}

/// The ways to write the times that name points, by how far they are apart.
#[derive(Clone, Copy, Debug)]
enum NameStyle {
    /// Within a day.
    Time,
    /// Within a year, or more.
    Date(DateStyle),
}

impl NameStyle {
    fn write(self, value: &Value, context: &Context, out: &mut TextBuffer) {
        out.clear();
        let Some(moment) = value.as_str().and_then(Moment::parse) else { return };
        let (date, time) = moment.in_zone(&context.zone);
        match (self, time) {
            (Self::Time, Some(time)) => write_time(time, false, context.locale, out),
            (Self::Time, None) => write_date(date, DateStyle::Day, context.locale, out),
            (Self::Date(style), _) => write_date(date, style, context.locale, out),
        }
    }
}

/// Returns where a point lies in time or on a number line.
fn place_of(value: Option<&Value>) -> Option<f64> {
    match value? {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => match Moment::parse(text)? {
            Moment::Day(date) => {
                let day = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
                Some(day.timestamp().as_millisecond() as f64)
            }
            Moment::Instant(instant) => Some(instant.as_millisecond() as f64),
        },
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn write_value(
    value: &Value,
    chart: &Chart,
    context: &Context,
    buffer: &mut TextBuffer,
    texts: &mut TextList,
) {
    const PLAIN: Format = Format::Number { digits: None };
    const SHARE: Format = Format::Percent { digits: 0 };
    let is_share = chart.spec.kind == crate::chart::ChartKind::Progress && chart.max.is_none();
    let plain = if is_share { &SHARE } else { &PLAIN };
    let format = chart.spec.format.as_ref().unwrap_or(plain);
    // Formats of charts take every number, and nothing else comes here.
    match format.apply(value, context, buffer) {
        Ok(formatted) => push_formatted(formatted, buffer, texts),
        Err(_) => texts.push(""),
    }
}

fn push_formatted(formatted: Formatted<'_>, buffer: &TextBuffer, texts: &mut TextList) {
    match formatted {
        Formatted::Buffered => texts.push(buffer.as_str()),
        Formatted::Text(text) => texts.push(text),
        Formatted::Cased(text, case) => {
            let written: Result<(), std::convert::Infallible> = case.write(text, |letter| {
                texts.push_char(letter);
                Ok(())
            });
            written.unwrap_or_default();
            texts.end();
        }
        Formatted::Cut(text, chars) => {
            text.chars().take(chars).for_each(|letter| texts.push_char(letter));
            texts.push("…");
        }
    }
}

/// Returns a value as the data has it.
fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => Digits::new().format(number).to_owned(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}
