//! Switching a schedule on: a person's permission for one schedule of certain sources.

use super::{Outlook, RefreshSchedule, RunsSoFar, StaleReason};
use crate::artifact::{
    Artifact, ArtifactSummary, Author, Document, Freshness, RefreshPermission, Source, SourceType,
};
use crate::connector::LocalTool;
use crate::error::Issue;
use crate::ids::{Digest, Timestamp, ToolName};
use crate::limits;
use crate::words::words;

words! {
    /// The permission to refresh without anybody's hand.
    ScheduledPermission {
        /// It was taken away.
        None = "none",
        /// Read-only sources run when the schedule says.
        ReadOnly = "scheduled_read_only",
    }
}

words! {
    /// Whether a schedule runs.
    ScheduleState {
        /// It was proposed, and nobody has switched it on.
        Proposed = "proposed",
        /// It was switched off.
        Off = "off",
        /// It runs.
        Active = "active",
        /// It was switched on for another schedule or other sources than there are now.
        Changed = "changed",
        /// It was switched on in a copy of the data directory or on another machine.
        Elsewhere = "elsewhere",
        /// It is switched on, but the artifact may not be refreshed.
        Blocked = "blocked",
    }
}

/// A schedule that was switched on or off: `scheduleGrant` of an artifact, which the daemon owns.
///
/// It names the schedule and the sources that it was given for, so that whoever changes one of them
/// later has nothing switched on.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleSwitch {
    /// The permission.
    pub permission: ScheduledPermission,
    /// When it was switched on: slots before it do not count.
    pub since: Timestamp,
    /// Who did.
    pub by: Author,
    /// The digest of the schedule and the sources it is for.
    pub covers: Digest,
}

/// Whether a project lets agents switch on schedules of sources that only read this machine.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum LocalSchedules {
    /// A person switches each of them on.
    #[default]
    PersonOnly,
    /// Agents may, too.
    AgentsAllowed,
}

/// A schedule in a list: what it says, whether it runs, and its runs so far.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleSummary {
    /// What it says.
    pub refresh: RefreshSchedule,
    /// Whether it runs.
    pub state: ScheduleState,
    /// When it was switched on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// The refreshes so far.
    #[serde(default)]
    pub runs: RunsSoFar,
    /// The connector whose calls its runs make; absent where they only read project files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::ID.allowed))]
    pub connector: Option<String>,
    /// The files of the project that its sources read, if their changes start a run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8), inner(length(max = limits::PATH.allowed)))]
    pub files: Vec<String>,
}

// Every field but the schedule is of that kind already, and the schedule has no number that is not equal
// to itself.
impl Eq for ScheduleSummary {}

/// Why a schedule cannot be switched on.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ScheduleRefused {
    /// There is none.
    #[error("the artifact has no schedule")]
    NoSchedule,
    /// There is nothing to run.
    #[error("the artifact has no source")]
    NoSource,
    /// It breaks a rule; the pointers are from the artifact.
    #[error("the schedule breaks {} rules", issues.len())]
    Invalid {
        /// What is wrong.
        issues: Vec<Issue>,
    },
}

/// Switches the schedule of an artifact on, from a time on.
///
/// # Errors
///
/// Fails if it has no schedule or no source, or is to run too often.
pub fn switch_on(
    artifact: &mut Artifact,
    by: Author,
    since: Timestamp,
) -> Result<(), ScheduleRefused> {
    let document = artifact.document.as_mut().ok_or(ScheduleRefused::NoSchedule)?;
    if document.refresh.is_none() {
        return Err(ScheduleRefused::NoSchedule);
    }
    if document.all_sources().is_empty() {
        return Err(ScheduleRefused::NoSource);
    }
    let issues: Vec<Issue> = check_pace(document).into_iter().collect();
    if !issues.is_empty() {
        return Err(ScheduleRefused::Invalid { issues });
    }
    // Who lets it run by itself lets it run.
    document.set_permission(RefreshPermission::Manual);
    artifact.permission_set_by = Some(by);
    let covers = digest_of(document);
    artifact.permission_set_by = Some(by);
    artifact.schedule_grant =
        Some(ScheduleSwitch { permission: ScheduledPermission::ReadOnly, since, by, covers });
    Ok(())
}

/// Switches the schedule of an artifact off. What it says stays, as a proposal.
pub fn switch_off(artifact: &mut Artifact, by: Author, at: Timestamp) {
    let covers = artifact.document.as_ref().map_or_else(|| Digest::of_bytes(b""), digest_of);
    artifact.schedule_grant =
        Some(ScheduleSwitch { permission: ScheduledPermission::None, since: at, by, covers });
}

/// Replaces the schedule of an artifact and leaves it on or off: one that runs goes on with what it says
/// now, and no other permission is given.
///
/// # Errors
///
/// Fails if the artifact has no source, or if one that runs is to run too often.
pub fn adjust(
    artifact: &mut Artifact,
    refresh: RefreshSchedule,
    at: Timestamp,
) -> Result<(), ScheduleRefused> {
    let document = artifact.document.as_mut().ok_or(ScheduleRefused::NoSource)?;
    let covered = digest_of(document);
    let before = document.refresh.replace(refresh);
    let Some(switch) = artifact.schedule_grant.as_mut() else { return Ok(()) };
    if switch.permission == ScheduledPermission::None || switch.covers != covered {
        return Ok(());
    }
    let issues: Vec<Issue> = check_pace(document).into_iter().collect();
    if !issues.is_empty() {
        return Err(ScheduleRefused::Invalid { issues });
    }
    switch.covers = digest_of(document);
    // The slots of the same times go on: counting them anew would put off the next one.
    let has_same_times = before.is_some_and(|before| {
        let times = |of: &RefreshSchedule| (of.every, of.cron.clone(), of.time_zone.clone());
        document.refresh.as_ref().is_some_and(|now| times(now) == times(&before))
    });
    if !has_same_times {
        switch.since = at;
    }
    Ok(())
}

/// Switches on what an agent proposes, where its project lets agents do so: sources that only read this
/// machine and may be refreshed, and a schedule that no person has switched off.
pub fn switch_on_for_agent(artifact: &mut Artifact, allowed: LocalSchedules, at: Timestamp) {
    let is_off = artifact.schedule_grant.as_ref().is_some_and(|switch| {
        switch.permission == ScheduledPermission::None && switch.by == Author::Person
    });
    let is_local = artifact.document.as_ref().is_some_and(is_local);
    let may = allowed == LocalSchedules::AgentsAllowed && is_local && !is_off;
    let is_permitted = artifact.refresh_permission() == RefreshPermission::Manual;
    let is_on =
        ScheduleSummary::of(artifact, true).is_none_or(|line| line.state == ScheduleState::Active);
    if may && is_permitted && !is_on {
        let decided = artifact.permission_set_by;
        // A schedule that cannot run stays a proposal, and says so.
        if switch_on(artifact, Author::Agent, at).is_ok() {
            artifact.permission_set_by = decided;
        }
    }
}

/// Returns what is too often in the schedule of a document, for the sources it has.
#[must_use]
pub fn check_pace(document: &Document) -> Option<Issue> {
    let issue = document.refresh.as_ref()?.check_pace(is_local(document));
    issue.map(|issue| issue.under("/document/refresh"))
}

/// Returns whether every source of a document only reads this machine.
#[must_use]
pub fn is_local(document: &Document) -> bool {
    document.all_sources().iter().all(|source| is_local_source(source.source))
}

impl ScheduleSummary {
    /// Returns the line of an artifact's schedule, without its runs; none if it has no schedule.
    #[must_use]
    pub fn of(artifact: &Artifact, is_refreshable: bool) -> Option<Self> {
        let document = artifact.document.as_ref()?;
        let refresh = document.refresh.clone()?;
        let is_elsewhere =
            artifact.withheld.as_ref().is_some_and(|withheld| withheld.schedule.is_some());
        let state = match &artifact.schedule_grant {
            None if is_elsewhere => ScheduleState::Elsewhere,
            None => ScheduleState::Proposed,
            Some(switch) if switch.permission == ScheduledPermission::None => ScheduleState::Off,
            Some(switch) if switch.covers != digest_of(document) => ScheduleState::Changed,
            Some(_) if !is_refreshable => ScheduleState::Blocked,
            Some(_) => ScheduleState::Active,
        };
        let since = artifact.schedule_grant.as_ref().map(|switch| switch.since);
        let sources = document.all_sources();
        let connector = sources.iter().find_map(|source| connector_of(source.source));
        let files = if refresh.on_change { source_files(document) } else { Vec::new() };
        Some(Self { refresh, state, since, runs: RunsSoFar::default(), connector, files })
    }

    /// Returns when it was switched on, if it runs.
    #[must_use]
    pub fn active_since(&self) -> Option<Timestamp> {
        self.since.filter(|_| self.state == ScheduleState::Active)
    }
}

impl Outlook {
    /// Works out what to tell of an artifact at a time.
    #[must_use]
    pub fn of(artifact: &ArtifactSummary, now: Timestamp) -> Self {
        let schedule = artifact.schedule.as_ref();
        let active = schedule.and_then(|line| line.active_since().map(|since| (line, since)));
        let next_due = active
            .and_then(|(line, since)| line.refresh.due(since, &line.runs, &artifact.id, now).at());
        let stale_since = artifact
            .last_refreshed_at
            .filter(|_| artifact.refreshable)
            .map(|at| at.plus_ms(Freshness::max_age_ms(artifact)))
            .filter(|since| *since < now);
        let stale_reason = stale_since.map(|_| match (schedule, active, next_due) {
            (Some(line), _, _) if line.runs.failures > 0 => StaleReason::RefreshFailed,
            (_, Some(_), Some(due)) if due <= now => StaleReason::Overdue,
            (_, Some(_), Some(_)) => StaleReason::SeldomScheduled,
            (Some(line), None, _) if line.state != ScheduleState::Active => {
                StaleReason::ScheduleOff
            }
            (None | Some(_), _, _) => StaleReason::NotScheduled,
        });
        Self { next_due, stale_since, stale_reason }
    }
}

/// Returns the digest of the schedule, the sources and the queries of a document, without their permission.
pub(crate) fn digest_of(document: &Document) -> Digest {
    let mut document = document.clone();
    document.set_permission(RefreshPermission::None);
    let parts = (&document.refresh, &document.source_json, &document.sources, &document.queries);
    // Strings, integers and JSON only: writing them cannot fail.
    Digest::of_json(&serde_json::to_value(parts).unwrap_or_default())
}

fn connector_of(source: &Source) -> Option<String> {
    source.connector.as_ref().map(|connector| connector.connector_id.to_string())
}

/// Returns the files of the project that the sources of a document read, by their paths in it.
#[must_use]
pub fn source_files(document: &Document) -> Vec<String> {
    document.all_sources().iter().filter_map(|source| file_of(source.source)).collect()
}

/// Returns the file of the project that a source reads, if it reads one.
fn file_of(source: &Source) -> Option<String> {
    let of_connector = source.connector.as_ref().map(|connector| &connector.tool_name);
    let reads_files = |tool: &ToolName| {
        ["project_files.", "sqlite."].iter().any(|prefix| tool.as_str().starts_with(prefix))
    };
    let is_file = match source.kind {
        SourceType::LocalFile => true,
        SourceType::DaemonTool | SourceType::ConnectorTool => {
            source.tool_name.as_ref().or(of_connector).is_some_and(reads_files)
        }
    };
    source.file().filter(|_| is_file).map(str::to_owned)
}

fn is_local_source(source: &Source) -> bool {
    match source.kind {
        SourceType::LocalFile | SourceType::DaemonTool => true,
        SourceType::ConnectorTool => connector_of(source).is_some_and(|connector| {
            LocalTool::ALL.iter().any(|tool| tool.connector() == connector)
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::artifact::Health;
    use crate::decide::created;

    fn artifact(source: &Value, refresh: &Value) -> Artifact {
        let body = json!({ "input": { "title": "T", "document": {
            "dataJson": { "n": 1 }, "sourceJson": source, "refresh": refresh } } });
        created(&body, Author::Agent).artifact
    }

    fn file() -> Value {
        json!({ "type": "local_file", "input": { "path": "a.json" } })
    }

    fn state(artifact: &Artifact) -> ScheduleState {
        artifact.summary(Health::HEALTHY).schedule.unwrap().state
    }

    #[test]
    fn a_schedule_runs_only_as_it_was_when_it_was_switched_on() {
        let mut artifact = artifact(&file(), &json!({ "every": "15m" }));
        assert_eq!(state(&artifact), ScheduleState::Proposed);
        let at = Timestamp::from_unix_ms(5);
        switch_on(&mut artifact, Author::Person, at).unwrap();
        assert_eq!(state(&artifact), ScheduleState::Active, "and it may be refreshed");
        assert_eq!(artifact.summary(Health::HEALTHY).schedule.unwrap().active_since(), Some(at));
        let mut faster = artifact.clone();
        let document = faster.document.as_mut().unwrap();
        document.refresh = Some(RefreshSchedule::every("1m".parse().unwrap()));
        assert_eq!(state(&faster), ScheduleState::Changed);
        let mut other = artifact.clone();
        let document = other.document.as_mut().unwrap();
        let elsewhere = json!({ "type": "local_file", "input": { "path": "b.json" } });
        document.source_json = Some(serde_json::from_value(elsewhere).unwrap());
        assert_eq!(state(&other), ScheduleState::Changed);
        let document = artifact.document.as_mut().unwrap();
        document.source_json.as_mut().unwrap().refresh_permission = RefreshPermission::None;
        assert_eq!(state(&artifact), ScheduleState::Blocked, "taken away, and given again later");
    }

    #[test]
    fn only_sources_of_this_machine_are_local() {
        let connector = |id: &str, tool: &str| {
            json!({ "type": "connector_tool", "toolName": tool,
                "connector": { "connectorId": id, "toolName": tool } })
        };
        for (source, local) in [
            (file(), true),
            (json!({ "type": "daemon_tool", "toolName": "git.summary" }), true),
            (connector("git", "git.summary"), true),
            (connector("github", "github.list_releases"), false),
        ] {
            let artifact = artifact(&source, &json!({ "every": "1h" }));
            assert_eq!(is_local(artifact.document.as_ref().unwrap()), local, "{source}");
        }
    }

    #[test]
    fn nothing_is_switched_on_without_schedule_or_source() {
        let at = Timestamp::from_unix_ms(0);
        let body = json!({ "input": { "title": "T", "document": { "dataJson": {},
            "refresh": { "every": "1h" } } } });
        let mut artifact = created(&body, Author::Agent).artifact;
        let refused = switch_on(&mut artifact, Author::Person, at);
        assert_eq!(refused, Err(ScheduleRefused::NoSource));
        artifact.document = None;
        let refused = switch_on(&mut artifact, Author::Person, at);
        assert_eq!(refused, Err(ScheduleRefused::NoSchedule));
    }

    #[test]
    fn an_agent_switches_on_local_sources_where_the_project_allows_it_and_no_person_said_no() {
        let at = Timestamp::from_unix_ms(0);
        let mut permitted = file();
        permitted["refreshPermission"] = json!("manual_refresh_granted_for_read_only");
        let proposed = artifact(&permitted, &json!({ "every": "15m" }));
        let after = |mut artifact: Artifact, allowed| {
            switch_on_for_agent(&mut artifact, allowed, at);
            state(&artifact)
        };
        let (no, yes) = (LocalSchedules::PersonOnly, LocalSchedules::AgentsAllowed);
        assert_eq!(after(proposed.clone(), no), ScheduleState::Proposed);
        assert_eq!(after(proposed.clone(), yes), ScheduleState::Active);
        let mut off = proposed.clone();
        switch_off(&mut off, Author::Person, at);
        assert_eq!(after(off, yes), ScheduleState::Off);
        let unpermitted = artifact(&file(), &json!({ "every": "15m" }));
        assert_eq!(after(unpermitted, yes), ScheduleState::Proposed);
        let far = json!({ "type": "connector_tool", "toolName": "github.list_releases",
            "refreshPermission": "manual_refresh_granted_for_read_only",
            "connector": { "connectorId": "github", "toolName": "github.list_releases" } });
        assert_eq!(after(artifact(&far, &json!({ "every": "15m" })), yes), ScheduleState::Proposed);
    }

    #[test]
    fn a_schedule_that_is_adjusted_stays_on_or_off_and_allows_nothing_more() {
        let at = |ms| Timestamp::from_unix_ms(ms);
        let read = |value: Value| serde_json::from_value::<RefreshSchedule>(value).unwrap();
        let state = |artifact: &Artifact| ScheduleSummary::of(artifact, true).unwrap().state;
        let mut it = artifact(&file(), &json!({ "every": "15m" }));
        adjust(&mut it, read(json!({ "every": "15m", "maxAge": "1h" })), at(1)).unwrap();
        assert_eq!(state(&it), ScheduleState::Proposed);
        assert_eq!(it.refresh_permission(), RefreshPermission::None);
        switch_on(&mut it, Author::Person, at(2)).unwrap();
        let since = |artifact: &Artifact| artifact.schedule_grant.as_ref().unwrap().since;
        adjust(&mut it, read(json!({ "every": "15m", "maxAge": "2h" })), at(3)).unwrap();
        assert_eq!((state(&it), since(&it)), (ScheduleState::Active, at(2)), "its slots go on");
        adjust(&mut it, read(json!({ "every": "20m" })), at(4)).unwrap();
        assert_eq!((state(&it), since(&it)), (ScheduleState::Active, at(4)));
        switch_off(&mut it, Author::Person, at(6));
        adjust(&mut it, read(json!({ "every": "25m" })), at(7)).unwrap();
        assert_eq!(state(&it), ScheduleState::Off);
    }
}
