//! One refresh from its id to its last record.

use std::sync::Arc;
use std::time::Duration;

use od_core::artifact::{ArtifactState, SourcePin};
use od_core::ids::{ArtifactId, ProjectId, RefreshId, Timestamp};
use od_core::limits::REFRESH_TIMEOUT;
use od_core::refresh::{
    ChangeReport, CompactError, RecordConnector, RecordStatus, RecordStep, RefreshRecord,
};
use od_ports::change::Change;
use od_ports::event_sink::{ArtifactAction, ArtifactEvent, Event, RefreshEvent, RefreshPhase};
use od_ports::refresh_log::RunningRefresh;
use od_ports::store_error::StoreError;
use od_ports::stored::Stored;

use super::active::Entry;
use super::candidate::{self, Candidate};
use super::fault::RefreshFault;
use super::run::{RefreshError, Refreshed};
use crate::app::App;
use crate::caller::Caller;
use crate::connectors::execute::{Executed, Expected, execute};
use crate::connectors::{Payer, pin_of, source_call};

/// A refresh that has its id and holds its locks.
pub(super) struct Attempt<'a> {
    app: &'a App,
    project: ProjectId,
    artifact: ArtifactId,
    started: Timestamp,
    running: RunningRefresh,
    entry: Entry<'a>,
    accept_drift: bool,
    caller: Caller,
}

/// What came of a refresh that succeeded.
pub(super) struct Done {
    stored: Arc<Stored>,
    changes: ChangeReport,
    is_committed: bool,
}

impl<'a> Attempt<'a> {
    #[expect(clippy::too_many_arguments, reason = "one value each of what a refresh consists of")]
    pub(super) fn begin(
        app: &'a App,
        project: ProjectId,
        artifact: ArtifactId,
        started: Timestamp,
        running: RunningRefresh,
        entry: Entry<'a>,
        accept_drift: bool,
        caller: Caller,
    ) -> Self {
        entry.name(&running.id);
        Self { app, project, artifact, started, running, entry, accept_drift, caller }
    }

    fn id(&self) -> &RefreshId {
        &self.running.id
    }

    /// Gives an earlier refresh whose process died its last record.
    pub(super) async fn close_abandoned(&self) {
        if let Some(abandoned) = &self.running.abandoned {
            super::recover::close(
                self.app,
                &self.project,
                &self.artifact,
                abandoned,
                RecordStatus::Abandoned,
            )
            .await;
        }
    }

    /// Says that the refresh has begun.
    pub(super) fn announce(&self) {
        self.publish(RefreshPhase::Started, None, None, None);
    }

    /// Runs the source and takes over what it gives. Ends early when cancelled or out of time, but
    /// never in the middle of a commit.
    pub(super) async fn drive(&self) -> Result<Done, RefreshFault> {
        let deadline = self.app.ports.clock.sleep(Duration::from_millis(REFRESH_TIMEOUT.allowed));
        tokio::pin!(deadline);
        let executed = tokio::select! {
            biased;
            () = self.entry.cancelled() => return Err(RefreshFault::Cancelled),
            executed = self.run_source() => executed?,
            () = &mut deadline => return Err(RefreshFault::TimedOut),
        };
        self.publish(RefreshPhase::Progress, Some("document"), None, None);
        if self.entry.is_cancelled() {
            return Err(RefreshFault::Cancelled);
        }
        self.take_over(&executed).await
    }

    /// Runs the source and records the step.
    async fn run_source(&self) -> Result<Executed, RefreshFault> {
        let begun = self.app.ports.clock.now();
        let result = self.call_source().await;
        let now = self.app.ports.clock.now();
        let mut record = self.record(RecordStep::Source, RecordStatus::Succeeded, now);
        record.duration_ms = Some(now.ms_since(begun));
        match &result {
            Ok(executed) => record.connector = Some(connector_metadata(executed)),
            Err(fault) => {
                record.status = fault.status();
                record.error = Some(fault.compact());
            }
        }
        self.app.ports.artifacts.append_record(&self.project, &self.artifact, record).await?;
        result
    }

    async fn call_source(&self) -> Result<Executed, RefreshFault> {
        let state = self.base()?;
        let source = state.artifact.source().ok_or(RefreshFault::SourceChanged)?;
        let mut call = source_call(self.app, &self.project, &self.artifact, source)?;
        if let Some(run) = self.caller.run() {
            call.payer = Payer::Run(run.clone());
        }
        if !self.accept_drift {
            let saved = source.connector.as_ref().and_then(|saved| saved.account_label.clone());
            call.expected = match &state.artifact.source_pin {
                Some(pin) => Some(Expected {
                    account_label: pin.account_label.clone(),
                    pin: Some(pin.clone()),
                }),
                None => saved.map(|label| Expected { account_label: Some(label), pin: None }),
            };
        }
        Ok(execute(self.app, call).await?)
    }

    fn base(&self) -> Result<&ArtifactState, RefreshFault> {
        self.running.base.state.as_deref().ok_or(RefreshFault::SourceChanged)
    }

    /// Builds the new state on whatever is stored now, and commits it if anything changed.
    async fn take_over(&self, executed: &Executed) -> Result<Done, RefreshFault> {
        let store = &self.app.ports.artifacts;
        let gate = store.open_gate(&self.project, &self.artifact).await?;
        let current = gate.stored().state.clone().ok_or(RefreshFault::SourceChanged)?;
        // An update meanwhile is fine, as long as it did not touch where the data comes from.
        if current.artifact.source() != self.base()?.artifact.source() {
            return Err(RefreshFault::SourceChanged);
        }
        let now = self.app.ports.clock.now();
        let pin = self.pin(&current, executed);
        let candidate = candidate::build(&current, executed, pin, now)?;
        if self.entry.is_cancelled() {
            return Err(RefreshFault::Cancelled);
        }
        let Candidate { next, changes } = candidate;
        let mut record = self.record(RecordStep::Committed, RecordStatus::Succeeded, now);
        record.duration_ms = Some(now.ms_since(self.started));
        record.changes = Some(changes.clone());
        record.connector = Some(connector_metadata(executed));
        let Some((state, page)) = next else {
            drop(gate);
            store.append_record(&self.project, &self.artifact, record).await?;
            let stored = store.load(&self.project, &self.artifact).await?;
            return Ok(Done { stored, changes, is_committed: false });
        };
        let expected = current.artifact.revision;
        record.revision = Some(expected.next());
        let change = Change { expected, state, page, refresh: Some(record) };
        let stored = store.commit(&gate.witness(), change).await?;
        Ok(Done { stored, changes, is_committed: true })
    }

    /// Returns the pin of the new state: the old one, or what was found if a person accepted it.
    fn pin(&self, current: &ArtifactState, executed: &Executed) -> Option<SourcePin> {
        let saved = current.artifact.source_pin.clone();
        if self.accept_drift { pin_of(self.app, executed).or(saved) } else { saved }
    }

    /// Writes the last record of a refresh that failed, and tells everyone how it ended.
    pub(super) async fn finish(
        &self,
        result: Result<Done, RefreshFault>,
    ) -> Result<Refreshed, RefreshError> {
        let refresh = self.id().clone();
        let result = match result {
            Ok(done) => Ok(done),
            Err(fault) => self.fail(fault).await,
        };
        match result {
            Ok(done) => {
                self.publish(RefreshPhase::Succeeded, None, Some(done.changes.is_changed()), None);
                if done.is_committed {
                    self.publish_update(&done.stored);
                }
                Ok(Refreshed { stored: done.stored, refresh, changes: done.changes })
            }
            Err(fault) => {
                self.publish(RefreshPhase::Failed, None, None, Some(&fault.compact()));
                Err(RefreshError::Failed { refresh, fault })
            }
        }
    }

    /// Records a failure; if the record is refused because the commit went through after all, the
    /// refresh has succeeded.
    async fn fail(&self, fault: RefreshFault) -> Result<Done, RefreshFault> {
        let now = self.app.ports.clock.now();
        let mut record = self.record(RecordStep::Failed, fault.status(), now);
        record.duration_ms = Some(now.ms_since(self.started));
        record.error = Some(fault.compact());
        let store = &self.app.ports.artifacts;
        match store.append_record(&self.project, &self.artifact, record).await {
            Ok(()) => Err(fault),
            Err(StoreError::RefreshClosed { .. }) => self.look_back(fault).await,
            // The disk refuses even this: the refresh is found abandoned, and closed, later.
            Err(_) => Err(fault),
        }
    }

    /// Finds out how a refresh ended that someone else, or an interrupted commit, has closed.
    async fn look_back(&self, fault: RefreshFault) -> Result<Done, RefreshFault> {
        let store = &self.app.ports.artifacts;
        let history = store.history(&self.project, &self.artifact).await?;
        let last = history
            .records
            .into_iter()
            .find(|record| record.refresh_id == *self.id() && record.step.is_last());
        match last {
            Some(record) if record.status == RecordStatus::Succeeded => Ok(Done {
                stored: store.load(&self.project, &self.artifact).await?,
                is_committed: record.revision.is_some(),
                changes: record.changes.unwrap_or_default(),
            }),
            Some(_) => Err(RefreshFault::Fenced),
            None => Err(fault),
        }
    }

    fn record(&self, step: RecordStep, status: RecordStatus, at: Timestamp) -> RefreshRecord {
        RefreshRecord::new(self.id().clone(), step, status, at)
    }

    fn publish(
        &self,
        phase: RefreshPhase,
        step: Option<&str>,
        changed: Option<bool>,
        error: Option<&CompactError>,
    ) {
        self.app.ports.events.publish(Event::Refresh(RefreshEvent {
            phase,
            project_id: self.project.clone(),
            artifact_id: self.artifact.clone(),
            refresh_id: self.id().clone(),
            step: step.map(str::to_owned),
            changed,
            error_code: error.map(|error| error.code.as_str()),
            error_message: error.map(|error| error.message.clone()),
        }));
    }

    fn publish_update(&self, stored: &Stored) {
        self.app.ports.events.publish(Event::Artifact(ArtifactEvent {
            action: ArtifactAction::Updated,
            project_id: self.project.clone(),
            artifact_id: self.artifact.clone(),
            title: stored.summary.title.clone(),
            refresh_status: stored.summary.refresh_status,
        }));
    }
}

/// Returns all that is known of a call but its output.
fn connector_metadata(executed: &Executed) -> RecordConnector {
    RecordConnector {
        connector_id: executed.connector_id.clone(),
        tool_name: executed.tool_name.clone(),
        account_label: executed.account_label.clone(),
        safety: Some(executed.safety.clone()),
        output_summary: executed.output_summary.clone(),
        provider_execution_id: executed.provider_execution_id.clone(),
    }
}
