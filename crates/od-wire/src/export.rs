//! Exports: a file made of an artifact.

use od_core::export::{ExportFormat, ExportedFile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `{ export }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct ExportAnswer {
    /// The file.
    pub export: ExportView,
}

/// A file, and what it contains.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportView {
    /// A name for the file.
    pub name: String,
    /// Its form.
    pub format: ExportFormat,
    /// Its media type.
    pub media_type: String,
    /// What it contains, in a sentence.
    pub contains: String,
    /// Its contents.
    pub text: String,
}

impl From<ExportedFile> for ExportView {
    fn from(ExportedFile { name, format, text }: ExportedFile) -> Self {
        Self {
            name,
            format,
            media_type: format.media_type().to_owned(),
            contains: format.contains().to_owned(),
            text,
        }
    }
}
