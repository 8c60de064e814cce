//! Templates of other languages, rewritten in ours: loops, conditions, and the roots of paths.

pub(super) mod attributes;
mod blocks;
mod code_marks;
mod conditions;
mod expression;
pub(super) mod marks;
pub(super) mod objects;
mod outputs;
mod own_conditions;
mod row_scopes;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use self::expression::Expression;
use self::marks::{Mark, MarkKind};
use self::row_scopes::{Scope, is_alias};
use super::lists::{self, List, follow, place_of_key};
use super::outline::Outline;
use super::roots;
use crate::json::Value;
use crate::template::{Grammar, is_key};

/// Edits of a template that belong together.
#[derive(Debug, Default)]
pub(super) struct Translation {
    pub(super) edits: Vec<(Range<usize>, String)>,
    /// What the page would show differently from what the author wrote, by place.
    pub(super) notes: Vec<(usize, String)>,
}

/// Rewrites what is written in another language; `data` helps to find what names mean.
pub(super) fn translate(source: &str, data: Option<&Value>, grammar: Grammar) -> Translation {
    let none = Value::Null;
    let mut translator = Translator::new(source, data.unwrap_or(&none), grammar);
    translator.unroll_objects();
    translator.loops();
    translator.attributes();
    translator.blocks();
    translator.style_bindings();
    translator.outputs();
    translator.repeat_needed();
    translator.style();
    let Translation { mut edits, mut notes } = translator.done;
    edits.sort_by_key(|(span, _)| (span.start, span.end));
    edits.dedup();
    notes.dedup();
    Translation { edits, notes }
}

/// Returns the conditions of ours that ask for the length of a list, each with the attribute to write
/// in its place.
pub(in crate::repair) fn length_tests(source: &str, data: &Value) -> Vec<(Range<usize>, String)> {
    let mut translator = Translator::new(source, data, Grammar::V2);
    translator.loops();
    translator.attributes();
    let mut edits = translator.done.edits;
    let starts = ["data-od-if=", "data-od-else-if="];
    edits.retain(|(_, text)| starts.iter().any(|start| text.starts_with(start)));
    edits
}

/// A value of a row that no repeat is around: its place and the steps from the row.
#[derive(Clone, Debug)]
struct Need {
    span: Range<usize>,
    steps: Vec<String>,
    /// The formats behind it, with their bar.
    formats: String,
}

struct Translator<'s, 'd> {
    /// The format that it is rewritten in.
    grammar: Grammar,
    outline: Outline<'s>,
    marks: Vec<Mark>,
    data: &'d Value,
    lists: Vec<List<'d>>,
    scopes: Vec<Scope>,
    done: Translation,
    /// Style rules that conditions need.
    rules: BTreeSet<String>,
    needs: BTreeMap<(String, String), Vec<Need>>,
}

/// A pair of marks around a block, with the marks that divide it.
struct Block {
    open: usize,
    dividers: Vec<usize>,
    close: usize,
}

impl<'s, 'd> Translator<'s, 'd> {
    fn new(source: &'s str, data: &'d Value, grammar: Grammar) -> Self {
        let outline = Outline::of(source);
        Self {
            marks: marks::marks(&outline),
            lists: lists::lists(data),
            data,
            scopes: Vec::new(),
            done: Translation::default(),
            rules: BTreeSet::new(),
            needs: BTreeMap::new(),
            outline,
            grammar,
        }
    }
}

impl Translator<'_, '_> {
    /// Pairs the marks that open blocks with those that close them.
    fn paired(&self) -> Vec<Block> {
        let mut found = Vec::new();
        let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
        for (index, mark) in self.marks.iter().enumerate() {
            match mark.kind {
                MarkKind::For(_) | MarkKind::If(..) | MarkKind::Section(..) => {
                    open.push((index, Vec::new()));
                }
                MarkKind::Else(_) => {
                    if let Some((_, dividers)) = open.last_mut() {
                        dividers.push(index);
                    }
                }
                MarkKind::Close => {
                    if let Some((open, dividers)) = open.pop() {
                        found.push(Block { open, dividers, close: index });
                    }
                }
                MarkKind::Output(..) | MarkKind::Other => {}
            }
        }
        found.sort_by_key(|block| self.marks[block.open].span.start);
        found
    }

    /// Returns the path of ours that an expression names, or the repeat that it lacks.
    fn path(&mut self, text: &str, span: &Range<usize>) -> Option<String> {
        let Expression { steps, of_row, of_root, .. } = expression::read(text);
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        if steps.iter().any(|step| !is_key(step) && step.parse::<usize>().is_err()) {
            return None;
        }
        let scopes: Vec<Scope> =
            self.scopes.iter().filter(|scope| scope.range.contains(&span.start)).cloned().collect();
        let dotted = |root: &str, steps: &[&str]| [&[root], steps].concat().join(".");
        if of_row && let Some(scope) = scopes.last() {
            return Some(dotted(&scope.alias, &steps));
        }
        let (first, rest) = match steps.split_first() {
            Some((first, rest)) => (*first, rest),
            None => return None,
        };
        if first == "data"
            && let Some(scope) =
                scopes.iter().rev().find(|it| it.written.as_deref() == Some("data"))
        {
            return Some(dotted(&scope.alias, rest));
        }
        if first == "data" && !rest.is_empty() && !of_row {
            return Some(dotted("data", rest));
        }
        let named =
            |scope: &&Scope| scope.alias == first || scope.written.as_deref() == Some(first);
        if let Some(scope) = scopes.iter().rev().find(named) {
            return Some(dotted(&scope.alias, rest));
        }
        if of_root || follow(self.data, &steps).is_some() && scopes.is_empty() {
            return Some(dotted("data", &steps));
        }
        if let Some(scope) = scopes.last() {
            let list = self.lists.iter().find(|list| list.path == scope.list);
            if list.is_some_and(|list| list.has(&steps)) {
                return Some(dotted(&scope.alias, &steps));
            }
            // Another name for the row: `item.name` in a repeat of `row`.
            if !rest.is_empty() && list.is_some_and(|list| list.has(rest)) {
                return Some(dotted(&scope.alias, rest));
            }
            if follow(self.data, &steps).is_some() {
                return Some(dotted("data", &steps));
            }
            if list.is_none_or(|list| list.rows.is_empty()) {
                return Some(dotted(&scope.alias, &steps));
            }
        }
        if scopes.is_empty() && self.needs_repeat(first, rest, &steps, of_row, span) {
            return None;
        }
        if let Some(path) =
            place_of_key(self.data, steps[steps.len() - 1]).filter(|_| steps.len() == 1)
        {
            return Some(path);
        }
        let meant = roots::meant(self.data, &steps);
        let meant: Vec<&str> = meant.iter().flatten().map(String::as_str).collect();
        Some(dotted("data", if meant.is_empty() { &steps } else { &meant }))
    }

    /// Notes a value of a row that stands outside every repeat.
    fn needs_repeat(
        &mut self,
        first: &str,
        rest: &[&str],
        steps: &[&str],
        of_row: bool,
        span: &Range<usize>,
    ) -> bool {
        let by_alias = (!rest.is_empty() && !of_row && self.data.get(first).is_none())
            .then(|| lists::meant(&self.lists, None, Some(first), &[rest.to_vec()]))
            .flatten()
            .filter(|list| list.has(rest) || list.rows.is_empty());
        // `{{tag}}` beside a list `tags` of texts.
        let of_texts = self.lists.iter().find(|list| {
            let is_text = |row: &Value| !row.is_object() && !row.is_array();
            lists::is_one_of(first, list.key()) && list.rows.iter().all(is_text)
        });
        let of_texts = of_texts.filter(|_| rest.is_empty() && !of_row && is_alias(first));
        let (list, alias, steps) = match by_alias.or(of_texts) {
            Some(list) if is_alias(first) => (list, first, rest),
            _ => match self.lists.iter().find(|list| list.has(steps)) {
                Some(list) => (list, "item", steps),
                None => return false,
            },
        };
        let steps = steps.iter().map(|step| (*step).to_owned()).collect();
        let need = Need { span: span.clone(), steps, formats: String::new() };
        self.needs.entry((alias.to_owned(), list.path.clone())).or_default().push(need);
        true
    }

    /// Puts a repeat on the elements that show rows.
    fn repeat_needed(&mut self) {
        for ((alias, list), needs) in std::mem::take(&mut self.needs) {
            for need in &needs {
                let path = [&[alias.clone()][..], &need.steps].concat().join(".");
                self.edit(need.span.clone(), format!("{{{{{path}{}}}}}", need.formats));
            }
            let attribute = format!(" data-od-repeat=\"{alias} in {list}\"");
            for element in self.elements_to_repeat(&needs) {
                match element {
                    Some(element) => {
                        let at = self.outline.elements[element].tag.name_span.end;
                        self.edit(at..at, attribute.clone());
                    }
                    None => {
                        for need in &needs {
                            self.edit(
                                need.span.start..need.span.start,
                                format!("<span{attribute}>"),
                            );
                            self.edit(need.span.end..need.span.end, "</span>".to_owned());
                        }
                    }
                }
            }
        }
    }

    /// Chooses the element that stands for one row: the one around all of its values, or the rows
    /// inside it where that is a container of rows.
    fn elements_to_repeat(&self, needs: &[Need]) -> Vec<Option<usize>> {
        const ROWS: &[&str] = &["tr", "li", "option", "article", "section", "details", "figure"];
        const PARTS: &[&str] = &[
            "td", "th", "span", "b", "i", "strong", "em", "a", "code", "small", "time", "h2", "h3",
            "h4", "p", "dt", "dd", "img", "mark", "data",
        ];
        const CONTAINERS: &[&str] = &[
            "ul", "ol", "tbody", "table", "thead", "select", "body", "html", "main", "dl", "tfoot",
        ];
        let paths: Vec<Vec<usize>> =
            needs.iter().map(|need| self.outline.ancestors(need.span.start)).collect();
        let Some(first) = paths.first() else { return Vec::new() };
        let common = first.iter().find(|it| paths.iter().all(|path| path.contains(it)));
        let Some(common) = common.copied() else { return vec![None] };
        let name = |element: usize| self.outline.name(element);
        if CONTAINERS.contains(&name(common)) {
            // Each child of the container that shows a value is a row of its own.
            let child = |path: &Vec<usize>| {
                let at = path.iter().position(|it| *it == common)?;
                at.checked_sub(1).and_then(|at| path.get(at)).copied()
            };
            let children: BTreeSet<Option<usize>> = paths.iter().map(child).collect();
            return children.into_iter().collect();
        }
        let mut chosen = common;
        let path = &first[first.iter().position(|it| *it == common).unwrap_or(0)..];
        if PARTS.contains(&name(common)) {
            let row = path.iter().find(|it| ROWS.contains(&name(**it)));
            let bounded = path.iter().take_while(|it| !CONTAINERS.contains(&name(**it)));
            if let Some(row) = row.filter(|row| bounded.clone().any(|it| it == *row)) {
                chosen = *row;
            } else if let Some(parent) = path.get(1).filter(|it| name(**it) == "div") {
                chosen = *parent;
            }
        }
        vec![Some(chosen)]
    }

    /// Adds the style rules that conditions were turned into.
    fn style(&mut self) {
        if self.rules.is_empty() {
            return;
        }
        let rules: String = self.rules.iter().map(String::as_str).collect();
        let at = style_place(self.outline.source);
        self.edit(at..at, format!("<style>{rules}</style>"));
    }

    fn edit(&mut self, span: Range<usize>, text: String) {
        if self.outline.source[span.clone()] != text {
            self.done.edits.push((span, text));
        }
    }

    fn note(&mut self, at: usize, note: impl Into<String>) {
        self.done.notes.push((at, note.into()));
    }

    fn rule_if(&mut self) {
        self.rules
            .insert("[data-if=\"\"],[data-if=\"false\"],[data-if=\"0\"]{display:none}".to_owned());
    }

    fn rule_unless(&mut self) {
        self.rules.insert("[data-unless]:not([data-unless=\"\"]):not([data-unless=\"false\"]):not([data-unless=\"0\"]){display:none}".to_owned());
    }
}

/// Returns where a style sheet goes into a page.
pub(in crate::repair) fn style_place(source: &str) -> usize {
    let lower = source.to_ascii_lowercase();
    let find = |text: &str| lower.find(text);
    let behind =
        |text: &str| find(text).and_then(|at| source[at..].find('>').map(|end| at + end + 1));
    find("</head>")
        .or_else(|| find("</title>").map(|at| at + 8))
        .or_else(|| behind("<body"))
        .or_else(|| behind("<!doctype"))
        .unwrap_or(0)
}
