//! Artifacts as they are asked for and answered.

use od_core::artifact::{
    Artifact, ArtifactSummary, Health, HealthState, Provenance, RefreshStatus, Status,
};
use od_core::error::Issue;
use od_core::ids::{ArtifactId, Digest, Revision, Slug, Timestamp};
use od_core::json::BoundedObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::refresh::RefreshView;

/// `{ artifacts }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct ArtifactsAnswer {
    /// The summaries, newest first.
    #[schemars(length(max = 100_000))]
    pub artifacts: Vec<ArtifactSummary>,
}

/// An artifact with its data: the stored metadata, `document.dataJson` filled in.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ArtifactView(Value);

impl ArtifactView {
    /// Puts an artifact and its data together.
    #[must_use]
    pub fn new(artifact: &Artifact, data: &BoundedObject) -> Self {
        // Strings, integers and JSON only: writing them cannot fail.
        let mut value = serde_json::to_value(artifact).unwrap_or_default();
        if let Some(Value::Object(document)) = value.get_mut("document") {
            document.insert("dataJson".to_owned(), data.value().clone());
        }
        Self(value)
    }

    /// Returns the artifact as JSON.
    #[must_use]
    pub const fn value(&self) -> &Value {
        &self.0
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

/// An artifact in few words, for an agent.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolArtifact {
    /// The artifact.
    pub id: ArtifactId,
    /// What a person calls it.
    #[schemars(length(max = 200))]
    pub title: String,
    /// The title as part of names.
    pub slug: Slug,
    /// Whether it is in use.
    pub status: Status,
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
pub struct ToolRefreshedAnswer {
    /// The artifact.
    pub artifact: ToolArtifact,
    /// The refresh.
    pub refresh: RefreshView,
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
