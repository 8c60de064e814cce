//! Reading and checking a document: the fixed names, the data, its schema, its source.

use super::source_input::read_source;
use super::target::blocked_targets;
use super::{
    DataFile, DocumentFormat, GeneratedPreviewPath, PreviewEntry, PreviewType, Source, TemplatePath,
};
use crate::credential;
use crate::error::Issue;
use crate::fields::{Fields, Issues, credential_issue};
use crate::json::{BoundedObject, Pointer, Value};
use crate::limits;
use crate::schema::DataSchema;

const FIELDS: &[&str] = &[
    "format",
    "templatePath",
    "generatedPreviewPath",
    "dataPath",
    "dataJson",
    "dataSchemaJson",
    "sourceJson",
];

/// The document of a create request, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentInput {
    /// The data.
    pub data: BoundedObject,
    /// What the data must look like.
    pub data_schema: Option<BoundedObject>,
    /// Where refreshed data comes from.
    pub source: Option<Source>,
}

/// The document of an update request, checked; the data was not checked against a schema.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DocumentPatch {
    /// The new data.
    pub data: Option<BoundedObject>,
    /// The new schema, or its removal.
    pub data_schema: Patch<BoundedObject>,
    /// The new source, or its removal.
    pub source: Patch<Source>,
}

/// What an update does to a part that may be absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Patch<T> {
    /// It stays as it is.
    #[default]
    Keep,
    /// It goes: the update says `null`.
    Remove,
    /// It is replaced.
    Set(T),
}

impl<T> Patch<T> {
    /// Applies the patch to a part.
    #[must_use]
    pub fn apply(self, part: Option<T>) -> Option<T> {
        match self {
            Self::Keep => part,
            Self::Remove => None,
            Self::Set(value) => Some(value),
        }
    }
}

pub(super) fn read_create_document(
    value: &Value,
    at: Pointer,
    issues: &mut Issues,
    warnings: &mut Vec<Issue>,
) -> Option<DocumentInput> {
    let document_at = at.clone();
    let mut fields = Fields::open(value, at, FIELDS, issues)?;
    read_fixed_names(&mut fields);
    fields.required("dataJson");
    let data_at = fields.at("dataJson");
    let data = read_data(&mut fields);
    let data_schema = read_schema(&mut fields);
    let source_at = fields.at("sourceJson");
    let source = fields
        .get("sourceJson")
        .and_then(|source| read_source(source, source_at, fields.issues, warnings));
    let data = data?;
    if let Some((_, schema)) = &data_schema {
        let broken = schema.check(data.value());
        fields.issues.extend(broken.into_iter().map(|issue| issue.under(data_at.as_str())));
    }
    fields.issues.extend(blocked_targets(source.as_ref(), &data, &document_at));
    Some(DocumentInput { data, data_schema: data_schema.map(|(json, _)| json), source })
}

pub(super) fn read_update_document(
    value: &Value,
    at: Pointer,
    issues: &mut Issues,
    warnings: &mut Vec<Issue>,
) -> Option<DocumentPatch> {
    let mut fields = Fields::open(value, at, FIELDS, issues)?;
    read_fixed_names(&mut fields);
    let data = read_data(&mut fields);
    let data_schema = match fields.get("dataSchemaJson") {
        None => Patch::Keep,
        Some(Value::Null) => Patch::Remove,
        Some(_) => read_schema(&mut fields).map_or(Patch::Keep, |(json, _)| Patch::Set(json)),
    };
    let source_at = fields.at("sourceJson");
    let source = match fields.get("sourceJson") {
        None => Patch::Keep,
        Some(Value::Null) => Patch::Remove,
        Some(source) => {
            read_source(source, source_at, fields.issues, warnings).map_or(Patch::Keep, Patch::Set)
        }
    };
    Some(DocumentPatch { data, data_schema, source })
}

/// Reads `preview`, which has one value.
pub(super) fn read_preview(value: &Value, at: Pointer, issues: &mut Issues) {
    if let Some(mut fields) = Fields::open(value, at, &["type", "entry"], issues) {
        fields.word("type", PreviewType::ALL, PreviewType::as_str);
        fields.word("entry", PreviewEntry::ALL, PreviewEntry::as_str);
    }
}

fn read_fixed_names(fields: &mut Fields<'_, '_>) {
    fields.word("format", DocumentFormat::ALL, DocumentFormat::as_str);
    fields.word("templatePath", TemplatePath::ALL, TemplatePath::as_str);
    fields.word("generatedPreviewPath", GeneratedPreviewPath::ALL, GeneratedPreviewPath::as_str);
    fields.word("dataPath", DataFile::ALL, DataFile::as_str);
}

fn read_data(fields: &mut Fields<'_, '_>) -> Option<BoundedObject> {
    let data = fields.bounded("dataJson")?;
    let at = fields.at("dataJson");
    fields.issues.extend(credential_issues(data.value(), &at));
    Some(data)
}

fn read_schema(fields: &mut Fields<'_, '_>) -> Option<(BoundedObject, DataSchema)> {
    let json = fields.bounded("dataSchemaJson")?;
    let at = fields.at("dataSchemaJson");
    fields.issues.extend(credential_issues(json.value(), &at));
    match DataSchema::compile(json.value()) {
        Ok(schema) => Some((json, schema)),
        Err(broken) => {
            fields.issues.extend(broken.into_iter().map(|issue| issue.under(at.as_str())));
            None
        }
    }
}

/// Returns the issues of data that holds what looks like credentials.
pub(super) fn credential_issues(value: &Value, at: &Pointer) -> Vec<Issue> {
    credential::find_in_json(value, limits::JSON_FAULTS.max())
        .into_iter()
        .map(|(place, kind)| credential_issue(&place, kind).under(at.as_str()))
        .collect()
}
