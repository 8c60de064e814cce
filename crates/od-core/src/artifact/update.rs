//! The request that changes an artifact.

use super::create::UpdateInput;
use super::provenance::ProvenanceInput;
use crate::error::Issue;
use crate::ids::{ArtifactId, Revision};
use crate::input::{
    Fields, Input, Properties, Reader as _, RevisionNumber, TemplateHtml, input, object, parsed,
    schema_of,
};
use crate::json::Value;

input! {
    /// A whole update request, checked.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct UpdateRequest "changes a live artifact; what is absent stays" {
        @unsent {
            /// The changes that made the request safe; not faults.
            warnings: Vec<Issue>;
        }
        /// The changes of the artifact.
        optional input: UpdateInput = "input", object();
        /// The new template.
        optional template_html: String = "templateHtml", TemplateHtml;
        /// Where the new data came from.
        optional provenance: ProvenanceInput = "provenanceJson", object();
        /// The revision the change is based on.
        optional if_revision: Revision
            = "ifRevision", RevisionNumber, "the revision the change is based on; another one is a conflict";
    }
}

schema_of!(UpdateRequest);

impl UpdateRequest {
    /// Reads the body of an update.
    ///
    /// # Errors
    ///
    /// Returns every fault at once, at most 20, with pointers from the root of the body.
    pub fn parse(value: &Value) -> Result<Self, Vec<Issue>> {
        let (request, warnings) = Self::read_whole(value)?;
        Ok(Self { warnings, ..request })
    }
}

/// An update at the agent's door, whose body names the artifact.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolUpdateRequest {
    /// The artifact.
    pub artifact_id: ArtifactId,
    /// The changes.
    pub update: UpdateRequest,
}

schema_of!(ToolUpdateRequest);

impl ToolUpdateRequest {
    /// Reads the body of an update at the agent's door; see [`UpdateRequest::parse`].
    ///
    /// # Errors
    ///
    /// As [`UpdateRequest::parse`], and if `artifactId` is missing.
    pub fn parse(value: &Value) -> Result<Self, Vec<Issue>> {
        let (Self { artifact_id, update }, warnings) = Self::read_whole(value)?;
        Ok(Self { artifact_id, update: UpdateRequest { warnings, ..update } })
    }
}

impl Input for ToolUpdateRequest {
    const DESCRIPTION: &'static str = UpdateRequest::DESCRIPTION;

    fn push_names(names: &mut Vec<&'static str>) {
        names.push("artifactId");
        UpdateRequest::push_names(names);
    }

    fn read_fields(fields: &mut Fields<'_, '_>) -> Option<Self> {
        fields.require("artifactId");
        let artifact_id = fields.read("artifactId", &parsed());
        let update = UpdateRequest::read_fields(fields);
        Some(Self { artifact_id: artifact_id?, update: update? })
    }

    fn push_properties(properties: &mut Properties) {
        UpdateRequest::push_properties(properties);
        let schema = parsed::<ArtifactId>().schema("the artifact");
        properties.push("artifactId", true, schema);
    }
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
        assert!(ToolUpdateRequest::parse(&json!({ "artifactId": "la-x" })).is_ok());
        assert!(ToolUpdateRequest::parse(&json!({})).is_err());
    }
}
