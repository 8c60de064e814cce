//! Attributes: which are allowed, what their values may be, what they put into the program.

use super::css::{self};
use super::link::{Link, is_href, is_link_attribute};
use crate::template::Grammar;
use crate::template::expression::{binding, dialect};
use crate::template::issue::{IssueCode, delete, replace, shorten};
use crate::template::program::{Guard, Mark, Place};
use crate::template::tokenize::reference;
use crate::template::tokenize::scanner::{Attribute, Quote, Tag};
use crate::template::tree::chart;
use crate::template::tree::compiler::Compiler;
use crate::template::tree::element::Space;
use crate::template::warning::WarningCode;

pub(super) const ATTRIBUTES_MAX: usize = crate::limits::ATTRIBUTES.max();

/// The element that has the attributes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner<'t> {
    /// In lower case.
    pub(crate) element: &'t str,
    pub(crate) space: Space,
}

/// The place in a start tag where inspection can insert attributes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkPlace {
    pub(crate) at: usize,
    pub(crate) mark: Option<usize>,
    pub(crate) wants_focus: bool,
    /// The chart that the element is.
    pub(crate) chart: Option<usize>,
}

/// The kinds of attribute values.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Ordinary,
    Guarded(Guard),
    /// Never bound.
    Literal,
}

impl<'s> Compiler<'s> {
    /// Checks the attributes of a start tag and puts them into the program.
    pub(crate) fn attributes(&mut self, tag: &Tag<'s>, owner: Owner<'_>) -> MarkPlace {
        let bindings_before = self.emitter.program.bindings.len();
        let link = self.link(tag, owner);
        let chart = if self.grammar == Grammar::V2 { self.chart(tag, owner) } else { None };
        let mut read_to = 0;
        for (index, attribute) in tag.attributes.iter().enumerate() {
            if index == ATTRIBUTES_MAX {
                let span = attribute.span.start..tag.attributes_end;
                let fix = delete(span.clone(), "remove attributes");
                let message = format!("<{}> has {} attributes", tag.name, tag.attributes.len());
                self.issues.add(IssueCode::TooManyAttributes, self.source, span, message, fix);
                break;
            }
            if attribute.span.start < read_to {
                continue;
            }
            if let Some(end) = self.refuse_attribute(tag, index, owner) {
                read_to = end;
            } else if is_directive(&attribute.name)
                || (link != Link::None && is_link_attribute(attribute) && !self.is_bound(attribute))
            {
                self.leave_out(attribute);
            } else {
                self.attribute_value(tag, attribute, owner, link);
            }
        }
        self.emitter.copy_to(tag.attributes_end);
        self.link_attributes(tag, link);
        MarkPlace { chart, ..self.mark(tag, owner, bindings_before) }
    }

    fn mark(&mut self, tag: &Tag<'s>, owner: Owner<'_>, bindings_before: usize) -> MarkPlace {
        let at = self.emitter.literal_end();
        let focusable =
            matches!(owner.element, "a" | "button" | "input" | "select" | "textarea" | "summary")
                || tag.attributes.iter().any(|attribute| attribute.name == "tabindex");
        let mut place = MarkPlace { at, mark: None, wants_focus: !focusable, chart: None };
        let program = &mut self.emitter.program;
        let bindings: Vec<usize> = (bindings_before..program.bindings.len()).collect();
        if !bindings.is_empty() {
            program.marks.push(Mark { at, bindings, wants_focus: place.wants_focus });
            place.mark = Some(program.marks.len() - 1);
        }
        place
    }

    /// Refuses an attribute and returns where to go on.
    fn refuse_attribute(&mut self, tag: &Tag<'s>, index: usize, owner: Owner<'_>) -> Option<usize> {
        let attribute = &tag.attributes[index];
        let name = &*attribute.name;
        if let Some(end) = self.refuse_odd_attribute(tag, attribute) {
            return Some(end);
        }
        let end = attribute.span.end;
        let span = attribute.span.clone();
        if tag.attributes[..index].iter().any(|earlier| earlier.name == attribute.name) {
            let fix = delete(span.clone(), format!("remove the second {name}"));
            let message = format!("{name} stands twice on <{}>; HTML drops the second", tag.name);
            self.issues.add(IssueCode::DuplicateAttribute, self.source, span, message, fix);
            return Some(end);
        }
        let raw = matches!(name, "data-od-html" | "data-od-raw" | "data-od-bind-html");
        if name.starts_with("on") || raw || matches!(name, "srcdoc" | "xml:base") {
            let fix = delete(span.clone(), format!("remove {name}"));
            self.issues.add(
                IssueCode::RefusedAttribute,
                self.source,
                span,
                format!("{name} is not allowed in templates"),
                fix,
            );
            return Some(end);
        }
        if name.starts_with("data-od-") && self.refuse_directive(tag, attribute) {
            return Some(end);
        }
        if self.grammar == Grammar::V2
            && let Some(line) = dialect::attribute_line(name)
        {
            let fix = delete(span.clone(), format!("in its place {line}"));
            let message = format!("{name} is a directive of another template language");
            self.issues.add(IssueCode::UnsupportedDirective, self.source, span, message, fix);
            return Some(end);
        }
        self.refuse_animation(attribute, owner)
    }

    /// Refuses a `data-od-*` attribute that the grammar does not have.
    fn refuse_directive(&mut self, tag: &Tag<'s>, attribute: &Attribute<'s>) -> bool {
        let name = &*attribute.name;
        let span = attribute.span.clone();
        let known = match self.grammar {
            Grammar::V1 => name == "data-od-repeat",
            Grammar::V2 => is_directive(name) && (chart::is_chart(tag) || !chart::is_part(name)),
        };
        if known || name == "data-od-id" {
            return false;
        }

        let value = &self.source[attribute.value.clone()];
        let is_repeat = value.contains(" in data.")
            && !tag.attributes.iter().any(|other| other.name == "data-od-repeat");
        let fix = if is_repeat {
            replace(attribute.name_span.clone(), "data-od-repeat", "write data-od-repeat")
        } else {
            delete(span.clone(), format!("remove {name}"))
        };
        let message = if self.grammar == Grammar::V2 && chart::is_part(name) {
            format!("{name} stands on an element without data-od-chart")
        } else {
            format!("there is no {name}")
        };
        self.issues.add(IssueCode::UnknownDirective, self.source, span, message, fix);
        true
    }

    fn refuse_odd_attribute(&mut self, tag: &Tag<'s>, attribute: &Attribute<'s>) -> Option<usize> {
        let is_plain = |byte: u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.' | b'@')
        };
        let plain = attribute.name.bytes().all(is_plain);
        if !plain && let Some(open) = binding::next_open(self.source, attribute.name_span.clone()) {
            let braces = binding::braces(self.source, open, open..tag.span.end);
            let end =
                braces.map_or(attribute.span.end, |braces| braces.end.max(attribute.span.end));
            let span = attribute.span.start..end.min(tag.span.end - 1);
            let fix = delete(span.clone(), "bind inside the quotes of an attribute value");
            self.issues.add(
                IssueCode::BindingInTag,
                self.source,
                span.clone(),
                "attribute names are literal",
                fix,
            );
            return Some(span.end);
        }
        if attribute.quote == Quote::Unquoted
            && let Some(open) =
                binding::next_open(self.source, attribute.value.start..attribute.value.end)
        {
            let braces = binding::braces(self.source, open, open..tag.span.end - 1);
            let end =
                braces.map_or(attribute.value.end, |braces| braces.end.max(attribute.value.end));
            let value = self.source[attribute.value.start..end].replace('"', "&quot;");
            let fix = replace(
                attribute.value.start..end,
                format!("\"{value}\""),
                "put the value in quotes",
            );
            let message = "a value with spaces would fall apart without quotes";
            self.issues.add(
                IssueCode::BindingUnquoted,
                self.source,
                attribute.span.start..end,
                message,
                fix,
            );
            return Some(end);
        }
        if plain {
            return None;
        }
        let fix = delete(attribute.span.clone(), "remove it, or check the quotes before it");
        let message = format!("`{}` is no attribute name", shorten(&attribute.name));
        self.issues.add(
            IssueCode::MalformedAttribute,
            self.source,
            attribute.span.clone(),
            message,
            fix,
        );
        Some(attribute.span.end)
    }

    fn refuse_animation(&mut self, attribute: &Attribute<'s>, owner: Owner<'_>) -> Option<usize> {
        let animates = owner.element.starts_with("animate") || owner.element == "set";
        if owner.space != Space::Svg || !animates || attribute.name != "attributename" {
            return None;
        }
        let value = &self.source[attribute.value.clone()];
        let decoded = reference::decode(value).unwrap_or_default().trim().to_ascii_lowercase();
        if !decoded.ends_with("href") && !decoded.starts_with("on") && !decoded.is_empty() {
            return None;
        }
        let fix = delete(attribute.span.clone(), "remove attributeName");
        let message = "animations may not change links or event handlers";
        self.issues.add(
            IssueCode::AnimationRefused,
            self.source,
            attribute.span.clone(),
            message,
            fix,
        );
        Some(attribute.span.end)
    }

    pub(super) fn is_bound(&self, attribute: &Attribute<'s>) -> bool {
        binding::next_open(self.source, attribute.value.clone()).is_some()
    }

    fn leave_out(&mut self, attribute: &Attribute<'s>) {
        let bytes = self.source.as_bytes();
        let end = attribute.span.end;
        let mut start = attribute.span.start;
        // The space before it goes too, unless it keeps its neighbours apart.
        if matches!(bytes.get(end), Some(b'>' | b' ' | b'\n')) {
            start = self.source[..start].trim_ascii_end().len();
        }
        self.emitter.copy_to(start);
        self.emitter.skip_to(end);
    }

    fn attribute_value(
        &mut self,
        tag: &Tag<'s>,
        attribute: &Attribute<'s>,
        owner: Owner<'_>,
        link: Link,
    ) {
        let kind = kind(owner, &attribute.name);
        let value = attribute.value.clone();
        let bound = self.is_bound(attribute);
        match kind {
            Kind::Literal if bound => {
                let fix = delete(attribute.span.clone(), "remove it, or write a literal value");
                let name = &self.source[attribute.name_span.clone()];
                let message = format!("{name} on <{}> is literal", tag.name);
                self.issues.add(
                    IssueCode::BindingInAttribute,
                    self.source,
                    attribute.span.clone(),
                    message,
                    fix,
                );
            }
            Kind::Guarded(guard) if bound => {
                let is_link = link == Link::Bound && is_href(attribute);
                self.bind_guarded(tag, attribute, guard, is_link);
            }
            Kind::Ordinary if bound => self.bind_ordinary(tag, attribute),
            Kind::Guarded(Guard::Css) => {
                if css::loads_something(&self.source[value]) {
                    let message = "the preview loads nothing from elsewhere: url() has no effect";
                    self.warnings.add(
                        WarningCode::WillNotLoad,
                        self.source,
                        attribute.span.clone(),
                        message,
                    );
                }
            }
            Kind::Guarded(guard) => self.check_literal_url(attribute, guard, owner),
            Kind::Ordinary | Kind::Literal => {}
        }
    }

    fn bind_ordinary(&mut self, tag: &Tag<'s>, attribute: &Attribute<'s>) {
        let end = attribute.value.end;
        let mut from = attribute.value.start;
        while let Some(open) = binding::next_open(self.source, from..end) {
            let Some(found) = self.read_binding(from, open, end) else { return };
            match found {
                Ok(found) => {
                    from = found.span.end;
                    let place = Place::Attribute(attribute.name.as_ref().into());
                    self.bind(found, place, tag.name.as_ref().into());
                }
                Err(end) => from = end,
            }
            if self.issues.is_full() {
                return;
            }
        }
    }
}

/// Returns whether the attribute is an instruction to the compiler, which the page does not have.
fn is_directive(name: &str) -> bool {
    matches!(name, "data-od-repeat" | "data-od-if" | "data-od-else-if" | "data-od-else")
        || name == "data-od-chart"
        || chart::is_part(name)
}

#[rustfmt::skip]
fn kind(owner: Owner<'_>, name: &str) -> Kind {
    match name {
        "href" | "xlink:href" | "src" | "action" | "formaction" | "poster" | "cite" | "data" | "background" | "manifest"
        | "longdesc" | "lowsrc" | "dynsrc" | "codebase" | "classid" | "profile" | "usemap" => Kind::Guarded(Guard::Url),
        "srcset" | "imagesrcset" => Kind::Guarded(Guard::SrcSet),
        "ping" | "archive" | "attributionsrc" => Kind::Guarded(Guard::UrlList),
        "style" => Kind::Guarded(Guard::Css),
        "fill" | "stroke" | "filter" | "mask" | "clip-path" | "marker" | "marker-start" | "marker-mid" | "marker-end" | "cursor"
            if owner.space == Space::Svg => Kind::Guarded(Guard::Css),
        "http-equiv" | "charset" | "rel" | "target" | "formtarget" | "attributename" | "is" => Kind::Literal,
        _ if is_directive(name) => Kind::Literal,
        _ if name.starts_with("xmlns") => Kind::Literal,
        _ => Kind::Ordinary,
    }
}
