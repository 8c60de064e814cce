//! Attribute values that are checked: URLs and CSS.

use std::borrow::Cow;
use std::ops::Range;

use super::attribute::Owner;
use super::css::CssFollower;
use super::url::{self, Destination, UrlFault};
use crate::template::expression::binding::{self, ParsedBinding};
use crate::template::expression::dialect;
use crate::template::expression::pipe::Pipes;
use crate::template::issue::{IssueCode, delete, replace, shorten};
use crate::template::program::{Guard, Guarded, Op, Part, Place, Source};
use crate::template::tokenize::reference;
use crate::template::tokenize::scanner::{Attribute, Tag};
use crate::template::tree::compiler::Compiler;
use crate::template::warning::WarningCode;

impl<'s> Compiler<'s> {
    pub(crate) fn check_literal_url(
        &mut self,
        attribute: &Attribute<'s>,
        guard: Guard,
        owner: Owner<'_>,
    ) {
        let value = &self.source[attribute.value.clone()];
        let Some(decoded) = self.decode(attribute.value.clone()) else { return };
        match url::check(guard, &decoded) {
            // An image of its own bytes loads nothing and runs nothing.
            Err(UrlFault::Scheme)
                if owner.element == "img"
                    && &*attribute.name == "src"
                    && url::is_inline_image(&decoded) => {}
            Ok(Destination::Page) => {}
            Ok(Destination::Local | Destination::External) => {
                self.warn_if_loaded(attribute, owner.element);
            }
            Err(fault) => {
                let fix = replace(
                    attribute.value.clone(),
                    "#",
                    "write an http or https URL, a relative path, or #",
                );
                let message = format!("`{}` has {fault}", shorten(value));
                self.issues.add(
                    IssueCode::UrlRefused,
                    self.source,
                    attribute.span.clone(),
                    message,
                    fix,
                );
            }
        }
    }

    fn warn_if_loaded(&mut self, attribute: &Attribute<'s>, element: &str) {
        let loads = matches!(&*attribute.name, "src" | "srcset" | "poster" | "background")
            || matches!(element, "image" | "use" | "feimage");
        if loads {
            let message = "the preview loads nothing from elsewhere: draw with inline SVG";
            self.warnings.add(
                WarningCode::WillNotLoad,
                self.source,
                attribute.span.clone(),
                message,
            );
        }
    }

    /// Decodes literal attribute text, or refuses a reference that the checks do not know.
    fn decode(&mut self, span: Range<usize>) -> Option<Cow<'s, str>> {
        let source = self.source;
        match reference::decode(&source[span.clone()]) {
            Ok(decoded) => Some(decoded),
            Err(unknown) => {
                let at = span.start + unknown.at;
                let reference = at..at + unknown.length;
                let fix = replace(
                    at..at + 1,
                    "&amp;",
                    "write &amp; for an ampersand, or the character itself",
                );
                let message = "a named character reference in a URL or style";
                self.issues.add(IssueCode::UrlRefused, self.source, reference, message, fix);
                None
            }
        }
    }

    pub(crate) fn bind_guarded(
        &mut self,
        tag: &Tag<'s>,
        attribute: &Attribute<'s>,
        guard: Guard,
        is_link: bool,
    ) {
        let end = attribute.value.end;
        let mut from = attribute.value.start;
        let mut parts = Vec::new();
        let mut css_follower = CssFollower::default();
        self.emitter.copy_to(from);
        while let Some(open) = binding::next_open(self.source, from..end) {
            if self.issues.is_full() {
                return;
            }
            let Some(found) = self.read_binding(from, open, end) else { return };
            if !self.literal_part(from..open, &mut parts, &mut css_follower) {
                return;
            }
            match found {
                Ok(found) => {
                    if guard == Guard::Css
                        && self.refuse_in_css(attribute, &found.span, css_follower)
                    {
                        return;
                    }
                    css_follower.pass_value();
                    let name = attribute.name.as_ref().into();
                    let place =
                        if guard == Guard::Css { Place::Style(name) } else { Place::Url(name) };
                    from = found.span.end;
                    let part = self.guarded_part(found, place, guard, tag.name.as_ref().into());
                    parts.push(part);
                }
                Err(end) => from = end,
            }
        }
        if !self.literal_part(from..end, &mut parts, &mut css_follower) {
            return;
        }
        self.warn_if_loaded(attribute, &tag.name);
        let guarded = self.emitter.program.guarded.len() as u32;
        self.emitter.program.guarded.push(Guarded { parts: parts.into(), guard, is_link });
        self.emitter.op(if guard == Guard::Css {
            Op::Style { guarded }
        } else {
            Op::Url { guarded }
        });
        self.emitter.skip_to(end);
    }

    fn guarded_part(
        &mut self,
        mut found: ParsedBinding<'s>,
        place: Place,
        guard: Guard,
        element: Box<str>,
    ) -> Part {
        self.refuse_guarded_format(&mut found, guard);
        let is_piped = found.pipes != Pipes::default();
        let (source, pipes, span) = self.add_source(found, place, element);
        if is_piped {
            let piped = self.piped(source, pipes, &span, false);
            self.emitter.program.piped.push(piped);
            return Part::Piped(self.emitter.program.piped.len() - 1);
        }
        match source {
            Source::Variable(variable) => Part::Variable(variable),
            Source::Binding(binding) => Part::Binding(binding),
        }
    }

    /// Refuses a format where its text would not mean what it says: in a URL, where a browser reads
    /// characters, and most in CSS, where `1,234.5` are two numbers.
    fn refuse_guarded_format(&mut self, found: &mut ParsedBinding<'s>, guard: Guard) {
        let is_css = guard == Guard::Css;
        let Some(format) = found.pipes.format.take_if(|format| !(is_css && format.fits_css()))
        else {
            return;
        };
        let or = found.pipes.or.as_ref().map_or(String::new(), |or| format!(" | or:'{or}'"));
        let text = format!("{{{{{}{}}}}}", found.text, dialect::encode(&or));
        let (message, advice) = if is_css {
            ("CSS cannot read this format", "; in style there are number and percent")
        } else {
            (
                "formats write for people, and a URL is read by machines",
                "; let the source give the URL",
            )
        };
        let fix = replace(found.span.clone(), text.clone(), format!("write {text}{advice}"));
        let _ = format;
        self.issues.add(IssueCode::FormatPlacement, self.source, found.span.clone(), message, fix);
    }

    fn literal_part(
        &mut self,
        span: Range<usize>,
        parts: &mut Vec<Part>,
        css_follower: &mut CssFollower,
    ) -> bool {
        if span.is_empty() {
            return true;
        }
        let Some(decoded) = self.decode(span.clone()) else { return false };
        css_follower.read(&decoded);
        let raw = self.emitter.store(span);
        parts.push(Part::Literal { raw, decoded: decoded.into() });
        true
    }

    fn refuse_in_css(
        &mut self,
        attribute: &Attribute<'s>,
        braces: &Range<usize>,
        css_follower: CssFollower,
    ) -> bool {
        let behind = braces.end..attribute.value.end;
        let end = binding::next_open(self.source, behind.clone()).unwrap_or(behind.end);
        // As CSS reads it; a reference that is not known is refused where the text is taken.
        let following = reference::decode(&self.source[behind.start..end]).unwrap_or_default();
        let Some(fault) = css_follower.fault(&following) else { return false };
        let fix = delete(
            attribute.span.clone(),
            format!("remove {}, or bind a whole CSS value", attribute.name),
        );
        self.issues.add(
            IssueCode::BindingInCss,
            self.source,
            braces.clone(),
            format!("{fault}, so the value cannot be checked"),
            fix,
        );
        true
    }
}
