//! Compilation: one pass over the template that follows HTML's tree construction closely enough to
//! know where every binding and every repeated element ends up, and refuses what HTML would
//! restructure.

use std::borrow::Cow;
use std::ops::Range;

use super::block::{ElseChain, OpenBlock};
use super::open_elements::OpenElement;
use crate::credential;
use crate::template::expression::binding;
use crate::template::issue::{DraftId, Edit, Fix, IssueCode, Issues, delete, insert, replace};
use crate::template::program::{Emitter, Program};
use crate::template::tokenize::position::LineCursor;
use crate::template::tokenize::scanner::{Scanner, Token};
use crate::template::warning::{WarningCode, WarningDrafts, Warnings};
use crate::template::{Grammar, TEMPLATE_BYTES_MAX, Template, TemplateIssue};

/// The part of the document that is being read; a coarse form of HTML's insertion modes.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Phase {
    BeforeHtml,
    BeforeHead,
    InHead,
    AfterHead,
    InBody,
    AfterBody,
}

/// The state of one compilation.
#[derive(Debug)]
pub(crate) struct Compiler<'s> {
    pub(crate) source: &'s str,
    pub(crate) scanner: Scanner<'s>,
    pub(crate) issues: Issues,
    pub(crate) warnings: WarningDrafts,
    pub(crate) emitter: Emitter<'s>,
    pub(crate) lines: LineCursor<'s>,
    pub(crate) phase: Phase,
    pub(crate) open: Vec<OpenElement<'s>>,
    pub(crate) grammar: Grammar,
    /// The open elements that are repeated or conditional, outermost first.
    pub(crate) blocks: Vec<OpenBlock>,
    /// The names of the rows of the open repeats, outermost first.
    pub(crate) aliases: Vec<Box<str>>,
    /// The open repeats by their index in the program, outermost first.
    pub(crate) repeats: Vec<usize>,
    /// The block that ended last, until something other than white space or a comment follows.
    pub(crate) else_chain: Option<ElseChain>,
    /// The elements that the current start tag closed by implication, innermost first.
    pub(crate) closed_names: Vec<Cow<'s, str>>,
    /// A refusal whose fix also closes what it wraps around the repeated element.
    pub(crate) repeat_wrapper: Option<(DraftId, String)>,
    /// Refused elements whose tags the fix removes.
    pub(crate) unwrapped: Vec<(Cow<'s, str>, DraftId)>,
    /// The end tags of body and html.
    pub(crate) body_ends: Vec<Range<usize>>,
    /// A start tag of pre, listing or textarea stands right before.
    pub(crate) at_eaten_newline: bool,
    /// Something other than comments and white space has been read.
    pub(crate) content_began: bool,
    /// The head has a start tag.
    pub(crate) head_tag: bool,
    pub(crate) stopped: bool,
}

/// Compiles a template, or returns every refusal.
pub(crate) fn compile(
    source: &str,
    grammar: Grammar,
) -> Result<(Template, Warnings), Vec<TemplateIssue>> {
    let mut issues = Issues::default();
    if source.len() > TEMPLATE_BYTES_MAX {
        let end =
            (0..=TEMPLATE_BYTES_MAX).rev().find(|at| source.is_char_boundary(*at)).unwrap_or(0);
        let message = format!("the template has {} bytes", source.len());
        let fix = delete(
            end..source.len(),
            format!("shorten it to {TEMPLATE_BYTES_MAX} bytes; put long lists into data"),
        );
        issues.add(IssueCode::TooLarge, source, 0..0, message, fix);
        return Err(issues.finish(source));
    }
    // A byte order mark is dropped by decoders, so it is not copied either.
    let start = source.len() - source.trim_start_matches('\u{FEFF}').len();
    let mut compiler = Compiler {
        source,
        scanner: Scanner::new(source, start),
        issues,
        warnings: WarningDrafts::default(),
        emitter: Emitter::new(source, start),
        lines: LineCursor::new(source),
        phase: Phase::BeforeHtml,
        open: Vec::new(),
        grammar,
        blocks: Vec::new(),
        aliases: Vec::new(),
        repeats: Vec::new(),
        else_chain: None,
        closed_names: Vec::new(),
        repeat_wrapper: None,
        unwrapped: Vec::new(),
        body_ends: Vec::new(),
        at_eaten_newline: false,
        content_began: false,
        head_tag: false,
        stopped: false,
    };
    compiler.refuse_nul();
    compiler.refuse_credentials();
    compiler.run();
    compiler.finish()
}

impl<'s> Compiler<'s> {
    fn run(&mut self) {
        while !self.stopped && !self.issues.is_full() {
            let Some(token) = self.scanner.next() else { break };
            let after_newline_eater = std::mem::take(&mut self.at_eaten_newline);
            if self.blocks.last().is_some_and(OpenBlock::is_chart)
                && self.refuse_chart_content(&token)
            {
                continue;
            }
            match token {
                Token::Text(span) => {
                    if self.else_chain.is_some()
                        && !self.source[span.clone()].trim_ascii().is_empty()
                    {
                        self.else_chain = None;
                    }
                    self.text(span, after_newline_eater);
                }
                Token::Start(tag) => {
                    self.start_tag(&tag, after_newline_eater);
                    self.scanner.recycle(tag);
                }
                Token::End(tag) => {
                    self.else_chain = None;
                    self.end_tag(&tag);
                    self.scanner.recycle(tag);
                }
                Token::Comment(span) => self.comment(span),
                Token::Doctype(span) => self.doctype(span),
                Token::BogusComment(span) => {
                    let message = "HTML reads this as a comment";
                    self.refuse_whole(IssueCode::BogusComment, span, message);
                }
                // `<svg><![CDATA[a<b]]>` is text, the same outside svg and math is a comment: a binding
                // in it would be shown in one place and lost in the other.
                Token::Cdata(span) => {
                    let message = "HTML reads CDATA as a comment, or as text in svg and math";
                    self.refuse_whole(IssueCode::Cdata, span, message);
                }
                Token::UnclosedComment(span) => {
                    let fix = insert(span.end, "-->", "insert --> where the comment ends");
                    self.issues.add(
                        IssueCode::UnclosedComment,
                        self.source,
                        span,
                        "the comment never ends",
                        fix,
                    );
                }
                Token::UnclosedTag(span) => {
                    let fix = replace(
                        span.start..span.start + 1,
                        "&lt;",
                        "end the tag with >, or write &lt; for a less-than sign",
                    );
                    self.issues.add(
                        IssueCode::UnclosedTag,
                        self.source,
                        span,
                        "the tag never ends",
                        fix,
                    );
                }
            }
        }
    }

    fn finish(mut self) -> Result<(Template, Warnings), Vec<TemplateIssue>> {
        self.close_document();
        if !self.issues.is_empty() {
            return Err(self.issues.finish(self.source));
        }
        let mut program: Program = self.emitter.finish();
        program.rows_max = match self.grammar {
            Grammar::V1 => usize::MAX,
            Grammar::V2 => crate::limits::TEMPLATE_ROWS.max(),
        };
        let warnings = self.warnings.finish(self.source);
        Ok((Template { source: self.source.into(), program }, warnings))
    }

    /// Refuses NUL characters, which vanish from text and become U+FFFD in attributes (Chromium 156):
    /// one escaper could not be right for both.
    fn refuse_nul(&mut self) {
        if let Some(at) = memchr::memchr(0, self.source.as_bytes()) {
            let edits = self.source.match_indices('\0').take(1000);
            let edits = edits
                .map(|(at, _)| Edit { start: at, end: at + 1, text: String::new(), order: 0 })
                .collect();
            let fix = Fix { summary: "remove the NUL characters".to_owned(), edits };
            self.issues.add(
                IssueCode::NulCharacter,
                self.source,
                at..at + 1,
                "the template has a NUL character",
                fix,
            );
            self.stopped = true;
        }
    }

    /// Refuses what looks like a credential; the first few are enough to act on.
    fn refuse_credentials(&mut self) {
        const CREDENTIALS_MAX: usize = 5;
        let mut from = 0;
        for _ in 0..CREDENTIALS_MAX {
            let Some((kind, range)) = credential::find(&self.source[from..]) else { return };
            let span = from + range.start..from + range.end;
            from = span.end;
            let fix = replace(span.clone(), "", "remove it");
            let message = format!("this looks like a credential ({})", kind.as_str());
            // The refusal itself must not repeat the secret.
            self.issues.add(
                IssueCode::Credential,
                self.source,
                span.start..span.start,
                message,
                fix,
            );
        }
    }

    fn refuse_whole(&mut self, code: IssueCode, span: Range<usize>, message: &str) {
        let fix = delete(span.clone(), "remove it");
        self.issues.add(code, self.source, span, message, fix);
    }

    fn comment(&mut self, span: Range<usize>) {
        let mut from = span.start;
        while let Some(open) = binding::next_open(self.source, from..span.end) {
            let end = binding::braces(self.source, open, open..span.end)
                .map_or(open + 2, |braces| braces.end);
            let message = "bindings in comments are not filled: it stays as it is";
            self.warnings.add(WarningCode::BindingInComment, self.source, open..end, message);
            from = end;
        }
    }

    fn doctype(&mut self, span: Range<usize>) {
        let has_binding = binding::next_open(self.source, span.clone()).is_some();
        if has_binding {
            let fix = replace(span.clone(), "<!doctype html>", "write <!doctype html>");
            self.issues.add(
                IssueCode::BindingInDoctype,
                self.source,
                span,
                "the doctype is literal",
                fix,
            );
        } else if self.phase != Phase::BeforeHtml || self.content_began {
            self.refuse_whole(IssueCode::DoctypeMisplaced, span, "HTML ignores a doctype here");
        }
        self.content_began = true;
    }
}
