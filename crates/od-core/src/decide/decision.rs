//! A decision: the next state of an artifact with its page.

use std::sync::Arc;

use crate::artifact::{
    Artifact, ArtifactState, Author, Digests, Document, Health, PageRefused, RefreshPermission,
    SchemaVersion, render_page,
};
use crate::checks;
use crate::error::Issue;
use crate::ids::Revision;
use crate::ownership::advice;
use crate::refresh::ChangeReport;
use crate::schedule::{LocalSchedules, ScheduleState, switch_on_for_agent};

/// The next state of an artifact, checked and rendered, and nothing of it written yet.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The whole next state. Its revision and digests are set when it is committed or shown.
    pub state: ArtifactState,
    /// The page of that state.
    pub page: Arc<[u8]>,
    /// The places of the data that differ from before; none for a new artifact.
    pub changes: ChangeReport,
    /// Remarks for the author; none of them is a fault.
    pub warnings: Vec<Issue>,
}

impl Decision {
    /// Renders the page of a state that keeps every other rule, and adds its remarks.
    pub(super) fn of(
        mut state: ArtifactState,
        changes: ChangeReport,
        mut warnings: Vec<Issue>,
    ) -> Result<Self, PageRefused> {
        set_derived_fields(&mut state);
        let (page, remarks) =
            render_page(&state.template_html, state.data.value(), &state.page_settings())?;
        warnings.extend(remarks);
        Ok(Self { state, page: page.into(), changes, warnings })
    }

    /// Switches on the schedule that an agent proposes, where its project lets agents do so.
    #[must_use]
    pub fn with_agents_schedule(mut self, allowed: LocalSchedules) -> Self {
        let artifact = &mut self.state.artifact;
        switch_on_for_agent(artifact, allowed, artifact.updated_at);
        if schedule_remark(artifact).is_none() {
            self.warnings.retain(|warning| !warning.code.starts_with("schedule_"));
        }
        self
    }

    /// Returns the state as a commit under this revision would store it.
    #[must_use]
    pub fn state_at(self, revision: Revision) -> ArtifactState {
        let mut state = self.state;
        state.artifact.revision = revision;
        state.artifact.digests = Digests::of(&state, &self.page);
        state
    }
}

/// Sets what follows from the rest of a state: its version, and which of its sources are stale.
fn set_derived_fields(state: &mut ArtifactState) {
    let document = state.artifact.document.as_ref();
    let is_newest = document.is_some_and(Document::needs_newest_version);
    state.artifact.schema_version =
        if is_newest { SchemaVersion::NEWEST } else { SchemaVersion::FIRST };
    let ids: Vec<String> =
        state.artifact.sources().iter().map(|source| source.id.to_owned()).collect();
    state.provenance.stale.retain(|stale| ids.contains(&stale.source));
    state.artifact.stale.clone_from(&state.provenance.stale);
    checks::update_results(state);
}

/// Returns the remarks on what refreshes will and will not change on the page; see [`advice`].
pub(super) fn remarks(state: &ArtifactState) -> Vec<Issue> {
    // A template that does not compile is refused with its faults.
    state.compile_template().map(|(template, _)| advice(state, &template)).unwrap_or_default()
}

/// Returns a remark on a schedule that nobody has switched on: the agent can only propose it.
pub(super) fn schedule_remark(artifact: &Artifact) -> Option<Issue> {
    let schedule = artifact.summary(Health::HEALTHY).schedule?;
    let (code, message) = match schedule.state {
        ScheduleState::Active | ScheduleState::Blocked => return None,
        ScheduleState::Off => ("schedule_off", "a person has switched the schedule off"),
        ScheduleState::Proposed => (
            "schedule_proposed",
            "the schedule is a proposal: nothing runs until a person switches it on",
        ),
        ScheduleState::Elsewhere => (
            "schedule_elsewhere",
            "the schedule was switched on elsewhere: nothing runs until a person switches it on here",
        ),
        ScheduleState::Changed => (
            "schedule_changed",
            "the schedule was switched on for another pace or other sources: a person has to switch it on again",
        ),
    };
    let fix = format!("ask the person to run `od artifacts schedule {} --on`", artifact.id);
    Some(Issue::new("/input/document/refresh", code, message).fix(fix))
}

/// Returns a remark on a source that nobody may refresh.
pub(super) fn permission_remark(artifact: &Artifact) -> Option<Issue> {
    let document = artifact.document.as_ref().filter(|_| artifact.has_source())?;
    let at = match document.source_json {
        Some(_) => "/input/document/sourceJson/refreshPermission",
        None => "/input/document/refreshPermission",
    };
    match document.permission() {
        RefreshPermission::Manual => None,
        RefreshPermission::None => {
            let message = "the artifact has a source, and nobody may refresh it";
            let issue = Issue::new(at, "refresh_not_permitted", message);
            Some(match artifact.permission_set_by {
                Some(Author::Person) => {
                    issue.fix("ask the person to allow it: they switched refreshing off")
                }
                Some(Author::Agent) | None => issue.fix(RefreshPermission::Manual.as_str()),
            })
        }
    }
}
