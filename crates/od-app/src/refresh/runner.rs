//! One refresh from its id to its last record: the state machine says what to do, this does it.

use std::sync::Arc;
use std::time::Duration;

use od_core::artifact::{ArtifactState, OnFailure, SourcePin, StaleSource};
use od_core::decide::{self, Decision, Gathered};
use od_core::error::Failure;
use od_core::event::ArtifactAction;
use od_core::ids::{RefreshId, Timestamp};
use od_core::ledger::CommitKind;
use od_core::limits::REFRESH_TIMEOUT;
use od_core::refresh::{
    ChangeReport, CompactError, Effect, InvalidTransition, RefreshRecord, RefreshState, Signal,
    SourceRan, step,
};
use od_ports::store::{RunningLock, RunningRefresh, StoreError, Stored};

use super::active::Entry;
use super::fault::RefreshFault;
use super::recover::{self, CloseError};
use super::run::{RefreshError, Refreshed, RunRefresh};
use super::sources::{Gathering, Outputs, Told, gather};
use crate::app::App;
use crate::artifacts::{Mode, Transaction};
use crate::connectors::execute::Executed;
use crate::connectors::pin_of;
use crate::failure;

/// A refresh that has its id, and what its steps have given so far.
pub(super) struct Runner<'a> {
    app: &'a App,
    request: RunRefresh,
    refresh: RefreshId,
    base: Arc<Stored>,
    journal: Journal<'a>,
    /// Why the refresh before this one could not be closed: then this one does not run.
    left_open: Option<CloseError>,
    gathered: Option<Outputs>,
    decided: Option<(Transaction<'a>, Decision)>,
    stored: Option<Arc<Stored>>,
    /// Why the queries gave nothing, until the next step tells it.
    query_fault: Option<RefreshFault>,
    /// The sources that failed and kept their values.
    stale: Vec<StaleSource>,
    /// The first thing that went wrong, in full; the machine and the record know it in short.
    failure: Option<Failure>,
}

/// The place where the steps of a refresh are written down, and where others can see it run.
enum Journal<'a> {
    /// The log of the store, under the running lock until that is released.
    Log { entry: Entry<'a>, lock: Option<Box<dyn RunningLock>> },
    /// Nowhere: a dry run goes through the same steps, and nobody hears of them.
    Nowhere,
}

impl<'a> Runner<'a> {
    /// Takes over a refresh that was begun; an earlier one whose process died gets its last record.
    pub(super) async fn of_running(
        app: &'a App,
        request: RunRefresh,
        running: RunningRefresh,
        entry: Entry<'a>,
    ) -> Self {
        let RunningRefresh { id, base, abandoned, lock } = running;
        entry.name(&id);
        let left_open = match abandoned {
            Some(abandoned) => {
                let lost = Signal::HolderLost { at: app.ports.clock.now() };
                let RunRefresh { project, artifact, .. } = &request;
                recover::close(app, project, artifact, abandoned, lost).await.err()
            }
            None => None,
        };
        let journal = Journal::Log { entry, lock: Some(lock) };
        Self { left_open, ..Self::new(app, request, id, base, journal) }
    }

    /// Makes a dry run of a refresh, under the id that the refresh would get.
    pub(super) fn of_dry_run(
        app: &'a App,
        request: RunRefresh,
        refresh: RefreshId,
        base: Arc<Stored>,
    ) -> Self {
        Self::new(app, request, refresh, base, Journal::Nowhere)
    }

    fn new(
        app: &'a App,
        request: RunRefresh,
        refresh: RefreshId,
        base: Arc<Stored>,
        journal: Journal<'a>,
    ) -> Self {
        Self {
            app,
            request,
            refresh,
            base,
            journal,
            left_open: None,
            gathered: None,
            decided: None,
            stored: None,
            query_fault: None,
            stale: Vec::new(),
            failure: None,
        }
    }

    /// Moves the refresh until it is over.
    pub(super) async fn drive(mut self, started: Timestamp) -> Result<Refreshed, RefreshError> {
        let mut state = RefreshState::Requested;
        let mut event = Signal::Started { refresh_id: self.refresh.clone(), at: started };
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
    async fn carry_out(&mut self, effects: Vec<Effect>) -> Option<Signal> {
        for effect in effects {
            // The effects behind one that something comes of are given up with it: the machine answers what
            // happened with effects of its own.
            let happened = match effect {
                Effect::AppendStep(record) => {
                    let appended = self.append(*record).await;
                    appended.err().map(|err| self.step_failed(err.into()))
                }
                Effect::AppendLast(record) => Some(self.append_last(*record).await),
                Effect::ExecuteSource => Some(self.execute_sources().await),
                Effect::BuildCandidate => Some(self.build_candidate().await),
                Effect::Commit(record) => Some(self.commit(*record).await),
                Effect::Publish(notice) => {
                    if self.mode() == Mode::Commit {
                        let RunRefresh { project, artifact, .. } = &self.request;
                        self.app.publish_refresh(project, artifact, &self.refresh, notice);
                    }
                    None
                }
                Effect::PublishUpdate => {
                    self.publish_update().await;
                    None
                }
                Effect::ReleaseLock => {
                    if let Journal::Log { lock, .. } = &mut self.journal {
                        *lock = None;
                    }
                    None
                }
            };
            if happened.is_some() {
                return happened;
            }
        }
        None
    }

    /// Runs the sources and the queries. Ends early when the refresh is cancelled or out of time.
    async fn execute_sources(&mut self) -> Signal {
        if let Some(err) = self.left_open.take() {
            return self.source_failed(RefreshFault::LeftOpen(err));
        }
        let deadline = self.app.ports.clock.sleep(Duration::from_millis(REFRESH_TIMEOUT.allowed));
        // In this order: somebody who cancelled is not told of a success that came in the same instant, and an
        // output that did arrive is not thrown away for a deadline that passed with it.
        let ran = tokio::select! {
            biased;
            () = self.cancelled() => Err(RefreshFault::Cancelled),
            ran = self.gather() => ran,
            () = deadline => Err(RefreshFault::TimedOut),
        };
        let at = self.now();
        match ran {
            Ok(gathered) => self.sources_ran(gathered),
            Err(RefreshFault::Cancelled) => self.stop(),
            Err(RefreshFault::TimedOut) => {
                self.note(RefreshFault::TimedOut);
                Signal::DeadlinePassed { at }
            }
            Err(fault) => self.source_failed(fault),
        }
    }

    async fn gather(&self) -> Result<Gathering, RefreshFault> {
        gather(self.app, &self.request, &self.base_state()?.artifact).await
    }

    fn sources_ran(&mut self, gathering: Gathering) -> Signal {
        let document = self.base.artifact().and_then(|artifact| artifact.document.as_ref());
        let Told { ran, outputs, failure, query_fault } = gathering.told(document);
        if let Some(failure) = failure {
            self.failure.get_or_insert(failure);
        }
        self.query_fault = query_fault;
        self.gathered = Some(outputs);
        Signal::SourcesRan { at: self.now(), ran }
    }

    fn base_state(&self) -> Result<&ArtifactState, RefreshFault> {
        self.base.state.as_deref().ok_or_else(|| RefreshFault::NotHealthy {
            artifact: self.base.id.clone(),
            health: self.base.health,
        })
    }

    /// Decides on whatever is stored now. A cancellation is heard before and after.
    async fn build_candidate(&mut self) -> Signal {
        if self.is_cancelled() {
            return self.stop();
        }
        if let Some(fault) = self.query_fault.take() {
            return self.step_failed(fault);
        }
        match self.decide().await {
            Ok(_) if self.is_cancelled() => {
                // The transaction is given up: the last record needs the lock that it holds.
                self.decided = None;
                self.stop()
            }
            Ok(built) => built,
            Err(fault) => self.step_failed(fault),
        }
    }

    async fn decide(&mut self) -> Result<Signal, RefreshFault> {
        let RunRefresh { project, artifact, .. } = &self.request;
        // Only now: the commit lock is held for the decision and the write, never while a source is waited for,
        // so that an update does not hang behind a slow provider.
        let transaction = Transaction::begin(self.app, project, artifact, self.mode()).await?;
        let before = Arc::clone(transaction.state());
        // An update meanwhile is fine, as long as it did not touch where the data comes from.
        let ran = self.base_state()?.artifact.document.as_ref();
        let is_same = match (&before.artifact.document, ran) {
            (Some(now), Some(ran)) => now.runs_as(ran) && now.permission() == ran.permission(),
            (Some(_) | None, _) => false,
        };
        if !is_same {
            return Err(RefreshFault::SourceChanged);
        }
        let lacks = RefreshFault::OutOfOrder { lacks: "the output" };
        let gathered = self.gathered.as_ref().ok_or(lacks)?;
        let Outputs { taken, failed, results } = gathered;
        let sources = before.artifact.sources();
        let pins: Vec<Option<SourcePin>> =
            taken.iter().map(|(id, taken)| self.new_pin(&before, id, &taken.call)).collect();
        let outputs = gathered.of_sources(&sources, &pins);
        let at = self.now();
        let gathered = Gathered { outputs: &outputs, results, failed };
        let taken_bytes: usize = taken.iter().map(|(_, taken)| taken.intake.json_size()).sum();
        let bytes = taken_bytes + before.work_size();
        let work = || decide::refresh(&before, gathered, at);
        let decision = self.app.cpu.run(bytes, work).await?;
        let stale = match &decision {
            Some(decision) => decision.state.provenance.stale.clone(),
            None => before.provenance.stale.clone(),
        };
        let revision = decision.is_some().then(|| before.artifact.revision.next());
        let changes = decision.as_ref().map_or_else(ChangeReport::default, |it| it.changes.clone());
        self.stale.clone_from(&stale);
        self.decided = decision.map(|decision| (transaction, decision));
        Ok(Signal::CandidateBuilt { at, changes, stale, revision })
    }

    /// Returns the pin of a source in the next state: the old one, or what was found if a person
    /// accepted it.
    fn new_pin(&self, before: &ArtifactState, id: &str, call: &Executed) -> Option<SourcePin> {
        let saved = before.artifact.pin(id).cloned();
        if self.request.accept_drift { pin_of(self.app, call).or(saved) } else { saved }
    }

    async fn commit(&mut self, record: RefreshRecord) -> Signal {
        let Some((transaction, decision)) = self.decided.take() else {
            return self.step_failed(RefreshFault::OutOfOrder { lacks: "the decision" });
        };
        let note = self.request.caller.note(CommitKind::Refresh);
        match transaction.commit_refresh(decision, note, record).await {
            Ok(stored) => {
                self.stored = Some(stored);
                Signal::Committed
            }
            Err(err) => self.step_failed(err.into()),
        }
    }

    /// Writes the last record. If there is one already, that one says how the refresh ended.
    async fn append_last(&mut self, record: RefreshRecord) -> Signal {
        match self.append(record).await {
            Ok(()) => Signal::Recorded,
            Err(err @ StoreError::RefreshClosed { .. }) => match self.last_record().await {
                Ok(Some(record)) => {
                    let succeeded = record.status.is_success();
                    self.failure = (!succeeded).then(|| RefreshFault::Fenced.into());
                    Signal::FoundClosed { record: Box::new(record) }
                }
                Ok(None) => self.record_refused(err.into()),
                Err(err) => self.record_refused(err.into()),
            },
            Err(err) => self.record_refused(err.into()),
        }
    }

    async fn append(&self, record: RefreshRecord) -> Result<(), StoreError> {
        if self.mode() == Mode::DryRun {
            return Ok(());
        }
        let RunRefresh { project, artifact, .. } = &self.request;
        self.app.ports.refresh_log.append_record(project, artifact, record).await
    }

    async fn last_record(&self) -> Result<Option<RefreshRecord>, StoreError> {
        let RunRefresh { project, artifact, .. } = &self.request;
        let history = self.app.ports.refresh_log.history(project, artifact).await?;
        let is_last =
            |record: &RefreshRecord| record.refresh_id == self.refresh && record.step.is_last();
        Ok(history.records.iter().find(|record| is_last(record)).cloned())
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
                let stuck = InvalidTransition { state: state.name(), event: "nothing" };
                let stuck = || RefreshFault::Machine(stuck).into();
                let failure = self.failure.take().unwrap_or_else(stuck);
                return Err(self.failed(failure));
            }
        };
        match self.stored().await {
            Ok(stored) => {
                let gathered = self.gathered.as_ref();
                let redactions = gathered.map(Outputs::redactions).unwrap_or_default();
                let source_count = gathered.map_or(0, |gathered| gathered.taken.len() as u64);
                let stale = std::mem::take(&mut self.stale);
                Ok(Refreshed { stored, refresh, changes, redactions, source_count, stale })
            }
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
        if self.mode() == Mode::Commit {
            let run = self.request.caller.run();
            self.app.publish(run, ArtifactAction::Updated, &stored);
        }
        self.stored = Some(stored);
    }

    const fn mode(&self) -> Mode {
        match self.journal {
            Journal::Log { .. } => Mode::Commit,
            Journal::Nowhere => Mode::DryRun,
        }
    }

    fn is_cancelled(&self) -> bool {
        match &self.journal {
            Journal::Log { entry, .. } => entry.is_cancelled(),
            Journal::Nowhere => false,
        }
    }

    /// Waits until somebody asks to stop; nobody can ask a dry run.
    async fn cancelled(&self) {
        match &self.journal {
            Journal::Log { entry, .. } => entry.cancelled().await,
            Journal::Nowhere => std::future::pending().await,
        }
    }

    fn now(&self) -> Timestamp {
        self.app.ports.clock.now()
    }

    fn stop(&mut self) -> Signal {
        self.note(RefreshFault::Cancelled);
        Signal::CancelRequested { at: self.now() }
    }

    fn source_failed(&mut self, fault: RefreshFault) -> Signal {
        let (at, error) = (self.now(), self.note(fault));
        let on_failure = OnFailure::Fail;
        let ran = SourceRan { source: None, at, rows: None, on_failure, outcome: Err(error) };
        Signal::SourcesRan { at, ran: vec![ran] }
    }

    fn step_failed(&mut self, fault: RefreshFault) -> Signal {
        let (at, error) = (self.now(), self.note(fault));
        Signal::StepFailed { at, error }
    }

    fn record_refused(&mut self, fault: RefreshFault) -> Signal {
        let (at, error) = (self.now(), self.note(fault));
        Signal::RecordRefused { at, error }
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
