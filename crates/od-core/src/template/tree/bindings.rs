//! The bindings of a template: read where they stand, and recorded with what their value needs.

use std::ops::Range;

use super::block::OpenBlock;
use super::compiler::Compiler;
use super::element::Space;
use crate::template::expression::binding::{self, ParsedBinding, Scope};
use crate::template::expression::condition::Subject;
use crate::template::expression::path::{Path, Root};
use crate::template::expression::pipe::Pipes;
use crate::template::issue::{IssueCode, replace};
use crate::template::program::{Binding, Mark, Piped, Place, Source};
use crate::template::tokenize::reference;

/// A path of the template: parsed, as written, and where it stands.
#[derive(Debug)]
pub(crate) struct PathAt<'t> {
    pub(crate) path: Path,
    pub(crate) text: &'t str,
    pub(crate) span: Range<usize>,
}

impl<'s> Compiler<'s> {
    /// Reads the binding that opens at `open`, behind literal text from `from`. `None`: it never
    /// closes. `Err`: refused, go on there.
    pub(crate) fn read_binding(
        &mut self,
        from: usize,
        open: usize,
        end: usize,
    ) -> Option<Result<ParsedBinding<'s>, usize>> {
        let Some(braces) = binding::braces(self.source, open, open..end) else {
            let found = open..end.min(open + 40);
            let fix = replace(
                open..open + 2,
                "&#123;&#123;",
                "close it with }}, or write literal braces as &#123;&#123;",
            );
            self.issues.add(
                IssueCode::UnclosedBinding,
                self.source,
                self.whole(found),
                "there is no }} for {{ in the same text or attribute value",
                fix,
            );
            return None;
        };
        let before = &self.source[from..open];
        if let Some(at) = reference::ends_in_reference(before) {
            let ampersand = from + at;
            let fix = replace(ampersand..ampersand + 1, "&amp;", "write &amp; for the ampersand");
            let message = "the value could complete the character reference before it";
            self.issues.add(
                IssueCode::BindingAfterReference,
                self.source,
                ampersand..braces.end,
                message,
                fix,
            );
            return Some(Err(braces.end));
        }
        match binding::read(self.source, braces.clone(), self.scope()) {
            Ok(found) => Some(Ok(found)),
            Err(fault) => {
                self.issues.add(fault.code, self.source, fault.span, fault.message, fault.fix);
                Some(Err(braces.end))
            }
        }
    }

    fn whole(&self, span: Range<usize>) -> Range<usize> {
        let mut end = span.end;
        while !self.source.is_char_boundary(end) {
            end += 1;
        }
        span.start..end
    }

    pub(crate) fn scope(&self) -> Scope<'_> {
        Scope { grammar: self.grammar, aliases: &self.aliases }
    }

    /// Adds the step that writes a binding, behind the literal text before it. Returns the number of
    /// the binding, unless it is a row variable.
    pub(crate) fn bind(
        &mut self,
        found: ParsedBinding<'_>,
        place: Place,
        element: Box<str>,
    ) -> Option<usize> {
        let end = found.span.end;
        self.emitter.copy_to(found.span.start);
        let in_html_text = place == Place::Text && self.takes_elements();
        let is_piped = found.pipes != Pipes::default();
        let (source, pipes, span) = self.add_source(found, place, element);
        match source {
            _ if is_piped => {
                let piped = self.piped(source, pipes, &span, in_html_text);
                self.emitter.piped(piped);
            }
            Source::Variable(variable) => self.emitter.variable(variable),
            Source::Binding(binding) => self.emitter.value(binding),
        }
        self.emitter.skip_to(end);
        match source {
            Source::Binding(binding) => Some(binding),
            Source::Variable(_) => None,
        }
    }

    /// Records where a binding gets its value.
    pub(crate) fn add_source(
        &mut self,
        found: ParsedBinding<'_>,
        place: Place,
        element: Box<str>,
    ) -> (Source, Pipes, Range<usize>) {
        let ParsedBinding { span, text, subject, pipes } = found;
        let source = match subject {
            Subject::Variable(variable) => Source::Variable(variable),
            Subject::Path(path) => {
                let path = PathAt { path, text, span: span.clone() };
                let binding = self.add_binding(path, place, element);
                self.emitter.program.bindings[binding].optional = pipes.or.is_some();
                Source::Binding(binding)
            }
        };
        (source, pipes, span)
    }

    pub(crate) fn piped(
        &mut self,
        source: Source,
        pipes: Pipes,
        span: &Range<usize>,
        in_html_text: bool,
    ) -> Piped {
        let (line, column) = self.lines.at(span.start);
        Piped { source, pipes, in_html_text, line, column }
    }

    /// Returns whether the current element may have elements inside it, and not only text.
    fn takes_elements(&self) -> bool {
        self.current().is_none_or(|open| {
            open.space == Space::Html && !matches!(&*open.name, "title" | "textarea" | "option")
        })
    }

    /// Records a path that the template reads and returns its number.
    pub(crate) fn add_binding(&mut self, at: PathAt<'_>, place: Place, element: Box<str>) -> usize {
        let PathAt { path, text, span } = at;
        let is_optional = place == Place::Condition;
        let guarded = self.blocks.iter().any(OpenBlock::is_branch);
        let program = &mut self.emitter.program;
        let full_path: Box<str> = match path.root {
            Root::Data => text.into(),
            Root::Row(depth) => {
                let repeat = self.repeats.get(usize::from(depth));
                let list = repeat
                    .and_then(|repeat| program.repeats.get(*repeat))
                    .and_then(|repeat| program.bindings.get(repeat.list))
                    .map_or("", |list| &*list.full_path);
                let rest = text.find('.').map_or("", |dot| &text[dot..]);
                [list, ".*", rest].concat().into()
            }
        };
        let (line, column) = self.lines.at(span.start);
        let repeat = self.repeats.last().copied();
        program.bindings.push(Binding {
            path,
            full_path,
            element,
            place,
            repeat,
            guarded,
            optional: is_optional,
            offset: span.start,
            length: span.len(),
            line,
            column,
        });
        program.bindings.len() - 1
    }

    /// Notes for inspection that the current element shows this binding.
    pub(super) fn mark_current(&mut self, binding: usize) {
        let marks = &mut self.emitter.program.marks;
        let Some(open) = self.open.last_mut() else { return };
        let mark = *open.mark.get_or_insert_with(|| {
            marks.push(Mark {
                at: open.mark_at,
                bindings: Vec::new(),
                wants_focus: open.wants_focus,
            });
            marks.len() - 1
        });
        if let Some(mark) = marks.get_mut(mark) {
            mark.bindings.push(binding);
        }
    }
}
