//! Exports: an artifact as one file that needs nothing else.

use serde_json::{Value, json};

use super::csv::DataTable;
use super::{html, markdown};
use crate::artifact::{ArtifactState, PageRefused, render_stored};
use crate::chart::ChartTable;
use crate::ids::{Digest, MappingPath};
use crate::words::words;

words! {
    /// A form that an artifact can be taken away in.
    ExportFormat {
        /// The page, in one file.
        Html = "html",
        /// One table of the data, or the values of one chart.
        Csv = "csv",
        /// Data and provenance.
        Json = "json",
        /// The data as a document.
        Markdown = "md",
    }
}

impl ExportFormat {
    /// Returns what a file of this form contains, in a sentence for whoever is about to make one.
    #[must_use]
    pub const fn contains(self) -> &'static str {
        match self {
            Self::Html => {
                "the page as it looks now, in one file that asks for nothing when opened, with title, date, sources and digest below it"
            }
            Self::Csv => "one table of the data, or the values of one chart, for a spreadsheet",
            Self::Json => "all of the data, and where it came from; no template and no history",
            Self::Markdown => "all of the data as lists and tables, with date, sources and digest",
        }
    }

    /// Returns the media type of the file.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Html => "text/html; charset=utf-8",
            Self::Csv => "text/csv; charset=utf-8",
            Self::Json => "application/json",
            Self::Markdown => "text/markdown; charset=utf-8",
        }
    }
}

/// A file that was made of an artifact.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ExportedFile {
    /// A name for it, made of the artifact's slug.
    pub name: String,
    /// The form.
    pub format: ExportFormat,
    /// The contents.
    pub text: String,
}

/// The reasons why there is no file.
#[derive(Debug, thiserror::Error)]
pub enum ExportRefused {
    /// The template does not fit the data.
    #[error("the template does not fit the data: {0}")]
    Page(PageRefused),
    /// Nothing at the path is a table, or no path was given and there is more than one.
    #[error("{}", no_table(.path.as_deref(), .tables))]
    NoTable {
        /// The path that was asked for.
        path: Option<String>,
        /// The paths of all tables.
        tables: Vec<String>,
    },
}

fn no_table(path: Option<&str>, tables: &[String]) -> String {
    let known = if tables.is_empty() { "none".to_owned() } else { tables.join(", ") };
    match path {
        Some(path) => format!("there is no table at `{path}`; there are: {known}"),
        None => format!("say which table; there are: {known}"),
    }
}

/// Makes the file. `path` names a table of the data, or a chart by its place on the page (`chart:1`);
/// only CSV reads it.
///
/// # Errors
///
/// Fails when the template does not fit the data, and when there is no such table.
pub fn export(
    state: &ArtifactState,
    format: ExportFormat,
    path: Option<&str>,
) -> Result<ExportedFile, ExportRefused> {
    let slug = state.artifact.heading.slug.to_string();
    let (name, text) = match format {
        ExportFormat::Html => (format!("{slug}.html"), linked_page(state, &[])?),
        ExportFormat::Csv => {
            let (path, text) = csv(state, path)?;
            let part: String =
                path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
            (format!("{slug}-{part}.csv"), text)
        }
        ExportFormat::Json => (format!("{slug}.json"), json_text(state)),
        ExportFormat::Markdown => (format!("{slug}.md"), markdown::document(state)),
    };
    Ok(ExportedFile { name, format, text })
}

/// Makes the page as a file of its own, with links below it: names and addresses relative to the page.
///
/// # Errors
///
/// Fails when the template does not fit the data.
pub fn linked_page(
    state: &ArtifactState,
    links: &[(String, String)],
) -> Result<String, ExportRefused> {
    let (data, settings) = (state.data.value(), state.page_settings());
    let page =
        render_stored(&state.template_html, data, &settings, None).map_err(ExportRefused::Page)?;
    Ok(html::standalone(state, &String::from_utf8_lossy(&page), links))
}

/// Returns the paths of all tables of an artifact: the lists of its data, and its charts.
#[must_use]
pub fn tables(state: &ArtifactState) -> Vec<String> {
    let mut tables = Vec::new();
    list_tables(state.data.value(), "", &mut tables);
    tables.extend((1..=charts(state).len()).map(|chart| format!("chart:{chart}")));
    tables
}

/// Returns the tables that are worth a file each: those of [`tables`] without charts of a single value,
/// of which a list of progress bars has one a row.
#[must_use]
pub fn tables_of_many(state: &ArtifactState) -> Vec<String> {
    let mut tables = Vec::new();
    list_tables(state.data.value(), "", &mut tables);
    let charts = charts(state).into_iter().zip(1..);
    let many = charts.filter(|(chart, _)| chart.rows.len() > 1 || chart.columns.len() > 2);
    tables.extend(many.map(|(_, number)| format!("chart:{number}")));
    tables
}

/// Returns data and provenance as one value.
#[must_use]
pub fn export_value(state: &ArtifactState) -> Value {
    let data = state.data.value();
    json!({
        "title": state.artifact.heading.title,
        "asOf": state.provenance.generated_at,
        "digest": Digest::of_json(data).to_string(),
        "data": data,
        "provenance": state.provenance,
    })
}

fn json_text(state: &ArtifactState) -> String {
    // A value of strings, numbers and lists: writing it cannot fail.
    serde_json::to_string_pretty(&export_value(state)).unwrap_or_default() + "\n"
}

fn csv(state: &ArtifactState, path: Option<&str>) -> Result<(String, String), ExportRefused> {
    let charts = charts(state);
    let data = state.data.value();
    let tables = || {
        let mut tables = Vec::new();
        list_tables(data, "", &mut tables);
        tables.extend((1..=charts.len()).map(|chart| format!("chart:{chart}")));
        tables
    };
    let refuse = |path: Option<&str>| ExportRefused::NoTable {
        path: path.map(str::to_owned),
        tables: tables(),
    };
    let named = match path {
        Some(path) => path.to_owned(),
        None => match <[String; 1]>::try_from(tables()) {
            Ok([only]) => only,
            Err(_) => return Err(refuse(None)),
        },
    };
    let text = match named.strip_prefix("chart:") {
        Some(number) => {
            let at = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            at.and_then(|at| charts.get(at)).map(ChartTable::to_csv)
        }
        None => {
            let bare = named.strip_prefix("data.").unwrap_or(&named);
            find(data, bare).and_then(DataTable::of).map(|table| table.to_csv())
        }
    };
    text.map(|text| (named.clone(), text)).ok_or_else(|| refuse(Some(&named)))
}

fn charts(state: &ArtifactState) -> Vec<ChartTable> {
    let Ok((template, _)) = state.compile_template() else { return Vec::new() };
    let context = state.page_settings().context;
    template.chart_tables(state.data.value(), &context).unwrap_or_default()
}

fn find<'d>(data: &'d Value, path: &str) -> Option<&'d Value> {
    let path: MappingPath = path.parse().ok()?;
    path.segments().try_fold(data, |value, segment| match (value, segment.index) {
        (Value::Array(items), Some(index)) => items.get(index),
        _ => value.get(segment.key),
    })
}

/// Collects the paths of all lists outside other lists.
fn list_tables(value: &Value, path: &str, tables: &mut Vec<String>) {
    match value {
        Value::Array(_) => tables.push(path.to_owned()),
        Value::Object(map) => {
            for (key, value) in map {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                list_tables(value, &path, tables);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
