//! The page of an artifact: compiled, checked and rendered.

use super::{ArtifactState, Document, DocumentFormat};
use crate::error::Issue;
use crate::format::Context;
use crate::ids::Timestamp;
use crate::json::Value;
use crate::limits;
use crate::ownership::{first_shown, steps};
use crate::repair;
use crate::template::{
    Grammar, Inspection, IssueCode, RenderError, Template, TemplateIssue, TemplateWarning, Warnings,
};

/// Everything besides template and data that a page depends on.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PageSettings {
    /// The grammar of the template.
    pub grammar: Grammar,
    /// The locale, the zone, and the time that the data is of.
    pub context: Context,
}

impl PageSettings {
    /// Returns the settings that a document asks for, for data of a time.
    #[must_use]
    pub fn new(document: Option<&Document>, data_of: Timestamp) -> Self {
        let Some(document) = document else { return Self::default() };
        let context = Context {
            locale: document.locale.unwrap_or_default(),
            zone: document.time_zone.clone().unwrap_or_default(),
            refreshed_at: data_of,
        };
        Self { grammar: document.format.grammar(), context }
    }
}

impl ArtifactState {
    /// Returns about how many bytes whoever checks or draws it goes through.
    #[must_use]
    pub fn work_size(&self) -> usize {
        self.template_html.len() + self.data.canonical_size()
    }

    /// Returns the settings of its page. Its data is as old as its provenance says: a refresh sets
    /// that to its own time, and a new title leaves it.
    #[must_use]
    pub fn page_settings(&self) -> PageSettings {
        PageSettings::new(self.artifact.document.as_ref(), self.provenance.generated_at)
    }

    /// Compiles its template by the format of its document.
    ///
    /// # Errors
    ///
    /// Returns every refusal, as [`Template::compile_as`] does.
    pub fn compile_template(&self) -> Result<(Template, Warnings), Vec<TemplateIssue>> {
        let document = self.artifact.document.as_ref();
        let grammar = document.map_or(Grammar::V1, |document| document.format.grammar());
        Template::compile_as(&self.template_html, grammar)
    }
}

/// Compiles a template, compares it with data and renders the page: for what is about to be stored.
/// Returns the page, and remarks for the author of the template.
///
/// # Errors
///
/// Returns every fault of the template, or every binding that the data does not fit.
pub fn render_page(
    html: &str,
    data: &Value,
    settings: &PageSettings,
) -> Result<(Vec<u8>, Vec<Issue>), PageRefused> {
    let (template, remarks) = compile(html, settings.grammar)?;
    let check = template.check_with(data, &settings.context);
    if !check.errors.is_empty() {
        return Err(PageRefused::Data(check.errors));
    }
    // Only rendering shows the rest, such as a page that is too large.
    let mut page = Vec::new();
    template
        .render_with(data, &settings.context, &mut page)
        .map_err(|fault| PageRefused::Data(vec![fault]))?;
    let mut remarks: Vec<Issue> = remarks.iter().chain(&check.warnings).map(remark).collect();
    repair::mend_unresolved(&template, html, data, settings.grammar, &mut remarks);
    remarks.extend(shown_percents(&template, html, data));
    Ok((page, remarks))
}

/// Remarks on percentages that are percentages already: `93` as `percent` is 9,300%.
fn shown_percents(template: &Template, html: &str, data: &Value) -> Vec<Issue> {
    let mut remarks: Vec<Issue> = Vec::new();
    for binding in template.bindings() {
        let written = html.get(binding.offset..binding.offset + binding.length).unwrap_or_default();
        let Some((path, format)) = written.trim_matches(['{', '}']).split_once('|') else {
            continue;
        };
        let value = first_shown(data, &steps(binding)).and_then(Value::as_f64);
        let Some(value) = value.filter(|value| value.abs() > 5.0) else { continue };
        if !format.trim().starts_with("percent") || !limits::JSON_FAULTS.allows(remarks.len() + 1) {
            continue;
        }
        let message = format!(
            "`{}` is {value}: `percent` shows a hundred times as much, it takes {} for {value}%",
            binding.full_path,
            value / 100.0
        );
        let fix =
            format!("line {}: replace `{written}` with `{{{{{}}}}}%`", binding.line, path.trim());
        let at = format!("template.html:{}:{}", binding.line, binding.column);
        remarks.push(Issue::new(at, "percent_of_percent", message).got(written).fix(fix));
    }
    remarks
}

/// Renders the page of a state that was checked when it was stored, with the origin of its values
/// where an inspection is given. Nothing is collected: the first fault ends it.
///
/// # Errors
///
/// Fails where [`render_page`] would, with one fault of the data.
pub fn render_stored(
    html: &str,
    data: &Value,
    settings: &PageSettings,
    inspection: Option<Inspection<'_>>,
) -> Result<Vec<u8>, PageRefused> {
    let PageSettings { grammar, context } = settings;
    let (template, _) = Template::compile_as(html, *grammar).map_err(PageRefused::Template)?;
    let mut bytes = Vec::new();
    let rendered = match inspection {
        None => template.render_with(data, context, &mut bytes),
        Some(inspection) => template.render_inspect_with(data, context, inspection, &mut bytes),
    };
    rendered.map_err(|fault| PageRefused::Data(vec![fault]))?;
    Ok(bytes)
}

/// Returns the grammar that a request's template is judged by: that of its format, or of the state
/// that it changes.
#[must_use]
pub fn page_grammar(body: &Value, before: Option<&ArtifactState>) -> Grammar {
    let named = body.pointer("/input/document/format").and_then(Value::as_str);
    let known = before.and_then(|before| before.artifact.document.as_ref());
    let format =
        named.and_then(DocumentFormat::from_word).or_else(|| known.map(|document| document.format));
    format.map_or(Grammar::V1, DocumentFormat::grammar)
}

/// Returns the faults of a template, and of its bindings where the data is known. Neither the locale
/// nor the zone makes one.
#[must_use]
pub fn check_page(html: &str, data: Option<&Value>, grammar: Grammar) -> Vec<Issue> {
    let refused = match data {
        Some(data) => {
            let settings = PageSettings { grammar, context: Context::default() };
            render_page(html, data, &settings).err()
        }
        None => compile(html, grammar).err(),
    };
    refused.map(|refused| refused.issues()).unwrap_or_default()
}

/// Compiles a template. One of the first format that uses words of the second is judged by the second.
fn compile(html: &str, grammar: Grammar) -> Result<(Template, Warnings), PageRefused> {
    let faults = match Template::compile_as(html, grammar) {
        Ok(compiled) => return Ok(compiled),
        Err(faults) => faults,
    };
    match grammar {
        Grammar::V2 => Err(PageRefused::Template(faults)),
        Grammar::V1 => {
            let left = Template::compile_as(html, Grammar::V2).err().unwrap_or_default();
            let is_left = |fault: &TemplateIssue| left.iter().any(|it| it.offset == fault.offset);
            let is_foreign = |fault: &TemplateIssue| fault.code == IssueCode::UnsupportedDirective;
            // What other languages wrote is translated first: the first format can hold the result,
            // but for words that only the second has, wrong as their values may be.
            let is_ours = !left.iter().any(is_foreign);
            let is_word =
                |fault: &&TemplateIssue| is_second_only(fault) || is_ours && !is_left(fault);
            match faults.iter().find(is_word) {
                Some(word) => Err(PageRefused::NewerFormat { word: Box::new(word.clone()), left }),
                None => Err(PageRefused::Template(faults)),
            }
        }
    }
}

/// Returns whether a refusal is of a directive that the second format has and no other language.
fn is_second_only(fault: &TemplateIssue) -> bool {
    let words = ["data-od-if", "data-od-else-if", "data-od-else", "data-od-chart"];
    let name = fault.found.split(['=', ' ', '>']).next().unwrap_or_default();
    fault.code == IssueCode::UnknownDirective
        && words.iter().any(|word| name.eq_ignore_ascii_case(word))
}

/// Why a template and data make no page. The lists are never empty.
#[derive(Debug, thiserror::Error)]
pub enum PageRefused {
    /// The template breaks rules, whatever the data.
    #[error("the template does not compile")]
    Template(Vec<TemplateIssue>),
    /// The template is of the first format, and uses words of the second.
    #[error("the template needs `document.format`: html_template_v2")]
    NewerFormat {
        /// The first refusal that the second format does not make.
        word: Box<TemplateIssue>,
        /// The refusals of the second format.
        left: Vec<TemplateIssue>,
    },
    /// The data does not fit the template, or the page would be too large. Told by its first fault.
    #[error("{}", .0.first().map(ToString::to_string).unwrap_or_default())]
    Data(Vec<RenderError>),
}

impl PageRefused {
    /// Returns everything that is wrong, by position in the template.
    #[must_use]
    pub fn issues(&self) -> Vec<Issue> {
        match self {
            Self::Template(faults) => faults.iter().map(Issue::from).collect(),
            Self::NewerFormat { word, left } => {
                let TemplateIssue { line, column, found, .. } = &**word;
                let message = format!(
                    "the template is of html_template_v1, and template.html:{line}:{column} needs html_template_v2"
                );
                let issue = Issue::new("/input/document/format", "format_needed", message)
                    .got(found)
                    .fix("write `\"html_template_v2\"`");
                std::iter::once(issue).chain(left.iter().map(Issue::from)).collect()
            }
            Self::Data(faults) => faults.iter().map(Issue::from).collect(),
        }
    }
}

fn remark(warning: &TemplateWarning) -> Issue {
    let path = format!("template.html:{}:{}", warning.line, warning.column);
    Issue::new(&path, warning.code.as_str(), warning.message.clone()).got(&warning.found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_stored_page_is_the_page_that_was_decided() {
        let html = "<!doctype html><title>T</title><p>{{data.n}}</p>";
        let (decided, _) = render_page(html, &json!({ "n": 1 }), &PageSettings::default()).unwrap();
        let settings = PageSettings::default();
        assert_eq!(render_stored(html, &json!({ "n": 1 }), &settings, None).unwrap(), decided);
    }

    #[test]
    fn rendering_stops_at_the_first_fault_that_the_check_names() {
        let html = "<ul><li data-od-repeat=\"row in data.rows\">{{row.a}}</li></ul>\
            <a href=\"{{data.url}}\">x</a><p>{{data.o}}</p><p>{{data.l}}</p>";
        let row = |a: Value| json!({ "a": a });
        for data in [
            json!({ "rows": 1, "url": "javascript:x", "o": {}, "l": [] }),
            json!({ "rows": [row(json!(1)), row(json!({}))], "url": "javascript:x", "o": {} }),
            json!({ "rows": [], "url": "javascript:x", "o": {} }),
            json!({ "rows": [], "url": "/x", "o": {}, "l": [1] }),
            json!({ "rows": [], "url": "/x", "l": [1] }),
        ] {
            let first = |refused: PageRefused| match refused {
                PageRefused::Data(faults) => faults[0].to_string(),
                refused @ (PageRefused::Template(_) | PageRefused::NewerFormat { .. }) => {
                    panic!("{refused:?}")
                }
            };
            let settings = PageSettings::default();
            let checked = first(render_page(html, &data, &settings).unwrap_err());
            let stored = render_stored(html, &data, &settings, None).unwrap_err();
            assert_eq!(first(stored), checked, "{data}");
        }
    }

    #[test]
    fn a_v1_template_with_words_of_v2_is_told_to_change_its_format_and_what_v2_still_refuses() {
        let told = |html: &str| -> Vec<(String, Option<String>)> {
            let issues = check_page(html, None, Grammar::V1);
            issues.into_iter().map(|issue| (issue.path, issue.fix)).collect()
        };
        let format =
            ("/input/document/format".to_owned(), Some("write `\"html_template_v2\"`".to_owned()));
        for html in [
            "<p data-od-if='data.a'>x</p>",
            "<p>{{data.n | number:0}}</p>",
            "<p data-od-repeat='a in data.a'><b data-od-repeat='b in a.b'>{{b}}</b></p>",
            "<p data-od-repeat='a in data.a'>{{@index}}</p>",
        ] {
            assert_eq!(told(html), std::slice::from_ref(&format), "{html}");
            assert_eq!(check_page(html, None, Grammar::V2), []);
        }
        let both = told("<p>{{data.n | number:0}} {{data.n | moneyy}}</p>");
        assert_eq!(both[0], format);
        assert_eq!(both[1].0, "template.html:1:26");
        // The first format can hold what another language's loop is translated to.
        let foreign = told("<p>{{#each data.a}}{{data.n | number}}{{/each}}</p>");
        assert!(!foreign.contains(&format), "{foreign:?}");
    }
}
