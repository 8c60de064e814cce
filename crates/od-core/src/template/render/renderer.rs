//! Rendering: walks the program and escapes as it copies.

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;

use serde_json::Value;

use super::error::{BindingPlace, RenderError};
use super::inspect::{self, Inspection};
use super::output::Digits;
use super::output::Output;
use super::row::{Lookup, Row, RowValues};
use crate::template::issue::shorten;
use crate::template::policy::attribute::LINK_ATTRIBUTES;
use crate::template::policy::css::{self, IdentifierTail};
use crate::template::policy::url::{self, Destination};
use crate::template::program::{Binding, Guarded, Op, Part, Program};

/// The largest page, in bytes.
pub const RENDERED_BYTES_MAX: usize = crate::limits::RENDERED_PREVIEW.max();

/// Counts of one rendering.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RenderReport {
    /// Bytes written.
    pub bytes: usize,
    /// Values written, repeated ones each time.
    pub values: usize,
    /// Of these, how many were null or missing and came out empty.
    pub empty: usize,
    /// Rows of all repeats.
    pub rows: usize,
}

/// Renders the program.
pub(crate) fn render<W: Write>(
    program: &Program,
    data: &Value,
    inspection: Option<Inspection<'_>>,
    out: &mut W,
) -> Result<RenderReport, RenderError> {
    let mut renderer = Renderer::new(program, data, out);
    renderer.inspection = inspection;
    let result = renderer.run(0..program.ops.len()).and_then(|()| Ok(renderer.out.flush()?));
    renderer.report.bytes = renderer.out.bytes();
    if renderer.report.bytes > RENDERED_BYTES_MAX {
        return Err(RenderError::TooLarge { measured: renderer.report.bytes });
    }
    result.map(|()| renderer.report)
}

/// Renders to a sink and returns the errors, each binding once.
pub(crate) fn collect_errors(program: &Program, data: &Value) -> Vec<RenderError> {
    let mut nowhere = io::sink();
    let mut renderer = Renderer::new(program, data, &mut nowhere);
    renderer.collected = Some(Vec::new());
    // What ends the walk early is the size, which is an error of its own.
    let result = renderer.run(0..program.ops.len());
    let mut errors = renderer.collected.take().unwrap_or_default();
    if result.is_err() {
        errors.push(RenderError::TooLarge { measured: renderer.out.bytes() });
    }
    errors
}

/// Returns the binding's path from `data`, with the row's position in it.
pub(crate) fn full_path<'b>(binding: &'b Binding, row: Option<Row<'_>>) -> Cow<'b, str> {
    match row {
        Some(row) => Cow::Owned(binding.full_path.replacen('*', &row.position.to_string(), 1)),
        None => Cow::Borrowed(&binding.full_path),
    }
}

struct Renderer<'p, 'd, W> {
    program: &'p Program,
    data: &'d Value,
    out: W,
    report: RenderReport,
    inspection: Option<Inspection<'p>>,
    /// Errors so far, when they are collected instead of ending the walk.
    collected: Option<Vec<RenderError>>,
    row: Option<Row<'d>>,
    row_values: RowValues<'d>,
    /// The link written last leads to another host.
    external: bool,
    /// Scratch space for URLs made of several parts.
    url: String,
}

impl<'p, 'd, 'w, W: Write> Renderer<'p, 'd, Output<'w, W>> {
    fn new(program: &'p Program, data: &'d Value, out: &'w mut W) -> Self {
        let out = Output::new(out, RENDERED_BYTES_MAX);
        let report = RenderReport::default();
        Self {
            program,
            data,
            out,
            report,
            inspection: None,
            collected: None,
            row: None,
            row_values: RowValues::new(),
            external: false,
            url: String::new(),
        }
    }

    fn run(&mut self, steps: Range<usize>) -> Result<(), RenderError> {
        let program = self.program;
        let mut at = steps.start;
        while at < steps.end {
            let op = program.ops[at];
            at += 1;
            let result = match op {
                Op::Literal { start, end } => self.literal(start, end),
                Op::Value { start, end, binding, lookup } => {
                    self.value(start, end, binding as usize, lookup)
                }
                Op::Style { guarded } => self.style(&program.guarded[guarded as usize]),
                Op::Url { guarded } => self.url(&program.guarded[guarded as usize]),
                Op::LinkAttributes { start, end } => self.link_attributes(start, end),
                Op::Repeat { repeat, end } => {
                    let body = at..end as usize;
                    at = body.end;
                    self.repeat(repeat as usize, body)
                }
            };
            if let Err(error) = result {
                self.collect(error)?;
            }
        }
        Ok(())
    }

    /// Collects an error when errors are collected, or returns it.
    #[cold]
    fn collect(&mut self, error: RenderError) -> Result<(), RenderError> {
        const ERRORS_MAX: usize = 20;
        let Some(collected) = &mut self.collected else { return Err(error) };
        let Some(at) = error.place() else { return Err(error) };
        let known = collected
            .iter()
            .filter_map(RenderError::place)
            .any(|other| (other.line, other.column) == (at.line, at.column));
        if !known && collected.len() < ERRORS_MAX {
            collected.push(error);
        }
        Ok(())
    }

    #[inline]
    fn literal(&mut self, start: u32, end: u32) -> Result<(), RenderError> {
        let range = start as usize..end as usize;
        if let Some(inspection) = self.inspection {
            return self.marked_literal(range, inspection);
        }
        let bytes = &self.program.literals.as_bytes()[range];
        Ok(self.out.literal(bytes)?)
    }

    #[cold]
    fn marked_literal(
        &mut self,
        range: Range<usize>,
        inspection: Inspection<'_>,
    ) -> Result<(), RenderError> {
        Ok(inspect::write_marked(self.program, range, self.row, inspection, &mut self.out)?)
    }

    #[inline(never)]
    fn link_attributes(&mut self, start: u32, end: u32) -> Result<(), RenderError> {
        if std::mem::take(&mut self.external) {
            self.out.literal(LINK_ATTRIBUTES.as_bytes())?;
            return Ok(());
        }
        self.literal(start, end)
    }

    #[inline(never)]
    fn repeat(&mut self, repeat: usize, body: Range<usize>) -> Result<(), RenderError> {
        let program = self.program;
        let repeat = &program.repeats[repeat];
        let binding = &program.bindings[repeat.list];
        let items = match binding.path.resolve(self.data, None) {
            Some(Value::Array(items)) => items,
            other => {
                return Err(RenderError::NotArray { at: self.place(binding), found: kind(other) });
            }
        };
        for (position, item) in items.iter().enumerate() {
            self.row = Some(Row { item, position });
            self.row_values.load(&repeat.keys, item);
            self.run(body.clone())?;
        }
        self.row = None;
        self.report.rows += items.len();
        Ok(())
    }

    // A call per value would be a tenth of the cost of a short one.
    #[inline(always)]
    fn resolve(&mut self, binding: usize, lookup: Lookup) -> Option<&'d Value> {
        self.report.values += 1;
        match lookup {
            Lookup::Slot(slot) => self.row_values.get(slot),
            Lookup::BeyondSlot(_) | Lookup::Path => self.follow(binding, lookup),
        }
    }

    #[inline(never)]
    fn follow(&self, binding: usize, lookup: Lookup) -> Option<&'d Value> {
        let path = &self.program.bindings[binding].path;
        match lookup {
            Lookup::Slot(slot) => self.row_values.get(slot),
            Lookup::BeyondSlot(slot) => path.resolve_rest(self.row_values.get(slot)?),
            Lookup::Path => path.resolve(self.data, self.row.map(|row| row.item)),
        }
    }

    /// Writes literal bytes and a value. Only what strings need is inlined, so that the loop over the
    /// steps keeps its state in registers.
    #[inline(always)]
    fn value(
        &mut self,
        start: u32,
        end: u32,
        binding: usize,
        lookup: Lookup,
    ) -> Result<(), RenderError> {
        self.literal(start, end)?;
        match self.resolve(binding, lookup) {
            Some(Value::String(text)) => Ok(self.out.escaped(text)?),
            other => self.other(binding, other),
        }
    }

    /// Writes a value that is no string.
    #[inline(never)]
    fn other(&mut self, binding: usize, value: Option<&Value>) -> Result<(), RenderError> {
        if let Some(Value::Number(number)) = value {
            return Ok(self.out.literal(Digits::new().format(number).as_bytes())?);
        }
        let text = self.plain(binding, value)?;
        Ok(self.out.literal(text.as_bytes())?)
    }

    /// Returns the text of a value that is neither string nor number; null and missing values are
    /// empty text.
    fn plain(
        &mut self,
        binding: usize,
        value: Option<&Value>,
    ) -> Result<&'static str, RenderError> {
        match value {
            Some(Value::Bool(true)) => Ok("true"),
            Some(Value::Bool(false)) => Ok("false"),
            None | Some(Value::Null) => {
                self.report.empty += 1;
                Ok("")
            }
            Some(Value::Number(_) | Value::String(_)) => Ok(""),
            Some(Value::Array(_) | Value::Object(_)) => {
                let at = self.place(&self.program.bindings[binding]);
                Err(RenderError::NotScalar { at, found: kind(value) })
            }
        }
    }

    /// Calls `use_text` with the text of a value.
    fn with_text<T>(
        &mut self,
        binding: usize,
        use_text: impl FnOnce(&mut Self, &str) -> T,
    ) -> Result<T, RenderError> {
        Ok(match self.resolve(binding, self.program.lookups[binding]) {
            Some(Value::String(text)) => use_text(self, text),
            Some(Value::Number(number)) => use_text(self, Digits::new().format(number)),
            other => {
                let text = self.plain(binding, other)?;
                use_text(self, text)
            }
        })
    }

    #[inline(never)]
    fn style(&mut self, guarded: &Guarded) -> Result<(), RenderError> {
        let mut tail = IdentifierTail::default();
        for part in &guarded.parts {
            match part {
                Part::Literal { raw, decoded } => {
                    tail = tail.literal(decoded);
                    self.literal(raw.start as u32, raw.end as u32)?;
                }
                Part::Binding(binding) => {
                    let binding = *binding;
                    tail = self.with_text(binding, |renderer, text| {
                        match css::check_value(text, tail) {
                            Ok(tail) => {
                                renderer.out.literal(text.as_bytes())?;
                                Ok(tail)
                            }
                            Err(fault) => {
                                let at = renderer.place(&renderer.program.bindings[binding]);
                                Err(RenderError::Css { at, value: shorten(text), fault })
                            }
                        }
                    })??;
                }
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn url(&mut self, guarded: &Guarded) -> Result<(), RenderError> {
        if let [Part::Binding(binding)] = &*guarded.parts {
            return self.with_text(*binding, |renderer, text| {
                renderer.allow_url(guarded, text)?;
                Ok(renderer.out.escaped(text)?)
            })?;
        }
        let mut url = std::mem::take(&mut self.url);
        url.clear();
        for part in &guarded.parts {
            match part {
                Part::Literal { decoded, .. } => url.push_str(decoded),
                Part::Binding(binding) => {
                    self.with_text(*binding, |_, text| url.push_str(text))?;
                }
            }
        }
        self.allow_url(guarded, &url)?;
        self.out.escaped(&url)?;
        self.url = url;
        Ok(())
    }

    fn allow_url(&mut self, guarded: &Guarded, url: &str) -> Result<(), RenderError> {
        match url::check(guarded.guard, url) {
            Ok(destination) => {
                self.external |= guarded.is_link && destination == Destination::External;
                Ok(())
            }
            Err(fault) => {
                let first = guarded.parts.iter().find_map(|part| match part {
                    Part::Binding(binding) => self.program.bindings.get(*binding),
                    Part::Literal { .. } => None,
                });
                let at = first.map_or_else(
                    || BindingPlace { path: String::new(), line: 0, column: 0 },
                    |first| self.place(first),
                );
                Err(RenderError::Url { at, url: shorten(url), fault })
            }
        }
    }

    fn place(&self, binding: &Binding) -> BindingPlace {
        let path = full_path(binding, self.row).into_owned();
        BindingPlace { path, line: binding.line, column: binding.column }
    }
}

fn kind(value: Option<&Value>) -> &'static str {
    match value {
        None => "missing",
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "boolean",
        Some(Value::Number(_)) => "number",
        Some(Value::String(_)) => "string",
        Some(Value::Array(_)) => "array",
        Some(Value::Object(_)) => "object",
    }
}
