//! The content of a chart's element: there is none, and whatever stands there is refused.

use std::borrow::Cow;

use super::compiler::Compiler;
use crate::template::issue::{DraftId, IssueCode, delete};
use crate::template::tokenize::scanner::{Tag, Token};

/// The content that a chart's element has all the same.
#[derive(Debug, Default)]
pub(crate) struct ChartContent {
    /// The name of the chart's element.
    pub(crate) element: Box<str>,
    /// The refusal, whose fix deletes all of it.
    draft: Option<DraftId>,
    /// The names of the elements that were opened inside, innermost last.
    children: Vec<Box<str>>,
}

impl<'s> Compiler<'s> {
    /// Begins the chart on the element that is about to be opened.
    pub(crate) fn begin_chart(&mut self, tag: &Tag<'s>, chart: usize) {
        self.emitter.op(crate::template::program::Op::Chart { chart: chart as u32 });
        let content = ChartContent { element: tag.name.as_ref().into(), ..ChartContent::default() };
        self.blocks.push(super::block::OpenBlock::chart(self.open.len(), content));
    }

    /// Refuses what stands in a chart; returns whether the token was part of it.
    pub(crate) fn refuse_chart_content(&mut self, token: &Token<'s>) -> bool {
        let Some(content) = self.blocks.last_mut().and_then(|block| block.chart_content()) else {
            return false;
        };
        let span = match token {
            Token::Text(span) if self.source[span.clone()].trim_ascii().is_empty() => {
                return false;
            }
            Token::Text(span) | Token::Cdata(span) => span.clone(),
            Token::Start(tag) => {
                if !tag.self_closing
                    && !super::element::html_traits(&tag.name).has(super::element::Traits::VOID)
                {
                    content.children.push(Cow::as_ref(&tag.name).into());
                }
                tag.span.clone()
            }
            Token::End(tag) => {
                let inner = content.children.iter().rposition(|name| **name == *tag.name);
                match inner {
                    Some(at) => content.children.truncate(at),
                    None => return false,
                }
                tag.span.clone()
            }
            Token::Comment(_)
            | Token::Doctype(_)
            | Token::BogusComment(_)
            | Token::UnclosedComment(_)
            | Token::UnclosedTag(_) => return false,
        };
        match content.draft {
            Some(draft) => self.issues.extend_fix(draft, span, ""),
            None => {
                let message = format!("<{}> is a chart and has content", content.element);
                let fix = delete(
                    span.clone(),
                    "leave the chart empty; a title is data-od-title, other text goes before or behind it",
                );
                let draft =
                    self.issues.add(IssueCode::ChartContent, self.source, span, message, fix);
                content.draft = Some(draft);
            }
        }
        true
    }
}
