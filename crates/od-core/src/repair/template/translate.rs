//! Templates of other languages, rewritten in ours: loops, conditions, and the roots of paths.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::expression::{self, Expression, Rest};
use super::lists::{self, List, follow, place_of_key};
use super::marks::{self, Loop, Mark, MarkKind};
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
    let outline = Outline::of(source);
    let marks = marks::marks(&outline);
    let none = Value::Null;
    let data = data.unwrap_or(&none);
    let mut translator = Translator {
        lists: lists::lists(data),
        data,
        scopes: Vec::new(),
        done: Translation::default(),
        rules: BTreeSet::new(),
        needs: BTreeMap::new(),
        marks,
        outline,
        grammar,
    };
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

/// A stretch of the template in which a name stands for a row.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    pub(super) range: Range<usize>,
    pub(super) alias: String,
    /// The name that the author gave, if it is another.
    pub(super) written: Option<String>,
    pub(super) index: Option<String>,
    /// The list as a path of ours.
    pub(super) list: String,
}

/// A value of a row that no repeat is around: its place and the steps from the row.
#[derive(Clone, Debug)]
struct Need {
    span: Range<usize>,
    steps: Vec<String>,
    /// The formats behind it, with their bar.
    formats: String,
}

pub(super) struct Translator<'s, 'd> {
    /// The format that it is rewritten in.
    pub(super) grammar: Grammar,
    pub(super) outline: Outline<'s>,
    pub(super) marks: Vec<Mark>,
    pub(super) data: &'d Value,
    lists: Vec<List<'d>>,
    pub(super) scopes: Vec<Scope>,
    pub(super) done: Translation,
    /// Style rules that conditions need.
    pub(super) rules: BTreeSet<String>,
    needs: BTreeMap<(String, String), Vec<Need>>,
}

/// A pair of marks around a block, with the marks that divide it.
pub(super) struct Block {
    pub(super) open: usize,
    pub(super) dividers: Vec<usize>,
    pub(super) close: usize,
}

impl<'d> Translator<'_, 'd> {
    /// Pairs the marks that open blocks with those that close them.
    pub(super) fn paired(&self) -> Vec<Block> {
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

    /// Opens a scope for every repeat that is there already, in ours or another language.
    fn loops(&mut self) {
        for block in self.paired() {
            let range = self.marks[block.open].span.end..self.marks[block.close].span.start;
            let head = match &self.marks[block.open].kind {
                MarkKind::For(head) => head.clone(),
                MarkKind::Section(name, false) if self.is_list(name) => {
                    Loop { list: name.clone(), ..Loop::default() }
                }
                MarkKind::Section(..)
                | MarkKind::If(..)
                | MarkKind::Else(_)
                | MarkKind::Close
                | MarkKind::Output(..)
                | MarkKind::Other => continue,
            };
            let scope = self.scope(&head, range);
            self.scopes.push(scope);
        }
        self.scopes.sort_by_key(|scope| scope.range.start);
    }

    fn is_list(&self, name: &str) -> bool {
        let steps = expression::read(name).steps;
        let steps: Vec<&str> =
            steps.iter().map(String::as_str).skip_while(|it| *it == "data").collect();
        follow(self.data, &steps).is_some_and(Value::is_array)
            || self.lists.iter().any(|list| {
                list.rows.iter().any(|row| follow(row, &steps).is_some_and(Value::is_array))
            })
    }

    /// Makes the scope of a loop: its alias and its list in our words.
    pub(super) fn scope(&self, head: &Loop, range: Range<usize>) -> Scope {
        let shown = self.shown_in(&range);
        let alias = head.alias.clone().filter(|alias| alias != "data").or_else(|| {
            // Without a name of its own, the name that the bindings inside begin with.
            let roots = shown.iter().filter(|it| !it.of_row && it.steps.len() > 1);
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            roots.for_each(|it| *counts.entry(&it.steps[0]).or_default() += 1);
            let outer = self.scopes.iter().any(|scope| {
                scope.range.contains(&range.start) && counts.contains_key(scope.alias.as_str())
            });
            let known = |name: &str| name == "data" || self.data.get(name).is_some();
            let best = counts.into_iter().filter(|(name, _)| !known(name)).max_by_key(|(_, n)| *n);
            best.filter(|_| !outer).map(|(name, _)| name.to_owned())
        });
        // A row inside a row needs a name of its own.
        let taken = |name: &str| {
            self.scopes.iter().any(|it| it.range.contains(&range.start) && it.alias == name)
        };
        let written = alias.clone().filter(|alias| !is_alias(alias) || taken(alias));
        // `data in data.rows`: inside it `data` is the row.
        let written = written.or_else(|| head.alias.clone().filter(|alias| alias == "data"));
        let alias = alias.filter(|alias| is_alias(alias) && !taken(alias)).unwrap_or_else(|| {
            let free = ["item", "entry", "part"].into_iter().find(|name| !taken(name));
            free.unwrap_or("item").to_owned()
        });
        let list = self.list_of(&head.list, Some(&alias), &shown, range.start);
        Scope { range, alias, written, index: head.index.clone(), list }
    }

    /// Returns the expressions that are shown in a range.
    fn shown_in(&self, range: &Range<usize>) -> Vec<Expression> {
        let inside = self
            .marks
            .iter()
            .filter(|mark| range.start <= mark.span.start && mark.span.end <= range.end);
        inside.filter_map(Mark::shown).map(expression::read).collect()
    }

    /// Finds the path of the list that a loop means.
    fn list_of(&self, text: &str, alias: Option<&str>, shown: &[Expression], at: usize) -> String {
        let Expression { steps, of_row, .. } = expression::read(text);
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        let outer = self.scopes.iter().rev().find(|scope| scope.range.contains(&at));
        if let Some(scope) = outer
            && (of_row || steps.first() == Some(&scope.alias.as_str()))
        {
            let rest = if of_row { &steps[..] } else { &steps[1..] };
            return [&[scope.alias.as_str()], rest].concat().join(".");
        }
        let from_data = if steps.first() == Some(&"data") { &steps[1..] } else { &steps[..] };
        if follow(self.data, from_data).is_some_and(Value::is_array) {
            return format!("data.{}", from_data.join("."));
        }
        if let Some(scope) = outer
            && let Some(list) = self.lists.iter().find(|list| list.path == scope.list)
            && list.has(from_data)
        {
            return format!("{}.{}", scope.alias, from_data.join("."));
        }
        let fields: Vec<Vec<&str>> = shown
            .iter()
            .filter(|it| it.of_row || it.steps.first().map(String::as_str) == alias)
            .map(|it| it.steps.iter().skip(usize::from(!it.of_row)).map(String::as_str).collect())
            .filter(|steps: &Vec<&str>| !steps.is_empty())
            .collect();
        let name = from_data.last().copied();
        match lists::meant(&self.lists, name, alias, &fields) {
            Some(list) => list.path.clone(),
            None if from_data.is_empty() => "data.items".to_owned(),
            None => format!("data.{}", from_data.join(".")),
        }
    }

    /// Returns the row scope around a place, if there is one.
    pub(super) fn scope_at(&self, at: usize) -> Option<&Scope> {
        let around = self.scopes.iter().filter(|scope| scope.range.contains(&at));
        around.max_by_key(|scope| scope.range.start)
    }

    /// Returns the path of ours that an expression names, or the repeat that it lacks.
    pub(super) fn path(&mut self, text: &str, span: &Range<usize>) -> Option<String> {
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

    pub(super) fn edit(&mut self, span: Range<usize>, text: String) {
        if self.outline.source[span.clone()] != text {
            self.done.edits.push((span, text));
        }
    }

    pub(super) fn note(&mut self, at: usize, note: impl Into<String>) {
        self.done.notes.push((at, note.into()));
    }

    /// Rewrites every mark that shows a value.
    fn outputs(&mut self) {
        for mark in self.marks.clone() {
            match mark.kind {
                MarkKind::Output(text, _) => self.output(&text, mark.span),
                MarkKind::Other => {
                    self.edit(mark.span.clone(), String::new());
                    self.note(
                        mark.span.start,
                        "there are no partials, assignments or template comments",
                    );
                }
                MarkKind::For(_)
                | MarkKind::If(..)
                | MarkKind::Section(..)
                | MarkKind::Else(_)
                | MarkKind::Close => {}
            }
        }
    }

    /// Keeps the formats of a value whose element is still to be repeated.
    pub(super) fn keep_formats(&mut self, span: &Range<usize>, formats: &str) {
        for need in self.needs.values_mut().flatten().filter(|need| need.span == *span) {
            need.formats = formats.to_owned();
        }
    }

    /// Returns whether a name is that of the position of a row.
    pub(super) fn is_index(&self, text: &str, at: usize) -> bool {
        let Some(scope) = self.scope_at(at) else { return false };
        let words = ["@index", "$index", "loop.index", "loop.index0", "@number", "forloop.index"];
        scope.index.as_deref() == Some(text)
            || words.contains(&text)
            || (matches!(text, "index" | "i" | "idx") && !self.row_has(scope, text))
    }

    fn output(&mut self, text: &str, span: Range<usize>) {
        if self.grammar == Grammar::V2 {
            return self.output_second(text, span);
        }
        let in_text = !self.outline.elements.iter().any(|it| it.tag.span.contains(&span.start));
        let read = expression::read(text);
        if self.is_index(text.trim(), span.start) {
            self.rules.insert(
                ".row-number::before{counter-increment:row;content:counter(row)}".to_owned(),
            );
            let counter = if in_text { "<span class=\"row-number\"></span>" } else { "" };
            self.edit(span.clone(), counter.to_owned());
            self.note(span.start, "rows are numbered from 1 by the style sheet");
            return;
        }
        if let Some(parts) = joined(text) {
            return self.join(&parts, span);
        }
        let Some(path) = self.path(text, &span) else { return };
        let shown = format!("{{{{{path}}}}}");
        match read.rest {
            Rest::Nothing => {
                // Written as ours and right: left as it is, spaces and all.
                let ours =
                    self.outline.source[span.clone()].trim_matches(['{', '}']).trim() == path;
                let triple = self.outline.source[span.clone()].starts_with("{{{");
                let closed = self.outline.source[span.clone()].ends_with("}}");
                let single = !self.outline.source[span.clone()].starts_with("{{");
                if !ours || triple || single || !closed {
                    self.edit(span, shown);
                }
            }
            Rest::Format(format) => {
                self.edit(span.clone(), shown);
                self.note(span.start, format!("shows the value as the data has it: `{format}` is not done, put the formatted text into the data"));
            }
            Rest::Or(text) if in_text => {
                self.rule_unless();
                self.edit(span, format!("{shown}<span data-unless=\"{shown}\">{text}</span>"));
            }
            Rest::Choice(yes, no) if in_text && !text.contains("==") => {
                self.rule_if();
                self.rule_unless();
                self.edit(span, format!("<span data-if=\"{shown}\">{yes}</span><span data-unless=\"{shown}\">{no}</span>"));
            }
            Rest::Computes(expression) => {
                self.edit(span.clone(), shown.clone());
                self.note(span.start, format!("shows {shown}, not `{expression}`: nothing is computed in a page; put the result into the data, or let the source give it"));
            }
            Rest::Or(_) | Rest::Choice(..) | Rest::Equals(..) | Rest::Not => {
                self.edit(span.clone(), shown);
                self.note(
                    span.start,
                    "shows the value itself: put the text that depends on it into the data",
                );
            }
        }
    }

    /// Writes the parts of a text one behind the other.
    pub(super) fn join(&mut self, parts: &[Part<'_>], span: Range<usize>) {
        let mut whole = String::new();
        for part in parts {
            match part {
                Part::Text(literal) => whole.push_str(literal),
                Part::Path(path) => match self.path(path, &span) {
                    Some(path) => whole.push_str(&format!("{{{{{path}}}}}")),
                    None => return,
                },
            }
        }
        self.edit(span, whole);
    }

    fn row_has(&self, scope: &Scope, key: &str) -> bool {
        self.lists.iter().any(|list| list.path == scope.list && list.has(&[key]))
    }

    pub(super) fn rule_if(&mut self) {
        self.rules
            .insert("[data-if=\"\"],[data-if=\"false\"],[data-if=\"0\"]{display:none}".to_owned());
    }

    pub(super) fn rule_unless(&mut self) {
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

/// Splits `'Total: ' + data.total` into its parts; `None` if something else is computed.
pub(super) fn joined(text: &str) -> Option<Vec<Part<'_>>> {
    let parts = text.split('+').map(str::trim).map(|part| {
        let quote = part.chars().next().filter(|mark| matches!(mark, '\'' | '"' | '`'));
        match quote {
            Some(quote) if part.len() > 1 && part.ends_with(quote) => {
                Some(Part::Text(&part[1..part.len() - 1]))
            }
            Some(_) => None,
            None => {
                let is_path = part.starts_with(|c: char| c.is_alphabetic())
                    && part.chars().all(|c| c.is_alphanumeric() || "._[]".contains(c));
                is_path.then_some(Part::Path(part))
            }
        }
    });
    let parts: Vec<Part<'_>> = parts.collect::<Option<_>>()?;
    let has_text = parts.iter().any(|part| matches!(part, Part::Text(_)));
    (parts.len() > 1 && has_text).then_some(parts)
}

/// A part of a text that is put together.
pub(super) enum Part<'t> {
    Text(&'t str),
    Path(&'t str),
}

/// Returns whether a name may stand for a row.
pub(super) fn is_alias(name: &str) -> bool {
    name != "data"
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
