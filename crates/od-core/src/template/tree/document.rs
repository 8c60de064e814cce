//! The frame of the document: html, head, body, raw text, and elements that may not be there.

use std::ops::Range;

use super::compiler::{Compiler, Phase};
use super::element::{Space, Traits};
use super::text::ends_in_end_tag;
use crate::template::expression::binding;
use crate::template::issue::{IssueCode, delete, insert, replace, shorten};
use crate::template::policy::attribute::Owner;
use crate::template::policy::css;
use crate::template::tokenize::reference;
use crate::template::tokenize::scanner::{Tag, Token};
use crate::template::warning::WarningCode;

impl<'s> Compiler<'s> {
    /// Takes a start tag of html, head or body.
    pub(crate) fn document_tag(&mut self, tag: &Tag<'s>) {
        let next = match (&*tag.name, self.phase) {
            ("html", Phase::BeforeHtml) => Some(Phase::BeforeHead),
            ("head", Phase::BeforeHtml | Phase::BeforeHead) => {
                self.head_tag = true;
                Some(Phase::InHead)
            }
            ("body", Phase::BeforeHtml | Phase::BeforeHead | Phase::InHead | Phase::AfterHead) => {
                Some(Phase::InBody)
            }
            _ => None,
        };
        let Some(next) = next else {
            let fix = delete(tag.span.clone(), "remove it");
            let message = format!(
                "HTML ignores <{}> here, or merges its attributes with the first one",
                tag.name
            );
            self.issues.add(
                IssueCode::DuplicateDocumentTag,
                self.source,
                tag.span.clone(),
                message,
                fix,
            );
            return;
        };
        if let Some(attribute) =
            tag.attributes.iter().find(|attribute| attribute.name == "data-od-repeat")
        {
            let fix = delete(attribute.span.clone(), "remove the repeat");
            let message = format!("<{}> stands once in a document", tag.name);
            self.issues.add(
                IssueCode::RepeatPlacement,
                self.source,
                attribute.span.clone(),
                message,
                fix,
            );
        }
        self.phase = next;
        self.attributes(tag, Owner { element: &tag.name, space: Space::Html });
        self.emitter.copy_to(tag.span.end);
    }

    pub(crate) fn head_is_explicit(&self) -> bool {
        self.head_tag && self.phase == Phase::InHead
    }

    /// Refuses a tag whose name no element can have.
    pub(crate) fn refuse_odd_name(&mut self, tag: &Tag<'s>) -> bool {
        let is_plain =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.');
        if tag.name.bytes().all(is_plain) {
            return false;
        }
        if let Some(open) = binding::next_open(self.source, tag.name_span.clone()) {
            let end = binding::braces(self.source, open, open..tag.span.end)
                .map_or(tag.name_span.end, |braces| braces.end);
            let fix = delete(open..end, "write the tag name literally");
            self.issues.add(
                IssueCode::BindingInTag,
                self.source,
                tag.span.clone(),
                "tag names are literal",
                fix,
            );
            return true;
        }
        let fix =
            replace(tag.span.start..tag.span.start + 1, "&lt;", "write &lt; for a less-than sign");
        let message = format!("`{}` is no tag name", shorten(&tag.name));
        self.issues.add(IssueCode::MalformedTag, self.source, tag.span.clone(), message, fix);
        true
    }

    /// Refuses an element that may not be in a template.
    pub(crate) fn refuse_element(&mut self, tag: &Tag<'s>, traits: Traits) {
        let name = self.source[tag.name_span.clone()].to_owned();
        let message = format!("<{name}> is not allowed in templates");
        if traits.has(Traits::UNWRAPPED) {
            let fix = delete(tag.span.clone(), format!("remove <{name}> and its end tag"));
            let draft = self.issues.add(
                IssueCode::RefusedElement,
                self.source,
                tag.span.clone(),
                message,
                fix,
            );
            if !tag.self_closing || self.in_foreign() {
                self.unwrapped.push((tag.name.clone(), draft));
            }
            return;
        }
        let end = if traits.has(Traits::VOID) || (tag.self_closing && self.in_foreign()) {
            tag.span.end
        } else if tag.name == "plaintext" {
            self.source.len()
        } else {
            self.scanner.raw_end(tag.span.end, &tag.name).map_or(self.source.len(), |end| end.end)
        };
        let fix = delete(tag.span.start..end, format!("remove the <{name}> element"));
        self.issues.add(IssueCode::RefusedElement, self.source, tag.span.clone(), message, fix);
        self.scanner.seek(end);
    }

    /// Reads the content of title, textarea or style up to its end tag.
    pub(crate) fn raw_text(&mut self, tag: &Tag<'s>) {
        let start = tag.span.end;
        // Without its end tag the element swallows the rest of the page, bindings included, so
        // reading on would report faults that are not there once the end tag is.
        let Some(end) = self.scanner.raw_end(start, &tag.name) else {
            let name = &tag.name;
            let fix = insert(
                self.source.len(),
                format!("</{name}>"),
                format!("insert </{name}> where it ends"),
            );
            let message = format!("<{name}> has no end tag: everything behind it is its text");
            self.issues.add(
                IssueCode::UnclosedRawText,
                self.source,
                tag.span.clone(),
                message,
                fix,
            );
            self.stopped = true;
            return;
        };
        let content = start..end.start;
        if tag.name == "style" {
            if css::loads_something(&self.source[content.clone()]) {
                let message =
                    "the preview loads nothing from elsewhere: @import and url() have no effect";
                self.warnings.add(WarningCode::WillNotLoad, self.source, tag.span.clone(), message);
            }
            self.refuse_style_bindings(content);
        } else {
            if tag.name == "textarea" && self.source[content.clone()].starts_with("{{") {
                self.emitter.push("\n");
            }
            self.bind_text(content, ends_in_end_tag);
        }
        self.scanner.seek(end.start);
        if let Some(Token::End(end_tag)) = self.scanner.next() {
            self.pop_explicit(&end_tag);
        }
    }

    /// Leaves a `<link>` out or refuses it; says whether the element is gone.
    pub(crate) fn drop_or_refuse_meta_and_link(&mut self, tag: &Tag<'s>) -> bool {
        match &*tag.name {
            "meta" => self.refuse_meta(tag),
            "link" => self.drop_or_refuse_link(tag),
            _ => false,
        }
    }

    fn refuse_meta(&mut self, tag: &Tag<'s>) -> bool {
        for attribute in &tag.attributes {
            let value = &self.source[attribute.value.clone()];
            let (span, message, fix) = match &*attribute.name {
                "http-equiv" => (
                    &tag.span,
                    "http-equiv sets headers, redirects or policies",
                    delete(tag.span.clone(), "remove the element; the daemon sets the headers"),
                ),
                "name" if self.may_be_referrer(attribute.value.clone()) => (
                    &tag.span,
                    "a referrer policy would undo the header that keeps the preview's address, \
                     which holds a ticket, from other hosts",
                    delete(tag.span.clone(), "remove the element"),
                ),
                "charset" if !value.eq_ignore_ascii_case("utf-8") => {
                    let utf8 = "charset=\"utf-8\"";
                    let fix = replace(attribute.span.clone(), utf8, format!("write {utf8}"));
                    (&attribute.span, "templates are UTF-8", fix)
                }
                _ => continue,
            };
            self.issues.add(IssueCode::MetaRefused, self.source, span.clone(), message, fix);
            return true;
        }
        false
    }

    /// Returns whether the name of a `<meta>` is, or for some data could be, `referrer`.
    fn may_be_referrer(&self, name: Range<usize>) -> bool {
        binding::next_open(self.source, name.clone()).is_some()
            || reference::decode(&self.source[name])
                .map_or(true, |name| name.trim().eq_ignore_ascii_case("referrer"))
    }

    fn drop_or_refuse_link(&mut self, tag: &Tag<'s>) -> bool {
        let value = |name: &str| {
            tag.attributes
                .iter()
                .find(|attribute| attribute.name == name)
                .map(|attribute| &self.source[attribute.value.clone()])
        };
        let rel = value("rel").unwrap_or_default().to_ascii_lowercase();
        let bound = tag
            .attributes
            .iter()
            .any(|attribute| binding::next_open(self.source, attribute.value.clone()).is_some());
        let words = || rel.split_ascii_whitespace();
        let hints =
            ["preconnect", "dns-prefetch", "prefetch", "preload", "modulepreload", "prerender"];
        if words().any(|word| hints.contains(&word)) {
            self.refuse_joining(tag.span.start);
            self.emitter.copy_to(tag.span.start);
            self.emitter.skip_to(tag.span.end);
            let message = format!("rel=\"{rel}\" is left out: the preview contacts no other host");
            self.warnings.add(WarningCode::LinkDropped, self.source, tag.span.clone(), message);
            return true;
        }
        let known = words().all(|word| matches!(word, "stylesheet" | "icon" | "shortcut"))
            && words().any(|word| word != "shortcut");
        if known && !bound && value("href").is_some() {
            let message = "the preview loads nothing from elsewhere: put styles into <style>";
            self.warnings.add(WarningCode::WillNotLoad, self.source, tag.span.clone(), message);
            return false;
        }
        let fix = delete(tag.span.clone(), "remove the element");
        let message = if bound {
            "the attributes of <link> are literal"
        } else {
            "only style sheets and icons can be linked"
        };
        self.issues.add(IssueCode::LinkRefused, self.source, tag.span.clone(), message, fix);
        true
    }
}
