//! Blocks of other template languages: the marks go, what they meant becomes attributes of elements.

use std::ops::Range;

use super::Translator;
use super::marks::{Loop, MarkKind};
use crate::template::Grammar;

impl Translator<'_, '_> {
    /// Rewrites blocks: the marks go, what they meant becomes attributes.
    pub(super) fn blocks(&mut self) {
        for block in self.paired() {
            let parts: Vec<usize> = [&[block.open][..], &block.dividers, &[block.close]].concat();
            for part in &parts {
                let span = self.marks[*part].span.clone();
                self.edit(span, String::new());
            }
            let range =
                |at: usize| self.marks[parts[at]].span.end..self.marks[parts[at + 1]].span.start;
            let first = range(0);
            let second = (parts.len() > 2).then(|| range(1));
            let open = self.marks[block.open].clone();
            let whole = open.span.end..self.marks[block.close].span.start;
            let is_loop = self.scopes.iter().any(|scope| scope.range == whole);
            match &open.kind {
                MarkKind::For(_) => self.repeat_block((block.open, block.close), first, second),
                MarkKind::Section(name, false) if is_loop || self.is_list(name) => {
                    self.repeat_block((block.open, block.close), first, second);
                }
                MarkKind::If(text, negated) | MarkKind::Section(text, negated)
                    if self.grammar == Grammar::V2 =>
                {
                    self.branches(text, *negated, &parts);
                }
                MarkKind::If(text, negated) | MarkKind::Section(text, negated) => {
                    let attribute = self.condition(text, *negated, &open.span);
                    if let Some(attribute) = attribute {
                        self.put(&first, &attribute);
                    }
                    if let Some(second) = second
                        && let Some(attribute) = self.condition(text, !negated, &open.span)
                    {
                        self.put(&second, &attribute);
                    }
                }
                MarkKind::Else(_) | MarkKind::Close | MarkKind::Output(..) | MarkKind::Other => {}
            }
        }
        self.lone_marks();
    }

    fn repeat_block(
        &mut self,
        (opening, close): (usize, usize),
        first: Range<usize>,
        second: Option<Range<usize>>,
    ) {
        let range = self.marks[opening].span.end..self.marks[close].span.start;
        let head = match &self.marks[opening].kind {
            MarkKind::For(head) => head.clone(),
            MarkKind::Section(name, _) => Loop { list: name.clone(), ..Loop::default() },
            MarkKind::If(..)
            | MarkKind::Else(_)
            | MarkKind::Close
            | MarkKind::Output(..)
            | MarkKind::Other => return,
        };
        // The element inside may have the very range of the loop.
        let own = self.scopes.iter().find(|scope| scope.range == range);
        let own = own.filter(|_| !self.is_repeated_inside(&head, &range)).cloned();
        let Some(scope) = own else {
            // The element inside repeats the list already.
            match second {
                Some(second) if self.grammar == Grammar::V2 => self.put(&second, "data-od-else"),
                Some(second) => {
                    self.put(&first, "data-row");
                    self.put(&second, "data-empty");
                    self.rules.insert("[data-row]~[data-empty]{display:none}".to_owned());
                }
                None => {}
            }
            return;
        };
        let repeat = format!("data-od-repeat=\"{} in {}\"", scope.alias, scope.list);
        match second {
            Some(second) if self.grammar == Grammar::V2 => {
                self.put(&first, &repeat);
                self.put(&second, "data-od-else");
            }
            Some(second) => {
                self.put(&first, &format!("{repeat} data-row"));
                self.put(&second, "data-empty");
                self.rules.insert("[data-row]~[data-empty]{display:none}".to_owned());
            }
            None => self.put(&first, &repeat),
        }
    }

    /// Puts an attribute on the one element of a range, or on an element around it.
    pub(super) fn put(&mut self, range: &Range<usize>, attribute: &str) {
        let source = self.outline.source;
        let elements = self.outline.directly_in(range);
        if let [element] = elements[..] {
            let span = self.outline.elements[element].span.clone();
            let outside = [&source[range.start..span.start], &source[span.end..range.end]].concat();
            if self.is_blank(&outside, range) {
                let at = self.outline.elements[element].tag.name_span.end;
                self.edit(at..at, format!(" {attribute}"));
                return;
            }
        }
        let parent = self.outline.around(range.start).map(|it| self.outline.name(it).to_owned());
        let name = match parent.as_deref() {
            Some("table") => "tbody",
            Some("tbody" | "thead" | "tfoot") => {
                // Rows cannot be wrapped inside a section: each gets the attribute.
                for element in elements {
                    let at = self.outline.elements[element].tag.name_span.end;
                    self.edit(at..at, format!(" {attribute}"));
                }
                return;
            }
            _ if elements.iter().any(|it| {
                !matches!(
                    self.outline.name(*it),
                    "span" | "b" | "a" | "em" | "strong" | "i" | "code" | "small" | "br" | "img"
                )
            }) =>
            {
                "div"
            }
            _ => "span",
        };
        self.edit(range.start..range.start, format!("<{name} {attribute}>"));
        self.edit(range.end..range.end, format!("</{name}>"));
    }

    /// Returns whether nothing but marks stands in a text.
    fn is_blank(&self, text: &str, range: &Range<usize>) -> bool {
        let mut text = text.to_owned();
        for mark in self
            .marks
            .iter()
            .filter(|mark| range.start <= mark.span.start && mark.span.end <= range.end)
        {
            if !matches!(mark.kind, MarkKind::Output(..)) {
                text = text.replacen(&self.outline.source[mark.span.clone()], "", 1);
            }
        }
        text.trim().is_empty()
    }

    /// Removes marks that open or close nothing.
    fn lone_marks(&mut self) {
        let paired: Vec<usize> = self
            .paired()
            .into_iter()
            .flat_map(|block| [vec![block.open, block.close], block.dividers].concat())
            .collect();
        for (index, mark) in self.marks.clone().into_iter().enumerate() {
            if !paired.contains(&index)
                && !matches!(mark.kind, MarkKind::Output(..) | MarkKind::Other)
            {
                self.edit(mark.span, String::new());
            }
        }
    }

    /// Turns bindings in style sheets into variables that the body sets.
    pub(super) fn style_bindings(&mut self) {
        let source = self.outline.source;
        let mut set = String::new();
        for range in self.outline.styles.clone() {
            let mut at = range.start;
            while let Some(open) = source[at..range.end].find("{{").map(|it| at + it) {
                let Some(close) = source[open..range.end].find("}}").map(|it| open + it + 2) else {
                    break;
                };
                at = close;
                let Some(path) = self.path(source[open + 2..close - 2].trim(), &(open..close))
                else {
                    continue;
                };
                let name = path.trim_start_matches("data.").replace('.', "-");
                self.edit(open..close, format!("var(--{name})"));
                set.push_str(&format!("--{name}: {{{{{path}}}}};"));
            }
        }
        let target = ["body", "main", "div", "section"].iter().find_map(|name| {
            self.outline.elements.iter().find(|element| element.tag.name == *name)
        });
        let Some(target) = target.filter(|_| !set.is_empty()) else { return };
        let at = target.tag.name_span.end;
        self.edit(at..at, format!(" style=\"{}\"", set.trim_end_matches(';')));
    }
}
