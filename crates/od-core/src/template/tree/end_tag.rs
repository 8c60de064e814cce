//! End tags: which element they close, and whether HTML would agree.

use super::compiler::{Compiler, Phase};
use super::element::{Space, Traits, html_traits};
use super::open_elements::Scope;
use crate::template::issue::{IssueCode, delete, replace};
use crate::template::tokenize::scanner::Tag;

impl<'s> Compiler<'s> {
    pub(crate) fn end_tag(&mut self, tag: &Tag<'s>) {
        if self.refuse_odd_name(tag) || self.close_unwrapped(tag) {
            return;
        }
        self.refuse_attributes(tag);
        if self.in_foreign() && self.end_foreign(tag) {
            return;
        }
        if self.in_select() && self.refuse_in_select(tag) {
            return;
        }
        match (&*tag.name, self.phase) {
            // Neither closes anything yet: HTML keeps both open until the end, and puts what comes behind
            // them back into the body.
            ("body" | "html", _) => {
                self.phase = Phase::AfterBody;
                self.body_ends.push(tag.span.clone());
                return;
            }
            ("head", Phase::BeforeHtml | Phase::BeforeHead | Phase::InHead) => {
                self.phase = Phase::AfterHead;
                return;
            }
            (
                _,
                Phase::BeforeHtml
                | Phase::BeforeHead
                | Phase::InHead
                | Phase::AfterHead
                | Phase::AfterBody,
            ) => {
                return self.stray(tag);
            }
            (_, Phase::InBody) => {}
        }
        if self.close_renamed(tag) {
            return;
        }
        let traits = html_traits(&tag.name);
        match &*tag.name {
            "p" => self.end_in_scope(tag, Scope::Button),
            "li" => self.end_in_scope(tag, Scope::ListItem),
            "dd" | "dt" => self.end_in_scope(tag, Scope::Default),
            "form" => self.end_form(tag),
            "table" => self.end_in_scope(tag, Scope::Table),
            "option" | "optgroup" if self.in_select() => self.end_option(tag),
            _ if traits.has(Traits::VOID) => self.stray(tag),
            _ if traits.has(Traits::TABLE_PART) => self.end_in_scope(tag, Scope::Table),
            _ if traits.has(Traits::HEADING) => self.end_heading(tag),
            _ if traits.has(Traits::BLOCK_END) => self.end_in_scope(tag, Scope::Default),
            _ if traits.has(Traits::FORMATTING) => self.end_formatting(tag),
            _ => self.end_other(tag),
        }
    }

    /// HTML drops the attributes of end tags.
    fn refuse_attributes(&mut self, tag: &Tag<'s>) {
        let Some(first) = tag.attributes.first() else { return };
        let span = first.span.start..tag.attributes_end;
        let fix = delete(span.clone(), "remove it");
        let message = "end tags have no attributes";
        self.issues.add(IssueCode::MalformedAttribute, self.source, span, message, fix);
    }

    /// Parsers ignore most end tags in a select; `true` when this one is one of them.
    fn refuse_in_select(&mut self, tag: &Tag<'s>) -> bool {
        if matches!(&*tag.name, "select" | "option" | "optgroup") {
            return false;
        }
        if !self.open_in_html(tag) {
            self.stray(tag);
            return true;
        }
        let select = self.open.iter().rposition(|open| open.name == "select").unwrap_or_default();
        self.refuse_across(select, tag);
        false
    }

    /// Adds the end tag of a refused element, whose tags the fix removes, to that fix.
    fn close_unwrapped(&mut self, tag: &Tag<'s>) -> bool {
        let Some(at) = self.unwrapped.iter().rposition(|(name, _)| *name == tag.name) else {
            return false;
        };
        let (_, draft) = self.unwrapped.remove(at);
        self.issues.extend_fix(draft, tag.span.clone(), "");
        true
    }

    /// Closes an element that a fix renames, under the name that the source gives it.
    fn close_renamed(&mut self, tag: &Tag<'s>) -> bool {
        let found = self.open.iter().enumerate().rev().find(|(_, open)| {
            let renamed = open.renamed.as_ref().is_some_and(|(from, _)| *from == tag.name);
            renamed
                || (open.space == Space::Html && open.name == tag.name && open.renamed.is_none())
        });
        let Some((at, open)) = found else { return false };
        if open.renamed.is_none() {
            return false;
        }
        self.pop_implied(at + 1, tag.span.start);
        self.pop_explicit(tag);
        true
    }

    fn end_in_scope(&mut self, tag: &Tag<'s>, scope: Scope) {
        match self.in_scope(&tag.name, scope) {
            Some(at) => self.close_at(at, tag),
            None => self.stray(tag),
        }
    }

    fn close_at(&mut self, at: usize, tag: &Tag<'s>) {
        self.pop_implied(at + 1, tag.span.start);
        self.pop_explicit(tag);
    }

    /// Closes a form, but only across elements whose end is implied anyway.
    ///
    /// `</form>` takes the form off the stack and leaves what is open inside where it is: Chromium
    /// reads `<form><div></form><form>b</form>` as a form inside the first form's div.
    fn end_form(&mut self, tag: &Tag<'s>) {
        match self.in_scope("form", Scope::Default) {
            Some(at) if self.only_implied_above(at) => self.close_at(at, tag),
            Some(at) => {
                self.refuse_across(at + 1, tag);
                self.pop_explicit(tag);
            }
            None => self.stray(tag),
        }
    }

    fn end_option(&mut self, tag: &Tag<'s>) {
        let top = self.open.len() - 1;
        if self.open[top].name == tag.name {
            return self.pop_explicit(tag);
        }
        // </optgroup> also ends an option that is open directly in the group, and nothing else.
        let under_option = tag.name == "optgroup"
            && self.current_is("option")
            && top > 0
            && self.open[top - 1].name == "optgroup";
        if under_option {
            self.close_at(top - 1, tag);
        } else {
            self.stray(tag);
        }
    }

    /// HTML lets any heading's end tag close any heading.
    fn end_heading(&mut self, tag: &Tag<'s>) {
        let bound = |traits: Traits| traits.has(Traits::SCOPE);
        let nearest = self
            .open
            .iter()
            .rposition(|open| open.traits.has(Traits::HEADING) || bound(open.traits));
        let Some(at) = nearest.filter(|at| self.open[*at].traits.has(Traits::HEADING)) else {
            return self.stray(tag);
        };
        let name = self.open[at].name.clone();
        if name == tag.name {
            return self.close_at(at, tag);
        }
        let fix = replace(tag.name_span.clone(), name.as_ref(), format!("write </{name}>"));
        let message = format!("</{}> closes <{name}>", tag.name);
        self.issues.add(IssueCode::Misnested, self.source, tag.span.clone(), message, fix);
        self.pop_silently(at, tag.span.start);
    }

    /// Closes a formatting element, unless a block is open inside it.
    ///
    /// There the adoption agency algorithm would split it: `<b>x<p>y</b>z</p>` becomes
    /// `<b>x</b><p><b>y</b>z</p>`, two elements out of one.
    fn end_formatting(&mut self, tag: &Tag<'s>) {
        let Some(at) = self.active_formatting(&tag.name) else { return self.stray(tag) };
        let crosses_block = self
            .open
            .iter()
            .skip(at + 1)
            .any(|open| open.traits.has(Traits::SPECIAL) || open.space != Space::Html);
        if crosses_block {
            self.refuse_across(at + 1, tag);
            self.pop_explicit(tag);
        } else {
            self.close_at(at, tag);
        }
    }

    fn end_other(&mut self, tag: &Tag<'s>) {
        for at in (0..self.open.len()).rev() {
            let open = &self.open[at];
            if open.space == Space::Html && open.name == tag.name {
                return self.close_at(at, tag);
            }
            if open.traits.has(Traits::SPECIAL) {
                break;
            }
        }
        // It may be open further out, with something in between that HTML does not close for it.
        match self.in_scope(&tag.name, Scope::Default) {
            Some(at) => {
                self.refuse_across(at + 1, tag);
                self.pop_explicit(tag);
            }
            None => self.stray(tag),
        }
    }

    /// Closes an element of svg or math; `false` when the end tag belongs to HTML outside.
    fn end_foreign(&mut self, tag: &Tag<'s>) -> bool {
        let inner =
            self.open.iter().enumerate().rev().take_while(|(_, open)| open.space != Space::Html);
        let found = inner.map(|(at, open)| {
            (
                at,
                open.name == tag.name
                    || open.renamed.as_ref().is_some_and(|(from, _)| *from == tag.name),
            )
        });
        let outermost =
            self.open.iter().rposition(|open| open.space == Space::Html).map_or(0, |at| at + 1);
        match found.filter(|(_, matches)| *matches).map(|(at, _)| at).next() {
            Some(at) => {
                self.close_at(at, tag);
                true
            }
            None if self.open_in_html(tag) => {
                self.refuse_across(outermost, tag);
                false
            }
            None => {
                self.stray(tag);
                true
            }
        }
    }

    fn open_in_html(&self, tag: &Tag<'s>) -> bool {
        matches!(&*tag.name, "body" | "html")
            || self.open.iter().any(|open| open.space == Space::Html && open.name == tag.name)
    }

    pub(crate) fn stray(&mut self, tag: &Tag<'s>) {
        let name = &tag.name;
        let (fix, message) = match &**name {
            "br" => (
                replace(tag.span.clone(), "<br>", "write <br>"),
                "HTML reads </br> as <br>".to_owned(),
            ),
            "p" => (
                delete(tag.span.clone(), "remove it"),
                "no <p> is open here: HTML would add an empty one".to_owned(),
            ),
            _ => (
                delete(tag.span.clone(), "remove it"),
                format!("no <{name}> is open here that it could close"),
            ),
        };
        self.issues.add(IssueCode::StrayEndTag, self.source, tag.span.clone(), message, fix);
    }
}
