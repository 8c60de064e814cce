//! The stack of open elements, and how elements leave it.

use std::borrow::Cow;

use super::compiler::Compiler;
use super::element::{ForeignContent, Space, Traits, html_traits};
use crate::template::issue::{DraftId, Edit, Fix, IssueCode, insert, shorten};
use crate::template::tokenize::scanner::Tag;
use crate::template::warning::WarningCode;

/// The most elements inside one another.
///
/// Chromium 156 makes siblings of what is deeper than 512, html and body included: of 600 nested
/// divs the innermost has 512 ancestors. Half of that leaves room for wrappers of exporters.
pub(crate) const DEPTH_MAX: usize = crate::limits::OPEN_ELEMENTS.max();

/// An element whose end tag has not come yet.
#[derive(Debug)]
pub(crate) struct OpenElement<'s> {
    /// In lower case.
    pub(crate) name: Cow<'s, str>,
    pub(crate) traits: Traits,
    pub(crate) space: Space,
    pub(crate) content: ForeignContent,
    /// The start tag.
    pub(crate) tag_span: std::ops::Range<usize>,
    /// The start tag's name in the source.
    pub(crate) name_span: std::ops::Range<usize>,
    /// A refusal that renames it: the name in the source, and whose fix also renames the end tag.
    pub(crate) renamed: Option<(Cow<'s, str>, DraftId)>,
    /// A refusal whose fix also inserts text behind the element.
    pub(crate) wrapped: Option<(DraftId, String)>,
    /// Offset in the literals at which inspection inserts attributes.
    pub(crate) mark_at: usize,
    /// Index of the element's mark, once it has one.
    pub(crate) mark: Option<usize>,
    /// Whether it cannot take the focus by itself.
    pub(crate) wants_focus: bool,
}

/// The specification's scopes: how far up the stack an element is searched.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Scope {
    Default,
    Button,
    ListItem,
    Table,
}

impl<'s> Compiler<'s> {
    pub(crate) fn current(&self) -> Option<&OpenElement<'s>> {
        self.open.last()
    }

    pub(crate) fn current_is(&self, name: &str) -> bool {
        self.current().is_some_and(|open| open.space == Space::Html && open.name == name)
    }

    /// Finds an open HTML element by name, as the specification's "has an element in scope".
    pub(crate) fn in_scope(&self, name: &str, scope: Scope) -> Option<usize> {
        for (at, open) in self.open.iter().enumerate().rev() {
            let html = open.space == Space::Html;
            if html && open.name == name {
                return Some(at);
            }
            let bound = match scope {
                Scope::Table => html && open.name == "table",
                Scope::Default | Scope::Button | Scope::ListItem => {
                    (html && open.traits.has(Traits::SCOPE)) || open.content == ForeignContent::Text
                }
            };
            let own_bound = match scope {
                Scope::Button => html && open.name == "button",
                Scope::ListItem => html && (open.name == "ol" || open.name == "ul"),
                Scope::Default | Scope::Table => false,
            };
            if bound || own_bound {
                return None;
            }
        }
        None
    }

    /// Finds a formatting element that is active here.
    pub(crate) fn active_formatting(&self, name: &str) -> Option<usize> {
        let entries = self.open.iter().enumerate().rev();
        entries
            .take_while(|(_, open)| {
                !open.traits.has(Traits::MARKER) && !open.traits.has(Traits::SCOPE)
            })
            .find(|(_, open)| open.space == Space::Html && open.name == name)
            .map(|(at, _)| at)
    }

    /// Returns whether HTML closes everything above `at` by implication.
    pub(crate) fn only_implied_above(&self, at: usize) -> bool {
        let above = self.open.get(at + 1..).unwrap_or_default();
        above.iter().all(|open| open.space == Space::Html && open.traits.has(Traits::IMPLIED_END))
    }

    /// Closes all but `keep` elements because of what stands at `at`, and reports those that
    /// should have had an end tag.
    pub(crate) fn pop_implied(&mut self, keep: usize, at: usize) {
        let cleared_from = self.lowest_marker(keep);
        while self.open.len() > keep {
            let depth = self.open.len() - 1;
            let Some(open) = self.open.pop() else { return };
            let implied = open.name_span.is_empty();
            // An element that HTML implied has no tag that an author could close. Outside every repeat and
            // condition the tag is written exactly once, and its end may be left to HTML.
            let in_block =
                !implied && self.blocks.first().is_some_and(|block| depth >= block.depth);
            let leaks = open.traits.has(Traits::FORMATTING)
                && open.space == Space::Html
                && depth < cleared_from;
            let of_course =
                open.traits.has(Traits::IMPLIED_END) || open.traits.has(Traits::TABLE_PART);
            let name = self.source_name(&open);
            self.closed_names.push(name.clone());
            if open.renamed.is_some() || open.wrapped.is_some() {
                self.end_fixes(&open, at..at, at);
            } else if in_block {
                self.unclosed(
                    IssueCode::RepeatUnclosed,
                    &open,
                    at,
                    &format!("<{name}> has no end tag of its own, inside or on a repeated element"),
                );
            } else if open.name == "form" && open.space == Space::Html {
                // HTML keeps a pointer to the open form that only </form> clears: behind
                // `<div><form></div>` the next <form> is ignored.
                let message =
                    "<form> has no end tag before its parent ends: HTML would ignore the next form";
                self.unclosed(IssueCode::Misnested, &open, at, message);
            } else if leaks {
                // HTML reopens it: Chromium reads `<div><b>x</div>y` as `<div><b>x</b></div><b>y</b>`,
                // so a value behind would stand in an element that the template does not show.
                self.unclosed(IssueCode::UnclosedFormatting, &open, at, &format!("<{name}> is not closed before its parent ends: HTML would open it again behind"));
            } else if !of_course {
                self.warn_unclosed(&open);
            }
            self.end_block(depth);
        }
    }

    /// Returns the depth from which formatting elements are forgotten when the stack shrinks to `keep`.
    fn lowest_marker(&self, keep: usize) -> usize {
        // Formatting elements above a marker that goes too are forgotten with it.
        let above = self.open.iter().enumerate().skip(keep);
        above
            .filter(|(_, open)| open.traits.has(Traits::MARKER))
            .map(|(at, _)| at)
            .next()
            .unwrap_or(usize::MAX)
    }

    /// Closes all but `keep` elements without reporting them: a refusal has already covered them.
    pub(crate) fn pop_silently(&mut self, keep: usize, at: usize) {
        while self.open.len() > keep {
            let depth = self.open.len() - 1;
            let Some(open) = self.open.pop() else { return };
            self.end_fixes(&open, at..at, at);
            self.end_block(depth);
        }
    }

    /// Closes the current element by its own end tag.
    pub(crate) fn pop_explicit(&mut self, tag: &Tag<'s>) {
        self.emitter.copy_to(tag.span.end);
        let depth = self.open.len().saturating_sub(1);
        let Some(open) = self.open.pop() else { return };
        self.end_fixes(&open, tag.name_span.clone(), tag.span.end);
        self.end_block(depth);
    }

    /// Completes the fixes that wait for the element's end: `name_span` is where its end tag is
    /// named (empty: there is none), `behind` the place behind it.
    fn end_fixes(
        &mut self,
        open: &OpenElement<'s>,
        name_span: std::ops::Range<usize>,
        behind: usize,
    ) {
        if let Some((_, draft)) = &open.renamed {
            if name_span.is_empty() {
                self.issues.extend_fix(*draft, behind..behind, format!("</{}>", open.name));
            } else {
                self.issues.extend_fix(*draft, name_span, open.name.as_ref());
            }
        }
        if let Some((draft, text)) = &open.wrapped {
            self.issues.extend_fix(*draft, behind..behind, text.as_str());
        }
    }

    /// Closes what is still open at the end, where nothing can leak any more.
    pub(crate) fn close_document(&mut self) {
        let at = self.body_ends.first().map_or(self.source.len(), |span| span.start);
        let outside = self.blocks.first().map_or(self.open.len(), |block| block.depth);
        self.pop_implied(outside, at);
        while let Some(open) = self.open.pop() {
            let of_course =
                open.traits.has(Traits::IMPLIED_END) || open.traits.has(Traits::TABLE_PART);
            self.end_fixes(&open, at..at, at);
            if !of_course {
                self.warn_unclosed(&open);
            }
        }
    }

    fn warn_unclosed(&mut self, open: &OpenElement<'s>) {
        let name = self.source_name(open);
        let message = format!("<{name}> has no end tag; it ends where its parent ends");
        self.warnings.add(WarningCode::Unclosed, self.source, open.tag_span.clone(), message);
    }

    fn unclosed(&mut self, code: IssueCode, open: &OpenElement<'s>, at: usize, message: &str) {
        let name = self.source_name(open).into_owned();
        let fix = insert(at, format!("</{name}>"), format!("insert </{name}> {}", self.before(at)));
        self.issues.add(code, self.source, open.tag_span.clone(), message, fix);
    }

    /// Refuses an end tag across open elements; the fix closes them first.
    pub(crate) fn refuse_across(&mut self, keep: usize, tag: &Tag<'s>) {
        let mut closing = String::new();
        for open in self.open.iter().skip(keep).rev() {
            closing.push_str(&format!("</{}>", self.source_name(open)));
        }
        let summary = format!("insert {closing} {}", self.before(tag.span.start));
        let edit =
            Edit { start: tag.span.start, end: tag.span.start, text: closing.clone(), order: 0 };
        let fix = Fix { summary, edits: vec![edit] };
        let message = format!("</{}> comes before {closing}", tag.name);
        self.issues.add(IssueCode::Misnested, self.source, tag.span.clone(), message, fix);
        self.pop_silently(keep, tag.span.start);
    }

    /// Renames an open element, when that is the way out of a refusal.
    pub(crate) fn rename(&mut self, at: usize, to: &'static str, draft: DraftId) {
        if let Some(open) = self.open.get_mut(at) {
            let from = std::mem::replace(&mut open.name, Cow::Borrowed(to));
            open.traits = html_traits(to);
            open.renamed = Some((from, draft));
        }
    }

    /// Returns the element's name as the source writes it.
    pub(crate) fn source_name(&self, open: &OpenElement<'s>) -> Cow<'s, str> {
        if open.name_span.is_empty() {
            return open.name.clone();
        }
        Cow::Borrowed(self.source.get(open.name_span.clone()).unwrap_or_default())
    }

    fn before(&self, at: usize) -> String {
        let rest = shorten(self.source.get(at..).unwrap_or_default());
        let end = rest.find('>').map_or(rest.len(), |end| end + 1);
        match &rest[..end] {
            "" => "at the end".to_owned(),
            text => format!("before {text}"),
        }
    }
}
