//! One refresh from its id to its last record: the state machine decides, this carries out.

use std::sync::Arc;
use std::time::Duration;

use od_core::artifact::{ArtifactState, SourcePin};
use od_core::error::Failure;
use od_core::event::{self, ArtifactAction, ArtifactEvent};
use od_core::ids::{RefreshId, Revision, Timestamp};
use od_core::limits::{REFRESH_TIMEOUT, SHORT_TEXT, cut};
use od_core::refresh::{
    CompactError, Effect, Event, RecordConnector, RecordStatus, RefreshRecord, RefreshState,
    Rejected, step,
};
use od_ports::store::{Change, Gate, RunningLock, RunningRefresh, StoreError, Stored};

use super::active::Entry;
use super::candidate::{self, Candidate};
use super::fault::RefreshFault;
use super::notice;
use super::recover::{self, CloseError};
use super::run::{RefreshError, Refreshed, RunRefresh};
use crate::app::App;
use crate::connectors::execute::{Executed, Expected, execute};
use crate::connectors::{Payer, pin_of, source_call};
use crate::failure;

/// A refresh that has its id and holds its locks, and what its steps have given so far.
pub(super) struct Attempt<'a> {
    app: &'a App,
    request: RunRefresh,
    started: Timestamp,
    refresh: RefreshId,
    base: Arc<Stored>,
    entry: Entry<'a>,
    lock: Option<Box<dyn RunningLock>>,
    /// Why the refresh before this one could not be closed: then this one does not run.
    left_open: Option<CloseError>,
    executed: Option<Executed>,
    ready: Option<Ready>,
    stored: Option<Arc<Stored>>,
    /// The first thing that went wrong, in full; the machine and the record know it in short.
    failure: Option<Failure>,
}

/// A candidate that differs, and the gate it was built behind.
struct Ready {
    gate: Gate,
    expected: Revision,
    state: ArtifactState,
    page: Arc<[u8]>,
}

impl<'a> Attempt<'a> {
    /// Takes over a refresh that was begun; an earlier one whose process died gets its last record.
    pub(super) async fn begin(
        app: &'a App,
        request: RunRefresh,
        started: Timestamp,
        running: RunningRefresh,
        entry: Entry<'a>,
    ) -> Self {
        let RunningRefresh { id, base, abandoned, lock } = running;
        entry.name(&id);
        let left_open = match abandoned {
            Some(abandoned) => {
                let lost = Event::HolderLost { at: app.ports.clock.now() };
                let RunRefresh { project, artifact, .. } = &request;
                recover::close(app, project, artifact, abandoned, lost).await.err()
            }
            None => None,
        };
        Self {
            app,
            request,
            started,
            refresh: id,
            base,
            entry,
            lock: Some(lock),
            left_open,
            executed: None,
            ready: None,
            stored: None,
            failure: None,
        }
    }

    /// Moves the refresh until it is over.
    pub(super) async fn drive(mut self) -> Result<Refreshed, RefreshError> {
        let mut state = RefreshState::Requested;
        let mut event = Event::Started { refresh_id: self.refresh.clone(), at: self.started };
        loop {
            let (next, effects) = match step(state, event) {
                Ok(moved) => moved,
                Err(rejected) => return Err(self.failed(RefreshFault::Machine(rejected).into())),
            };
            state = next;
            match self.carry_out(effects).await {
                Some(happened) => event = happened,
                None => return self.answer(state).await,
            }
        }
    }

    /// Carries effects out up to the one that something comes of.
    async fn carry_out(&mut self, effects: Vec<Effect>) -> Option<Event> {
        for effect in effects {
            let happened = match effect {
                Effect::AppendStep(record) => self.append_step(*record).await,
                Effect::AppendLast(record) => Some(self.append_last(*record).await),
                Effect::ExecuteSource => Some(self.execute_source().await),
                Effect::BuildCandidate => Some(self.build_candidate().await),
                Effect::Commit(record) => Some(self.commit(*record).await),
                Effect::Publish(notice) => {
                    let RunRefresh { project, artifact, .. } = &self.request;
                    notice::publish(self.app, project, artifact, &self.refresh, notice);
                    None
                }
                Effect::PublishUpdate => {
                    self.publish_update().await;
                    None
                }
                Effect::ReleaseLock => {
                    self.lock = None;
                    None
                }
            };
            if happened.is_some() {
                return happened;
            }
        }
        None
    }

    /// Runs the source. Ends early when the refresh is cancelled or out of time.
    async fn execute_source(&mut self) -> Event {
        if let Some(err) = self.left_open.take() {
            return self.source_failed(RefreshFault::LeftOpen(err));
        }
        let deadline = self.app.ports.clock.sleep(Duration::from_millis(REFRESH_TIMEOUT.allowed));
        let ran = tokio::select! {
            biased;
            () = self.entry.cancelled() => Err(RefreshFault::Cancelled),
            ran = self.call_source() => ran,
            () = deadline => Err(RefreshFault::TimedOut),
        };
        let at = self.now();
        match ran {
            Ok(executed) => {
                let connector = Some(connector_metadata(&executed));
                self.executed = Some(executed);
                Event::SourceSucceeded { at, connector }
            }
            Err(RefreshFault::Cancelled) => self.cancelled(),
            Err(RefreshFault::TimedOut) => {
                self.note(RefreshFault::TimedOut);
                Event::DeadlinePassed { at }
            }
            Err(fault) => self.source_failed(fault),
        }
    }

    async fn call_source(&self) -> Result<Executed, RefreshFault> {
        call_source(self.app, &self.request, self.base_state()?).await
    }

    fn base_state(&self) -> Result<&ArtifactState, RefreshFault> {
        state_of(&self.base)
    }

    /// Builds the new state on whatever is stored now. A cancellation is heard before and after.
    async fn build_candidate(&mut self) -> Event {
        if self.entry.is_cancelled() {
            return self.cancelled();
        }
        match self.build().await {
            Ok(_) if self.entry.is_cancelled() => {
                // The gate is closed again: the last record needs the lock behind it.
                self.ready = None;
                self.cancelled()
            }
            Ok(built) => built,
            Err(fault) => self.step_failed(fault),
        }
    }

    async fn build(&mut self) -> Result<Event, RefreshFault> {
        let RunRefresh { project, artifact, .. } = &self.request;
        let gate = self.app.ports.artifacts.open_gate(project, artifact).await?;
        let current = Arc::clone(gate.stored());
        let current = state_of(&current)?;
        // An update meanwhile is fine, as long as it did not touch where the data comes from.
        let ran = self.base_state()?.artifact.source();
        let source = current.artifact.source().filter(|source| ran == Some(*source));
        let source = source.ok_or(RefreshFault::SourceChanged)?;
        let at = self.now();
        let executed =
            self.executed.as_ref().ok_or(RefreshFault::OutOfOrder { lacks: "the output" })?;
        let pin = new_pin(self.app, &self.request, current, executed);
        let Candidate { next, changes } = candidate::build(current, source, executed, pin, at)?;
        let expected = current.artifact.revision;
        self.ready = next.map(|(state, page)| Ready { gate, expected, state, page });
        let revision = self.ready.as_ref().map(|ready| ready.expected.next());
        Ok(Event::CandidateBuilt { at, changes, revision })
    }

    async fn commit(&mut self, record: RefreshRecord) -> Event {
        let Some(Ready { gate, expected, state, page }) = self.ready.take() else {
            return self.step_failed(RefreshFault::OutOfOrder { lacks: "the candidate" });
        };
        let change = Change { expected, state, page, refresh: Some(record) };
        match self.app.ports.artifacts.commit(&gate.witness(), change).await {
            Ok(stored) => {
                self.stored = Some(stored);
                Event::Committed
            }
            Err(err) => self.step_failed(err.into()),
        }
    }

    async fn append_step(&mut self, record: RefreshRecord) -> Option<Event> {
        let appended = self.append(record).await;
        appended.err().map(|err| self.step_failed(err.into()))
    }

    /// Writes the last record. If there is one already, that one says how the refresh ended.
    async fn append_last(&mut self, record: RefreshRecord) -> Event {
        match self.append(record).await {
            Ok(()) => Event::Recorded,
            Err(err @ StoreError::RefreshClosed { .. }) => match self.last_record().await {
                Ok(Some(record)) => {
                    let succeeded = record.status == RecordStatus::Succeeded;
                    self.failure = (!succeeded).then(|| RefreshFault::Fenced.into());
                    Event::FoundClosed { record: Box::new(record) }
                }
                Ok(None) => self.record_refused(err.into()),
                Err(err) => self.record_refused(err.into()),
            },
            Err(err) => self.record_refused(err.into()),
        }
    }

    async fn append(&self, record: RefreshRecord) -> Result<(), StoreError> {
        let RunRefresh { project, artifact, .. } = &self.request;
        self.app.ports.refresh_log.append_record(project, artifact, record).await
    }

    async fn last_record(&self) -> Result<Option<RefreshRecord>, StoreError> {
        let RunRefresh { project, artifact, .. } = &self.request;
        let history = self.app.ports.refresh_log.history(project, artifact).await?;
        let is_last =
            |record: &RefreshRecord| record.refresh_id == self.refresh && record.step.is_last();
        Ok(history.records.into_iter().find(is_last))
    }

    /// Answers with how the refresh ended.
    async fn answer(mut self, state: RefreshState) -> Result<Refreshed, RefreshError> {
        let (refresh, changes) = match state {
            RefreshState::Succeeded(refresh, changes) => (refresh, changes),
            RefreshState::Requested
            | RefreshState::Running(_)
            | RefreshState::Building(..)
            | RefreshState::Committing(..)
            | RefreshState::Recording(..)
            | RefreshState::Failed(..) => {
                let stuck = Rejected { state: state.name(), event: "nothing" };
                let stuck = || RefreshFault::Machine(stuck).into();
                let failure = self.failure.take().unwrap_or_else(stuck);
                return Err(self.failed(failure));
            }
        };
        match self.stored().await {
            Ok(stored) => Ok(Refreshed { stored, refresh, changes }),
            Err(err) => Err(self.failed(failure::store(err))),
        }
    }

    /// Returns the artifact as it is after the refresh.
    async fn stored(&self) -> Result<Arc<Stored>, StoreError> {
        let RunRefresh { project, artifact, .. } = &self.request;
        match &self.stored {
            Some(stored) => Ok(Arc::clone(stored)),
            None => self.app.ports.artifacts.load(project, artifact).await,
        }
    }

    async fn publish_update(&mut self) {
        // Whoever listens reads the artifact anyway; one that cannot be read has nothing to tell.
        let Ok(stored) = self.stored().await else { return };
        self.app.ports.events.publish(event::Event::Artifact(ArtifactEvent {
            action: ArtifactAction::Updated,
            project_id: self.request.project.clone(),
            artifact_id: self.request.artifact.clone(),
            title: stored.summary.heading.title.clone(),
            refresh_status: stored.summary.refresh_status,
        }));
        self.stored = Some(stored);
    }

    fn now(&self) -> Timestamp {
        self.app.ports.clock.now()
    }

    fn cancelled(&mut self) -> Event {
        self.note(RefreshFault::Cancelled);
        Event::CancelRequested { at: self.now() }
    }

    fn source_failed(&mut self, fault: RefreshFault) -> Event {
        let (at, error) = (self.now(), self.note(fault));
        Event::SourceFailed { at, error }
    }

    fn step_failed(&mut self, fault: RefreshFault) -> Event {
        let (at, error) = (self.now(), self.note(fault));
        Event::StepFailed { at, error }
    }

    fn record_refused(&mut self, fault: RefreshFault) -> Event {
        let (at, error) = (self.now(), self.note(fault));
        Event::RecordRefused { at, error }
    }

    /// Keeps the first fault, because what goes wrong after it is only its consequence, and returns
    /// this one as the record has it.
    fn note(&mut self, fault: RefreshFault) -> CompactError {
        let failure = Failure::from(fault);
        let compact = CompactError::of(&failure);
        self.failure.get_or_insert(failure);
        compact
    }

    fn failed(&self, failure: Failure) -> RefreshError {
        RefreshError::Failed { refresh: self.refresh.clone(), failure: Box::new(failure) }
    }
}

/// Returns the state of an artifact that can be refreshed.
pub(super) fn state_of(stored: &Stored) -> Result<&ArtifactState, RefreshFault> {
    stored.state.as_deref().ok_or_else(|| {
        let (artifact, health) = (stored.id.clone(), stored.health);
        RefreshFault::NotHealthy { artifact, health }
    })
}

/// Runs the source of a state, if tool and account are still those it was saved with.
pub(super) async fn call_source(
    app: &App,
    request: &RunRefresh,
    state: &ArtifactState,
) -> Result<Executed, RefreshFault> {
    let RunRefresh { caller, project, artifact, accept_drift } = request;
    let source = state.artifact.source().ok_or(RefreshFault::SourceChanged)?;
    let payer = match caller.run() {
        Some(run) => Payer::Run(run.clone()),
        None => Payer::Artifact(project.clone(), artifact.clone()),
    };
    let mut call = source_call(app, project, payer, source)?;
    if !accept_drift {
        let saved = source.connector.as_ref().and_then(|saved| saved.account_label.clone());
        call.expected = match &state.artifact.source_pin {
            Some(pin) => {
                Some(Expected { account_label: pin.account_label.clone(), pin: Some(pin.clone()) })
            }
            None => saved.map(|label| Expected { account_label: Some(label), pin: None }),
        };
    }
    Ok(execute(app, call).await?)
}

/// Returns the pin of the new state: the old one, or what was found if a person accepted it.
pub(super) fn new_pin(
    app: &App,
    request: &RunRefresh,
    current: &ArtifactState,
    executed: &Executed,
) -> Option<SourcePin> {
    let saved = current.artifact.source_pin.clone();
    if request.accept_drift { pin_of(app, executed).or(saved) } else { saved }
}

/// Returns all that is known of a call but its output.
fn connector_metadata(executed: &Executed) -> RecordConnector {
    RecordConnector {
        connector_id: executed.connector_id.clone(),
        tool_name: executed.tool_name.clone(),
        account_label: executed.account_label.clone().map(|label| cut(label, SHORT_TEXT)),
        safety: Some(executed.safety.clone()),
        output_summary: executed.output_summary.clone(),
        provider_execution_id: executed.provider_execution_id.clone(),
        metadata: RecordConnector::bounded_metadata(&executed.metadata),
    }
}
