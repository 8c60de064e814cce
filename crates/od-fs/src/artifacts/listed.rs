//! What a list needs of `artifact.json`.
//!
//! A list reads every pointer of a project. Digests, unknown fields and the schema of the data take
//! most of one and are of no use to it, so they are skipped instead of built and thrown away.

use od_core::artifact::{
    ArtifactSummary, Attempt, Heading, Health, Preview, RefreshStatus, SchemaVersion, Source,
    SourcePin,
};
use od_core::ids::{ArtifactId, ProjectId, Revision, RunId, Timestamp};
use serde::{Deserialize, Serialize};

use super::pointer::{StorePart, checksum_holds};

/// The part of a pointer that a list needs.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Listed {
    /// Another version is another shape: whoever reads the artifact whole says so.
    #[serde(rename = "schemaVersion")]
    _version: SchemaVersion,
    id: ArtifactId,
    project_id: ProjectId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    created_by_run_id: Option<RunId>,
    #[serde(flatten)]
    heading: Heading,
    pinned: bool,
    preview: Preview,
    pub(crate) refresh_status: RefreshStatus,
    created_at: Timestamp,
    updated_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) last_refreshed_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    document: Option<ListedDocument>,
    revision: Revision,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source_pin: Option<SourcePin>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) created_by_attempt: Option<Attempt>,
    pub(crate) store: StorePart,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedDocument {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source_json: Option<Source>,
}

impl Listed {
    /// Reads a pointer's bytes; `None` if they are not as they were written, or of another shape.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        if !checksum_holds(bytes) {
            return None;
        }
        serde_json::from_slice(bytes).ok()
    }

    /// Returns the line of the list: the same as the whole artifact's.
    pub(crate) fn into_summary(self, health: Health) -> ArtifactSummary {
        let source = self.document.as_ref().and_then(|document| document.source_json.as_ref());
        ArtifactSummary {
            has_document: self.document.is_some(),
            refreshable: source
                .is_some_and(|source| source.may_refresh(self.heading.status, &health)),
            source_label: source.and_then(Source::label),
            account_label: self.source_pin.and_then(|pin| pin.account_label),
            id: self.id,
            project_id: self.project_id,
            heading: self.heading,
            pinned: self.pinned,
            preview: self.preview,
            refresh_status: self.refresh_status,
            created_at: self.created_at,
            updated_at: self.updated_at,
            last_refreshed_at: self.last_refreshed_at,
            revision: self.revision,
            health,
            created_by_run_id: self.created_by_run_id,
            // What is edited is read whole.
            edited: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use od_core::artifact::Artifact;
    use serde_json::{Value, json};

    use super::*;
    use crate::artifacts::pointer::Pointer;

    fn pointer(more: &Value) -> Pointer {
        let digest = format!("sha256:{}", "0".repeat(64));
        let file = json!({ "content": digest, "file": digest });
        let mut value = json!({
            "schemaVersion": 1,
            "id": "la-page-0123456789ab",
            "projectId": "project-0123456789ab",
            "title": "A page",
            "slug": "a-page",
            "status": "active",
            "pinned": true,
            "preview": { "type": "html", "entry": "index.html" },
            "refreshStatus": "idle",
            "createdAt": "2026-04-30T00:00:00.000Z",
            "updatedAt": "2026-04-30T00:00:01.000Z",
            "revision": 3,
            "digests": { "template": file, "data": file, "provenance": file, "index": file },
        });
        if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
            value.extend(more.clone());
        }
        let artifact: Artifact = serde_json::from_value(value).expect("an artifact");
        let store = json!({ "lastRefresh": "refresh-000003" });
        let store = serde_json::from_value(store).expect("the store's part");
        Pointer { artifact, store }
    }

    #[test]
    fn a_list_says_of_an_artifact_what_the_whole_artifact_says() {
        let digest = format!("sha256:{}", "1".repeat(64));
        let document = json!({
            "format": "html_template_v1",
            "templatePath": "template.html",
            "generatedPreviewPath": "index.html",
            "dataPath": "data.json",
            "dataSchemaJson": { "type": "object" },
            "newer": 1,
            "sourceJson": {
                "type": "local_file",
                "input": { "path": "in.json" },
                "refreshPermission": "manual_refresh_granted_for_read_only",
            },
        });
        let all = json!({
            "createdByRunId": "run-0123456789ab",
            "refreshStatus": "succeeded",
            "lastRefreshedAt": "2026-04-30T00:00:01.000Z",
            "document": document,
            "sourcePin": {
                "connectorId": "github",
                "toolName": "github.list_releases",
                "contractDigest": digest,
                "accountLabel": "somebody",
            },
            "createdByAttempt": { "id": "attempt-1", "digest": digest },
            "fieldOfANewerDaemon": { "a": [1, 2, 3] },
        });
        for more in [json!({}), json!({ "status": "archived", "document": document }), all] {
            let pointer = pointer(&more);
            let bytes = pointer.encode().expect("a pointer can be written");
            let listed = Listed::decode(&bytes).expect("a pointer can be read");
            assert_eq!(listed.store, pointer.store);
            assert_eq!(listed.created_by_attempt, pointer.artifact.created_by_attempt);
            let whole = pointer.artifact.summary(Health::HEALTHY);
            assert_eq!(listed.into_summary(Health::HEALTHY), whole);
        }
    }

    #[test]
    fn a_pointer_with_a_changed_byte_is_not_listed() {
        let bytes = pointer(&json!({})).encode().expect("a pointer can be written");
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(Listed::decode(&damaged).is_none(), "byte {at}");
        }
    }
}
