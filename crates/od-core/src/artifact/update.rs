//! Changing an artifact: the request, and the rules of applying it.

use super::check::check_data;
use super::create::UpdateInput;
use super::document::Document;
use super::mapping::blocked_targets;
use super::provenance::ProvenanceInput;
use super::{Artifact, ArtifactState, Author, RefreshPermission, Source};
use crate::error::Issue;
use crate::ids::{ArtifactId, Revision};
use crate::input::{
    Fields, Input, Patch, Properties, Reader as _, RevisionNumber, TemplateHtml, input, object,
    parsed, schema_of,
};
use crate::json::{BoundedObject, Pointer, Value};

input! {
    /// A whole update request, checked.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct UpdateRequest "changes a live artifact; what is absent stays" {
        @unsent {
            /// What was changed in the request to make it safe; not faults.
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

/// Applies an update to an artifact.
///
/// # Errors
///
/// Refuses an agent what a person switched off; otherwise returns the issues of the whole: data that
/// does not fit the schema, and a source whose output has no place in the data.
pub fn apply_update(
    state: &ArtifactState,
    input: UpdateInput,
    author: Author,
) -> Result<AppliedUpdate, ApplyUpdateError> {
    let mut artifact = state.artifact.clone();
    input.heading.apply(&mut artifact.heading);
    artifact.pinned = input.pinned.unwrap_or(artifact.pinned);
    let Some(patch) = input.document else {
        let data = state.data.clone();
        return Ok(AppliedUpdate { artifact, data, source: SourceChange::Kept });
    };
    let source = source_change(state.artifact.source(), &patch.source);
    let mut document = artifact.document.take().unwrap_or_else(|| Document::new(None, None));
    document.data_schema_json = patch.data_schema.apply(document.data_schema_json);
    document.source_json = patch.source.apply(document.source_json);
    // What only takes the permission away is never refused for where the data would go.
    let is_moved = source == SourceChange::Replaced || patch.data.is_some();
    let data = patch.data.unwrap_or_else(|| state.data.clone());
    artifact.permission_set_by =
        settle_permission(&state.artifact, document.source_json.as_ref(), author)?;
    if source == SourceChange::Removed {
        artifact.source_pin = None;
    }
    let mut issues = check_data(Some(&document), &data);
    if is_moved {
        let document_at = Pointer::root().key("document");
        issues.extend(blocked_targets(document.source_json.as_ref(), &data, &document_at));
    }
    artifact.document = Some(document);
    if issues.is_empty() {
        Ok(AppliedUpdate { artifact, data, source })
    } else {
        Err(ApplyUpdateError::Invalid { issues })
    }
}

/// What an update does to the source.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SourceChange {
    /// It is what it was, or only its permission is another: its pin stays.
    Kept,
    /// There is none any more, and no pin.
    Removed,
    /// It is another: it has to be checked and pinned.
    Replaced,
}

/// An artifact after an update; revision, digests, a new pin and the time are the committer's to set.
#[derive(Clone, Debug, PartialEq)]
pub struct AppliedUpdate {
    /// The metadata.
    pub artifact: Artifact,
    /// The data.
    pub data: BoundedObject,
    /// What became of the source.
    pub source: SourceChange,
}

/// Why an update may not be made.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ApplyUpdateError {
    /// A person has switched refreshing off; an agent may not switch it on.
    #[error("a person has switched refreshing off")]
    SwitchedOff,
    /// The whole would break rules; the pointers are from the root of the input.
    #[error("the change breaks {} rules", issues.len())]
    Invalid {
        /// What is wrong, where, and what would be right.
        issues: Vec<Issue>,
    },
}

/// Says what a patch does to a source. One that only grants or takes the permission runs nothing
/// new, so what it was pinned to stays.
#[must_use]
pub fn source_change(before: Option<&Source>, patch: &Patch<Source>) -> SourceChange {
    match patch {
        Patch::Keep => SourceChange::Kept,
        Patch::Remove => SourceChange::Removed,
        Patch::Set(after) if before.is_some_and(|before| before.runs_as(after)) => {
            SourceChange::Kept
        }
        Patch::Set(_) => SourceChange::Replaced,
    }
}

/// Returns the refresh permission of a source; none without one.
pub(super) fn permission(source: Option<&Source>) -> RefreshPermission {
    source.map_or(RefreshPermission::None, |source| source.refresh_permission)
}

/// Returns who decided on the refresh permission last, and refuses an agent what a person took away.
///
/// A person takes it away by removing a grant, with the source or without it, or by saying `none` of
/// a source that stays as it is. A new source that says nothing of refreshing decides nothing.
fn settle_permission(
    before: &Artifact,
    after: Option<&Source>,
    author: Author,
) -> Result<Option<Author>, ApplyUpdateError> {
    let decided = before.permission_set_by;
    match (permission(before.source()), permission(after), author) {
        (RefreshPermission::None, RefreshPermission::Manual, Author::Agent)
            if decided == Some(Author::Person) =>
        {
            Err(ApplyUpdateError::SwitchedOff)
        }
        (RefreshPermission::None, RefreshPermission::Manual, _)
        | (RefreshPermission::Manual, RefreshPermission::None, _) => Ok(Some(author)),
        (RefreshPermission::None, RefreshPermission::None, Author::Person) => {
            let stays = before.source().zip(after).is_some_and(|(was, is)| was.runs_as(is));
            Ok(if stays { Some(Author::Person) } else { decided })
        }
        (RefreshPermission::None, RefreshPermission::None, Author::Agent)
        | (RefreshPermission::Manual, RefreshPermission::Manual, _) => Ok(decided),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{
        CreateContext, CreateInput, GeneratedBy, Provenance, RefreshStatus, Status, new_artifact,
    };
    use super::*;
    use crate::ids::Timestamp;
    use crate::json::Map;
    use Author::{Agent, Person};

    fn state(input: &serde_json::Value) -> ArtifactState {
        state_by(input, Agent)
    }

    fn state_by(input: &serde_json::Value, author: Author) -> ArtifactState {
        let input = CreateInput::read_whole(input).unwrap().0;
        let context = CreateContext {
            id: "la-x-000000000000".parse().unwrap(),
            project_id: "demo".parse().unwrap(),
            run_id: None,
            author,
            at: Timestamp::from_unix_ms(0),
            source_pin: None,
            attempt: None,
        };
        let data = input.document.as_ref().map(|document| document.data.clone());
        ArtifactState {
            artifact: new_artifact(&input, context),
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
    ) -> Result<AppliedUpdate, ApplyUpdateError> {
        apply_update(state, UpdateInput::read_whole(input).unwrap().0, author)
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
        assert_eq!(artifact.heading.status, Status::Active);
        assert_eq!(artifact.refresh_status, RefreshStatus::Idle);
        assert_eq!(artifact.revision, Revision::first());
    }

    #[test]
    fn refreshing_is_switched_off_whatever_stands_where_its_data_would_go() {
        let mapped = |permission: &str| {
            let mut input = source(permission);
            input["document"]["sourceJson"]["outputMapping"] =
                json!({ "dataPaths": [{ "from": "n", "to": "count.total" }] });
            input
        };
        let mut created = mapped(GRANTED);
        created["title"] = json!("T");
        created["document"]["dataJson"] = json!({ "count": {} });
        let mut before = state(&created);
        // A state of an earlier day, or an edit by hand.
        before.data = BoundedObject::check(json!({ "count": 3 })).unwrap();
        let after = update(&before, &mapped("none"), Person).unwrap();
        assert_eq!(after.artifact.permission_set_by, Some(Person));
        let moved = json!({ "document": { "dataJson": { "count": 4 } } });
        assert!(update(&before, &moved, Person).is_err(), "new data has to have the place");
    }

    #[test]
    fn what_is_not_named_stays() {
        let before = state(&json!({ "title": "T", "document": { "dataJson": { "a": 1 } } }));
        let after = update(&before, &json!({ "title": "U", "pinned": true }), Agent).unwrap();
        assert_eq!(after.artifact.heading.title, "U");
        assert_eq!(after.artifact.heading.slug.as_str(), "t");
        assert_eq!(after.data, before.data);
        assert_eq!(after.source, SourceChange::Kept);
    }

    /// An artifact after steps, each by an author; the last one's refusal is returned.
    #[track_caller]
    fn after(
        state: &mut ArtifactState,
        steps: &[(Author, serde_json::Value)],
    ) -> Result<Option<Author>, ApplyUpdateError> {
        for (author, input) in steps {
            state.artifact = update(state, input, *author)?.artifact;
        }
        Ok(state.artifact.permission_set_by)
    }

    fn plain() -> ArtifactState {
        state(&json!({ "title": "T", "document": { "dataJson": {} } }))
    }

    fn no_source() -> serde_json::Value {
        json!({ "document": { "sourceJson": null } })
    }

    #[test]
    fn only_a_person_gives_back_what_a_person_took_away() {
        let mut state = plain();
        assert_eq!(after(&mut state, &[(Agent, source(GRANTED))]), Ok(Some(Agent)));
        assert_eq!(after(&mut state, &[(Person, source("none"))]), Ok(Some(Person)));
        let grant = [(Agent, source(GRANTED))];
        assert_eq!(after(&mut state, &grant), Err(ApplyUpdateError::SwitchedOff));
        // Removing the source does not forget who decided.
        assert_eq!(after(&mut state, &[(Agent, no_source())]), Ok(Some(Person)));
        assert_eq!(after(&mut state, &grant), Err(ApplyUpdateError::SwitchedOff));
        assert_eq!(after(&mut state, &[(Person, source(GRANTED))]), Ok(Some(Person)));
    }

    #[test]
    fn a_person_who_removes_a_granted_source_has_switched_it_off() {
        let mut state = plain();
        after(&mut state, &[(Agent, source(GRANTED)), (Person, no_source())]).unwrap();
        assert_eq!(
            after(&mut state, &[(Agent, source(GRANTED))]),
            Err(ApplyUpdateError::SwitchedOff)
        );
    }

    #[test]
    fn a_person_who_never_granted_has_switched_nothing_off() {
        let input = json!({ "title": "T", "document": { "dataJson": {},
            "sourceJson": { "type": "local_file", "input": { "path": "a.json" } } } });
        let mut state = state_by(&input, Person);
        assert_eq!(state.artifact.permission_set_by, None);
        // Nor by another source that says nothing of it.
        let other = json!({ "document": { "sourceJson": {
            "type": "local_file", "input": { "path": "b.json" } } } });
        assert_eq!(after(&mut state, &[(Person, other)]), Ok(None));
        assert_eq!(after(&mut state, &[(Agent, source(GRANTED))]), Ok(Some(Agent)));
    }

    #[test]
    fn a_person_who_says_none_of_a_source_that_stays_has_switched_it_off() {
        let mut state = plain();
        let none = source("none");
        after(&mut state, &[(Agent, none.clone()), (Person, none)]).unwrap();
        assert_eq!(
            after(&mut state, &[(Agent, source(GRANTED))]),
            Err(ApplyUpdateError::SwitchedOff)
        );
    }

    #[test]
    fn a_permission_that_is_set_again_stays_its_givers() {
        let mut state = plain();
        let granted = [(Person, source(GRANTED)), (Agent, source(GRANTED))];
        assert_eq!(after(&mut state, &granted), Ok(Some(Person)));
        let off = [(Person, source("none")), (Agent, source("none"))];
        assert_eq!(after(&mut state, &off), Ok(Some(Person)));
    }

    #[test]
    fn a_permission_alone_is_no_new_source() {
        let mut state = plain();
        let set = update(&state, &source("none"), Agent).unwrap();
        assert_eq!(set.source, SourceChange::Replaced);
        state.artifact = set.artifact;
        assert_eq!(update(&state, &source(GRANTED), Agent).unwrap().source, SourceChange::Kept);
        assert_eq!(update(&state, &no_source(), Agent).unwrap().source, SourceChange::Removed);
    }

    #[test]
    fn a_mapping_that_the_data_has_no_place_for_is_refused() {
        let mapped = |to: &str| {
            json!({ "document": { "sourceJson": {
            "type": "local_file", "input": { "path": "a.json" },
            "outputMapping": { "dataPaths": [{ "from": "a", "to": to }] } } } })
        };
        let state = state(&json!({ "title": "T", "document": {
            "dataJson": { "title": "text", "none": null, "list": [1] } } }));
        let Err(ApplyUpdateError::Invalid { issues }) = update(&state, &mapped("title.x"), Agent)
        else {
            panic!("it can never be written")
        };
        assert_eq!(issues[0].path, "/document/sourceJson/outputMapping/dataPaths/0/to");
        assert_eq!(issues[0].code, "target_blocked");
        assert!(update(&state, &mapped("list.7"), Agent).is_err());
        for to in ["title", "none.x", "list.0", "new.x"] {
            assert!(update(&state, &mapped(to), Agent).is_ok(), "{to}");
        }
        // Nor may the data go from under it.
        let mut state = state;
        state.artifact = update(&state, &mapped("none.x"), Agent).unwrap().artifact;
        let data = json!({ "document": { "dataJson": { "none": 1 } } });
        assert!(update(&state, &data, Agent).is_err());
    }

    #[test]
    fn data_and_schema_must_fit_together_after_the_update() {
        let before = state(&json!({ "title": "T", "document": {
            "dataJson": { "n": 1 }, "dataSchemaJson": { "properties": { "n": { "type": "number" } } },
        }}));
        let bad_data = json!({ "document": { "dataJson": { "n": "x" } } });
        assert!(update(&before, &bad_data, Agent).is_err());
        let bad_schema = json!({ "document": { "dataSchemaJson": { "required": ["m"] } } });
        assert!(update(&before, &bad_schema, Agent).is_err());
        let mut both = bad_data;
        both["document"]["dataSchemaJson"] = json!(null);
        let after = update(&before, &both, Agent).unwrap();
        assert_eq!(after.artifact.document.unwrap().data_schema_json, None);
    }

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
