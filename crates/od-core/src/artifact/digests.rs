//! Digests of the files of a state: a revision is what its digests say.

use super::record::ArtifactState;
use crate::ids::Digest;
use crate::json::{Value, pretty_bytes};

/// The digests of an artifact's files at one revision.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Digests {
    /// Of `template.html`.
    pub template: FileDigests,
    /// Of `data.json`.
    pub data: FileDigests,
    /// Of `provenance.json`.
    pub provenance: FileDigests,
    /// Of `index.html`.
    pub index: FileDigests,
}

impl Digests {
    /// Of the files of a state and its page, as every store writes them.
    #[must_use]
    pub fn of(state: &ArtifactState, page: &[u8]) -> Self {
        // Strings, times and JSON only: writing them cannot fail.
        let provenance = serde_json::to_value(&state.provenance).unwrap_or_default();
        let json = |value: &Value| FileDigests::of_json(value, &pretty_bytes(value));
        Self {
            template: FileDigests::of_html(state.template_html.as_bytes()),
            data: json(state.data.value()),
            provenance: json(&provenance),
            index: FileDigests::of_html(page),
        }
    }

    /// Stands where a state has no files yet: the store sets the real ones.
    pub(crate) fn unset() -> Self {
        let file = FileDigests::of_html(b"");
        Self { template: file.clone(), data: file.clone(), provenance: file.clone(), index: file }
    }
}

/// The two digests of one file.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct FileDigests {
    /// Of the content: the canonical form of JSON, the bytes of HTML.
    pub content: Digest,
    /// Of the bytes on disk.
    // `raw` is a key that is never stored, in our own files no more than in others'.
    #[serde(rename = "file")]
    pub raw: Digest,
}

impl FileDigests {
    /// Of a file whose bytes are its content.
    #[must_use]
    pub fn of_html(bytes: &[u8]) -> Self {
        let digest = Digest::of_bytes(bytes);
        Self { content: digest.clone(), raw: digest }
    }

    /// Of a file that holds a value as these bytes.
    #[must_use]
    pub fn of_json(value: &Value, bytes: &[u8]) -> Self {
        Self { content: Digest::of_json(value), raw: Digest::of_bytes(bytes) }
    }
}
