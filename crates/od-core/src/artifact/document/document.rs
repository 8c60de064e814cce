//! The document of an artifact: what is stored of it, and what clients send.

use super::source::{RefreshPermission, Source};
use super::sources::{NamedSource, SourceList, blocked_targets, design_issues};
use crate::checks::{Check, CheckList};
use crate::format::{Locale, Zone};
use crate::input::{
    Fields, FreeForm, Input as _, Issues, Patch, Reader, ZoneName, input, list, object, one_of,
};
use crate::json::{BoundedObject, Map, Pointer, Value};
use crate::limits;
use crate::query::Query;
use crate::schedule::{RefreshSchedule, check_pace};
use crate::schema::DataSchema;
use crate::template::Grammar;
use crate::words::words;

/// The document of an artifact without its data, which stands in `data.json`.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// The format of the template.
    pub format: DocumentFormat,
    /// The files of the document.
    #[serde(flatten)]
    pub names: FixedNames,
    /// The language that formats write; English if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<Locale>,
    /// The zone that times are shown in; UTC if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<Zone>,
    /// What the data must look like, in the documented subset of JSON Schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_schema_json: Option<BoundedObject>,
    /// Where refreshed data comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_json: Option<Source>,
    /// Several sources, in the place of `sourceJson`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SOURCES.allowed))]
    pub sources: Vec<NamedSource>,
    /// What is worked out of the sources' rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::QUERIES.allowed))]
    pub queries: Vec<Query>,
    /// Whether a refresh may run `sources`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_permission: Option<RefreshPermission>,
    /// When it is refreshed by itself: a proposal until somebody switches it on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<RefreshSchedule>,
    /// Conditions on the data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::CHECKS.allowed))]
    pub checks: Vec<Check>,
    /// Fields of a newer daemon, kept as they were.
    #[serde(flatten)]
    pub extra: Map,
}

impl Document {
    /// Makes a document of the first format with the fixed names.
    #[must_use]
    pub fn new(data_schema_json: Option<BoundedObject>, source_json: Option<Source>) -> Self {
        Self {
            format: DocumentFormat::HtmlTemplateV1,
            names: FixedNames::default(),
            locale: None,
            time_zone: None,
            data_schema_json,
            source_json,
            sources: Vec::new(),
            queries: Vec::new(),
            refresh_permission: None,
            refresh: None,
            checks: Vec::new(),
            extra: Map::new(),
        }
    }
}

input! {
    /// The document of a create request, checked.
    #[derive(Clone, Debug, PartialEq)]
    pub struct DocumentInput "the data and where it comes from" then check_document,
    patch DocumentPatch "the changes of the document; null removes the schema, the sources, the queries, the schedule, the checks, the locale or the zone" {
        ..names: FixedNames => FixedNames;
        /// The format of the template.
        default(DocumentFormat::HtmlTemplateV1) format: DocumentFormat
            = "format", one_of(DocumentFormat::ALL), "v2 has conditions, formats and nested repeats; v1 if absent";
        /// The language that formats write.
        optional locale: Locale = "locale", one_of(Locale::ALL), "of formatted numbers and dates; en if absent";
        /// The zone that times are shown in.
        optional time_zone: Zone = "timeZone", ZoneName, "IANA, such as Europe/Berlin; UTC if absent";
        /// The data.
        required data: BoundedObject = "dataJson", FreeForm::Stored, "free-form: the data the template shows; at most 8 levels, 100 keys an object, 500 items an array, 16384 UTF-16 code units a string, 262144 bytes in canonical form; no credentials, no raw responses";
        /// What the data must look like.
        optional data_schema: BoundedObject = "dataSchemaJson", DataSchemaJson;
        /// Where refreshed data comes from.
        optional source: Source = "sourceJson", object();
        /// Several sources, in the place of `sourceJson`.
        optional sources: Vec<NamedSource>
            = "sources", SourceList, "several sources, instead of sourceJson; each writes what its outputMapping names, and is a table for queries";
        /// What is worked out of the sources' rows.
        optional queries: Vec<Query>
            = "queries", list(&limits::QUERIES), "SQL over the sources' rows, run at every refresh";
        /// Whether a refresh may run the sources.
        optional refresh_permission: RefreshPermission
            = "refreshPermission", one_of(RefreshPermission::ALL), "whether a refresh may run `sources`; none if absent";
        /// When it is refreshed by itself.
        optional refresh: RefreshSchedule = "refresh", object();
        /// Conditions on the data.
        optional checks: Vec<Check> = "checks", CheckList, "conditions on the data, worked out at every commit";
    }
}

impl DocumentInput {
    /// Returns the document that the input stands for, without its data.
    #[must_use]
    pub fn to_document(&self) -> Document {
        let mut document = Document {
            format: self.format,
            names: self.names.clone(),
            locale: self.locale,
            time_zone: self.time_zone.clone(),
            data_schema_json: self.data_schema.clone(),
            source_json: self.source.clone(),
            sources: self.sources.clone().unwrap_or_default(),
            queries: self.queries.clone().unwrap_or_default(),
            refresh_permission: None,
            refresh: self.refresh.clone(),
            checks: self.checks.clone().unwrap_or_default(),
            extra: Map::new(),
        };
        if let Some(permission) = self.refresh_permission {
            document.set_permission(permission);
        }
        document
    }
}

impl DocumentPatch {
    /// Returns the document after the changes. What comes in the place of `sourceJson`, or of
    /// `sources`, takes that place; a request that sets both keeps both, for its check to refuse.
    #[must_use]
    pub fn apply(&self, document: Document) -> Document {
        let permission = document.permission();
        let mut next = Document {
            format: self.format.unwrap_or(document.format),
            locale: self.locale.clone().apply(document.locale),
            time_zone: self.time_zone.clone().apply(document.time_zone),
            data_schema_json: self.data_schema.clone().apply(document.data_schema_json),
            source_json: self.source.clone().apply(document.source_json),
            sources: self.sources.clone().apply(Some(document.sources)).unwrap_or_default(),
            queries: self.queries.clone().apply(Some(document.queries)).unwrap_or_default(),
            refresh: self.refresh.clone().apply(document.refresh),
            checks: self.checks.clone().apply(Some(document.checks)).unwrap_or_default(),
            ..document
        };
        match (&self.source, &self.sources) {
            (Patch::Set(_), Patch::Keep | Patch::Remove) => {
                next.sources = Vec::new();
                next.refresh_permission = None;
            }
            (Patch::Keep | Patch::Remove, Patch::Set(_)) => {
                next.source_json = None;
                next.set_permission(permission);
            }
            (Patch::Keep | Patch::Remove, Patch::Keep | Patch::Remove)
            | (Patch::Set(_), Patch::Set(_)) => {}
        }
        match &self.refresh_permission {
            Patch::Keep => {}
            Patch::Set(permission) => next.set_permission(*permission),
            Patch::Remove => next.set_permission(RefreshPermission::None),
        }
        if next.sources.is_empty() {
            next.refresh_permission = None;
        }
        next
    }
}

/// Checks the data against the schema and the mapping that come with it. An update is checked when
/// it is applied: what it leaves out is there already.
fn check_document(document: DocumentInput, fields: &mut Fields<'_, '_>) -> Option<DocumentInput> {
    let DocumentInput { data, data_schema, .. } = &document;
    if let Some(Ok(schema)) = data_schema.as_ref().map(|json| DataSchema::compile(json.value())) {
        let at = fields.at("dataJson");
        let broken = schema.check(data.value());
        fields.issues.extend(broken.into_iter().map(|issue| issue.under(at.as_str())));
    }
    let next = document.to_document();
    let at = fields.here().clone();
    fields.issues.extend(design_issues(&next, &at));
    fields.issues.extend(blocked_targets(&next, data, &at));
    if next.refresh.is_some() {
        let below = at.as_str().trim_end_matches("/document").to_owned();
        fields.issues.extend(check_pace(&next).map(|issue| issue.under(&below)));
    }
    Some(document)
}

input! {
    /// The names of a document that have one value each; clients may leave them out.
    #[derive(
        Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
    )]
    #[serde(rename_all = "camelCase")]
    pub struct FixedNames "the files of the document" {
        /// The template's file.
        default(TemplatePath::TemplateHtml) template_path: TemplatePath
            = "templatePath", one_of(TemplatePath::ALL), "may be left out, for it has one value";
        /// The rendered page's file.
        default(GeneratedPreviewPath::IndexHtml) generated_preview_path: GeneratedPreviewPath
            = "generatedPreviewPath", one_of(GeneratedPreviewPath::ALL), "may be left out, for it has one value";
        /// The data's file.
        default(DataFile::DataJson) data_path: DataFile
            = "dataPath", one_of(DataFile::ALL), "may be left out, for it has one value";
    }
}

impl Default for FixedNames {
    fn default() -> Self {
        Self {
            template_path: TemplatePath::TemplateHtml,
            generated_preview_path: GeneratedPreviewPath::IndexHtml,
            data_path: DataFile::DataJson,
        }
    }
}

words! {
    /// The format of a document.
    DocumentFormat {
        /// Escaped interpolation and one level of repetition.
        HtmlTemplateV1 = "html_template_v1",
        /// Also conditions, nested repeats, formats, locales and zones.
        HtmlTemplateV2 = "html_template_v2",
    }
}

impl DocumentFormat {
    /// Returns the grammar that a template of the format is compiled by.
    #[must_use]
    pub const fn grammar(self) -> Grammar {
        match self {
            Self::HtmlTemplateV1 => Grammar::V1,
            Self::HtmlTemplateV2 => Grammar::V2,
        }
    }
}

words! {
    /// The template's file name.
    TemplatePath {
        /// The one name.
        TemplateHtml = "template.html",
    }
}

words! {
    /// The rendered page's file name.
    GeneratedPreviewPath {
        /// The one name.
        IndexHtml = "index.html",
    }
}

words! {
    /// The data's file name.
    DataFile {
        /// The one name.
        DataJson = "data.json",
    }
}

/// Reads `dataSchemaJson`: free-form JSON that is a schema whose every keyword is checked.
struct DataSchemaJson;

impl Reader for DataSchemaJson {
    type Value = BoundedObject;

    fn read(&self, value: &Value, at: &Pointer, issues: &mut Issues) -> Option<BoundedObject> {
        let json = FreeForm::Stored.read(value, at, issues)?;
        match DataSchema::compile(json.value()) {
            Ok(_) => Some(json),
            Err(broken) => {
                issues.extend(broken.into_iter().map(|issue| issue.under(at.as_str())));
                None
            }
        }
    }

    fn schema(&self, _: &str) -> Value {
        let keywords = crate::schema::SCHEMA_KEYWORDS.join(", ");
        FreeForm::Stored.schema(&format!(
            "free-form: what the data must look like, in a subset of JSON Schema ({keywords}); enforced at create, update and refresh"
        ))
    }
}

/// The parts of a create or update request that more than its own reader judges: a source by its
/// connector, a template by its compiler and its data. Read from a request that is refused, so that
/// no fault hides another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadableParts {
    /// The template, if it is a text.
    pub template_html: Option<String>,
    /// The data, if it is within its limits.
    pub data: Option<BoundedObject>,
    /// The sources with nothing wrong with them, each with its place in the document.
    pub sources: Vec<(String, Source)>,
}

impl ReadableParts {
    /// Reads what can be read of a body, whatever is wrong with the rest.
    #[must_use]
    pub fn of(body: &Value) -> Self {
        let part = |pointer: &str| body.pointer(pointer);
        Self {
            template_html: part("/templateHtml").and_then(Value::as_str).map(str::to_owned),
            data: part("/input/document/dataJson")
                .and_then(|data| BoundedObject::check(data.clone()).ok()),
            sources: Self::sources(body),
        }
    }

    fn sources(body: &Value) -> Vec<(String, Source)> {
        let root = body.pointer("/input/document/sourceJson");
        let root = root.and_then(|source| Source::read_whole(source).ok());
        let root = root.map(|(source, _)| ("/sourceJson".to_owned(), source));
        let named = body.pointer("/input/document/sources").and_then(Value::as_array);
        let named = named.into_iter().flatten().take(limits::SOURCES.max()).enumerate();
        let named = named.filter_map(|(i, source)| {
            let (named, _) = NamedSource::read_whole(source).ok()?;
            Some((format!("/sources/{i}"), named.source))
        });
        root.into_iter().chain(named).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_fault_in_one_part_leaves_the_others_readable() {
        let source = json!({ "type": "local_file", "input": { "path": "a.json" } });
        let body = |data: Value, source: &Value| {
            json!({ "title": 1, "templateHtml": "<p>{{", "input": {
                "document": { "dataJson": data, "sourceJson": source } } })
        };
        let whole = ReadableParts::of(&body(json!({ "a": 1 }), &source));
        assert_eq!(whole.template_html.as_deref(), Some("<p>{{"));
        assert!(whole.data.is_some() && whole.sources.len() == 1);
        let broken = ReadableParts::of(&body(json!({ "token": 1 }), &json!({ "type": "web" })));
        assert_eq!((broken.data, broken.sources), (None, Vec::new()));
        assert_eq!(ReadableParts::of(&json!([])), ReadableParts::default());
    }
}
