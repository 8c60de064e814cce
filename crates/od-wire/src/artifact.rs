//! Artifacts as they are asked for and answered.

use od_core::artifact::{
    Artifact, ArtifactSummary, CreateRequest, DocumentFormat, Freshness, Heading, Health,
    HealthState, ListRow, Provenance, RefreshStatus, Restored, StaleSource, ToolUpdateRequest,
};
use od_core::error::Issue;
use od_core::ids::{ArtifactId, Digest, ProjectId, Revision, Timestamp};
use od_core::json::{BoundedJson, BoundedObject};
use od_core::limits;
use od_core::ownership::PathOrigin;
use od_core::schedule::{Outlook, ScheduleSummary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::refresh::{RefreshView, RollbackView};

/// One page of artifacts: `{ artifacts, total, nextCursor? }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactsAnswer {
    /// The summaries, the last updated first; of one time, by id.
    #[schemars(length(max = limits::LIST_ROWS.allowed))]
    pub artifacts: Vec<ArtifactLine>,
    /// How many there are, on all pages.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub total: usize,
    /// Gives the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::SHORT_TEXT.allowed))]
    pub next_cursor: Option<String>,
}

/// One artifact of a list.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ArtifactLine {
    /// What is known about it.
    #[serde(flatten)]
    pub summary: ArtifactSummary,
    /// How current its page is.
    pub freshness: Freshness,
    /// When its next run is due, and since when and why it is stale.
    #[serde(flatten)]
    pub outlook: Outlook,
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
    /// Where each value of the data came from, and who writes it; the whole data first.
    #[serde(default)]
    #[schemars(length(max = 2_000))]
    pub origins: Vec<PathOrigin>,
    /// Whether its files are sound.
    pub health: Health,
    /// Files edited by hand since the last commit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 3))]
    pub drift: Vec<DriftView>,
    /// Whether a refresh may be started.
    pub refreshable: bool,
    /// Whether it was allowed to be refreshed elsewhere, and waits for a person to allow it here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub granted_elsewhere: bool,
    /// How current its page is.
    pub freshness: Freshness,
    /// Its schedule, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<ScheduleSummary>,
    /// When its next run is due, and since when and why it is stale.
    #[serde(flatten)]
    pub outlook: Outlook,
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

/// One page of the trash: `{ trash, total, nextCursor? }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TrashAnswer {
    /// What can be brought back, the last deleted first.
    #[schemars(length(max = limits::LIST_ROWS.allowed))]
    pub trash: Vec<TrashLine>,
    /// How much there is, on all pages.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub total: usize,
    /// Gives the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::SHORT_TEXT.allowed))]
    pub next_cursor: Option<String>,
}

/// The artifacts in use, or those in the trash.
#[derive(Clone, Debug, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum ListedAnswer {
    /// Without `trash`.
    InUse(ArtifactsAnswer),
    /// With `trash=true`.
    InTrash(TrashAnswer),
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
    /// The earlier state that it shows again, until it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored: Option<Restored>,
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
    /// What the page shows first: paths with their values, as a refresh would leave them where the
    /// source could be read; `null` is nothing.
    #[serde(default, skip_serializing_if = "BoundedObject::is_empty")]
    pub first_values: BoundedObject,
    /// Whether a refresh would fail today; the warnings say why.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refresh_would_fail: bool,
    /// What will not work as written.
    #[schemars(length(max = 100))]
    pub warnings: Vec<Issue>,
}

/// One page of the artifacts of the run's project.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolArtifactsAnswer {
    /// Where a person sees them: this and an artifact's id is the address of its page.
    #[schemars(length(max = 1024))]
    pub console_base_url: String,
    /// How many there are, on all pages.
    #[schemars(range(min = 0, max = 100_000))]
    pub total: usize,
    /// The rows, the last updated first.
    #[schemars(length(max = limits::LIST_ROWS.allowed))]
    pub artifacts: Vec<ListRow>,
    /// Where the next page begins, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::SHORT_TEXT.allowed))]
    pub next_cursor: Option<String>,
}

/// An artifact as an agent reads it before a change.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolReadAnswer {
    /// The artifact.
    pub artifact: ToolArtifact,
    /// The format of the template, if there is a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = limits::SHORT_TEXT.allowed))]
    pub format: Option<DocumentFormat>,
    /// Where a refresh reads, if anywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_json: Option<BoundedObject>,
    /// Where a refresh reads, if from several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<BoundedJson>,
    /// What a refresh works out of the sources' rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queries: Option<BoundedJson>,
    /// The sources that failed in the last refresh and kept their values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SOURCES.allowed))]
    pub stale: Vec<StaleSource>,
    /// A line for each place of the data, such as `rows: 12 items`; of a list only the first item.
    #[schemars(length(max = limits::OUTLINE_LINES.allowed + 1), inner(length(max = 512)))]
    pub outline: Vec<String>,
    /// The value at the path that was asked for, unless it is too large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<BoundedJson>,
    /// The template, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::TEMPLATE.allowed))]
    pub template_html: Option<String>,
    /// The page as a person sees it, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::RENDERED_PREVIEW.allowed))]
    pub page_html: Option<String>,
}

/// Moves an artifact of the agent's own run to the trash.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolDelete {
    /// The artifact.
    pub artifact_id: ArtifactId,
    /// Only if the artifact is at this revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_revision: Option<Revision>,
}

/// An artifact that an agent moved to the trash.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolDeletedAnswer {
    /// Which one.
    pub artifact_id: ArtifactId,
    /// Until when a person can bring it back.
    pub restorable_until: Timestamp,
    /// Whether it was only tried: nothing was changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
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
    /// What the page shows first: paths with their values, as a refresh would leave them where the
    /// source could be read; `null` is nothing.
    #[serde(default, skip_serializing_if = "BoundedObject::is_empty")]
    pub first_values: BoundedObject,
    /// Whether a refresh would fail today; the warnings say why.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refresh_would_fail: bool,
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
