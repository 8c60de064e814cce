//! The store of artifacts on PostgreSQL.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use od_core::artifact::{ArtifactSummary, Attempt};
use od_core::decide::Decision;
use od_core::ids::{ArtifactId, ProjectId, Revision};
use od_core::ledger::{CommitNote, check_revision, next_revision};
use od_ports::store::{
    ArtifactStore, Change, Created, Gate, Page, PageRequest, StoreError, Stored, WriteWitness,
};
use od_ports::system::Clock;
use tokio_postgres::types::Type;

use crate::address::{PasswordSources, StoreAddress};
use crate::commit_lock::{LockState, PgCommitLock};
use crate::content::{self, Loaded};
use crate::fault::{Fault, busy, not_found};
use crate::generation::{Generation, Past};
use crate::index::Index;
use crate::log::Reader;
use crate::pool::{Param, Pool};
use crate::retention;
use crate::row::LogEnd;
use crate::schema::{self, SchemaState};
use crate::write::{Commit, Probe, Transaction, settle};

/// Keeps artifacts in a PostgreSQL database that other machines use, too.
#[derive(Debug)]
pub struct PgStore {
    pub(crate) shared: Arc<Shared>,
    pub(crate) clock: Arc<dyn Clock>,
    /// The number of the last change that listeners here were told of.
    pub(crate) told: tokio::sync::Mutex<Option<i64>>,
}

/// The part of a store that its locks outlive it with.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) pool: Arc<Pool>,
    pub(crate) index: Index,
    /// Names this process among all that write: by it a lost answer is asked for.
    instance: String,
    writes: AtomicU64,
    #[cfg(feature = "real-postgres")]
    planted: Option<Planted>,
    /// The numbers of the changes that were made here.
    own: Mutex<std::collections::BTreeSet<i64>>,
}

/// A fault that a test plants, to see that its check finds it.
#[cfg(feature = "real-postgres")]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Planted {
    /// Refreshes that were closed may write.
    NoFence,
    /// The pointer's row is read without being locked.
    NoRowLock,
    /// A commit whose answer was lost is taken for one that was refused.
    LostIsRefused,
}

/// The changes of this process that are remembered until listeners have been told of those between them.
const OWN_CHANGES_MAX: usize = 10_000;

impl Shared {
    /// Names one write.
    pub(crate) fn writer(&self) -> String {
        format!("{}-{}", self.instance, self.writes.fetch_add(1, Ordering::Relaxed))
    }

    /// Remembers that a change was made here.
    pub(crate) fn note_own(&self, version: i64) {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        own.insert(version);
        while own.len() > OWN_CHANGES_MAX {
            own.pop_first();
        }
    }

    /// Returns whether a change was made here.
    pub(crate) fn is_own(&self, version: i64) -> bool {
        self.own.lock().unwrap_or_else(PoisonError::into_inner).contains(&version)
    }
}

impl Shared {
    /// Returns whether a test has planted that refreshes are not fenced.
    pub(crate) const fn is_unfenced(&self) -> bool {
        #[cfg(feature = "real-postgres")]
        return matches!(self.planted, Some(Planted::NoFence));
        #[cfg(not(feature = "real-postgres"))]
        false
    }

    /// Returns the words that lock a row.
    const fn row_lock(&self) -> &'static str {
        #[cfg(feature = "real-postgres")]
        if matches!(self.planted, Some(Planted::NoRowLock)) {
            return "";
        }
        "FOR UPDATE"
    }

    /// Finds out what became of a COMMIT.
    pub(crate) async fn settle(&self, commit: Commit, probe: Probe) -> Result<i64, StoreError> {
        #[cfg(feature = "real-postgres")]
        if matches!((&commit, self.planted), (Commit::Lost, Some(Planted::LostIsRefused))) {
            return Err(Fault::Lost.into());
        }
        settle(&self.pool, commit, probe).await
    }
}

impl PgStore {
    /// Plants a fault.
    #[cfg(feature = "real-postgres")]
    #[must_use]
    pub fn planting(self, planted: Option<Planted>) -> Self {
        let Self { shared, clock, told } = self;
        let shared = Arc::into_inner(shared).map(|shared| Arc::new(Shared { planted, ..shared }));
        Self { shared: shared.expect("nobody uses it yet"), clock, told }
    }

    /// Makes a store of an address. Nothing is connected yet. By `instance`, which is random, this process
    /// names its writes.
    #[must_use]
    pub fn new(
        address: StoreAddress,
        passwords: PasswordSources,
        clock: Arc<dyn Clock>,
        instance: [u8; 16],
    ) -> Self {
        let pool = Pool::new(address, passwords);
        let instance = instance.iter().map(|byte| format!("{byte:02x}")).collect();
        let (writes, own) = (AtomicU64::new(0), Mutex::default());
        let index = Index::new(Arc::clone(&pool));
        let shared = Arc::new(Shared {
            pool,
            index,
            instance,
            writes,
            #[cfg(feature = "real-postgres")]
            planted: None,
            own,
        });
        Self { shared, clock, told: tokio::sync::Mutex::default() }
    }

    /// Compares the tables of the database with those of this program.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be reached.
    pub async fn schema(&self) -> Result<SchemaState, StoreError> {
        schema::state(&self.shared.pool).await
    }

    /// Refuses a database whose tables are not those of this program.
    ///
    /// # Errors
    ///
    /// Fails with the command that helps.
    pub async fn check_schema(&self) -> Result<(), StoreError> {
        schema::check(&self.shared.pool).await
    }

    /// Makes the tables, or brings them up to date; returns what was there.
    ///
    /// # Errors
    ///
    /// Fails if the role may not, or the tables are of a later version.
    pub async fn migrate(&self) -> Result<SchemaState, StoreError> {
        schema::migrate(&self.shared.pool).await
    }

    /// Reads an artifact that a statement of [`content::select`] names, as memory or as the store has it.
    pub(crate) async fn read(
        &self,
        reader: Reader<'_>,
        named: &str,
        params: &[Param<'_>],
        known: Option<&Loaded>,
        now_ms: Option<i64>,
    ) -> Result<Option<Loaded>, StoreError> {
        let digests = content::known_digests(known);
        let mut all: Vec<Param<'_>> = vec![(&digests, Type::TEXT_ARRAY)];
        all.extend(params.iter().cloned());
        let rows = reader.rows(&content::select(named), &all).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let lapsed = |key, lease: &crate::row::Lease| self.shared.index.is_released(key, lease);
        content::load(reader, row, known, now_ms, lapsed).await
    }

    /// Reads one artifact, from memory if it is there as it is now.
    pub(crate) async fn load_fresh(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<(Arc<Loaded>, i64), StoreError> {
        let not_found = || not_found(project, artifact);
        let index = &self.shared.index;
        let view = index.view(project).await.map_err(|err| {
            if matches!(err, StoreError::ProjectNotFound { .. }) { not_found() } else { err }
        })?;
        let now_ms = view.now_ms;
        let entry = view.index.entry(artifact).ok_or_else(not_found)?;
        let (key, version) = (entry.key, entry.version);
        drop(view);
        if let Some(loaded) = index.cached(key, Some(version)) {
            return Ok((loaded, now_ms));
        }
        let known = index.cached(key, None);
        let params: [Param<'_>; 1] = [(&key, Type::INT8)];
        let (reader, named) =
            (Reader::Pool(&self.shared.pool), "a.key = $2 AND a.deleted_at IS NULL");
        let loaded = self.read(reader, named, &params, known.as_deref(), Some(now_ms)).await?;
        let loaded = Arc::new(loaded.ok_or_else(not_found)?);
        index.keep(key, &loaded);
        index.note(&loaded).await;
        Ok((loaded, now_ms))
    }

    /// Locks an artifact for a change and reads it under the lock.
    pub(crate) async fn lock(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<(Transaction, Loaded), StoreError> {
        let transaction = Transaction::begin(&self.shared.pool).await?;
        let (project_id, id) = (project.as_str(), artifact.as_str());
        let params: [Param<'_>; 2] = [(&project_id, Type::TEXT), (&id, Type::TEXT)];
        // A statement of its own: what is read after it is what the holder before left.
        let lock = format!(
            "SELECT key FROM od.artifact WHERE project = $1 AND id = $2 AND deleted_at IS NULL {}",
            self.shared.row_lock()
        );
        let rows = transaction.rows(&lock, &params).await.map_err(|fault| busy(fault, artifact))?;
        let not_found = || not_found(project, artifact);
        let key: i64 = rows.first().and_then(|row| row.try_get(0).ok()).ok_or_else(not_found)?;
        let known = self.shared.index.cached(key, None);
        let reader = Reader::Transaction(transaction.conn()?);
        let params: [Param<'_>; 1] = [(&key, Type::INT8)];
        let named = "a.key = $2 AND a.deleted_at IS NULL";
        let loaded = self.read(reader, named, &params, known.as_deref(), None).await?;
        let loaded = loaded.ok_or_else(not_found)?;
        Ok((transaction, loaded))
    }
}

#[async_trait]
impl ArtifactStore for PgStore {
    async fn load(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Arc<Stored>, StoreError> {
        let (loaded, now_ms) = self.load_fresh(project, artifact).await?;
        let lease = loaded.lease.as_ref();
        let key = loaded.row.key;
        let lease = lease.filter(|lease| !self.shared.index.is_released(key, lease));
        Ok(loaded.at(lease, now_ms))
    }

    async fn locate(&self, artifact: &ArtifactId) -> Result<Option<ProjectId>, StoreError> {
        let sql = "SELECT project FROM od.artifact WHERE id = $1 AND deleted_at IS NULL \
            ORDER BY project LIMIT 1";
        let id = artifact.as_str();
        let rows = match self.shared.pool.rows(sql, &[(&id, Type::TEXT)]).await {
            Err(error) => {
                let known = self.shared.index.locate(artifact).await;
                return known.map(Some).ok_or(error);
            }
            Ok(rows) => rows,
        };
        let project: Option<String> = rows.first().and_then(|row| row.try_get(0).ok());
        Ok(project.and_then(|project| project.parse().ok()))
    }

    async fn list(&self, project: &ProjectId) -> Result<Arc<[Arc<ArtifactSummary>]>, StoreError> {
        Ok(self.shared.index.view(project).await?.index.whole())
    }

    async fn page(&self, project: &ProjectId, request: PageRequest) -> Result<Page, StoreError> {
        Ok(self.shared.index.view(project).await?.index.page(&request))
    }

    async fn find_attempt(
        &self,
        project: &ProjectId,
        attempt: &Attempt,
    ) -> Result<Option<Arc<Stored>>, StoreError> {
        match self.earlier(Reader::Pool(&self.shared.pool), project, attempt).await? {
            Some(made) => ArtifactStore::load(self, project, &made).await.map(Some),
            None => Ok(None),
        }
    }

    async fn create(&self, new: Decision, note: CommitNote) -> Result<Created, StoreError> {
        let Decision { state, page, .. } = new;
        let (project, id) = (state.artifact.project_id.clone(), state.artifact.id.clone());
        let attempt = state.artifact.created_by_attempt.clone();
        let past = Past {
            before: None,
            revision: next_revision([]),
            ledger: Default::default(),
            log: LogEnd::default(),
        };
        let generation = Generation::build(state, &page, note, None, past)?;
        let transaction = Transaction::begin(&self.shared.pool).await?;
        // One create at a time in a project: of two with one attempt the second finds the first.
        let lock = "SELECT 1 FROM od.project WHERE id = $1 FOR NO KEY UPDATE";
        let project_id = project.as_str();
        let found = transaction.rows(lock, &[(&project_id, Type::TEXT)]).await;
        if found.map_err(|fault| busy(fault, &id))?.is_empty() {
            return Err(StoreError::ProjectNotFound { project });
        }
        if let Some(attempt) = &attempt {
            let reader = Reader::Transaction(transaction.conn()?);
            if let Some(made) = self.earlier(reader, &project, attempt).await? {
                drop(transaction);
                return Ok(Created::Replayed(ArtifactStore::load(self, &project, &made).await?));
            }
        }
        let writer = self.shared.writer();
        let key = match generation.insert(&transaction, &writer).await {
            Err(Fault::Taken) => return Err(StoreError::Exists { artifact: id }),
            other => other?,
        };
        let committed = transaction.commit(key).await?;
        let probe = Probe::Create { project: project.as_str().to_owned(), key, writer };
        let version = self.shared.settle(committed, probe).await?;
        self.shared.note_own(version);
        let loaded = Arc::new(generation.into_loaded(key, version, None));
        self.shared.index.keep(key, &loaded);
        Ok(Created::Fresh(Arc::clone(&loaded.stored)))
    }

    async fn open_gate(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Gate, StoreError> {
        let (transaction, loaded) = self.lock(project, artifact).await?;
        let stored = Arc::clone(&loaded.stored);
        let state = tokio::sync::Mutex::new(LockState::Open(transaction, Box::new(loaded)));
        let lock = PgCommitLock { shared: Arc::clone(&self.shared), state };
        Gate::open(project.clone(), artifact.clone(), Box::new(lock), stored)
    }

    async fn commit(
        &self,
        witness: &WriteWitness<'_>,
        change: Change,
    ) -> Result<Arc<Stored>, StoreError> {
        let lock = witness.lock().as_any().downcast_ref::<PgCommitLock>();
        let lock = lock.filter(|lock| Arc::ptr_eq(&lock.shared, &self.shared));
        let Some(lock) = lock else { return Err(StoreError::ForeignWitness) };
        let artifact = witness.artifact();
        let Change { expected, state, page, refresh, note } = change;
        let mut held = lock.state.lock().await;
        let conflict = |conflict| StoreError::revision_conflict(artifact, conflict);
        let actual = held.revision().or_else(|| witness.stored().revision());
        check_revision(expected, actual.unwrap_or(expected)).map_err(conflict)?;
        let used = LockState::Used(actual.map_or(expected, Revision::next));
        let LockState::Open(transaction, loaded) = std::mem::replace(&mut *held, used) else {
            return Err(conflict(od_core::ledger::RevisionConflict { expected, actual: expected }));
        };
        let ledger = loaded.row.ledger.clone().unwrap_or_default();
        if let Some(record) = refresh.as_ref().filter(|_| !self.shared.is_unfenced()) {
            ledger
                .admit_commit(&record.refresh_id, loaded.row.last_refresh.as_ref())
                .map_err(|closed| StoreError::refresh_closed(artifact, closed))?;
        }
        let before = loaded.row.pointer.as_ref().ok();
        let past = Past {
            before,
            revision: next_revision([expected]),
            ledger,
            log: loaded.row.log.clone(),
        };
        let mut generation = Generation::build(state, &page, note, refresh, past)?;
        if let Some(before) = before {
            generation = generation.without_known(before);
        }
        let (key, writer) = (loaded.row.key, self.shared.writer());
        generation.update(&transaction, key, &writer).await?;
        retention::sweep(&transaction, key, generation.state.artifact.revision).await?;
        let committed = transaction.commit(key).await?;
        let probe = Probe::Record { key, seq: generation.last_seq(), writer };
        let version = self.shared.settle(committed, probe).await?;
        self.shared.note_own(version);
        let loaded = Arc::new(generation.into_loaded(key, version, Some(&loaded)));
        self.shared.index.keep(key, &loaded);
        Ok(Arc::clone(&loaded.stored))
    }
}
