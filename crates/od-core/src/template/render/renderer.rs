//! Rendering: walks the program and escapes as it copies.

use std::borrow::Cow;
use std::io::Write;
use std::ops::Range;

use serde_json::Value;

use super::audit::Audit;
use super::error::{BindingPlace, RenderError};
use super::inspect::{self, Inspection};
use super::output::{Digits, Output};
use super::row_lookup::{Lookup, Row, RowValues};
use crate::chart::ChartTable;
use crate::chart::points::Points;
use crate::format::{Context, TextBuffer};
use crate::template::expression::condition::{Variable, is_true};
use crate::template::expression::path::Root;
use crate::template::policy::link::LINK_ATTRIBUTES;
use crate::template::program::{Binding, Op, Program, REPEAT_DEPTH_MAX, Repeat, Source};

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
    context: &Context,
    inspection: Option<Inspection<'_>>,
    out: &mut W,
) -> Result<RenderReport, RenderError> {
    let mut renderer: Renderer<'_, '_, _, false> = Renderer::new(program, data, context, out);
    renderer.inspection = inspection;
    let result = renderer.run(0..program.ops.len()).and_then(|()| Ok(renderer.out.flush()?));
    renderer.report.bytes = renderer.out.bytes();
    if renderer.report.bytes > RENDERED_BYTES_MAX {
        return Err(RenderError::TooLarge { measured: renderer.report.bytes });
    }
    result.map(|()| renderer.report)
}

/// Returns the binding's path from `data`, with the positions of the rows in it.
pub(crate) fn full_path<'b>(binding: &'b Binding, rows: &[Row<'_>]) -> Cow<'b, str> {
    let mut path = Cow::Borrowed(&*binding.full_path);
    for row in rows {
        path = Cow::Owned(path.replacen('*', &row.position.to_string(), 1));
    }
    path
}

/// The state of one rendering. `AUDIT` walks every branch and collects errors instead of stopping at
/// the first; a parameter of the type, so that rendering does not ask at every value.
pub(crate) struct Renderer<'p, 'd, W, const AUDIT: bool> {
    pub(crate) program: &'p Program,
    pub(crate) data: &'d Value,
    pub(crate) context: &'p Context,
    /// Scratch space for formatted values.
    pub(crate) text: TextBuffer,
    pub(crate) out: W,
    pub(crate) report: RenderReport,
    pub(crate) inspection: Option<Inspection<'p>>,
    pub(crate) audit: Audit,
    /// The rows of the running repeats, outermost first; those beyond `depth` are stale.
    rows: [Row<'d>; REPEAT_DEPTH_MAX],
    pub(crate) depth: usize,
    row_values: RowValues<'d>,
    /// The link written last leads to another host.
    pub(crate) external: bool,
    /// Scratch space for URLs made of several parts.
    pub(crate) url: String,
    /// Scratch space for charts, once there was one.
    pub(crate) points: Option<Box<Points>>,
    /// Collects the values of charts, where they are asked for.
    pub(crate) tables: Option<Vec<ChartTable>>,
}

impl<'p, 'd, 'w, W: Write, const AUDIT: bool> Renderer<'p, 'd, Output<'w, W>, AUDIT> {
    pub(crate) fn new(
        program: &'p Program,
        data: &'d Value,
        context: &'p Context,
        out: &'w mut W,
    ) -> Self {
        Self {
            program,
            data,
            context,
            text: TextBuffer::default(),
            out: Output::new(out, RENDERED_BYTES_MAX),
            report: RenderReport::default(),
            inspection: None,
            audit: Audit::default(),
            rows: [Row { item: data, position: 0, count: 0 }; REPEAT_DEPTH_MAX],
            depth: 0,
            row_values: RowValues::new(),
            external: false,
            url: String::new(),
            points: None,
            tables: None,
        }
    }

    /// Makes `item` the row of the repeat at `depth`, for what is resolved from now on.
    pub(crate) fn enter_row(&mut self, depth: usize, row: Row<'d>) {
        if let Some(place) = self.rows.get_mut(depth) {
            *place = row;
            self.depth = depth + 1;
        }
    }

    pub(crate) fn run(&mut self, steps: Range<usize>) -> Result<(), RenderError> {
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
                Op::Variable { start, end, variable } => self.variable(start, end, variable),
                Op::Piped { start, end, piped, lookup } => {
                    self.piped(start, end, piped as usize, lookup)
                }
                Op::Branch { .. } | Op::IfEmpty { .. } | Op::Jump { .. } | Op::Chart { .. } => {
                    self.branch(op, &mut at)
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
    pub(crate) fn collect(&mut self, error: RenderError) -> Result<(), RenderError> {
        if AUDIT { self.audit.collect(error) } else { Err(error) }
    }

    /// Decides where to go on, or draws a chart. Not inlined, so that templates without conditions
    /// and charts do not pay for them.
    #[inline(never)]
    fn branch(&mut self, op: Op, at: &mut usize) -> Result<(), RenderError> {
        let (holds, otherwise) = match op {
            Op::Branch { condition, otherwise } => (self.test(condition as usize), otherwise),
            Op::IfEmpty { repeat, otherwise } => {
                let repeat = &self.program.repeats[repeat as usize];
                let list = &self.program.bindings[repeat.list];
                (Ok(!is_true(self.follow_path(list))), otherwise)
            }
            Op::Jump { chain } => {
                *at = self.program.chain_ends[chain as usize] as usize;
                return Ok(());
            }
            Op::Chart { chart } => return self.chart(chart as usize),
            Op::Literal { .. }
            | Op::Value { .. }
            | Op::Style { .. }
            | Op::Url { .. }
            | Op::LinkAttributes { .. }
            | Op::Repeat { .. }
            | Op::Variable { .. }
            | Op::Piped { .. } => return Ok(()),
        };
        if AUDIT {
            return self.audit_branch(holds, at, otherwise as usize);
        }
        if !holds? {
            *at = otherwise as usize;
        }
        Ok(())
    }

    /// Tests a condition.
    fn test(&mut self, condition: usize) -> Result<bool, RenderError> {
        let check = &self.program.checks[condition];
        let variable;
        let value = match check.source {
            Source::Binding(binding) => {
                let value = self.follow(binding, self.program.lookups[binding]);
                if AUDIT {
                    self.note(binding, value);
                }
                value
            }
            Source::Variable(name) => {
                variable = self.variable_value(name);
                Some(&variable)
            }
        };
        check.test.apply(value).map_err(|_| {
            let path = match check.source {
                Source::Binding(binding) => {
                    full_path(&self.program.bindings[binding], self.rows()).into_owned()
                }
                Source::Variable(name) => name.as_str().to_owned(),
            };
            let at = BindingPlace { path, line: check.line, column: check.column };
            RenderError::NoOrder { at, found: kind(value) }
        })
    }

    #[inline]
    pub(crate) fn literal(&mut self, start: u32, end: u32) -> Result<(), RenderError> {
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
        let rows = &self.rows[..self.depth];
        Ok(inspect::write_marked(self.program, range, rows, inspection, &mut self.out)?)
    }

    #[inline(never)]
    fn link_attributes(&mut self, start: u32, end: u32) -> Result<(), RenderError> {
        // Taken with the answer: the next link decides for itself.
        if std::mem::take(&mut self.external) {
            self.out.literal(LINK_ATTRIBUTES.as_bytes())?;
            return Ok(());
        }
        self.literal(start, end)
    }

    #[inline(never)]
    fn repeat(&mut self, repeat: usize, body: Range<usize>) -> Result<(), RenderError> {
        let repeat = &self.program.repeats[repeat];
        let items = self.list(repeat)?;
        self.count_rows(items.len())?;
        let depth = self.depth;
        // The compiler refuses deeper ones.
        if depth >= REPEAT_DEPTH_MAX {
            return Ok(());
        }
        self.depth = depth + 1;
        for (position, item) in items.iter().enumerate() {
            self.rows[depth] = Row { item, position, count: items.len() };
            self.row_values.load(depth, repeat.first_slot, &repeat.keys, item);
            self.run(body.clone())?;
        }
        self.depth = depth;
        Ok(())
    }

    pub(crate) fn count_rows(&mut self, rows: usize) -> Result<(), RenderError> {
        // Counted before the rows are written, and nested ones each time: the bound holds while it is
        // passed, not when the page is done.
        self.report.rows += rows;
        if self.report.rows > self.program.rows_max {
            return Err(RenderError::TooManyRows { rows: self.report.rows });
        }
        Ok(())
    }

    /// Returns the rows of a repeat.
    pub(crate) fn list(&self, repeat: &Repeat) -> Result<&'d [Value], RenderError> {
        let binding = &self.program.bindings[repeat.list];
        match self.follow_path(binding) {
            Some(Value::Array(items)) => Ok(items),
            // Where the template says what an empty list looks like, a source may leave it out.
            None | Some(Value::Null) if repeat.has_else => Ok(&[]),
            other => Err(RenderError::NotArray { at: self.place(binding), found: kind(other) }),
        }
    }

    /// Writes literal bytes and a row variable.
    #[inline(never)]
    fn variable(&mut self, start: u32, end: u32, variable: Variable) -> Result<(), RenderError> {
        self.literal(start, end)?;
        self.report.values += 1;
        self.with_variable(variable, |renderer, text| Ok(renderer.out.literal(text.as_bytes())?))
    }

    /// Calls `use_text` with the text of a row variable.
    pub(crate) fn with_variable<T>(
        &mut self,
        variable: Variable,
        use_text: impl FnOnce(&mut Self, &str) -> T,
    ) -> T {
        match self.variable_value(variable) {
            Value::Number(number) => use_text(self, Digits::new().format(&number)),
            Value::Bool(true) => use_text(self, "true"),
            Value::Bool(false) => use_text(self, "false"),
            Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                use_text(self, "")
            }
        }
    }

    pub(crate) fn variable_value(&self, variable: Variable) -> Value {
        let row = self.rows().last();
        row.map_or(Value::Null, |row| variable.value(row.position, row.count))
    }

    // A call per value would be a tenth of the cost of a short one.
    #[inline(always)]
    pub(crate) fn resolve(&mut self, binding: usize, lookup: Lookup) -> Option<&'d Value> {
        self.report.values += 1;
        let value = match lookup {
            Lookup::Slot(slot) => self.row_values.get(slot),
            Lookup::BeyondSlot(_) | Lookup::Path => self.follow(binding, lookup),
        };
        if AUDIT {
            self.note(binding, value);
        }
        value
    }

    #[inline(never)]
    pub(crate) fn follow(&self, binding: usize, lookup: Lookup) -> Option<&'d Value> {
        let binding = &self.program.bindings[binding];
        match lookup {
            Lookup::Slot(slot) => self.row_values.get(slot),
            Lookup::BeyondSlot(slot) => binding.path.resolve_rest(self.row_values.get(slot)?),
            Lookup::Path => self.follow_path(binding),
        }
    }

    pub(crate) fn follow_path(&self, binding: &Binding) -> Option<&'d Value> {
        let root = match binding.path.root {
            Root::Data => self.data,
            Root::Row(depth) => self.rows().get(usize::from(depth))?.item,
        };
        binding.path.resolve_from(root)
    }

    pub(crate) fn rows(&self) -> &[Row<'d>] {
        &self.rows[..self.depth]
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
    pub(crate) fn other(
        &mut self,
        binding: usize,
        value: Option<&Value>,
    ) -> Result<(), RenderError> {
        if let Some(Value::Number(number)) = value {
            return Ok(self.out.literal(Digits::new().format(number).as_bytes())?);
        }
        let text = self.plain(binding, value)?;
        Ok(self.out.literal(text.as_bytes())?)
    }

    /// Returns the text of a value that is neither string nor number; null and missing values are
    /// empty text.
    pub(crate) fn plain(
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

    pub(crate) fn place(&self, binding: &Binding) -> BindingPlace {
        let path = full_path(binding, self.rows()).into_owned();
        BindingPlace { path, line: binding.line, column: binding.column }
    }
}

/// Returns the type of a value as errors name it.
pub(crate) fn kind(value: Option<&Value>) -> &'static str {
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
