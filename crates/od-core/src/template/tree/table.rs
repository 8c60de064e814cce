//! Start tags in tables and selects, where HTML moves or drops what does not belong.

use std::borrow::Cow;

use super::compiler::Compiler;
use super::element::{ForeignContent, Space, Traits, html_traits};
use super::open_elements::{OpenElement, Scope};
use super::start_tag::Placement;
use crate::template::issue::{Fix, IssueCode, delete, insert, replace};
use crate::template::tokenize::scanner::Tag;

impl<'s> Compiler<'s> {
    /// Returns whether the current element is a table, a section, a row or a column group.
    pub(crate) fn in_table_structure(&self) -> bool {
        self.current().is_some_and(|open| {
            open.space == Space::Html
                && matches!(&*open.name, "table" | "tbody" | "thead" | "tfoot" | "tr" | "colgroup")
        })
    }

    /// Returns whether the current element is a select or an option in one.
    pub(crate) fn in_select(&self) -> bool {
        // Through options only: any other element between would have been refused, so the walk ends after
        // a few steps.
        for open in self.open.iter().rev() {
            match &*open.name {
                "option" | "optgroup" => {}
                name => return name == "select" && open.space == Space::Html,
            }
        }
        false
    }

    /// Places an element in a select.
    ///
    /// Parsers disagree: the older ones (html5ever 0.39) drop every tag but options from a select,
    /// Chromium 156 keeps `<select><div>x</div>` as written. Only what both keep is accepted.
    pub(crate) fn place_in_select(&mut self, tag: &Tag<'s>) -> Option<Placement> {
        let at = tag.span.start;
        match &*tag.name {
            "option" | "optgroup" | "hr" => {
                if self.current_is("option") {
                    self.pop_implied(self.open.len() - 1, at);
                }
                if tag.name != "option" && self.current_is("optgroup") {
                    self.pop_implied(self.open.len() - 1, at);
                }
                Some(Placement::HTML)
            }
            name => {
                let message =
                    format!("<{name}> inside a select: browsers differ in what they make of it");
                let fix = delete(tag.span.clone(), format!("remove <{name}> and its end tag"));
                let draft = self.issues.add(
                    IssueCode::ElementInSelect,
                    self.source,
                    tag.span.clone(),
                    message,
                    fix,
                );
                if !html_traits(name).has(Traits::VOID) && !tag.self_closing {
                    self.unwrapped.push((tag.name.clone(), draft));
                }
                None
            }
        }
    }

    /// Places an element directly in a table, section, row or column group.
    pub(crate) fn place_in_table(&mut self, tag: &Tag<'s>) -> Option<Placement> {
        let at = tag.span.start;
        // Each round closes or opens one level, as the insertion modes of the specification do.
        for _ in 0..4 {
            let context = self.current().map(|open| open.name.clone()).unwrap_or_default();
            match (&*context, &*tag.name) {
                (_, "style") if context != "colgroup" => return Some(Placement::HTML),
                ("table", "caption" | "colgroup" | "tbody" | "thead" | "tfoot")
                | ("tbody" | "thead" | "tfoot", "tr")
                | ("tr", "td" | "th")
                | ("colgroup", "col") => return Some(Placement::HTML),
                ("table", "col") => self.open_implied("colgroup", at),
                ("table", "tr" | "td" | "th") => self.open_implied("tbody", at),
                ("tbody" | "thead" | "tfoot", "td" | "th") => self.open_implied("tr", at),
                ("colgroup", _)
                | (
                    "tbody" | "thead" | "tfoot",
                    "caption" | "col" | "colgroup" | "tbody" | "thead" | "tfoot",
                )
                | ("tr", "caption" | "col" | "colgroup" | "tbody" | "thead" | "tfoot" | "tr") => {
                    self.pop_implied(self.open.len() - 1, at);
                }
                _ => return Some(self.refuse_in_table(tag, &context)),
            }
        }
        Some(Placement::HTML)
    }

    fn refuse_in_table(&mut self, tag: &Tag<'s>, context: &str) -> Placement {
        let (before, behind) = match context {
            "table" => ("<tbody><tr><td>", "</td></tr></tbody>"),
            "tr" => ("<td>", "</td>"),
            _ => ("<tr><td>", "</td></tr>"),
        };
        let message = format!("HTML moves <{}> out of <{context}>", tag.name);
        let fix = insert(tag.span.start, before, format!("wrap it in {before}{behind}"));
        let draft =
            self.issues.add(IssueCode::ElementInTable, self.source, tag.span.clone(), message, fix);
        Placement { wrapped: Some((draft, behind.to_owned())), ..Placement::HTML }
    }

    fn open_implied(&mut self, name: &'static str, at: usize) {
        self.open.push(OpenElement {
            name: Cow::Borrowed(name),
            traits: html_traits(name),
            space: Space::Html,
            content: ForeignContent::Elements,
            tag_span: at..at,
            name_span: at..at,
            renamed: None,
            wrapped: None,
            mark_at: 0,
            mark: None,
            wants_focus: false,
        });
    }

    /// LineCursor a part of a table inside a cell or caption, which it closes, or refuses it elsewhere.
    pub(crate) fn place_table_part(&mut self, tag: &Tag<'s>, traits: Traits) -> Option<Placement> {
        let cell = ["td", "th", "caption"]
            .iter()
            .filter_map(|name| self.in_scope(name, Scope::Table))
            .max();
        if let Some(cell) = cell {
            self.pop_implied(cell, tag.span.start);
            return self.place_in_table(tag);
        }
        let name = &tag.name;
        let message = format!("HTML ignores <{name}> outside a table");
        if traits.has(Traits::VOID) {
            let fix = delete(tag.span.clone(), "remove it");
            self.issues.add(
                IssueCode::TablePartOutside,
                self.source,
                tag.span.clone(),
                message,
                fix,
            );
            return None;
        }
        let fix: Fix =
            replace(tag.name_span.clone(), "div", "put it into a <table>, or make it a <div>");
        let draft = self.issues.add(
            IssueCode::TablePartOutside,
            self.source,
            tag.span.clone(),
            message,
            fix,
        );
        Some(Placement { rename: Some(("div", draft)), ..Placement::HTML })
    }
}
