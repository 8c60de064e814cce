//! `data-od-chart` and the attributes beside it.

use std::ops::Range;

use super::bindings::PathAt;
use super::compiler::Compiler;
use super::element::Space;
use crate::chart::ChartKind;
use crate::chart::spec::ChartSpec;
use crate::error::nearest_name;
use crate::limits::CHART_SERIES;
use crate::template::expression::dialect;
use crate::template::expression::path::{Path, PathFault, Root, is_alias, is_key};
use crate::template::expression::pipe::{self, Pipes};
use crate::template::expression::repeat::{self, RepeatExpression};
use crate::template::issue::{Edit, Fix, IssueCode, delete, insert, replace, shorten};
use crate::template::policy::attribute::Owner;
use crate::template::program::{Chart, ChartName, Place};
use crate::template::tokenize::reference;
use crate::template::tokenize::scanner::{Attribute, Tag};

/// The attributes that only charts have, besides `data-od-chart` itself.
const PARTS: [&str; 8] = [
    "data-od-x",
    "data-od-y",
    "data-od-labels",
    "data-od-title",
    "data-od-format",
    "data-od-min",
    "data-od-max",
    "data-od-height",
];

/// The elements that can hold a chart: HTML keeps a table inside them where it is.
const HOLDERS: [&str; 8] = ["figure", "div", "section", "article", "li", "dd", "td", "th"];

/// Returns whether the attribute belongs to a chart.
pub(crate) fn is_part(name: &str) -> bool {
    PARTS.contains(&name)
}

/// Returns whether the tag makes a chart of its element.
pub(crate) fn is_chart(tag: &Tag<'_>) -> bool {
    tag.attributes.iter().any(|attribute| attribute.name == "data-od-chart")
}

pub(crate) fn part<'t, 's>(tag: &'t Tag<'s>, name: &str) -> Option<&'t Attribute<'s>> {
    tag.attributes.iter().find(|attribute| attribute.name == name)
}

impl<'s> Compiler<'s> {
    /// Reads the chart that the tag makes of its element, and puts it into the program.
    pub(crate) fn chart(&mut self, tag: &Tag<'s>, owner: Owner<'_>) -> Option<usize> {
        let attribute = part(tag, "data-od-chart")?;
        let kind = self.chart_kind(attribute);
        self.refuse_chart_placement(tag, owner);
        let rows = self.chart_rows(tag, kind);
        let rows = self.refuse_missing_parts(tag, attribute, kind, rows.as_ref()).or(rows);
        let depth = self.aliases.len();
        let repeat = rows.map(|rows| self.enter_rows(tag, rows));
        let x = self.chart_name(tag, kind);
        let y = self.chart_values(tag, kind);
        self.aliases.truncate(depth);
        self.repeats.truncate(depth);
        let min = self.chart_bound(tag, "data-od-min");
        let max = self.chart_bound(tag, "data-od-max");
        self.refuse_crossed_bounds(tag, min, max);
        let labels = self.chart_labels(tag, y.len());
        let title = part(tag, "data-od-title").and_then(|title| self.chart_text(title));
        let format = self.chart_format(tag);
        let height = self.chart_height(tag, kind);
        let bindings = &self.emitter.program.bindings;
        let last_key = |binding: usize| -> Box<str> {
            let path = bindings.get(binding).map_or("", |binding| &*binding.full_path);
            path.rsplit('.').find(|step| *step != "*").unwrap_or_default().into()
        };
        let labels = labels.unwrap_or_else(|| y.iter().map(|at| last_key(*at)).collect());
        let points = x.as_ref().map_or("#".into(), |x| last_key(x.binding));
        let spec = ChartSpec { kind, title, points, labels, format, height };
        let charts = &mut self.emitter.program.charts;
        charts.push(Chart { spec, repeat, x, y: y.into(), min, max });
        Some(charts.len() - 1)
    }

    pub(crate) fn refuse_chart(
        &mut self,
        span: Range<usize>,
        message: impl Into<String>,
        fix: Fix,
    ) {
        self.issues.add(IssueCode::ChartArguments, self.source, span, message, fix);
    }

    fn chart_kind(&mut self, attribute: &Attribute<'s>) -> ChartKind {
        let word = self.source[attribute.value.clone()].trim_ascii();
        if let Some(kind) = ChartKind::from_word(word) {
            return kind;
        }
        let lower = word.to_ascii_lowercase();
        let meant = ChartKind::from_word(&lower)
            .map(ChartKind::as_str)
            .or_else(|| ChartKind::meant(&lower))
            .or_else(|| nearest_name(&lower, ChartKind::WORDS.iter().map(|(word, _)| *word)))
            .unwrap_or("line");
        let text = format!("data-od-chart=\"{meant}\"");
        let fix = replace(attribute.span.clone(), text.clone(), format!("write {text}"));
        let message = format!("there is no chart `{}`", shorten(word));
        self.issues.add(IssueCode::ChartUnknown, self.source, attribute.span.clone(), message, fix);
        ChartKind::from_word(meant).unwrap_or(ChartKind::Line)
    }

    fn refuse_chart_placement(&mut self, tag: &Tag<'s>, owner: Owner<'_>) {
        if owner.space == Space::Html && HOLDERS.contains(&owner.element) {
            return;
        }
        let of_chart = |attribute: &&Attribute<'s>| {
            let name = &*attribute.name;
            is_part(name) || matches!(name, "data-od-chart" | "data-od-repeat")
        };
        let parts: Vec<&Attribute<'s>> = tag.attributes.iter().filter(of_chart).collect();
        let mut edits: Vec<Edit> =
            parts.iter().flat_map(|part| delete(part.span.clone(), "").edits).collect();
        let summary = if owner.space == Space::Html {
            // The element stays; what made a chart of it goes to a new one before it.
            let texts: Vec<&str> =
                parts.iter().map(|part| &self.source[part.span.clone()]).collect();
            let chart = format!("<div {}></div>", texts.join(" "));
            edits.extend(insert(tag.span.start, chart, "").edits);
            "put the chart on a <div> of its own, outside paragraphs"
        } else {
            "put the chart on a <figure> outside the picture"
        };
        let fix = Fix { summary: summary.to_owned(), edits };
        let message = format!("<{}> cannot hold a chart", tag.name);
        self.issues.add(IssueCode::ChartPlacement, self.source, tag.span.clone(), message, fix);
    }

    /// Reads the list whose rows are the points.
    fn chart_rows(&mut self, tag: &Tag<'s>, kind: ChartKind) -> Option<RepeatExpression> {
        let attribute = part(tag, "data-od-repeat");
        match (attribute, kind) {
            (Some(attribute), ChartKind::Progress) => {
                let fix = delete(
                    attribute.span.clone(),
                    "put data-od-repeat on an element around it, for one bar a row",
                );
                let message = "progress shows one value and has no rows";
                self.refuse_chart(attribute.span.clone(), message, fix);
                // What names the row is read as if it stood in such an element.
                self.repeat(attribute)
            }
            (Some(attribute), _) if self.refuse_nesting(attribute) => None,
            (Some(attribute), _) => self.repeat(attribute),
            (None, _) => None,
        }
    }

    /// Refuses a chart without its list, its names or its values, all in one; returns the rows that the
    /// fix gives it.
    fn refuse_missing_parts(
        &mut self,
        tag: &Tag<'s>,
        chart: &Attribute<'s>,
        kind: ChartKind,
        rows: Option<&RepeatExpression>,
    ) -> Option<RepeatExpression> {
        let is_progress = kind == ChartKind::Progress;
        let has_rows = is_progress || part(tag, "data-od-repeat").is_some();
        let (alias, list) = match rows {
            Some(rows) => (rows.alias.to_string(), String::new()),
            None if is_progress => ("data".to_owned(), String::new()),
            None => self.guess_rows(tag),
        };
        let repeat = format!("{alias} in {list}");
        let empty =
            part(tag, "data-od-y").filter(|y| self.source[y.value.clone()].trim_ascii().is_empty());
        let has_y = part(tag, "data-od-y").is_some();
        let wanted = [
            (has_rows, format!("data-od-repeat=\"{repeat}\"")),
            (
                part(tag, "data-od-x").is_some() || !kind.needs_x(),
                format!("data-od-x=\"{alias}.name\""),
            ),
            (has_y && empty.is_none(), format!("data-od-y=\"{alias}.value\"")),
        ];
        let missing: Vec<&str> =
            wanted.iter().filter(|(has, _)| !has).map(|(_, text)| text.as_str()).collect();
        if missing.is_empty() {
            return None;
        }
        let missing = missing.join(" ");
        let mut fix = insert(chart.span.end, format!(" {missing}"), format!("write {missing}"));
        if let Some(empty) = empty {
            fix.edits.extend(delete(empty.span.clone(), "").edits);
        }
        let message = format!("a {} chart needs {missing}", kind.as_str());
        self.refuse_chart(chart.span.clone(), message, fix);
        let rows = if has_rows { None } else { Some(repeat) };
        repeat::parse(&rows?, chart.span.start, &self.aliases)
    }

    /// Guesses the list of a chart from what it draws: `d.visits` is of a row `d`, `data.days.visits`
    /// of the list `data.days`.
    fn guess_rows(&self, tag: &Tag<'s>) -> (String, String) {
        let y = part(tag, "data-od-y").map(|y| self.source[y.value.clone()].trim_ascii());
        let first = y.unwrap_or_default().split_ascii_whitespace().next().unwrap_or_default();
        let (root, rest) = first.split_once('.').unwrap_or((first, ""));
        let taken = |name: &str| self.aliases.iter().any(|alias| **alias == *name);
        let free = |name: &&str| !taken(name);
        match rest.rsplit_once('.') {
            Some((list, _)) if root == "data" => {
                let alias = ["d", "point", "row"].into_iter().find(free).unwrap_or("d");
                (alias.to_owned(), format!("data.{list}"))
            }
            _ => {
                // A list in an attribute of another library: `data-od-data="data.rows"`.
                let named =
                    ["data", "source", "rows", "list", "items", "values", "series", "points"];
                let list = named
                    .iter()
                    .filter_map(|name| part(tag, &format!("data-od-{name}")))
                    .map(|it| self.source[it.value.clone()].trim_ascii())
                    .find(|list| list.starts_with("data."))
                    .unwrap_or("data.rows");
                // A bare word is a key of the row, not the row.
                let usable = !rest.is_empty() && is_alias(root) && !taken(root);
                let free = ["d", "point", "row"].into_iter().find(free).unwrap_or("d");
                let alias = if usable { root } else { free };
                (alias.to_owned(), list.to_owned())
            }
        }
    }

    fn chart_name(&mut self, tag: &Tag<'s>, kind: ChartKind) -> Option<ChartName> {
        let attribute = part(tag, "data-od-x")?;
        if kind == ChartKind::Progress {
            let fix =
                delete(attribute.span.clone(), "remove data-od-x; name it with data-od-title");
            let message = "progress has no points to name";
            self.refuse_chart(attribute.span.clone(), message, fix);
            return None;
        }
        let value = &self.source[attribute.value.clone()];
        let decoded = reference::decode(value).unwrap_or(value.into());
        let (text, piped) = pipe::split(&decoded);
        let pipes = match piped.map(pipe::parse) {
            None => Pipes::default(),
            Some(Ok(pipes)) => pipes,
            Some(Err(fault)) => {
                let fix =
                    replace(attribute.value.clone(), text, format!("write data-od-x=\"{text}\""));
                self.refuse_chart(attribute.span.clone(), fault.message, fix);
                Pipes::default()
            }
        };
        let start = attribute.value.start + value.len() - value.trim_ascii_start().len();
        let binding = self.chart_path(attribute, text.trim_ascii(), start, tag)?;
        Some(ChartName { binding, pipes })
    }

    fn chart_values(&mut self, tag: &Tag<'s>, kind: ChartKind) -> Vec<usize> {
        let Some(attribute) = part(tag, "data-od-y") else { return Vec::new() };
        let source = self.source;
        let text = &source[attribute.value.clone()];
        let words = text.split_ascii_whitespace().count();
        let most = if kind.is_single() { 1 } else { CHART_SERIES.max() };
        if words > most {
            let kept: Vec<&str> = text.split_ascii_whitespace().take(most).collect();
            let kept = kept.join(" ");
            let fix = replace(
                attribute.value.clone(),
                kept.clone(),
                format!("write data-od-y=\"{kept}\""),
            );
            let message =
                format!("a {} chart has at most {most} series, not {words}", kind.as_str());
            self.refuse_chart(attribute.span.clone(), message, fix);
        }
        let mut bindings = Vec::new();
        let mut from = 0;
        for word in text.split_ascii_whitespace().take(most) {
            let at = from + text[from..].find(word).unwrap_or_default();
            from = at + word.len();
            bindings.extend(self.chart_path(attribute, word, attribute.value.start + at, tag));
        }
        bindings
    }

    /// Reads a path that a chart draws, at `start` of the source.
    fn chart_path(
        &mut self,
        attribute: &Attribute<'s>,
        text: &str,
        start: usize,
        tag: &Tag<'s>,
    ) -> Option<usize> {
        let depth = self.aliases.len();
        let is_row = |root: Root| matches!(root, Root::Row(at) if usize::from(at) + 1 == depth);
        let has_rows = part(tag, "data-od-repeat").is_some();
        let fault = match Path::parse(text, &self.aliases) {
            Ok(path) if !has_rows || is_row(path.root) => {
                let path = PathAt { path, text, span: start..start + text.len() };
                let element = tag.name.as_ref().into();
                return Some(self.add_binding(path, Place::Chart, element));
            }
            Ok(_) => format!("`{text}` is the same in every row"),
            Err(PathFault::Root) => dialect::unknown_root(text, &self.aliases),
            Err(PathFault::Grammar) => format!("`{}` is not a path", shorten(text)),
        };
        let bare = text.trim_matches(|mark: char| !mark.is_ascii_alphanumeric() && mark != '_');
        let last = bare.rsplit('.').next().filter(|key| is_key(key));
        let alias = self.aliases.last().map_or("data", |alias| alias);
        let meant = format!("{alias}.{}", last.unwrap_or("value"));
        let end = (start + text.len()).min(attribute.value.end);
        let fix = replace(start..end, meant.clone(), format!("write {meant}"));
        self.refuse_chart(start..end, fault, fix);
        None
    }
}
