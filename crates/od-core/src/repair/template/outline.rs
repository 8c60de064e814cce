//! The elements of a template and the marks in it, read loosely: enough to say where a fix goes.

use std::ops::Range;

use crate::template::scan::{Attribute, Scanner, Tag, Token};

/// One element.
#[derive(Debug)]
pub(super) struct Element<'s> {
    pub(super) tag: Tag<'s>,
    /// What stands between its tags.
    pub(super) inner: Range<usize>,
    /// From the start tag to the end of the end tag.
    pub(super) span: Range<usize>,
    pub(super) parent: Option<usize>,
}

/// A template as elements.
#[derive(Debug)]
pub(super) struct Outline<'s> {
    pub(super) source: &'s str,
    pub(super) elements: Vec<Element<'s>>,
    /// Style sheets: bindings in them are CSS.
    pub(super) styles: Vec<Range<usize>>,
    /// Comments and scripts, in which nothing is meant for a template.
    pub(super) passed: Vec<Range<usize>>,
}

const VOID: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
];

impl<'s> Outline<'s> {
    pub(super) fn of(source: &'s str) -> Self {
        let mut outline =
            Self { source, elements: Vec::new(), styles: Vec::new(), passed: Vec::new() };
        let mut scanner = Scanner::new(source, 0);
        let mut open: Vec<usize> = Vec::new();
        while let Some(token) = scanner.next() {
            match token {
                Token::Start(tag) => {
                    let end = tag.span.end;
                    let name = tag.name.clone();
                    let is_void = VOID.contains(&&*name) || tag.self_closing;
                    let parent = open.last().copied();
                    outline.elements.push(Element {
                        inner: end..end,
                        span: tag.span.clone(),
                        parent,
                        tag,
                    });
                    if matches!(&*name, "style" | "script") {
                        let close = scanner.raw_end(end, &name);
                        let inner = end..close.as_ref().map_or(source.len(), |close| close.start);
                        let last = outline.elements.len() - 1;
                        outline.elements[last].span.end = close.as_ref().map_or(end, |it| it.end);
                        outline.elements[last].inner = inner.clone();
                        if name == "style" {
                            outline.styles.push(inner);
                        } else {
                            outline.passed.push(inner);
                        }
                        scanner.seek(close.map_or(source.len(), |close| close.end));
                    } else if !is_void {
                        open.push(outline.elements.len() - 1);
                    }
                }
                Token::End(tag) => outline.close(&mut open, &tag),
                Token::Comment(span) => outline.passed.push(span),
                Token::Text(_)
                | Token::Doctype(_)
                | Token::BogusComment(_)
                | Token::Cdata(_)
                | Token::UnclosedComment(_)
                | Token::UnclosedTag(_) => {}
            }
        }
        for index in open {
            outline.elements[index].inner.end = source.len();
            outline.elements[index].span.end = source.len();
        }
        outline
    }

    fn close(&mut self, open: &mut Vec<usize>, tag: &Tag<'s>) {
        let Some(depth) = open.iter().rposition(|index| self.elements[*index].tag.name == tag.name)
        else {
            return;
        };
        for (above, index) in open.drain(depth..).enumerate() {
            let element = &mut self.elements[index];
            element.inner.end = tag.span.start;
            element.span.end = if above == 0 { tag.span.end } else { tag.span.start };
        }
    }

    /// Returns the innermost element whose tags enclose a place, or whose start tag holds it.
    pub(super) fn around(&self, at: usize) -> Option<usize> {
        let holds = |element: &&(usize, &Element<'_>)| {
            element.1.inner.contains(&at) || element.1.tag.span.contains(&at)
        };
        let all: Vec<(usize, &Element<'_>)> = self.elements.iter().enumerate().collect();
        all.iter().filter(holds).max_by_key(|(_, element)| element.tag.span.start).map(|it| it.0)
    }

    /// Returns the elements around a place, innermost first.
    pub(super) fn ancestors(&self, at: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut next = self.around(at);
        while let Some(index) = next {
            found.push(index);
            next = self.elements[index].parent;
        }
        found
    }

    /// Returns the elements that stand directly in a range.
    pub(super) fn directly_in(&self, range: &Range<usize>) -> Vec<usize> {
        let inside = |element: &Element<'_>| {
            range.start <= element.span.start && element.span.end <= range.end
        };
        let is_first = |element: &Element<'_>| {
            element.parent.is_none_or(|parent| !inside(&self.elements[parent]))
        };
        let found = self.elements.iter().enumerate();
        found.filter(|(_, it)| inside(it) && is_first(it)).map(|(index, _)| index).collect()
    }

    /// Returns whether a place is in a comment, a script or a style sheet.
    pub(super) fn is_passed(&self, at: usize) -> bool {
        self.passed.iter().chain(&self.styles).any(|range| range.contains(&at))
    }

    pub(super) fn attribute(&self, element: usize, name: &str) -> Option<&Attribute<'s>> {
        self.elements[element].tag.attributes.iter().find(|attribute| attribute.name == name)
    }

    pub(super) fn name(&self, element: usize) -> &str {
        &self.elements[element].tag.name
    }
}
