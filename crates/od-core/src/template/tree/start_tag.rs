//! Start tags: which elements they close, where their element goes, what they put into the program.

use std::borrow::Cow;

use super::compiler::{Compiler, Phase};
use super::directive::Directive;
use super::element::{ForeignContent, Space, Traits, html_traits};
use super::open_elements::{DEPTH_MAX, OpenElement, Scope};
use crate::template::issue::{DraftId, IssueCode, delete, insert, replace};
use crate::template::policy::attribute::Owner;
use crate::template::tokenize::scanner::Tag;

/// The place that an element gets in the tree.
#[derive(Debug)]
pub(crate) struct Placement {
    pub(crate) space: Space,
    pub(crate) content: ForeignContent,
    /// A name that puts a refusal right, also in the end tag.
    pub(crate) rename: Option<(&'static str, DraftId)>,
    /// The text that a fix inserts behind the element.
    pub(crate) wrapped: Option<(DraftId, String)>,
}

impl Placement {
    pub(crate) const HTML: Self =
        Self { space: Space::Html, content: ForeignContent::Elements, rename: None, wrapped: None };
}

impl<'s> Compiler<'s> {
    pub(crate) fn start_tag(&mut self, tag: &Tag<'s>, after_newline_eater: bool) {
        // An `else` belongs to the element right behind its `if`: whatever tag comes here uses the chain
        // up, also one that is refused.
        let else_chain = self.else_chain.take();
        self.content_began = true;
        self.closed_names.clear();
        self.repeat_wrapper = None;
        if self.refuse_odd_name(tag) {
            return;
        }
        if matches!(&*tag.name, "html" | "head" | "body") && !self.in_foreign() {
            self.document_tag(tag);
            return;
        }
        let before = (self.phase, self.open.len());
        let traits = html_traits(&tag.name);
        let Some(placement) = self.place(tag, traits) else { return };
        // A block that this very tag ends has been refused for it; its `else` need not be.
        // An element that begins the body is no sibling of one in the head.
        let else_chain = else_chain.or(self.else_chain.take()).filter(|_| self.phase == before.0);
        let directive = self.directive(tag, before, else_chain);
        // The element may be left out, and what stands behind it would then be first in <pre> or
        // <textarea>: a newline of ours is the one that HTML eats.
        if after_newline_eater && directive.is_some() {
            self.emitter.copy_to(tag.span.start);
            self.emitter.push("\n");
        }
        if placement.space == Space::Html && self.drop_or_refuse_meta_and_link(tag) {
            return;
        }
        self.open_element(tag, traits, placement, directive);
    }

    fn open_element(
        &mut self,
        tag: &Tag<'s>,
        traits: Traits,
        placement: Placement,
        directive: Option<Directive>,
    ) {
        if self.open.len() >= DEPTH_MAX {
            let fix = delete(tag.span.start..self.source.len(), "flatten the structure");
            let message = format!("more than {DEPTH_MAX} elements are open here");
            self.issues.add(IssueCode::TooDeep, self.source, tag.span.clone(), message, fix);
            // Everything inside would be refused for the same reason, each with a fix of its own.
            self.stopped = true;
            return;
        }
        let html = placement.space == Space::Html;
        if let Some(directive) = directive {
            self.begin_block(tag, directive);
        }
        let owner = Owner { element: &tag.name, space: placement.space };
        let mark_at = self.attributes(tag, owner);
        self.emitter.copy_to(tag.span.end);
        if let Some(chart) = mark_at.chart {
            self.begin_chart(tag, chart);
        }
        let mut open = OpenElement {
            name: tag.name.clone(),
            traits: if html { traits } else { Traits::default() },
            space: placement.space,
            content: placement.content,
            tag_span: tag.span.clone(),
            name_span: tag.name_span.clone(),
            renamed: None,
            wrapped: placement.wrapped.or_else(|| self.repeat_wrapper.take()),
            mark_at: mark_at.at,
            mark: mark_at.mark,
            wants_focus: mark_at.wants_focus,
        };
        if let Some((to, draft)) = placement.rename {
            open.renamed = Some((std::mem::replace(&mut open.name, Cow::Borrowed(to)), draft));
            open.traits = if html { html_traits(to) } else { Traits::default() };
        }
        self.open.push(open);
        self.end_of_start_tag(tag, traits, html);
    }

    /// Closes what has no content, and reads the content of raw text elements.
    fn end_of_start_tag(&mut self, tag: &Tag<'s>, traits: Traits, html: bool) {
        let void = html && traits.has(Traits::VOID);
        if html && !void && tag.self_closing {
            let name = &self.source[tag.name_span.clone()];
            let span = tag.attributes_end..tag.span.end;
            let fix = replace(span, format!("></{name}>"), format!("write <{name} …></{name}>"));
            let message = format!("HTML ignores the slash: <{name}> would stay open");
            self.issues.add(IssueCode::SelfClosedHtml, self.source, tag.span.clone(), message, fix);
        }
        if void || tag.self_closing {
            self.close_empty(tag);
        } else if html && matches!(&*tag.name, "title" | "textarea" | "style") {
            self.raw_text(tag);
        } else {
            self.at_eaten_newline = html && traits.has(Traits::EATS_NEWLINE);
        }
    }

    fn close_empty(&mut self, tag: &Tag<'s>) {
        let at = tag.span.end;
        let depth = self.open.len().saturating_sub(1);
        let Some(open) = self.open.pop() else { return };
        if let Some((draft, text)) = open.wrapped {
            self.issues.extend_fix(draft, at..at, text);
        }
        self.end_block(depth);
    }

    /// Finds the place of the element, closing what its start tag closes; `None` when it is refused.
    fn place(&mut self, tag: &Tag<'s>, traits: Traits) -> Option<Placement> {
        if self.in_foreign() {
            return self.place_foreign(tag, traits);
        }
        if traits.has(Traits::REFUSED) || traits.has(Traits::UNWRAPPED) {
            self.refuse_element(tag, traits);
            return None;
        }
        self.enter_body_for(tag, traits)?;
        if self.in_select() {
            return self.place_in_select(tag);
        }
        if self.in_table_structure() {
            return self.place_in_table(tag);
        }
        if traits.has(Traits::TABLE_PART) {
            return self.place_table_part(tag, traits);
        }
        self.place_in_body(tag, traits)
    }

    /// Implies the tags of html, head and body as HTML does.
    fn enter_body_for(&mut self, tag: &Tag<'s>, traits: Traits) -> Option<()> {
        match self.phase {
            Phase::BeforeHtml | Phase::BeforeHead | Phase::InHead if traits.has(Traits::HEAD) => {
                self.phase = Phase::InHead;
            }
            Phase::AfterHead if traits.has(Traits::HEAD) => {}
            Phase::BeforeHtml | Phase::BeforeHead | Phase::InHead | Phase::AfterHead => {
                self.phase = Phase::InBody;
            }
            Phase::InBody => {}
            Phase::AfterBody => self.refuse_after_body(tag.span.clone()),
        }
        Some(())
    }

    fn place_in_body(&mut self, tag: &Tag<'s>, traits: Traits) -> Option<Placement> {
        let at = tag.span.start;
        let name = &*tag.name;
        match name {
            "li" => self.close_item(&["li"], at),
            "dd" | "dt" => self.close_item(&["dd", "dt"], at),
            "option" | "optgroup" if self.current_is("option") => {
                self.pop_implied(self.open.len() - 1, at);
            }
            "rb" | "rtc" | "rp" | "rt" => self.close_ruby(name, at),
            // Refused rather than followed: the tree would have an element that the template does not
            // name, and inspection and policy go by names.
            "image" => {
                let fix = replace(tag.name_span.clone(), "img", "write <img>");
                self.issues.add(
                    IssueCode::RefusedElement,
                    self.source,
                    tag.span.clone(),
                    "HTML reads <image> as <img>",
                    fix,
                );
                return None;
            }
            _ => {}
        }
        if traits.has(Traits::CLOSES_P) {
            self.close_p(tag);
        }
        let mut placement = Placement::HTML;
        match name {
            "svg" => placement.space = Space::Svg,
            "math" => placement.space = Space::Math,
            "table" => self.close_p_before_table(tag),
            _ => placement.rename = self.refuse_nested(tag, traits),
        }
        Some(placement)
    }

    /// Closes an open `<p>`, or refuses if more than it would be closed.
    fn close_p(&mut self, tag: &Tag<'s>) {
        let Some(at) = self.in_scope("p", Scope::Button) else { return };
        if self.only_implied_above(at) {
            self.pop_implied(at, tag.span.start);
        } else {
            self.refuse_block_in_p(at, tag);
        }
    }

    fn refuse_block_in_p(&mut self, p: usize, tag: &Tag<'s>) {
        let name_span = self.open[p].name_span.clone();
        let fix = replace(name_span, "div", "make the <p> around it a <div>");
        let message = format!("<{}> ends the <p> around it, with everything open inside", tag.name);
        let draft =
            self.issues.add(IssueCode::Misnested, self.source, tag.span.clone(), message, fix);
        self.rename(p, "div", draft);
    }

    /// Refuses a table inside an open `<p>`.
    ///
    /// Chromium 156 reads `<p>a<table>` as `<p>a</p><table>` behind a doctype and as
    /// `<p>a<table></p>` without one. A tree that depends on something elsewhere in the document is
    /// not followed; the fix closes the `<p>`.
    fn close_p_before_table(&mut self, tag: &Tag<'s>) {
        let Some(at) = self.in_scope("p", Scope::Button) else { return };
        if !self.only_implied_above(at) {
            return self.refuse_block_in_p(at, tag);
        }
        let fix = insert(tag.span.start, "</p>", "insert </p> before the table");
        let message = "a table inside <p>: whether it ends the <p> depends on the doctype";
        self.issues.add(IssueCode::Misnested, self.source, tag.span.clone(), message, fix);
        self.pop_silently(at, tag.span.start);
    }

    fn close_item(&mut self, names: &[&str], at: usize) {
        for depth in (0..self.open.len()).rev() {
            let open = &self.open[depth];
            if names.contains(&&*open.name) {
                return self.pop_implied(depth, at);
            }
            // The specification's list: through these three an <li> still closes the one before it, at any
            // other special element the search ends.
            let passes = matches!(&*open.name, "address" | "div" | "p");
            if open.traits.has(Traits::SPECIAL) && !passes {
                return;
            }
        }
    }

    fn close_ruby(&mut self, name: &str, at: usize) {
        if self.in_scope("ruby", Scope::Default).is_none() {
            return;
        }
        // The specification generates implied end tags "except for rtc elements" before these two: an <rt>
        // may stand inside an <rtc>.
        let keeps_rtc = matches!(name, "rp" | "rt");
        let implied = |open: &OpenElement<'_>| {
            open.traits.has(Traits::IMPLIED_END) && !(keeps_rtc && open.name == "rtc")
        };
        let keep = self.open.iter().rposition(|open| !implied(open)).map_or(0, |last| last + 1);
        self.pop_implied(keep, at);
    }

    /// Refuses links in links and the like, which HTML would tear apart.
    ///
    /// `<a>x<a>y</a></a>` becomes two links side by side. A button in a button is torn apart behind a
    /// doctype and kept without one (Chromium 156), so it is refused in both.
    fn refuse_nested(&mut self, tag: &Tag<'s>, traits: Traits) -> Option<(&'static str, DraftId)> {
        let (outer, to) = match &*tag.name {
            "a" => (self.active_formatting("a"), "span"),
            "nobr" => (self.in_scope("nobr", Scope::Default), "span"),
            "button" => (self.in_scope("button", Scope::Default), "span"),
            "form" => (
                self.open.iter().position(|open| open.name == "form" && open.space == Space::Html),
                "div",
            ),
            _ if traits.has(Traits::HEADING) => {
                self.refuse_heading_in_heading(tag);
                return None;
            }
            _ => return None,
        };
        outer?;
        let fix = replace(tag.name_span.clone(), to, format!("make the inner one a <{to}>"));
        let message = format!("<{0}> inside <{0}>: HTML would end the outer one here", tag.name);
        let draft = self.issues.add(
            IssueCode::NestedInteractive,
            self.source,
            tag.span.clone(),
            message,
            fix,
        );
        Some((to, draft))
    }

    fn refuse_heading_in_heading(&mut self, tag: &Tag<'s>) {
        let Some(open) = self.current().filter(|open| open.traits.has(Traits::HEADING)) else {
            return;
        };
        let closing = format!("</{}>", open.name);
        let message =
            format!("<{}> inside <{}>: HTML ends the outer heading here", tag.name, open.name);
        let fix = insert(tag.span.start, &closing, format!("insert {closing} before it"));
        self.issues.add(IssueCode::NestedInteractive, self.source, tag.span.clone(), message, fix);
        self.pop_silently(self.open.len() - 1, tag.span.start);
    }
}
