//! Blocks: elements that are written once per row, or only when a condition holds.
//!
//! A block is a range of steps. `data-od-if` writes `Branch` before its range; an `else` behind it
//! first ends the range with a `Jump` over everything that the chain still has:
//!
//! ```text
//! Branch a ─┐   <b data-od-if="a">…</b>
//!   …       │
//!   Jump ───┼─┐
//! Branch b ←┘ │ <b data-od-else-if="b">…</b>
//!   …       ┐ │
//!   Jump ───┼─┤
//!   …     ←─┘ │ <b data-od-else>…</b>
//!           ←─┘
//! ```

use super::bindings::PathAt;
use super::chart_content::ChartContent;
use super::compiler::Compiler;
use super::directive::Directive;
use crate::template::expression::condition::{Condition, Subject};
use crate::template::expression::repeat::RepeatExpression;
use crate::template::program::{Check, Op, Place, Repeat, Source};
use crate::template::tokenize::scanner::Tag;

/// A block whose element is open.
#[derive(Debug)]
pub(crate) struct OpenBlock {
    /// Position of its element on the stack.
    pub(crate) depth: usize,
    kind: BlockKind,
}

#[derive(Debug)]
enum BlockKind {
    /// The steps behind `op` run once per row.
    Repeat { op: usize, repeat: usize },
    /// The steps behind `op`, if there is one, run when its test holds.
    Branch { op: Option<usize>, chain: Option<usize>, is_last: bool },
    /// The element is a chart, which has no content of its own.
    Chart(ChartContent),
}

impl OpenBlock {
    /// Returns whether the block depends on a condition.
    pub(crate) const fn is_branch(&self) -> bool {
        matches!(self.kind, BlockKind::Branch { .. })
    }

    pub(crate) const fn is_chart(&self) -> bool {
        matches!(self.kind, BlockKind::Chart(_))
    }

    /// Begins the block of a chart.
    pub(crate) const fn chart(depth: usize, content: ChartContent) -> Self {
        Self { depth, kind: BlockKind::Chart(content) }
    }

    /// Returns the content of the chart that the block is.
    pub(crate) const fn chart_content(&mut self) -> Option<&mut ChartContent> {
        match &mut self.kind {
            BlockKind::Chart(content) => Some(content),
            BlockKind::Repeat { .. } | BlockKind::Branch { .. } => None,
        }
    }
}

/// A block that has just ended, which an `else` may follow.
#[derive(Debug)]
pub(crate) struct ElseChain {
    /// How many elements were open around it.
    pub(crate) depth: usize,
    before: Before,
}

#[derive(Debug)]
enum Before {
    /// `data-od-if` or `data-od-else-if`: its step, and the chain, once an `else` has begun one.
    Branch {
        op: usize,
        chain: Option<usize>,
    },
    Repeat {
        repeat: usize,
    },
}

impl ElseChain {
    /// Returns whether the block before it is a condition, which `data-od-else-if` needs.
    pub(crate) const fn follows_branch(&self) -> bool {
        matches!(self.before, Before::Branch { .. })
    }
}

impl<'s> Compiler<'s> {
    /// Begins the block of the element that is about to be opened.
    pub(crate) fn begin_block(&mut self, tag: &Tag<'s>, directive: Directive) {
        self.refuse_joining(tag.span.start);
        match directive {
            Directive::Repeat(expression) => self.begin_repeat(tag, expression),
            Directive::If(condition) => {
                self.emitter.copy_to(tag.span.start);
                let op = self.branch(tag, condition);
                self.open_branch(Some(op), None, false);
            }
            Directive::ElseIf(chain, condition) => {
                let chain = self.end_branch_before(&chain);
                self.emitter.copy_to(tag.span.start);
                let op = self.branch(tag, condition);
                self.open_branch(Some(op), chain, false);
            }
            Directive::Else(chain) => self.begin_else(tag, &chain),
        }
    }

    fn begin_repeat(&mut self, tag: &Tag<'s>, expression: RepeatExpression) {
        self.emitter.copy_to(tag.span.start);
        let repeat = self.enter_rows(tag, expression);
        let op = self.emitter.op(Op::Repeat { repeat: repeat as u32, end: 0 });
        self.blocks
            .push(OpenBlock { depth: self.open.len(), kind: BlockKind::Repeat { op, repeat } });
    }

    /// Gives a name to the rows of a list for what follows; returns the number of the repetition.
    pub(crate) fn enter_rows(&mut self, tag: &Tag<'s>, rows: RepeatExpression) -> usize {
        let RepeatExpression { alias, list, span, path } = rows;
        let path = PathAt { path, text: &list, span };
        let list = self.add_binding(path, Place::Repeat, tag.name.as_ref().into());
        let program = &mut self.emitter.program;
        let repeat = program.repeats.len();
        program.repeats.push(Repeat {
            alias: alias.clone(),
            list,
            parent: self.repeats.last().copied(),
            depth: self.repeats.len() as u8,
            has_else: false,
            keys: Vec::new(),
            first_slot: 0,
        });
        self.aliases.push(alias);
        self.repeats.push(repeat);
        repeat
    }

    fn begin_else(&mut self, tag: &Tag<'s>, chain: &ElseChain) {
        match chain.before {
            Before::Branch { .. } => {
                let chain = self.end_branch_before(chain);
                self.emitter.copy_to(tag.span.start);
                self.open_branch(None, chain, true);
            }
            Before::Repeat { repeat } => {
                self.emitter.program.repeats[repeat].has_else = true;
                let repeat = repeat as u32;
                // Before the white space, which belongs to the row that is not there.
                let op = self.emitter.op(Op::IfEmpty { repeat, otherwise: 0 });
                self.emitter.copy_to(tag.span.start);
                self.open_branch(Some(op), None, true);
            }
        }
    }

    /// Adds the step that tests a condition.
    fn branch(&mut self, tag: &Tag<'s>, condition: ConditionAt) -> usize {
        let ConditionAt { condition, span } = condition;
        let Condition { subject, text, test } = condition;
        let source = match subject {
            Subject::Variable(variable) => Source::Variable(variable),
            Subject::Path(path) => {
                let path = PathAt { path, text: &text, span: span.clone() };
                let element = tag.name.as_ref().into();
                Source::Binding(self.add_binding(path, Place::Condition, element))
            }
        };
        let (line, column) = self.lines.at(span.start);
        let program = &mut self.emitter.program;
        let condition = program.checks.len() as u32;
        program.checks.push(Check { source, test, line, column });
        self.emitter.op(Op::Branch { condition, otherwise: 0 })
    }

    /// Ends the branch before an `else` with a jump over the rest of the chain.
    fn end_branch_before(&mut self, before: &ElseChain) -> Option<usize> {
        let Before::Branch { op, chain } = before.before else { return None };
        let ends = &mut self.emitter.program.chain_ends;
        let chain = chain.unwrap_or_else(|| {
            ends.push(0);
            ends.len() - 1
        });
        self.emitter.op(Op::Jump { chain: chain as u32 });
        let next = self.emitter.next_op() as u32;
        self.emitter.set_target(op, next);
        Some(chain)
    }

    fn open_branch(&mut self, op: Option<usize>, chain: Option<usize>, is_last: bool) {
        let depth = self.open.len();
        self.blocks.push(OpenBlock { depth, kind: BlockKind::Branch { op, chain, is_last } });
    }

    /// Ends the block whose element stood at `depth`.
    pub(crate) fn end_block(&mut self, depth: usize) {
        // A chart may stand on a conditional element: two blocks of one element.
        self.blocks.pop_if(|block| block.depth == depth && block.is_chart());
        let Some(block) = self.blocks.pop_if(|block| block.depth == depth) else { return };
        let next = self.emitter.next_op() as u32;
        let before = match block.kind {
            BlockKind::Repeat { op, repeat } => {
                self.emitter.set_target(op, next);
                self.aliases.pop();
                self.repeats.pop();
                Some(Before::Repeat { repeat })
            }
            BlockKind::Branch { op, chain, is_last } => {
                if let Some(op) = op {
                    self.emitter.set_target(op, next);
                }
                if let Some(chain) = chain {
                    self.emitter.program.chain_ends[chain] = next;
                }
                op.filter(|_| !is_last).map(|op| Before::Branch { op, chain })
            }
            BlockKind::Chart(_) => None,
        };
        self.else_chain = before.map(|before| ElseChain { depth, before });
    }
}

/// A condition and where its attribute value stands.
#[derive(Debug)]
pub(crate) struct ConditionAt {
    pub(crate) condition: Condition,
    pub(crate) span: std::ops::Range<usize>,
}
