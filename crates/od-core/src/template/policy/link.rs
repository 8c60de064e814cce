//! Links: where they lead, and the attributes that they get for it.

use super::attribute::{ATTRIBUTES_MAX, Owner};
use super::url::{self, Destination};
use crate::template::program::{Guard, Op};
use crate::template::tokenize::reference;
use crate::template::tokenize::scanner::{Attribute, Tag};
use crate::template::tree::compiler::Compiler;
use crate::template::tree::element::Space;

/// The attributes that links to other hosts get.
pub(crate) const LINK_ATTRIBUTES: &str = " target=\"_blank\" rel=\"noopener noreferrer\"";

/// The destination of a link, as far as the template says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Link {
    None,
    External,
    Bound,
}

impl<'s> Compiler<'s> {
    /// Finds where a link leads. On every MathML element `href` makes a link.
    pub(super) fn link(&self, tag: &Tag<'s>, owner: Owner<'_>) -> Link {
        let is_link = match owner.space {
            Space::Html => matches!(owner.element, "a" | "area"),
            Space::Svg => owner.element == "a",
            Space::Math => true,
        };
        if !is_link {
            return Link::None;
        }
        let mut link = Link::None;
        for attribute in tag.attributes.iter().take(ATTRIBUTES_MAX) {
            if !is_href(attribute) {
                continue;
            }
            if self.is_bound(attribute) {
                if link == Link::None {
                    link = Link::Bound;
                }
                continue;
            }
            let decoded =
                reference::decode(&self.source[attribute.value.clone()]).unwrap_or_default();
            if url::check(Guard::Url, &decoded) == Ok(Destination::External) {
                link = Link::External;
            }
        }
        link
    }

    pub(super) fn link_attributes(&mut self, tag: &Tag<'s>, link: Link) {
        match link {
            Link::None => {}
            Link::External => self.emitter.push(LINK_ATTRIBUTES),
            Link::Bound => {
                let own = tag.attributes.iter().filter(|attribute| is_link_attribute(attribute));
                let text: String = own
                    .map(|attribute| format!(" {}", &self.source[attribute.span.clone()]))
                    .collect();
                self.emitter.flush();
                let start = self.emitter.literal_end() as u32;
                self.emitter.push_aside(&text);
                let end = self.emitter.literal_end() as u32;
                self.emitter.op(Op::LinkAttributes { start, end });
            }
        }
    }
}

pub(super) fn is_href(attribute: &Attribute<'_>) -> bool {
    matches!(&*attribute.name, "href" | "xlink:href")
}

pub(super) fn is_link_attribute(attribute: &Attribute<'_>) -> bool {
    matches!(&*attribute.name, "target" | "rel")
}
