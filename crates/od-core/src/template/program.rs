//! A compiled template: literal bytes and the steps that write them.

use std::ops::Range;

use super::expression::condition::{Test, Variable};
use super::expression::path::Path;
use super::expression::pipe::Pipes;
use super::render::row_lookup::Lookup;
use crate::chart::spec::ChartSpec;

/// The kinds of places that a binding stands in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Place {
    /// In the text of an element.
    Text,
    /// In an ordinary attribute.
    Attribute(Box<str>),
    /// In an attribute that holds a URL.
    Url(Box<str>),
    /// In a style attribute, or an SVG attribute that takes CSS values.
    Style(Box<str>),
    /// The list of a `data-od-repeat`.
    Repeat,
    /// The subject of a `data-od-if` or `data-od-else-if`.
    Condition,
    /// A value that a chart draws, or one of its bounds.
    Chart,
}

/// One path that the template reads.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Binding {
    /// The path.
    pub path: Path,
    /// The path from `data`; the row of each repeat stands as `*`: `data.rows.*.name`.
    pub full_path: Box<str>,
    /// The element around it, in lower case.
    pub element: Box<str>,
    /// The place in that element.
    pub place: Place,
    /// Index of the innermost repeat around it, among the template's repeats.
    pub repeat: Option<usize>,
    /// Whether it is only shown where a condition holds.
    pub guarded: bool,
    /// Whether the template says what stands in its place when it is not there.
    pub optional: bool,
    /// Byte offset in the template.
    pub offset: usize,
    /// Bytes in the template, with the braces.
    pub length: usize,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// One `data-od-repeat`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Repeat {
    /// The name of the row.
    pub alias: Box<str>,
    /// Index of the list among the template's bindings.
    pub list: usize,
    /// Index of the repeat around it.
    pub parent: Option<usize>,
    /// How many repeats are around it.
    pub depth: u8,
    /// Whether an element with `data-od-else` follows it.
    pub has_else: bool,
    /// The keys of a row that are looked up together.
    pub(super) keys: Vec<Box<str>>,
    /// The slot of the first of them.
    pub(super) first_slot: u8,
}

/// The deepest nesting of repeats.
pub(super) const REPEAT_DEPTH_MAX: usize = crate::limits::REPEAT_DEPTH.max();

/// The origin of a value that the page shows or tests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Source {
    /// A binding, by its index.
    Binding(usize),
    /// A variable of the innermost row.
    Variable(Variable),
}

/// A value that is written with a format, or with another text in place of nothing.
#[derive(Debug)]
pub(super) struct Piped {
    pub(super) source: Source,
    pub(super) pipes: Pipes,
    /// Whether it may be wrapped in an element that says more about it.
    pub(super) in_html_text: bool,
    pub(super) line: u32,
    pub(super) column: u32,
}

/// A condition in the program.
#[derive(Debug)]
pub(super) struct Check {
    pub(super) source: Source,
    pub(super) test: Test,
    pub(super) line: u32,
    pub(super) column: u32,
}

/// A chart in the program.
#[derive(Debug)]
pub(super) struct Chart {
    pub(super) spec: ChartSpec,
    /// The repeat whose rows are its points; `None`: it has one point.
    pub(super) repeat: Option<usize>,
    /// The names of the points.
    pub(super) x: Option<ChartName>,
    /// The values of a point, one a series.
    pub(super) y: Box<[usize]>,
    pub(super) min: Option<ChartBound>,
    pub(super) max: Option<ChartBound>,
}

/// The binding that names the points of a chart, and its format.
#[derive(Debug)]
pub(super) struct ChartName {
    pub(super) binding: usize,
    pub(super) pipes: Pipes,
}

/// A bound of a chart's axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ChartBound {
    Number(f64),
    Binding(usize),
}

/// One step of rendering.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    /// Copies literal bytes.
    Literal { start: u32, end: u32 },
    /// Copies literal bytes, then writes a value, escaped.
    Value { start: u32, end: u32, binding: u32, lookup: Lookup },
    /// Writes an attribute value whose bound parts must be plain CSS.
    Style { guarded: u32 },
    /// Writes an attribute value that must be an allowed URL.
    Url { guarded: u32 },
    /// Writes the literal bytes, or, when the link just written leads to another host, the
    /// attributes that keep it at arm's length.
    LinkAttributes { start: u32, end: u32 },
    /// Runs the steps up to `end` once per row.
    Repeat { repeat: u32, end: u32 },
    /// Copies literal bytes, then writes a row variable.
    Variable { start: u32, end: u32, variable: Variable },
    /// Copies literal bytes, then writes a value with its format.
    Piped { start: u32, end: u32, piped: u32, lookup: Lookup },
    /// Goes on at `otherwise` unless the condition holds.
    Branch { condition: u32, otherwise: u32 },
    /// Goes on at `otherwise` unless the list of the repeat is empty.
    IfEmpty { repeat: u32, otherwise: u32 },
    /// Goes on where the chain of conditions ends.
    Jump { chain: u32 },
    /// Draws a chart.
    Chart { chart: u32 },
}

/// A part of a guarded attribute value.
#[derive(Debug)]
pub(super) enum Part {
    /// Template text: its bytes as written, and what they mean.
    Literal { raw: Range<usize>, decoded: Box<str> },
    /// A bound value.
    Binding(usize),
    /// A row variable.
    Variable(Variable),
    /// A value with a format.
    Piped(usize),
}

/// The content of a guarded attribute value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Guard {
    /// One URL.
    Url,
    /// Image candidates.
    SrcSet,
    /// URLs separated by spaces.
    UrlList,
    /// CSS.
    Css,
}

/// An attribute value that is checked while it is written.
#[derive(Debug)]
pub(super) struct Guarded {
    pub(super) parts: Box<[Part]>,
    pub(super) guard: Guard,
    /// It is where a link leads, so the link's attributes depend on it.
    pub(super) is_link: bool,
}

/// A place where inspection puts attributes: before the `>` of a bound element.
#[derive(Debug)]
pub(super) struct Mark {
    /// Offset in the literals.
    pub(super) at: usize,
    /// The element's bindings.
    pub(super) bindings: Vec<usize>,
    /// Whether the element cannot take the focus by itself.
    pub(super) wants_focus: bool,
}

/// The whole program.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) literals: String,
    pub(super) ops: Vec<Op>,
    pub(super) guarded: Vec<Guarded>,
    pub(super) bindings: Vec<Binding>,
    pub(super) repeats: Vec<Repeat>,
    pub(super) checks: Vec<Check>,
    pub(super) piped: Vec<Piped>,
    pub(super) charts: Vec<Chart>,
    /// Where each chain of `data-od-if` and its `else` ends: looked up, because setting the target
    /// of every jump again with every branch would be quadratic.
    pub(super) chain_ends: Vec<u32>,
    /// The most rows that one page may have.
    pub(super) rows_max: usize,
    /// For every binding, where it finds its value.
    pub(super) lookups: Vec<Lookup>,
    /// By `at`.
    pub(super) marks: Vec<Mark>,
    /// Literal text outside tags and style sheets, as spans of the source.
    pub(super) texts: Vec<Range<usize>>,
}

/// Builds a [`Program`] while the source is read from front to back.
#[derive(Debug)]
pub(super) struct Emitter<'s> {
    source: &'s str,
    /// The source has carriage returns.
    has_returns: bool,
    copied: usize,
    literal_start: usize,
    pub(super) program: Program,
}

impl<'s> Emitter<'s> {
    pub(super) fn new(source: &'s str, from: usize) -> Self {
        let literals = String::with_capacity(source.len() + 64);
        let program = Program { literals, ..Program::default() };
        let has_returns = memchr::memchr(b'\r', source.as_bytes()).is_some();
        Self { source, has_returns, copied: from, literal_start: 0, program }
    }

    /// Copies the source up to `to` into the output; line ends become LF, as HTML reads them.
    pub(super) fn copy_to(&mut self, to: usize) {
        let text = self.source.get(self.copied..to).unwrap_or_default();
        self.push_source(text);
        self.copied = self.copied.max(to);
    }

    /// Leaves the source out up to `to`.
    pub(super) fn skip_to(&mut self, to: usize) {
        self.copied = self.copied.max(to);
    }

    /// Adds text that is not in the source.
    pub(super) fn push(&mut self, text: &str) {
        self.program.literals.push_str(text);
    }

    /// Returns where the next literal byte will stand.
    pub(super) fn literal_end(&self) -> usize {
        self.program.literals.len()
    }

    /// Adds a step, behind the literal bytes so far.
    pub(super) fn op(&mut self, op: Op) -> usize {
        self.flush();
        self.program.ops.push(op);
        self.program.ops.len() - 1
    }

    /// Adds the step that writes a value, together with the literal bytes before it.
    pub(super) fn value(&mut self, binding: usize) {
        let (start, end) = (self.literal_start as u32, self.literal_end() as u32);
        let (binding, lookup) = (binding as u32, Lookup::Path);
        self.program.ops.push(Op::Value { start, end, binding, lookup });
        self.literal_start = self.literal_end();
    }

    /// Puts source text among the literals without a step that writes it.
    pub(super) fn store(&mut self, span: Range<usize>) -> Range<usize> {
        self.flush();
        let start = self.literal_end();
        let text = self.source.get(span).unwrap_or_default();
        self.push_source(text);
        self.literal_start = self.literal_end();
        start..self.literal_end()
    }

    /// Puts other text of the source among the literals without a step that writes it.
    pub(super) fn push_aside(&mut self, text: &str) {
        self.flush();
        self.push_source(text);
        self.literal_start = self.literal_end();
    }

    /// Ends the literal so far, so that the next step does not belong to it.
    pub(super) fn flush(&mut self) {
        let end = self.literal_end();
        if end > self.literal_start {
            let op = Op::Literal { start: self.literal_start as u32, end: end as u32 };
            self.program.ops.push(op);
            self.literal_start = end;
        }
    }

    /// Adds the step that writes a row variable, together with the literal bytes before it.
    pub(super) fn variable(&mut self, variable: Variable) {
        let (start, end) = (self.literal_start as u32, self.literal_end() as u32);
        self.program.ops.push(Op::Variable { start, end, variable });
        self.literal_start = self.literal_end();
    }

    /// Adds the step that writes a value with its format, together with the literal bytes before it.
    pub(super) fn piped(&mut self, piped: Piped) {
        let (start, end) = (self.literal_start as u32, self.literal_end() as u32);
        let index = self.program.piped.len() as u32;
        self.program.piped.push(piped);
        self.program.ops.push(Op::Piped { start, end, piped: index, lookup: Lookup::Path });
        self.literal_start = self.literal_end();
    }

    /// Sets where an earlier step goes on.
    pub(super) fn set_target(&mut self, op: usize, target: u32) {
        match self.program.ops.get_mut(op) {
            Some(
                Op::Repeat { end: to, .. }
                | Op::Branch { otherwise: to, .. }
                | Op::IfEmpty { otherwise: to, .. },
            ) => *to = target,
            Some(
                Op::Literal { .. }
                | Op::Value { .. }
                | Op::Style { .. }
                | Op::Url { .. }
                | Op::LinkAttributes { .. }
                | Op::Variable { .. }
                | Op::Piped { .. }
                | Op::Chart { .. }
                | Op::Jump { .. },
            )
            | None => {}
        }
    }

    pub(super) fn next_op(&mut self) -> usize {
        self.flush();
        self.program.ops.len()
    }

    pub(super) fn finish(mut self) -> Program {
        self.copy_to(self.source.len());
        self.flush();
        self.program.marks.sort_by_key(|mark| mark.at);
        super::render::row_lookup::assign_slots(&mut self.program);
        self.program
    }

    fn push_source(&mut self, text: &str) {
        let literals = &mut self.program.literals;
        let mut rest = text;
        while self.has_returns
            && let Some(at) = memchr::memchr(b'\r', rest.as_bytes())
        {
            literals.push_str(&rest[..at]);
            literals.push('\n');
            rest = &rest[at + 1..];
            rest = rest.strip_prefix('\n').unwrap_or(rest);
        }
        literals.push_str(rest);
    }
}
