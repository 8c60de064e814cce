//! Rendering of values with a format.

use std::io::Write;

use serde_json::Value;

use super::error::{BindingPlace, RenderError};
use super::output::Output;
use super::renderer::{Renderer, full_path, kind};
use super::row_lookup::Lookup;
use crate::format::date::{DateStyle, Moment, write_date, write_datetime};
use crate::format::value::{Case, Format, Formatted};
use crate::format::{Context, FormatFault, TextBuffer};
use crate::template::expression::pipe;
use crate::template::program::{Piped, Source};

impl<'d, W: Write, const AUDIT: bool> Renderer<'_, 'd, Output<'_, W>, AUDIT> {
    /// Writes literal bytes and a value with its format.
    #[inline(never)]
    pub(crate) fn piped(
        &mut self,
        start: u32,
        end: u32,
        piped: usize,
        lookup: Lookup,
    ) -> Result<(), RenderError> {
        self.literal(start, end)?;
        let program = self.program;
        let piped = &program.piped[piped];
        let variable;
        let value = match piped.source {
            Source::Binding(binding) => self.resolve(binding, lookup),
            Source::Variable(name) => {
                self.report.values += 1;
                variable = self.variable_value(name);
                Some(&variable)
            }
        };
        let Some(value) = present(value) else {
            self.report.empty += 1;
            return Ok(self.out.escaped(piped.pipes.or.as_deref().unwrap_or_default())?);
        };
        let Some(format) = &piped.pipes.format else { return self.unformatted(piped, value) };
        let formatted = format
            .apply(value, self.context, &mut self.text)
            .map_err(|fault| self.format_error(piped, value, fault))?;
        match formatted {
            Formatted::Buffered => {
                if let Format::Since { unit } = format
                    && piped.in_html_text
                    && let Ok(moment) = Moment::of(value, *unit)
                {
                    return self.write_time_element(moment);
                }
                Ok(self.out.escaped_bytes(self.text.as_bytes())?)
            }
            Formatted::Text(text) => Ok(self.out.escaped(text)?),
            Formatted::Cased(text, case) => self.write_cased(text, case),
            Formatted::Cut(text, chars) => {
                let end = text.char_indices().nth(chars).map_or(text.len(), |(end, _)| end);
                self.out.escaped(text[..end].trim_end())?;
                Ok(self.out.literal("…".as_bytes())?)
            }
        }
    }

    fn unformatted(&mut self, piped: &Piped, value: &Value) -> Result<(), RenderError> {
        match (value, piped.source) {
            (Value::String(text), _) => Ok(self.out.escaped(text)?),
            (value, Source::Binding(binding)) => self.other(binding, Some(value)),
            (_, Source::Variable(name)) => {
                self.with_variable(name, |renderer, text| Ok(renderer.out.escaped(text)?))
            }
        }
    }

    /// Writes a text in another case, a block at a time.
    fn write_cased(&mut self, text: &str, case: Case) -> Result<(), RenderError> {
        let (buffer, out) = (&mut self.text, &mut self.out);
        let mut bytes = [0; 4];
        case.write(text, |letter| {
            buffer.push(letter.encode_utf8(&mut bytes));
            if buffer.is_nearly_full() {
                out.escaped(buffer.as_str())?;
                buffer.clear();
            }
            Ok::<(), RenderError>(())
        })?;
        Ok(out.escaped(buffer.as_str())?)
    }

    /// Writes how long ago something was, with when that was and when it was counted from: the page
    /// may be read long after its data came.
    fn write_time_element(&mut self, moment: Moment) -> Result<(), RenderError> {
        let mut title = TextBuffer::default();
        let Context { locale, zone, refreshed_at } = self.context;
        let write = |moment: Moment, title: &mut TextBuffer| match moment.in_zone(zone) {
            (date, Some(time)) => write_datetime(date, time, DateStyle::Medium, *locale, title),
            (date, None) => write_date(date, DateStyle::Medium, *locale, title),
        };
        write(moment, &mut title);
        title.push(" – ");
        if let Ok(now) = jiff::Timestamp::from_millisecond(refreshed_at.unix_ms()) {
            write(Moment::Instant(now), &mut title);
        }
        title.push(" ");
        title.push(zone.name());
        self.out.literal(b"<time title=\"")?;
        self.out.escaped(title.as_str())?;
        self.out.literal(b"\">")?;
        self.out.escaped(self.text.as_str())?;
        Ok(self.out.literal(b"</time>")?)
    }

    pub(crate) fn piped_place(&self, piped: &Piped) -> BindingPlace {
        let path = match piped.source {
            Source::Binding(binding) => {
                full_path(&self.program.bindings[binding], self.rows()).into_owned()
            }
            Source::Variable(name) => name.as_str().to_owned(),
        };
        BindingPlace { path, line: piped.line, column: piped.column }
    }

    #[cold]
    fn format_error(&self, piped: &Piped, value: &Value, fault: FormatFault) -> RenderError {
        let at = self.piped_place(piped);
        let format = piped.pipes.format.as_ref().map_or("or", Format::name);
        RenderError::Format { at, format, found: kind(Some(value)), fault }
    }

    /// Calls `use_text` with the text of a value that has a format, as CSS reads it.
    pub(crate) fn with_piped<T>(
        &mut self,
        piped: usize,
        use_text: impl FnOnce(&mut Self, &str) -> T,
    ) -> Result<T, RenderError> {
        let program = self.program;
        let piped = &program.piped[piped];
        let variable;
        let value = match piped.source {
            Source::Binding(binding) => self.resolve(binding, program.lookups[binding]),
            Source::Variable(name) => {
                variable = self.variable_value(name);
                Some(&variable)
            }
        };
        let Some(value) = present(value) else {
            self.report.empty += 1;
            return Ok(use_text(self, piped.pipes.or.as_deref().unwrap_or_default()));
        };
        if let Some(format) = &piped.pipes.format {
            let mut text = std::mem::take(&mut self.text);
            format
                .apply_css(value, &mut text)
                .map_err(|fault| self.format_error(piped, value, fault))?;
            let result = use_text(self, text.as_str());
            self.text = text;
            return Ok(result);
        }
        match (value, piped.source) {
            (Value::String(text), _) => Ok(use_text(self, text)),
            (Value::Number(number), _) => {
                Ok(use_text(self, super::output::Digits::new().format(number)))
            }
            (value, Source::Binding(binding)) => {
                let text = self.plain(binding, Some(value))?;
                Ok(use_text(self, text))
            }
            (_, Source::Variable(name)) => Ok(self.with_variable(name, use_text)),
        }
    }
}

/// Formats one value as `{{… | pipes}}` does in a page, before it is escaped.
///
/// # Errors
///
/// Returns what is wrong with `pipes`, or why the format does not take the value.
pub fn format_value(value: &Value, pipes: &str, context: &Context) -> Result<String, String> {
    let pipes = pipe::parse(pipes).map_err(|fault| fault.message)?;
    let Some(value) = present(Some(value)) else {
        return Ok(pipes.or.as_deref().unwrap_or_default().to_owned());
    };
    let Some(format) = &pipes.format else { return Ok(value.to_string()) };
    let mut buffer = TextBuffer::default();
    let formatted = format.apply(value, context, &mut buffer).map_err(|fault| fault.to_string())?;
    Ok(match formatted {
        Formatted::Buffered => buffer.as_str().to_owned(),
        Formatted::Text(text) => text.to_owned(),
        Formatted::Cased(text, case) => {
            let mut cased = String::new();
            let written: Result<(), std::convert::Infallible> = case.write(text, |letter| {
                cased.push(letter);
                Ok(())
            });
            written.map(|()| cased).unwrap_or_default()
        }
        Formatted::Cut(text, chars) => {
            let cut: String = text.chars().take(chars).collect();
            format!("{}…", cut.trim_end())
        }
    })
}

/// Returns the value, unless there is nothing to show: missing, null or empty text.
fn present(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => true,
    })
}
