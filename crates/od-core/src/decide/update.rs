//! Deciding on a change that an author asks for.

use std::sync::Arc;

use super::Decision;
use super::decision::{permission_remark, remarks, schedule_remark};
use crate::artifact::{
    Artifact, ArtifactState, Author, Document, DocumentFormat, DocumentPatch, Patch, Pins,
    Provenance, RefreshPermission, SourceRef, UpdateRequest, check_data, check_design,
    check_targets, provenance_of,
};
use crate::error::Issue;
use crate::ids::Timestamp;
use crate::json::{BoundedObject, JsonFaults, Value};
use crate::limits;
use crate::ownership::{
    Kept, Ownership, PathWrite, Place, author_wrote, known_writes, name_places,
};
use crate::refresh::report_changes;
use crate::schedule;

/// Decides on the next state of an artifact that an author changes. New sources get the pins, which
/// are those of the check of [`next_design`]; everything that the daemon owns stays as it is.
///
/// # Errors
///
/// Refuses an agent what a person switched off; otherwise returns every fault of the next state, at
/// most 20: of its data, of its source's targets, of its page.
pub fn update(
    before: &ArtifactState,
    request: &UpdateRequest,
    pins: &Pins,
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
    let mut source = SourceChange::Kept;
    if let Some(patch) = patch {
        source = change_document(&mut artifact, patch, template_html.as_deref(), pins, author)?;
    }
    // From here on faults are collected and not returned: the page is rendered with what was given all the
    // same, so that one answer names everything.
    let mut warnings = [&warnings[..], &kept_format(request, &artifact)].concat();
    let mut issues = Vec::new();
    let data = match new_data {
        Some(given) => {
            keep_sources(before, &artifact, given, &mut warnings).unwrap_or_else(|faults| {
                issues.extend(faults.issues("/document/dataJson"));
                given.clone()
            })
        }
        None => before.data.clone(),
    };
    if patch.is_some() {
        let document = artifact.document.as_ref();
        issues.extend(check_data(document, &data));
        issues.extend(check_design(document));
        issues.extend(document.and_then(schedule::check_pace));
        // Taking the permission away is never refused for where the data would go.
        if source == SourceChange::Replaced || new_data.is_some() {
            issues.extend(check_targets(document, &data));
        }
    }
    let provenance = match provenance {
        None if new_data.is_none() => {
            let paths = known_writes(before).into_owned();
            Provenance { paths, ..before.provenance.clone() }
        }
        given => {
            let known = provenance_of(given.clone(), &artifact, author, at);
            let known = with_what_still_holds(known, before, given.is_none());
            Provenance { paths: written_paths(before, &data, author, at), ..known }
        }
    };
    let template_html =
        template_html.as_deref().map_or_else(|| Arc::clone(&before.template_html), Arc::from);
    let changes = report_changes(before.data.value(), data.value());
    // A new title, or the permission, leaves the page in the state that was restored.
    let is_as_restored = !changes.is_changed()
        && template_html == before.template_html
        && artifact.pins() == before.artifact.pins();
    let mut state = ArtifactState { artifact, template_html, data, provenance };
    let is_as_restored = is_as_restored && state.page_settings() == before.page_settings();
    state.artifact.restored = state.artifact.restored.filter(|_| is_as_restored);
    if new_data.is_some() || request.template_html.is_some() || source == SourceChange::Replaced {
        warnings.extend(remarks(&state));
    }
    let is_new = source == SourceChange::Replaced;
    warnings.extend(permission_remark(&state.artifact).filter(|_| is_new));
    if patch.is_some_and(|patch| patch.refresh != Patch::Keep) || source != SourceChange::Kept {
        warnings.extend(schedule_remark(&state.artifact));
    }
    match Decision::of(state, changes, warnings) {
        Ok(decision) if issues.is_empty() => Ok(decision),
        decided => {
            let page = decided.err().map(|refused| refused.issues()).unwrap_or_default();
            let issues = issues.into_iter().map(|issue| issue.under("/input")).chain(page);
            // Document and page each bound their own; together they may be twice as many.
            let issues = issues.take(limits::JSON_FAULTS.max()).collect();
            Err(UpdateRefused::Invalid { issues })
        }
    }
}

/// Adds what an update does not change: the marks of stale sources, and the notes where it says nothing.
/// New data without a word about it has another origin; what was noted still holds.
fn with_what_still_holds(known: Provenance, before: &ArtifactState, is_silent: bool) -> Provenance {
    let kept = before.provenance.notes.clone().filter(|_| is_silent);
    let stale = before.provenance.stale.clone();
    Provenance { notes: known.notes.or(kept), stale, ..known }
}

/// Returns the data that an author gives with the present values of what a source writes, and warns of
/// every place where the author gave something else. A place that a source has only from now on, or no
/// longer, takes what is given: there it is handed over.
fn keep_sources(
    before: &ArtifactState,
    artifact: &Artifact,
    given: &BoundedObject,
    warnings: &mut Vec<Issue>,
) -> Result<BoundedObject, JsonFaults> {
    let (now, next) =
        (Ownership::of_state(before), Ownership::new(&artifact.writers(), &known_writes(before)));
    let Kept { data, places } =
        Kept::new(before.data.value(), given.object(), &now.shared_with(&next));
    if !places.is_empty() {
        warnings.push(kept_warning(&places));
    }
    BoundedObject::check(Value::Object(data))
}

/// Tells an author that a format without a template changes nothing.
fn kept_format(request: &UpdateRequest, artifact: &Artifact) -> Vec<Issue> {
    let patch = request.input.as_ref().and_then(|input| input.document.as_ref());
    let asked = patch.and_then(|patch| patch.format).filter(|_| request.template_html.is_none());
    let (Some(asked), Some(document)) = (asked, &artifact.document) else { return Vec::new() };
    if asked == document.format {
        return Vec::new();
    }
    let message = format!(
        "the template stays as it is, and so does its format: it is {}, not {}",
        document.format.as_str(),
        asked.as_str()
    );
    let fix = "send `templateHtml` in the new format with it, or leave `format` out";
    vec![Issue::new("/input/document/format", "format_kept", message).fix(fix)]
}

/// Tells an author which places of the given data were not taken.
fn kept_warning(places: &[Place]) -> Issue {
    let message = format!(
        "a source writes {}: an update does not change what stands there, the present values are kept",
        name_places(places)
    );
    Issue::new("/input/document/dataJson", "source_values_kept", message).fix(
        "leave these paths out of `dataJson`; refresh the artifact for newer values, or take them out of `outputMapping.dataPaths` to write them yourself",
    )
}

/// Returns who wrote each place after an author sent data.
fn written_paths(
    before: &ArtifactState,
    data: &BoundedObject,
    author: Author,
    at: Timestamp,
) -> Vec<PathWrite> {
    let revision = before.artifact.revision.next();
    let write = PathWrite { path: Place::root(), by: author.into(), revision, at };
    let both = (before.data.value(), data.value());
    author_wrote(&known_writes(before), both, &Ownership::of_state(before), &write)
}

/// The sources and queries of an artifact after an update, as far as they are new.
#[derive(Clone, Debug)]
pub struct NextDesign {
    /// The whole document after the update.
    pub document: Document,
    /// The ids of the sources that have to be checked and pinned before the update is decided on.
    pub new_sources: Vec<String>,
}

/// Returns what an update would run; none if what runs stays the same.
#[must_use]
pub fn next_design(before: &ArtifactState, request: &UpdateRequest) -> Option<NextDesign> {
    let patch = request.input.as_ref()?.document.as_ref()?;
    let present = before.artifact.document.clone().unwrap_or_else(|| Document::new(None, None));
    let document = patch.apply(present.clone());
    if present.runs_as(&document) {
        return None;
    }
    let known = before.artifact.sources();
    let is_new = |source: &SourceRef<'_>| !known.iter().any(|known| known.is_same(source));
    let new_sources = document
        .all_sources()
        .into_iter()
        .filter(is_new)
        .map(|source| source.id.to_owned())
        .collect();
    Some(NextDesign { document, new_sources })
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

/// The effect of an update on the sources and queries.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum SourceChange {
    /// They are what they were, or only the permission is another: their pins stay.
    Kept,
    /// There is none any more, and no pin.
    Removed,
    /// They are others: what is new has to be checked and pinned.
    Replaced,
}

/// Changes the document of an artifact, and with it the pins and who decided on the permission.
fn change_document(
    artifact: &mut Artifact,
    patch: &DocumentPatch,
    template_html: Option<&str>,
    pins: &Pins,
    author: Author,
) -> Result<SourceChange, UpdateRefused> {
    let before = artifact.document.clone().unwrap_or_else(|| Document::new(None, None));
    let mut document = patch.apply(before.clone());
    // A template that stays keeps its grammar: the default page is of v2 whatever format its author asked
    // for, and sending the same artifact.json once more would be refused otherwise.
    if template_html.is_none() && before.format == DocumentFormat::HtmlTemplateV2 {
        document.format = before.format;
    }
    let change = match (before.runs_as(&document), document.all_sources().is_empty()) {
        (true, _) => SourceChange::Kept,
        (false, true) => SourceChange::Removed,
        (false, false) => SourceChange::Replaced,
    };
    artifact.permission_set_by = permission_set_by(artifact, &before, &document, author)?;
    let known = before.all_sources();
    let mut kept = artifact.pins();
    for source in document.all_sources() {
        let is_known = known.iter().any(|known| known.is_same(&source));
        match pins.get(source.id) {
            Some(pin) if !is_known => {
                kept.insert(source.id.to_owned(), pin.clone());
            }
            None if !is_known => {
                kept.remove(source.id);
            }
            Some(_) | None => {}
        }
    }
    let ids: Vec<&str> = document.all_sources().iter().map(|source| source.id).collect();
    kept.retain(|id, _| ids.contains(&id.as_str()));
    artifact.document = Some(document.clone());
    artifact.set_pins(kept);
    Ok(change)
}

/// Returns who decided on the refresh permission last, and refuses an agent what a person took away.
///
/// A person takes it away by removing a grant, with the source or without it, or by saying `none` of
/// a source that stays as it is. A new source that says nothing of refreshing decides nothing.
fn permission_set_by(
    artifact: &Artifact,
    before: &Document,
    after: &Document,
    author: Author,
) -> Result<Option<Author>, UpdateRefused> {
    let decided = artifact.permission_set_by;
    match (before.permission(), after.permission(), author) {
        (RefreshPermission::None, RefreshPermission::Manual, Author::Agent)
            if decided == Some(Author::Person) =>
        {
            Err(UpdateRefused::SwitchedOff)
        }
        (RefreshPermission::None, RefreshPermission::Manual, _)
        | (RefreshPermission::Manual, RefreshPermission::None, _) => Ok(Some(author)),
        (RefreshPermission::None, RefreshPermission::None, Author::Person) => {
            let stays = !before.all_sources().is_empty() && before.runs_as(after);
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
    use crate::ids::Revision;
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
        update(before, &request(input), &Pins::new(), author, at).map(|decision| decision.state)
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
        assert!(next_design(&state, &request(&source("none"))).is_some());
        state.artifact = updated(&state, &source("none"), Agent).unwrap().artifact;
        assert!(next_design(&state, &request(&source(GRANTED))).is_none());
        let removed = next_design(&state, &request(&no_source())).unwrap();
        assert_eq!(removed.new_sources, Vec::<String>::new());
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

    /// An artifact whose source maps to `rows` and gave `[2]`; the author wrote the title.
    fn refreshed(mapping: &Value) -> ArtifactState {
        let mut before = state(&json!({ "title": "T", "document": {
            "dataJson": { "rows": [1], "title": "old" },
            "sourceJson": { "type": "local_file", "input": { "path": "a.json" },
                "outputMapping": mapping } } }));
        let next =
            super::super::refresh::refreshed_with(&before, &json!({ "rows": [2] }), 5).unwrap();
        before = next.unwrap().state_at(Revision::first().next());
        before
    }

    fn mapped_to(to: &str) -> Value {
        json!({ "dataPaths": [{ "from": "rows", "to": to }] })
    }

    #[test]
    fn an_update_keeps_what_a_source_wrote_and_says_so() {
        for mapping in [mapped_to("rows"), json!({})] {
            let before = refreshed(&mapping);
            assert_eq!(before.data.value(), &json!({ "rows": [2], "title": "old" }));
            let stale = json!({ "document": { "dataJson": { "rows": [1], "title": "new" } } });
            let at = Timestamp::from_unix_ms(9);
            let decision = update(&before, &request(&stale), &Pins::new(), Agent, at).unwrap();
            let after = &decision.state;
            assert_eq!(after.data.value(), &json!({ "rows": [2], "title": "new" }), "{mapping}");
            let warning = &decision.warnings[0];
            assert_eq!(warning.code, "source_values_kept");
            assert!(warning.message.contains("a source writes rows:"), "{}", warning.message);
            let writes: Vec<_> = after.provenance.paths.iter().collect();
            let of = |path: &str| writes.iter().find(|write| write.path.as_str() == path).unwrap();
            assert_eq!(of("/title").revision.get(), 3);
            assert_eq!(of("/rows").read().unwrap().label, "a.json");
            assert_eq!(of("/rows").at, Timestamp::from_unix_ms(5));
        }
    }

    #[test]
    fn data_that_leaves_a_sources_paths_out_is_taken_without_a_word() {
        let before = refreshed(&mapped_to("rows"));
        let input = json!({ "document": { "dataJson": { "title": "new" } } });
        let at = Timestamp::from_unix_ms(9);
        let decision = update(&before, &request(&input), &Pins::new(), Agent, at).unwrap();
        assert_eq!(decision.state.data.value(), &json!({ "rows": [2], "title": "new" }));
        let codes: Vec<&str> = decision.warnings.iter().map(|it| it.code.as_str()).collect();
        assert_eq!(codes, ["target_not_bound"]);
    }

    #[test]
    fn a_new_mapping_hands_paths_over() {
        let before = refreshed(&mapped_to("rows"));
        let with = |source: Value| {
            let input = json!({ "document": { "sourceJson": source,
                "dataJson": { "rows": [7], "title": "seed" } } });
            updated(&before, &input, Agent).unwrap()
        };
        let source = |to: &str| {
            json!({ "type": "local_file", "input": { "path": "b.json" },
                "outputMapping": mapped_to(to) })
        };
        // Both are the author's until this update: the title from now on is the source's.
        let moved = with(source("title"));
        assert_eq!(moved.data.value(), &json!({ "rows": [7], "title": "seed" }));
        let removed = with(Value::Null);
        assert_eq!(removed.data.value(), &json!({ "rows": [7], "title": "seed" }));
        let other = with(source("rows"));
        assert_eq!(other.data.value(), &json!({ "rows": [2], "title": "seed" }));
        // And from then on nobody else writes it.
        let input = json!({ "document": { "dataJson": { "title": "mine" } } });
        let after = updated(&moved, &input, Agent).unwrap();
        assert_eq!(after.data.value(), &json!({ "title": "seed" }));
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

    #[test]
    fn a_locale_or_a_zone_alone_renders_the_page_anew_and_a_format_alone_keeps_the_templates() {
        let document = json!({ "format": "html_template_v2", "dataJson": { "n": 1234.5, "at": "2026-01-01T00:30:00Z" } });
        let html = "<p>{{data.n | number}} {{data.at | datetime:short}} {{data.at | since}}</p>";
        let body = json!({ "input": { "title": "T", "document": document }, "templateHtml": html,
            "provenanceJson": { "generatedAt": "2026-01-01T01:30:00.000Z", "generatedBy": "agent", "sources": [] } });
        let before = created(&body, Agent);
        let page = |before: &ArtifactState, document: Value| {
            let request = request(&json!({ "document": document }));
            let decision =
                update(before, &request, &Pins::new(), Agent, Timestamp::from_unix_ms(9)).unwrap();
            (decision.state, String::from_utf8(decision.page.to_vec()).unwrap())
        };
        let (german, shown) =
            page(&before, json!({ "locale": "de", "timeZone": "America/New_York" }));
        assert!(shown.starts_with("<p>1.234,5 31.12.25, 19:30 "), "{shown}");
        assert!(shown.contains("vor 1 Stunde"), "{shown}");
        let (plain, shown) = page(&german, json!({ "locale": null, "timeZone": null }));
        assert!(shown.starts_with("<p>1,234.5 1/1/26, 12:30"), "{shown}");
        assert_eq!(plain.artifact.document, before.artifact.document);
        let (same, again) = page(&plain, json!({ "format": "html_template_v1" }));
        assert_eq!(same.artifact.document, plain.artifact.document);
        assert_eq!(again, shown);
    }

    #[test]
    fn a_format_without_a_template_is_told_that_it_changes_nothing() {
        let body = json!({ "templateHtml": "<p>{{data.n | number}}</p>", "input": { "title": "T",
            "document": { "format": "html_template_v2", "dataJson": { "n": 1 } } } });
        let before = created(&body, Agent);
        let warnings = |document: Value| {
            let request = request(&json!({ "document": document }));
            let at = Timestamp::from_unix_ms(9);
            let decision = update(&before, &request, &Pins::new(), Agent, at).unwrap();
            decision.warnings.into_iter().map(|it| it.code.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(warnings(json!({ "format": "html_template_v1" })), ["format_kept"]);
        assert_eq!(warnings(json!({ "format": "html_template_v2" })), [""; 0]);
        assert_eq!(warnings(json!({ "locale": "de" })), [""; 0]);
    }

    #[test]
    fn a_zone_that_nobody_has_is_refused_with_one_that_is_near() {
        let issues = UpdateRequest::parse(
            &json!({ "input": { "document": { "timeZone": "Europe/Berln", "locale": "xx" } } }),
        )
        .unwrap_err();
        let told: Vec<_> =
            issues.iter().map(|it| (it.path.as_str(), it.fix.as_deref().unwrap())).collect();
        assert_eq!(told[1], ("/input/document/timeZone", "Europe/Berlin"));
        assert_eq!(told[0].0, "/input/document/locale");
    }
}
