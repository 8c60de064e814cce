//! The document of an artifact: what is stored of it, and what clients send.

use super::mapping::blocked_targets;
use super::source::Source;
use crate::input::{Fields, FreeForm, Input as _, Issues, Reader, input, object, one_of};
use crate::json::{BoundedObject, Map, Pointer, Value};
use crate::schema::DataSchema;
use crate::words::words;

/// The document of an artifact without its data, which stands in `data.json`.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// The format and the files of the document.
    #[serde(flatten)]
    pub names: FixedNames,
    /// What the data must look like, in the documented subset of JSON Schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_schema_json: Option<BoundedObject>,
    /// Where refreshed data comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_json: Option<Source>,
    /// Fields of a newer daemon, kept as they were.
    #[serde(flatten)]
    pub extra: Map,
}

impl Document {
    /// Makes a document with the fixed names.
    #[must_use]
    pub fn new(data_schema_json: Option<BoundedObject>, source_json: Option<Source>) -> Self {
        Self { names: FixedNames::default(), data_schema_json, source_json, extra: Map::new() }
    }
}

input! {
    /// The document of a create request, checked.
    #[derive(Clone, Debug, PartialEq)]
    pub struct DocumentInput "the data and where it comes from" then check_document,
    patch DocumentPatch "the changes of the document; null removes the schema or the source" {
        ..names: FixedNames => FixedNames;
        /// The data.
        required data: BoundedObject = "dataJson", FreeForm::Stored, "free-form: the data the template shows; at most 8 levels, 100 keys an object, 500 items an array, 16384 UTF-16 code units a string, 262144 bytes in canonical form; no credentials, no raw responses";
        /// What the data must look like.
        optional data_schema: BoundedObject = "dataSchemaJson", DataSchemaJson;
        /// Where refreshed data comes from.
        optional source: Source = "sourceJson", object();
    }
}

/// Checks the data against the schema and the mapping that come with it. An update is checked when
/// it is applied: what it leaves out is there already.
fn check_document(document: DocumentInput, fields: &mut Fields<'_, '_>) -> Option<DocumentInput> {
    let DocumentInput { data, data_schema, source, .. } = &document;
    if let Some(Ok(schema)) = data_schema.as_ref().map(|json| DataSchema::compile(json.value())) {
        let at = fields.at("dataJson");
        let broken = schema.check(data.value());
        fields.issues.extend(broken.into_iter().map(|issue| issue.under(at.as_str())));
    }
    fields.issues.extend(blocked_targets(source.as_ref(), data, fields.here()));
    Some(document)
}

input! {
    /// The names of a document that have one value each; clients may leave them out.
    #[derive(
        Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
    )]
    #[serde(rename_all = "camelCase")]
    pub struct FixedNames "the format and the files of the document" {
        /// The format of the template.
        default(DocumentFormat::HtmlTemplateV1) format: DocumentFormat
            = "format", one_of(DocumentFormat::ALL), "may be left out, for it has one value";
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
            format: DocumentFormat::HtmlTemplateV1,
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
    /// The source, if nothing is wrong with it.
    pub source: Option<Source>,
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
            source: part("/input/document/sourceJson")
                .and_then(|source| Source::read_whole(source).ok())
                .map(|(source, _)| source),
        }
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
        assert!(whole.data.is_some() && whole.source.is_some());
        let broken = ReadableParts::of(&body(json!({ "token": 1 }), &json!({ "type": "web" })));
        assert_eq!((broken.data, broken.source), (None, None));
        assert_eq!(ReadableParts::of(&json!([])), ReadableParts::default());
    }
}
