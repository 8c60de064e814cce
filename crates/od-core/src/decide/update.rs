//! Deciding on a change that an author asks for.

use std::sync::Arc;

use super::Decision;
use crate::artifact::{
    Artifact, ArtifactState, Author, Document, DocumentPatch, Patch, Provenance, RefreshPermission,
    Source, SourcePin, UpdateRequest, check_data, check_targets, provenance_of,
};
use crate::error::Issue;
use crate::ids::Timestamp;
use crate::limits;
use crate::refresh::report_changes;

/// Decides on the next state of an artifact that an author changes. A new source gets the pin, which
/// is that of the check of [`new_source`]; everything that the daemon owns stays as it is.
///
/// # Errors
///
/// Refuses an agent what a person switched off; otherwise returns every fault of the next state, at
/// most 20: of its data, of its source's targets, of its page.
pub fn update(
    before: &ArtifactState,
    request: &UpdateRequest,
    pin: Option<SourcePin>,
    author: Author,
    at: Timestamp,
) -> Result<Decision, UpdateRefused> {
    let UpdateRequest { input, template_html, provenance, if_revision: _, warnings } = request;
    let mut artifact = before.artifact.clone();
    artifact.updated_at = at;
    if let Some(input) = input {
        input.heading.clone().apply(&mut artifact.heading);
        artifact.pinned = input.pinned.unwrap_or(artifact.pinned);
    }
    let patch = input.as_ref().and_then(|input| input.document.as_ref());
    let new_data = patch.and_then(|patch| patch.data.as_ref());
    let data = new_data.unwrap_or(&before.data).clone();
    let mut issues = Vec::new();
    if let Some(patch) = patch {
        let source = change_document(&mut artifact, patch, pin, author)?;
        let document = artifact.document.as_ref();
        issues.extend(check_data(document, &data));
        // Taking the permission away is never refused for where the data would go.
        if source == SourceChange::Replaced || new_data.is_some() {
            issues.extend(check_targets(document, &data));
        }
    }
    let provenance = if provenance.is_some() || new_data.is_some() {
        let known = provenance_of(provenance.clone(), &artifact, author, at);
        // New data without a word about it has another origin; what was noted still holds.
        let kept = before.provenance.notes.clone().filter(|_| provenance.is_none());
        Provenance { notes: known.notes.or(kept), ..known }
    } else {
        before.provenance.clone()
    };
    let template_html =
        template_html.as_deref().map_or_else(|| Arc::clone(&before.template_html), Arc::from);
    let changes = report_changes(before.data.value(), data.value());
    let state = ArtifactState { artifact, template_html, data, provenance };
    match Decision::of(state, changes, warnings.clone()) {
        Ok(decision) if issues.is_empty() => Ok(decision),
        decided => {
            let page = decided.err().map(|refused| refused.issues()).unwrap_or_default();
            let issues = issues.into_iter().map(|issue| issue.under("/input")).chain(page);
            let issues = issues.take(limits::JSON_FAULTS.max()).collect();
            Err(UpdateRefused::Invalid { issues })
        }
    }
}

/// Returns the source that an update brings and that has to be checked and pinned before it is
/// decided on; none if what runs stays the same.
#[must_use]
pub fn new_source<'r>(before: &ArtifactState, request: &'r UpdateRequest) -> Option<&'r Source> {
    let patch = &request.input.as_ref()?.document.as_ref()?.source;
    match (source_change(before.artifact.source(), patch), patch) {
        (SourceChange::Replaced, Patch::Set(source)) => Some(source),
        (
            SourceChange::Kept | SourceChange::Removed | SourceChange::Replaced,
            Patch::Keep | Patch::Remove | Patch::Set(_),
        ) => None,
    }
}

/// Why an update may not be made.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum UpdateRefused {
    /// A person has switched refreshing off; an agent may not switch it on.
    #[error("a person has switched refreshing off")]
    SwitchedOff,
    /// The next state would break rules; the pointers are from the root of the request.
    #[error("the change breaks {} rules", issues.len())]
    Invalid {
        /// What is wrong, where, and what would be right.
        issues: Vec<Issue>,
    },
}

/// The effect of an update on the source.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum SourceChange {
    /// It is what it was, or only its permission is another: its pin stays.
    Kept,
    /// There is none any more, and no pin.
    Removed,
    /// It is another: it has to be checked and pinned.
    Replaced,
}

/// Changes the document of an artifact, and with it the pin and who decided on the permission.
fn change_document(
    artifact: &mut Artifact,
    patch: &DocumentPatch,
    pin: Option<SourcePin>,
    author: Author,
) -> Result<SourceChange, UpdateRefused> {
    let source = source_change(artifact.source(), &patch.source);
    let mut document = artifact.document.clone().unwrap_or_else(|| Document::new(None, None));
    document.data_schema_json = patch.data_schema.clone().apply(document.data_schema_json);
    document.source_json = patch.source.clone().apply(document.source_json);
    artifact.permission_set_by =
        permission_set_by(artifact, document.source_json.as_ref(), author)?;
    artifact.document = Some(document);
    match source {
        SourceChange::Kept => {}
        SourceChange::Removed => artifact.source_pin = None,
        SourceChange::Replaced => artifact.source_pin = pin,
    }
    Ok(source)
}

/// Compares a patch with the source it changes. One that only grants or takes the permission runs
/// nothing new, so what it was pinned to stays.
fn source_change(before: Option<&Source>, patch: &Patch<Source>) -> SourceChange {
    match patch {
        Patch::Keep => SourceChange::Kept,
        Patch::Remove => SourceChange::Removed,
        Patch::Set(after) if before.is_some_and(|before| before.runs_as(after)) => {
            SourceChange::Kept
        }
        Patch::Set(_) => SourceChange::Replaced,
    }
}

/// Returns who decided on the refresh permission last, and refuses an agent what a person took away.
///
/// A person takes it away by removing a grant, with the source or without it, or by saying `none` of
/// a source that stays as it is. A new source that says nothing of refreshing decides nothing.
fn permission_set_by(
    before: &Artifact,
    after: Option<&Source>,
    author: Author,
) -> Result<Option<Author>, UpdateRefused> {
    let decided = before.permission_set_by;
    let granted = after.map_or(RefreshPermission::None, |source| source.refresh_permission);
    match (before.refresh_permission(), granted, author) {
        (RefreshPermission::None, RefreshPermission::Manual, Author::Agent)
            if decided == Some(Author::Person) =>
        {
            Err(UpdateRefused::SwitchedOff)
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

    use super::super::create::created;
    use super::*;
    use crate::json::{BoundedObject, Value};
    use Author::{Agent, Person};

    fn state(input: &Value) -> ArtifactState {
        state_by(input, Agent)
    }

    fn state_by(input: &Value, author: Author) -> ArtifactState {
        created(&json!({ "input": input, "templateHtml": "<p></p>" }), author)
    }

    fn request(input: &Value) -> UpdateRequest {
        UpdateRequest::parse(&json!({ "input": input })).unwrap()
    }

    fn updated(
        before: &ArtifactState,
        input: &Value,
        author: Author,
    ) -> Result<ArtifactState, UpdateRefused> {
        let at = Timestamp::from_unix_ms(9);
        update(before, &request(input), None, author, at).map(|decision| decision.state)
    }

    fn source(permission: &str) -> Value {
        json!({ "document": { "sourceJson": {
            "type": "local_file", "input": { "path": "a.json" }, "refreshPermission": permission,
        }}})
    }

    const GRANTED: &str = "manual_refresh_granted_for_read_only";

    #[test]
    fn refreshing_is_switched_off_whatever_stands_where_its_data_would_go() {
        let mapped = |permission: &str| {
            let mut input = source(permission);
            input["document"]["sourceJson"]["outputMapping"] =
                json!({ "dataPaths": [{ "from": "n", "to": "count.total" }] });
            input
        };
        let mut input = mapped(GRANTED);
        input["title"] = json!("T");
        input["document"]["dataJson"] = json!({ "count": {} });
        let mut before = state(&input);
        // A state of an earlier day, or an edit by hand.
        before.data = BoundedObject::check(json!({ "count": 3 })).unwrap();
        let after = updated(&before, &mapped("none"), Person).unwrap();
        assert_eq!(after.artifact.permission_set_by, Some(Person));
        let moved = json!({ "document": { "dataJson": { "count": 4 } } });
        assert!(updated(&before, &moved, Person).is_err(), "new data has to have the place");
    }

    #[test]
    fn what_is_not_named_stays() {
        let before = state(&json!({ "title": "T", "document": { "dataJson": { "a": 1 } } }));
        let after = updated(&before, &json!({ "title": "U", "pinned": true }), Agent).unwrap();
        assert_eq!(after.artifact.heading.title, "U");
        assert_eq!(after.artifact.heading.slug.as_str(), "t");
        assert_eq!(after.data, before.data);
        assert_eq!(after.artifact.document, before.artifact.document);
    }

    /// An artifact after steps, each by an author; the last one's refusal is returned.
    #[track_caller]
    fn after(
        state: &mut ArtifactState,
        steps: &[(Author, Value)],
    ) -> Result<Option<Author>, UpdateRefused> {
        for (author, input) in steps {
            state.artifact = updated(state, input, *author)?.artifact;
        }
        Ok(state.artifact.permission_set_by)
    }

    fn plain() -> ArtifactState {
        state(&json!({ "title": "T", "document": { "dataJson": {} } }))
    }

    fn no_source() -> Value {
        json!({ "document": { "sourceJson": null } })
    }

    #[test]
    fn only_a_person_gives_back_what_a_person_took_away() {
        let mut state = plain();
        assert_eq!(after(&mut state, &[(Agent, source(GRANTED))]), Ok(Some(Agent)));
        assert_eq!(after(&mut state, &[(Person, source("none"))]), Ok(Some(Person)));
        let grant = [(Agent, source(GRANTED))];
        assert_eq!(after(&mut state, &grant), Err(UpdateRefused::SwitchedOff));
        // Removing the source does not forget who decided.
        assert_eq!(after(&mut state, &[(Agent, no_source())]), Ok(Some(Person)));
        assert_eq!(after(&mut state, &grant), Err(UpdateRefused::SwitchedOff));
        assert_eq!(after(&mut state, &[(Person, source(GRANTED))]), Ok(Some(Person)));
    }

    #[test]
    fn a_person_who_removes_a_granted_source_has_switched_it_off() {
        let mut state = plain();
        after(&mut state, &[(Agent, source(GRANTED)), (Person, no_source())]).unwrap();
        assert_eq!(after(&mut state, &[(Agent, source(GRANTED))]), Err(UpdateRefused::SwitchedOff));
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
        assert_eq!(after(&mut state, &[(Agent, source(GRANTED))]), Err(UpdateRefused::SwitchedOff));
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
        assert!(new_source(&state, &request(&source("none"))).is_some());
        state.artifact = updated(&state, &source("none"), Agent).unwrap().artifact;
        assert_eq!(new_source(&state, &request(&source(GRANTED))), None);
        assert_eq!(new_source(&state, &request(&no_source())), None);
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
        let Err(UpdateRefused::Invalid { issues }) = updated(&state, &mapped("title.x"), Agent)
        else {
            panic!("it can never be written")
        };
        assert_eq!(issues[0].path, "/input/document/sourceJson/outputMapping/dataPaths/0/to");
        assert_eq!(issues[0].code, "target_blocked");
        assert!(updated(&state, &mapped("list.7"), Agent).is_err());
        for to in ["title", "none.x", "list.0", "new.x"] {
            assert!(updated(&state, &mapped(to), Agent).is_ok(), "{to}");
        }
        // Nor may the data go from under it.
        let mut state = state;
        state.artifact = updated(&state, &mapped("none.x"), Agent).unwrap().artifact;
        let data = json!({ "document": { "dataJson": { "none": 1 } } });
        assert!(updated(&state, &data, Agent).is_err());
    }

    #[test]
    fn data_and_schema_must_fit_together_after_the_update() {
        let before = state(&json!({ "title": "T", "document": {
            "dataJson": { "n": 1 }, "dataSchemaJson": { "properties": { "n": { "type": "number" } } },
        }}));
        let bad_data = json!({ "document": { "dataJson": { "n": "x" } } });
        assert!(updated(&before, &bad_data, Agent).is_err());
        let bad_schema = json!({ "document": { "dataSchemaJson": { "required": ["m"] } } });
        assert!(updated(&before, &bad_schema, Agent).is_err());
        let mut both = bad_data;
        both["document"]["dataSchemaJson"] = json!(null);
        let after = updated(&before, &both, Agent).unwrap();
        assert_eq!(after.artifact.document.unwrap().data_schema_json, None);
    }
}
