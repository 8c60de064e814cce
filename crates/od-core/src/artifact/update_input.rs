//! What a client sends to change an artifact.

use super::create_input::read_title;
use super::document_input::{DocumentPatch, read_preview, read_update_document};
use super::provenance_input::{ProvenanceInput, read_provenance};
use super::template_input::read_template;
use super::{Heading, Status};
use crate::error::Issue;
use crate::fields::{Fields, Issues, wrong_type};
use crate::ids::{ArtifactId, Revision, Slug};
use crate::json::{Pointer, Value};

/// The `input` of an update request, checked; every part may be absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpdateInput {
    /// The changes of its heading.
    pub heading: HeadingPatch,
    /// Whether the console keeps it at the top of its lists.
    pub pinned: Option<bool>,
    /// The changes of its document.
    pub document: Option<DocumentPatch>,
    /// What was changed in the input to make it safe; not faults.
    pub warnings: Vec<Issue>,
}

/// The changes of a heading; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeadingPatch {
    /// The new title.
    pub title: Option<String>,
    /// The new slug.
    pub slug: Option<Slug>,
    /// Active or archived.
    pub status: Option<Status>,
}

impl HeadingPatch {
    /// Applies the changes to a heading.
    pub fn apply(self, heading: &mut Heading) {
        let Self { title, slug, status } = self;
        heading.status = status.unwrap_or(heading.status);
        if let Some(title) = title {
            heading.title = title;
        }
        if let Some(slug) = slug {
            heading.slug = slug;
        }
    }
}

/// A whole update request, checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpdateRequest {
    /// The artifact, if the body names it (the agent's door).
    pub artifact_id: Option<ArtifactId>,
    /// The changes of the artifact.
    pub input: Option<UpdateInput>,
    /// The new template.
    pub template_html: Option<String>,
    /// Where the new data came from.
    pub provenance: Option<ProvenanceInput>,
    /// The revision the change is based on.
    pub if_revision: Option<Revision>,
}

impl UpdateInput {
    /// Reads the `input` of an update request.
    ///
    /// # Errors
    ///
    /// Returns every fault at once, at most 20, with pointers from the root of the input.
    pub fn parse(value: &Value) -> Result<Self, Vec<Issue>> {
        let mut issues = Issues::default();
        let input = read_input(value, Pointer::root(), &mut issues);
        issues.finish(input)
    }
}

impl UpdateRequest {
    /// Reads the body of an update: `{ input?, templateHtml?, provenanceJson?, ifRevision? }`.
    ///
    /// # Errors
    ///
    /// Returns every fault at once, at most 20, with pointers from the root of the body.
    pub fn parse(value: &Value) -> Result<Self, Vec<Issue>> {
        Self::parse_fields(value, &["input", "templateHtml", "provenanceJson", "ifRevision"])
    }

    /// Reads the body of an update at the agent's door, which adds `artifactId`.
    ///
    /// # Errors
    ///
    /// As [`Self::parse`], and if `artifactId` is missing.
    pub fn parse_tool(value: &Value) -> Result<Self, Vec<Issue>> {
        const FIELDS: &[&str] =
            &["artifactId", "input", "templateHtml", "provenanceJson", "ifRevision"];
        Self::parse_fields(value, FIELDS)
    }

    fn parse_fields(value: &Value, known: &[&str]) -> Result<Self, Vec<Issue>> {
        let mut issues = Issues::default();
        let request = Fields::open(value, Pointer::root(), known, &mut issues).map(|mut fields| {
            if known.contains(&"artifactId") {
                fields.required("artifactId");
            }
            Self::read(fields)
        });
        issues.finish(request)
    }

    fn read(mut fields: Fields<'_, '_>) -> Self {
        let artifact_id = fields.parsed("artifactId");
        let input_at = fields.at("input");
        let input =
            fields.get("input").and_then(|value| read_input(value, input_at, fields.issues));
        let template_html = read_template(&mut fields);
        let provenance_at = fields.at("provenanceJson");
        let provenance = fields
            .get("provenanceJson")
            .and_then(|value| read_provenance(value, provenance_at, fields.issues));
        let if_revision = read_revision(&mut fields);
        Self { artifact_id, input, template_html, provenance, if_revision }
    }
}

fn read_revision(fields: &mut Fields<'_, '_>) -> Option<Revision> {
    let value = fields.get("ifRevision")?;
    let revision = value.as_u64().and_then(|number| Revision::try_from(number).ok());
    if revision.is_none() {
        let at = fields.at("ifRevision");
        fields.issues.push(wrong_type(&at, value, "a revision: an integer from 1"));
    }
    revision
}

fn read_input(value: &Value, at: Pointer, issues: &mut Issues) -> Option<UpdateInput> {
    const FIELDS: &[&str] = &["title", "slug", "status", "pinned", "preview", "document"];
    let mut fields = Fields::open(value, at, FIELDS, issues)?;
    let mut warnings = Vec::new();
    let title_at = fields.at("title");
    let title = fields.get("title").and_then(|title| read_title(title, &title_at, fields.issues));
    let slug = fields.parsed("slug");
    // `error` is the daemon's word.
    let status = fields.word("status", &[Status::Active, Status::Archived], Status::as_str);
    let pinned = fields.flag("pinned");
    let preview_at = fields.at("preview");
    if let Some(preview) = fields.get("preview") {
        read_preview(preview, preview_at, fields.issues);
    }
    let document_at = fields.at("document");
    let document = fields.get("document").and_then(|document| {
        read_update_document(document, document_at, fields.issues, &mut warnings)
    });
    let heading = HeadingPatch { title, slug, status };
    Some(UpdateInput { heading, pinned, document, warnings })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Patch;
    use super::*;

    #[test]
    fn every_part_is_optional_and_null_removes() {
        assert_eq!(UpdateRequest::parse(&json!({})).unwrap(), UpdateRequest::default());
        let request = UpdateRequest::parse(&json!({
            "input": { "document": { "sourceJson": null, "dataJson": { "a": 1 } } },
            "ifRevision": 3,
        }))
        .unwrap();
        let document = request.input.unwrap().document.unwrap();
        assert_eq!(document.source, Patch::Remove);
        assert_eq!(document.data_schema, Patch::Keep);
        assert!(document.data.is_some());
        assert_eq!(request.if_revision.unwrap().get(), 3);
    }

    #[test]
    fn what_an_update_may_not_say_is_refused() {
        let codes = |value: &Value| -> Vec<(String, String)> {
            let issues = UpdateRequest::parse(value).unwrap_err();
            issues.into_iter().map(|issue| (issue.path, issue.code)).collect()
        };
        let found = codes(&json!({
            "artifactId": "a", "ifRevision": 0,
            "input": { "sessionId": "s", "status": "error", "createdAt": "x" },
        }));
        let want = [
            ("/artifactId", "unknown_field"),
            ("/input/sessionId", "unknown_field"),
            ("/input/createdAt", "daemon_owned"),
            ("/input/status", "not_allowed"),
            ("/ifRevision", "wrong_type"),
        ];
        let want: Vec<_> =
            want.iter().map(|(path, code)| ((*path).to_owned(), (*code).to_owned())).collect();
        assert_eq!(found, want);
        assert!(UpdateRequest::parse_tool(&json!({ "artifactId": "la-x" })).is_ok());
        assert!(UpdateRequest::parse_tool(&json!({})).is_err());
    }
}
