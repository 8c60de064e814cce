//! What a checked input makes of an artifact: the rules of creating and changing one.

use super::document_input::credential_issues;
use super::{
    Artifact, ArtifactState, Attempt, Author, CreateInput, Digests, Document, Patch, Preview,
    RefreshPermission, RefreshStatus, SchemaVersion, SourcePin, UpdateInput,
};
use crate::error::Issue;
use crate::ids::{ArtifactId, ProjectId, Revision, RunId, Timestamp};
use crate::json::{BoundedObject, Map, Pointer};
use crate::schema::DataSchema;

/// What the daemon adds to an input to make an artifact of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Birth {
    /// The artifact.
    pub id: ArtifactId,
    /// Its project.
    pub project_id: ProjectId,
    /// The run that creates it.
    pub run_id: Option<RunId>,
    /// Who creates it.
    pub author: Author,
    /// When.
    pub at: Timestamp,
    /// The digests of its files.
    pub digests: Digests,
    /// What its source is now.
    pub source_pin: Option<SourcePin>,
    /// The attempt, if the client named one.
    pub attempt: Option<Attempt>,
}

/// Makes a new artifact: active unless the input says archived, idle, revision 1.
#[must_use]
pub fn new_artifact(input: &CreateInput, birth: Birth) -> Artifact {
    let document = input
        .document
        .as_ref()
        .map(|document| Document::new(document.data_schema.clone(), document.source.clone()));
    let has_source = document.as_ref().is_some_and(|document| document.source_json.is_some());
    Artifact {
        schema_version: SchemaVersion::CURRENT,
        id: birth.id,
        project_id: birth.project_id,
        session_id: input.session_id.clone(),
        created_by_run_id: birth.run_id,
        title: input.title.clone(),
        slug: input.slug.clone(),
        status: input.status,
        pinned: input.pinned,
        preview: Preview::html(),
        refresh_status: RefreshStatus::Idle,
        created_at: birth.at,
        updated_at: birth.at,
        last_refreshed_at: None,
        document,
        revision: Revision::first(),
        digests: birth.digests,
        source_pin: birth.source_pin,
        permission_set_by: has_source.then_some(birth.author),
        created_by_attempt: birth.attempt,
        extra: Map::new(),
    }
}

/// An artifact after an update; revision, digests, pin and time are the committer's to set.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    /// The metadata.
    pub artifact: Artifact,
    /// The data.
    pub data: BoundedObject,
    /// Whether the source is another: it has to be pinned again, or its pin removed.
    pub source_changed: bool,
}

/// Applies an update to an artifact.
///
/// # Errors
///
/// Returns the issues of the whole: data that does not fit the schema, and a permission an agent
/// may not give back.
pub fn apply_update(
    state: &ArtifactState,
    input: &UpdateInput,
    author: Author,
) -> Result<Changed, Vec<Issue>> {
    let mut artifact = state.artifact.clone();
    let mut data = state.data.clone();
    let mut issues = Vec::new();
    if let Some(title) = &input.title {
        artifact.title.clone_from(title);
    }
    if let Some(slug) = &input.slug {
        artifact.slug = slug.clone();
    }
    artifact.status = input.status.unwrap_or(artifact.status);
    artifact.pinned = input.pinned.unwrap_or(artifact.pinned);
    if let Some(patch) = input.document.clone() {
        let mut document = artifact.document.take().unwrap_or_else(|| Document::new(None, None));
        let has_new_rules = patch.data.is_some() || patch.data_schema != Patch::Keep;
        data = patch.data.unwrap_or(data);
        document.data_schema_json = patch.data_schema.apply(document.data_schema_json);
        document.source_json = patch.source.apply(document.source_json);
        if has_new_rules {
            issues.extend(check_data(&document, &data));
        }
        artifact.document = Some(document);
        issues.extend(settle_permission(&mut artifact, &state.artifact, author));
    }
    let source_changed = artifact.source() != state.artifact.source();
    if issues.is_empty() { Ok(Changed { artifact, data, source_changed }) } else { Err(issues) }
}

/// Checks data against its document's schema, and for credentials; the same check everywhere data
/// enters: create, update, refresh, and a hand edit that is adopted.
#[must_use]
pub fn check_data(document: &Document, data: &BoundedObject) -> Vec<Issue> {
    let at = Pointer::root().key("document").key("dataJson");
    let mut issues = credential_issues(data.value(), &at);
    let Some(schema) = &document.data_schema_json else { return issues };
    let broken = match DataSchema::compile(schema.value()) {
        Ok(schema) => schema.check(data.value()),
        Err(broken) => broken,
    };
    issues.extend(broken.into_iter().map(|issue| issue.under(at.as_str())));
    issues
}

/// Records who decided on the refresh permission, and refuses an agent what a person took away.
fn settle_permission(after: &mut Artifact, before: &Artifact, author: Author) -> Option<Issue> {
    let permission = |artifact: &Artifact| {
        artifact.source().map_or(RefreshPermission::None, |source| source.refresh_permission)
    };
    let (was, is) = (permission(before), permission(after));
    if was == is {
        return None;
    }
    let held_by_person = before.permission_set_by == Some(Author::Person);
    if author == Author::Agent && is == RefreshPermission::Manual && held_by_person {
        return Some(
            Issue::new(
                "/document/sourceJson/refreshPermission",
                "switched_off_by_person",
                "a person has switched refreshing off; only a person switches it on",
            )
            .got(is.as_str())
            .want(RefreshPermission::None.as_str())
            .fix("ask the person to allow refreshing in the console"),
        );
    }
    after.permission_set_by = Some(author);
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{FileDigests, GeneratedBy, Provenance, Status};
    use super::*;
    use crate::ids::Digest;

    fn state(input: &serde_json::Value) -> ArtifactState {
        let input = CreateInput::parse(input).unwrap();
        let file = || FileDigests { content: Digest::of_bytes(b""), raw: Digest::of_bytes(b"") };
        let birth = Birth {
            id: "la-x-000000000000".parse().unwrap(),
            project_id: "demo".parse().unwrap(),
            run_id: None,
            author: Author::Agent,
            at: Timestamp::from_unix_ms(0),
            digests: Digests { template: file(), data: file(), provenance: file(), index: file() },
            source_pin: None,
            attempt: None,
        };
        let data = input.document.as_ref().map(|document| document.data.clone());
        ArtifactState {
            artifact: new_artifact(&input, birth),
            template_html: "<p></p>".into(),
            data: data.unwrap_or_default(),
            provenance: Provenance {
                generated_at: Timestamp::from_unix_ms(0),
                generated_by: GeneratedBy::Agent,
                notes: None,
                sources: Vec::new(),
                extra: Map::new(),
            },
        }
    }

    fn update(
        state: &ArtifactState,
        input: &serde_json::Value,
        author: Author,
    ) -> Result<Changed, Vec<Issue>> {
        apply_update(state, &UpdateInput::parse(input).unwrap(), author)
    }

    fn source(permission: &str) -> serde_json::Value {
        json!({ "document": { "sourceJson": {
            "type": "local_file", "input": { "path": "a.json" }, "refreshPermission": permission,
        }}})
    }

    const GRANTED: &str = "manual_refresh_granted_for_read_only";

    #[test]
    fn a_new_artifact_is_active_idle_and_first() {
        let artifact = state(&json!({ "title": "T" })).artifact;
        assert_eq!(artifact.status, Status::Active);
        assert_eq!(artifact.refresh_status, RefreshStatus::Idle);
        assert_eq!(artifact.revision, Revision::first());
    }

    #[test]
    fn what_is_not_named_stays() {
        let before = state(&json!({ "title": "T", "document": { "dataJson": { "a": 1 } } }));
        let after =
            update(&before, &json!({ "title": "U", "pinned": true }), Author::Agent).unwrap();
        assert_eq!(after.artifact.title, "U");
        assert_eq!(after.artifact.slug.as_str(), "t");
        assert_eq!(after.data, before.data);
        assert!(!after.source_changed);
    }

    #[test]
    fn only_a_person_gives_back_what_a_person_took_away() {
        let mut state = state(&json!({ "title": "T", "document": { "dataJson": {} } }));
        state.artifact = update(&state, &source(GRANTED), Author::Agent).unwrap().artifact;
        assert_eq!(state.artifact.permission_set_by, Some(Author::Agent));
        state.artifact = update(&state, &source("none"), Author::Person).unwrap().artifact;
        let issues = update(&state, &source(GRANTED), Author::Agent).unwrap_err();
        assert_eq!(issues[0].code, "switched_off_by_person");
        // Removing the source does not forget who decided.
        let removed = json!({ "document": { "sourceJson": null } });
        state.artifact = update(&state, &removed, Author::Agent).unwrap().artifact;
        assert!(update(&state, &source(GRANTED), Author::Agent).is_err());
        assert!(update(&state, &source(GRANTED), Author::Person).is_ok());
    }

    #[test]
    fn data_and_schema_must_fit_together_after_the_update() {
        let before = state(&json!({ "title": "T", "document": {
            "dataJson": { "n": 1 }, "dataSchemaJson": { "properties": { "n": { "type": "number" } } },
        }}));
        let bad_data = json!({ "document": { "dataJson": { "n": "x" } } });
        assert!(update(&before, &bad_data, Author::Agent).is_err());
        let bad_schema = json!({ "document": { "dataSchemaJson": { "required": ["m"] } } });
        assert!(update(&before, &bad_schema, Author::Agent).is_err());
        let mut both = bad_data;
        both["document"]["dataSchemaJson"] = json!(null);
        let after = update(&before, &both, Author::Agent).unwrap();
        assert_eq!(after.artifact.document.unwrap().data_schema_json, None);
    }
}
