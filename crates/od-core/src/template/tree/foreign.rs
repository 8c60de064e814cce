//! Elements inside `<svg>` and `<math>`.

use super::compiler::Compiler;
use super::element::{ForeignContent, Space, Traits, foreign_content};
use super::start_tag::Placement;
use crate::template::issue::{DraftId, IssueCode, delete, replace};
use crate::template::tokenize::scanner::Tag;

impl<'s> Compiler<'s> {
    /// Returns whether the current element belongs to SVG or MathML.
    pub(crate) fn in_foreign(&self) -> bool {
        self.current().is_some_and(|open| open.space != Space::Html)
    }

    pub(crate) fn place_foreign(&mut self, tag: &Tag<'s>, traits: Traits) -> Option<Placement> {
        let parent = self.current()?;
        let space = parent.space;
        let parent_name = parent.name.clone();
        match parent.content {
            ForeignContent::Elements => {}
            ForeignContent::Text | ForeignContent::Style | ForeignContent::Refused => {
                let message =
                    format!("<{}> inside <{parent_name}>, which holds text only", tag.name);
                let fix = delete(tag.span.clone(), "remove the tag and its end tag");
                let draft = self.issues.add(
                    IssueCode::MarkupInForeignText,
                    self.source,
                    tag.span.clone(),
                    message,
                    fix,
                );
                if !tag.self_closing && !traits.has(Traits::VOID) {
                    self.unwrapped.push((tag.name.clone(), draft));
                }
                return None;
            }
        }
        let content = foreign_content(space, &tag.name);
        if content == ForeignContent::Refused {
            self.refuse_element(tag, Traits::REFUSED);
            return None;
        }
        let mut placement = Placement { space, content, ..Placement::HTML };
        if traits.has(Traits::BREAKOUT) || matches!(&*tag.name, "font" | "body" | "head" | "html") {
            placement.rename = self.refuse_html_in_foreign(tag, traits, space)?;
        }
        Some(placement)
    }

    /// Refuses an HTML element in a drawing or formula.
    ///
    /// The specification's list of such elements ends the drawing: `<svg><p>x</svg>y` becomes
    /// `<svg></svg><p>xy</p>`. `<font>` does so only with color, face or size; it is refused always,
    /// because nothing in a drawing needs it.
    fn refuse_html_in_foreign(
        &mut self,
        tag: &Tag<'s>,
        traits: Traits,
        space: Space,
    ) -> Option<Option<(&'static str, DraftId)>> {
        let name = &tag.name;
        let message = format!("<{name}> is HTML and would end the drawing or formula around it");
        if traits.has(Traits::VOID) {
            let fix = delete(tag.span.clone(), "remove it");
            self.issues.add(IssueCode::HtmlInForeign, self.source, tag.span.clone(), message, fix);
            return None;
        }
        let in_text =
            self.open.iter().rev().any(|open| matches!(&*open.name, "text" | "tspan" | "textpath"));
        let to = match space {
            Space::Math => "mrow",
            Space::Svg | Space::Html if in_text => "tspan",
            Space::Svg | Space::Html => "g",
        };
        let fix = replace(tag.name_span.clone(), to, format!("write <{to}>"));
        let draft =
            self.issues.add(IssueCode::HtmlInForeign, self.source, tag.span.clone(), message, fix);
        Some((!tag.self_closing).then_some((to, draft)))
    }
}
