//! Artifacts as they are asked for and answered.

use od_core::artifact::{
    Artifact, ArtifactSummary, CreateRequest, Heading, Health, HealthState, Provenance,
    RefreshStatus, ToolUpdateRequest,
};
use od_core::error::Issue;
use od_core::ids::{ArtifactId, Digest, ProjectId, Revision, Timestamp};
use od_core::json::BoundedObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::refresh::{RefreshView, RollbackView};

/// `{ artifacts }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct ArtifactsAnswer {
    /// The summaries, newest first.
    #[schemars(length(max = 100_000))]
    pub artifacts: Vec<ArtifactSummary>,
}

/// An artifact with its data: the stored metadata, `document.dataJson` filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct ArtifactView {
    /// What is stored about it.
    pub artifact: Artifact,
    /// Its data, which stands in the document on the wire.
    pub data: BoundedObject,
}

impl Serialize for ArtifactView {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut value = serde_json::to_value(&self.artifact).map_err(serde::ser::Error::custom)?;
        if let Some(Value::Object(document)) = value.get_mut("document") {
            document.insert("dataJson".to_owned(), self.data.value().clone());
        }
        value.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ArtifactView {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let mut value = Value::deserialize(deserializer)?;
        let data = value.get_mut("document").and_then(Value::as_object_mut);
        let data = match data.and_then(|document| document.remove("dataJson")) {
            Some(data) => serde_json::from_value(data).map_err(D::Error::custom)?,
            None => BoundedObject::default(),
        };
        let artifact = serde_json::from_value(value).map_err(D::Error::custom)?;
        Ok(Self { artifact, data })
    }
}

impl JsonSchema for ArtifactView {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ArtifactView".into()
    }

    /// The schema of what is stored, with the data as one more property of the document.
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut inlined = generator.settings().clone();
        inlined.inline_subschemas = true;
        let mut schema = inlined.into_generator().subschema_for::<Artifact>();
        if let Some(document) = schema.pointer_mut("/properties/document") {
            let places = match document.get_mut("anyOf").and_then(Value::as_array_mut) {
                Some(alternatives) => alternatives.iter_mut().collect(),
                None => vec![document],
            };
            for place in places {
                if let Some(Value::Object(properties)) = place.get_mut("properties") {
                    let data = BoundedObject::json_schema(generator).to_value();
                    properties.insert("dataJson".to_owned(), data);
                }
            }
        }
        schema
    }
}

/// One artifact with everything that is known about it.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactAnswer {
    /// The artifact and its data.
    pub artifact: ArtifactView,
    /// Where the data came from.
    pub provenance: Provenance,
    /// Whether its files are sound.
    pub health: Health,
    /// Files edited by hand since the last commit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 3))]
    pub drift: Vec<DriftView>,
    /// Whether a refresh may be started.
    pub refreshable: bool,
    /// What will not work as written, if this was a create or an update.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub warnings: Vec<Issue>,
    /// Where a person sees it.
    #[schemars(length(max = 1024))]
    pub console_url: String,
}

/// A file edited by hand since the last commit.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DriftView {
    /// Its name.
    #[schemars(length(max = 64))]
    pub file: String,
    /// The digest of the last commit.
    pub committed: Digest,
    /// The digest of what is there now.
    pub found: Digest,
}

/// Moves an artifact to the trash.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeleteArtifact {
    /// Only if the artifact is at this revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_revision: Option<Revision>,
}

/// An artifact that is in the trash now.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeletedAnswer {
    /// Always true.
    pub deleted: bool,
    /// Which one.
    pub artifact_id: ArtifactId,
    /// Until when it can be brought back.
    pub restorable_until: Timestamp,
}

/// `{ trash }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct TrashAnswer {
    /// What can be brought back, the last deleted first.
    #[schemars(length(max = 100_000))]
    pub trash: Vec<TrashLine>,
}

/// One artifact in the trash.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TrashLine {
    /// Which one.
    pub artifact_id: ArtifactId,
    /// Its project.
    pub project_id: ProjectId,
    /// What a person called it, if that can still be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 200))]
    pub title: Option<String>,
    /// When it was deleted.
    pub deleted_at: Timestamp,
    /// Until when it can be brought back.
    pub restorable_until: Timestamp,
}

/// A refresh that succeeded, for the person.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RefreshedAnswer {
    /// The artifact and its data.
    pub artifact: ArtifactView,
    /// The refresh.
    pub refresh: RefreshView,
    /// Where a person sees it.
    #[schemars(length(max = 1024))]
    pub console_url: String,
}

/// A stored state that is the current one again.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RolledBackAnswer {
    /// The artifact and its data.
    pub artifact: ArtifactView,
    /// What was brought back.
    pub rollback: RollbackView,
    /// What will not work as written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub warnings: Vec<Issue>,
    /// Where a person sees it.
    #[schemars(length(max = 1024))]
    pub console_url: String,
}

/// An artifact in few words, for an agent.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolArtifact {
    /// The artifact.
    pub id: ArtifactId,
    /// What it is called, and whether it is in use.
    #[serde(flatten)]
    pub heading: Heading,
    /// How many commits it has had.
    pub revision: Revision,
    /// How its last refresh went.
    pub refresh_status: RefreshStatus,
    /// Whether a refresh may be started.
    pub refreshable: bool,
    /// Whether its files are sound.
    pub health: HealthState,
    /// When it was last committed.
    pub updated_at: Timestamp,
    /// Where the person sees it.
    #[schemars(length(max = 1024))]
    pub console_url: String,
}

/// `{ artifact }` for an agent.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolArtifactAnswer {
    /// The artifact.
    pub artifact: ToolArtifact,
    /// The digest of its data.
    pub data_digest: Digest,
    /// Whether this very attempt had created it before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
    /// Whether it was only tried: nothing was changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// What will not work as written.
    #[schemars(length(max = 100))]
    pub warnings: Vec<Issue>,
}

/// `{ artifacts }` for an agent.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct ToolArtifactsAnswer {
    /// The artifacts of the run's project, newest first.
    #[schemars(length(max = 100_000))]
    pub artifacts: Vec<ToolArtifact>,
}

/// A refresh that succeeded, for an agent.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolRefreshedAnswer {
    /// The artifact.
    pub artifact: ToolArtifact,
    /// The refresh.
    pub refresh: RefreshView,
    /// Whether it was only tried: nothing was changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// A request to validate: what create would be sent, or what update would be.
#[derive(Clone, Copy, Debug)]
pub struct ValidateRequest;

impl JsonSchema for ValidateRequest {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ValidateRequest".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "what create would be sent; or, with an artifactId, what update would be",
            "oneOf": [
                CreateRequest::json_schema(generator),
                ToolUpdateRequest::json_schema(generator),
            ],
        })
    }
}

/// Create would succeed.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolValidAnswer {
    /// Always true; everything that is wrong is an error with its issues.
    pub valid: bool,
    /// What will not work as written.
    #[schemars(length(max = 100))]
    pub warnings: Vec<Issue>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_artifact_and_its_data_survive_the_wire() {
        let digest = Digest::of_bytes(b"");
        let file = json!({ "content": digest, "file": digest });
        let wire = json!({
            "schemaVersion": 1, "id": "la-x-0123456789ab", "projectId": "web", "title": "X",
            "slug": "x", "status": "active", "pinned": false,
            "preview": { "type": "html", "entry": "index.html" }, "refreshStatus": "idle",
            "createdAt": "2026-04-30T00:00:00.000Z", "updatedAt": "2026-04-30T00:00:00.000Z",
            "document": {
                "format": "html_template_v1", "templatePath": "template.html",
                "generatedPreviewPath": "index.html", "dataPath": "data.json",
                "dataJson": { "n": 1 },
            },
            "revision": 1,
            "digests": { "template": file, "data": file, "provenance": file, "index": file },
        });
        let view: ArtifactView = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(view.data.value(), &json!({ "n": 1 }));
        assert_eq!(serde_json::to_value(&view).unwrap(), wire);
    }
}
