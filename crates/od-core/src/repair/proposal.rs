//! A proposal: a refused request, the changes that repair it, and each issue with its part of them.

use std::collections::BTreeSet;

use super::change::{Change, parent_of};
use super::fields;
use super::names::Operation;
use super::template;
use super::text_edits::{TextEdit, TextEdits};
use crate::artifact::{ArtifactState, page_grammar};
use crate::error::Issue;
use crate::json::{Pointer, Value};
use crate::limits;

/// A refused request under repair.
///
/// Whoever refuses hands in the issues, asks for the repaired body, judges it again, and hands in
/// what is still wrong, a few times: the fixes of one answer are those that work together.
#[derive(Debug)]
pub struct Proposal {
    operation: Operation,
    body: Value,
    template: Option<TextEdits>,
    reported: Vec<Reported>,
}

#[derive(Debug)]
struct Reported {
    issue: Issue,
    /// The changes of the body, in words.
    told: Vec<String>,
    /// What the page will show differently.
    notes: BTreeSet<String>,
}

impl Proposal {
    /// The most rounds of repair: each one shows what the faults before it hid.
    pub const ROUNDS: usize = 6;

    /// Begins with a body as it was sent.
    #[must_use]
    pub fn new(operation: Operation, body: &Value) -> Self {
        Self { operation, body: body.clone(), template: None, reported: Vec::new() }
    }

    /// Returns the body as repaired so far.
    #[must_use]
    pub fn body(&self) -> &Value {
        &self.body
    }

    /// Repairs what the issues name; `false` if none of them can be.
    /// `kept` is what an update leaves as it is.
    pub fn mend(&mut self, issues: Vec<Issue>, kept: Option<&ArtifactState>) -> bool {
        let mut owners = Vec::new();
        for issue in issues {
            if let Some(owner) = self.report(&issue) {
                owners.push((owner, issue));
            }
        }
        let before = self.body.clone();
        let mut changed = false;
        let is_sheet = |issue: &Issue, body: &Value| {
            is_style(issue) && body.pointer(&issue.path).is_some_and(Value::is_string)
        };
        let of_body = |issue: &Issue| !is_of_template(issue) && !is_sheet(issue, &before);
        for (owner, issue) in owners.iter().filter(|(_, issue)| of_body(issue)) {
            let read = issue.fix.as_deref().and_then(|fix| Change::read(fix, &issue.path));
            let mut changes = fields::mend(issue, &self.body, self.operation);
            if changes.is_empty() {
                changes.extend(read);
            }
            let keeps = |change: &Change| !matches!(change, Change::Remove { .. });
            let is_kept = issue.code == "unknown_field" && changes.iter().all(keeps);
            if let Some(note) = fields::note(issue, &self.body).filter(|_| !is_kept) {
                self.reported[*owner].notes.insert(note.to_owned());
            }
            for change in changes {
                changed |= self.change(*owner, &change);
            }
        }
        self.adopt_template();
        changed |= self.adopt_styles(&owners);
        changed |= self.rename_in_template(&before, &owners);
        let of_template: Vec<(usize, Issue)> =
            owners.into_iter().filter(|(_, issue)| is_of_template(issue)).collect();
        if !of_template.is_empty() {
            changed |= self.mend_template(&of_template, kept);
        }
        changed
    }

    /// Returns the issues, each with the fix that belongs to it. `holds` says that the repaired body
    /// was judged and nothing was wrong with it.
    #[must_use]
    pub fn finish(self, holds: bool) -> Vec<Issue> {
        let Self { template, mut reported, .. } = self;
        let instructions = template.map(|it| it.instructions()).unwrap_or_default();
        for instruction in instructions {
            let count = reported.len();
            let mut owners = instruction.owners.into_iter().filter(|owner| *owner < count);
            let Some(first) = owners.next() else { continue };
            let of_template = is_of_template(&reported[first].issue);
            let words = if of_template {
                instruction.words
            } else {
                format!("template {}", instruction.words)
            };
            reported[first].told.push(words);
            for other in owners {
                let here = format!("see line {}", instruction.line);
                if reported[other].told.is_empty() {
                    reported[other].notes.insert(here);
                }
            }
        }
        if holds {
            reported = without_echoes(reported);
        }
        let mut issues: Vec<Issue> =
            reported.into_iter().map(|reported| reported.told(holds)).collect();
        shorten_repeated(&mut issues);
        issues
    }

    /// Notes an issue, or finds the one that said the same before.
    fn report(&mut self, issue: &Issue) -> Option<usize> {
        let same = |it: &Reported| {
            it.issue.code == issue.code
                && it.issue.path == issue.path
                && it.issue.message == issue.message
        };
        if let Some(known) = self.reported.iter().position(same) {
            return Some(known);
        }
        if self.reported.len() >= limits::JSON_FAULTS.max() {
            return None;
        }
        self.reported.push(Reported {
            issue: issue.clone(),
            told: Vec::new(),
            notes: BTreeSet::new(),
        });
        Some(self.reported.len() - 1)
    }

    fn change(&mut self, owner: usize, change: &Change) -> bool {
        if !change.apply(&mut self.body) {
            return false;
        }
        let words = change.words(&self.reported[owner].issue.path);
        self.reported[owner].told.push(words);
        true
    }

    /// Takes the template over once it stands where it belongs.
    fn adopt_template(&mut self) {
        if self.template.is_none() {
            let html = self.body.get("templateHtml").and_then(Value::as_str);
            self.template = html.map(|html| TextEdits::new(html.to_owned()));
        }
    }

    /// Moves style sheets that were sent beside the template into it.
    fn adopt_styles(&mut self, owners: &[(usize, Issue)]) -> bool {
        let mut changed = false;
        for (owner, issue) in owners.iter().filter(|(_, issue)| is_style(issue)) {
            let css = self.body.pointer(&issue.path).and_then(Value::as_str).map(str::to_owned);
            let (Some(css), Some(template)) = (css, &self.template) else { continue };
            let at = template::style_place(&template.text());
            let text = format!("<style>{css}</style>");
            changed |= self.change(*owner, &Change::Remove { at: issue.path.clone() });
            changed |= self.edit_template(vec![TextEdit { span: at..at, text, owner: *owner }]);
        }
        changed
    }

    /// Follows renamed keys of the data into the template and the mapping.
    fn rename_in_template(&mut self, before: &Value, owners: &[(usize, Issue)]) -> bool {
        let mut edits = Vec::new();
        for (owner, issue) in owners.iter().filter(|(_, issue)| issue.code == "denied_key") {
            let Some((_, key)) = parent_of(&issue.path) else { continue };
            if before.pointer(&issue.path).is_none() || self.body.pointer(&issue.path).is_some() {
                continue;
            }
            let to = super::names::allowed_key(&key);
            if let Some(template) = &self.template {
                edits.extend(template::renamed(&template.text(), &key, to, *owner));
            }
        }
        self.edit_template(edits)
    }

    fn mend_template(&mut self, issues: &[(usize, Issue)], kept: Option<&ArtifactState>) -> bool {
        self.adopt_template();
        let Some(template) = &self.template else { return false };
        let html = template.text();
        let own = self.body.pointer("/input/document/dataJson").cloned();
        let data = own.as_ref().or_else(|| kept.map(|kept| kept.data.value()));
        let grammar = page_grammar(&self.body, kept);
        let mended = template::mend(&html, data, grammar, issues);
        for (owner, note) in mended.notes {
            if let Some(reported) = self.reported.get_mut(owner) {
                reported.notes.insert(note);
            }
        }
        let mut changed = false;
        if own.is_some() {
            for (owner, pointer, value) in mended.data {
                let at = format!("/input/document/dataJson{pointer}");
                changed |= self.change(owner, &Change::Write { at, value });
            }
        }
        self.edit_template(mended.edits) || changed
    }

    fn edit_template(&mut self, edits: Vec<TextEdit>) -> bool {
        let Some(template) = &mut self.template else { return false };
        if edits.is_empty() || !template.apply(edits) {
            return false;
        }
        let text = template.text();
        if let Some(Value::String(html)) = self.body.get_mut("templateHtml") {
            *html = text;
        }
        true
    }
}

/// Leaves out what a fix beside it mends: a further fault of the same line or of the same object. The
/// repaired body was judged without it.
fn without_echoes(reported: Vec<Reported>) -> Vec<Reported> {
    let place = |it: &Reported| match is_of_template(&it.issue) {
        true => it.issue.path.split(':').nth(1).unwrap_or_default().to_owned(),
        false => parent_of(&it.issue.path).map_or_else(String::new, |(above, _)| above.to_owned()),
    };
    let told: BTreeSet<String> =
        reported.iter().filter(|it| !it.told.is_empty()).map(place).collect();
    let is_echo = |it: &Reported| {
        it.told.is_empty()
            && it.notes.iter().all(|note| note.starts_with("see line"))
            && told.contains(&place(it))
    };
    reported.into_iter().filter(|it| !is_echo(it)).collect()
}

impl Reported {
    /// Returns the issue with its fix in words: what to write first, then what to know.
    fn told(self, holds: bool) -> Issue {
        let Self { mut issue, told, notes } = self;
        let notes: Vec<&str> = notes.iter().map(String::as_str).collect();
        // A limit is printed beside its fix: one text that is short enough does not say how long the
        // next may be.
        let is_limit = issue.code.contains("too_");
        if told.is_empty() && notes.is_empty() {
            if holds {
                issue.fix = Some("the other fixes mend it".to_owned());
                issue.want = issue.want.filter(|_| is_limit);
            }
            return issue;
        }
        // The rewritten line says what is wanted: repeating the rule beside it costs more than it tells.
        if !told.is_empty() && !is_limit {
            (issue.want, issue.got) = (None, None);
        }
        let note = match (told.is_empty(), notes.is_empty()) {
            (_, true) => String::new(),
            (true, false) => notes.join("; "),
            (false, false) => format!(" ({})", notes.join("; ")),
        };
        issue.fix = Some(format!("{}{note}", told.join("; ")));
        issue
    }
}

/// Names the rule alone where a template breaks one again: the first issue of it says what it means.
fn shorten_repeated(issues: &mut [Issue]) {
    let mut known: BTreeSet<String> = BTreeSet::new();
    for issue in issues.iter_mut().filter(|issue| is_of_template(issue)) {
        let Some((rule, _)) = issue.message.split_once(": ") else { continue };
        let rule = rule.to_owned();
        if !known.insert(rule.clone()) {
            issue.message = rule;
        }
    }
}

/// Returns whether an issue is about a style sheet in a field of its own.
fn is_style(issue: &Issue) -> bool {
    let key = parent_of(&issue.path).map(|(_, key)| super::names::fold(&key)).unwrap_or_default();
    issue.code == "unknown_field"
        && matches!(key.as_str(), "css" | "styles" | "style" | "stylesheet" | "templatecss")
}

fn is_of_template(issue: &Issue) -> bool {
    issue.path.starts_with("template.html")
}

/// Returns a pointer below the data for a path of the template: `data.a.b` is `/a/b`.
pub(super) fn data_pointer(path: &str) -> Option<String> {
    let rest = path.strip_prefix("data.")?;
    Some(rest.split('.').fold(Pointer::root(), |at, step| at.key(step)).into_string())
}
