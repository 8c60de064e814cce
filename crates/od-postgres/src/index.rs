//! What memory knows of the store: the lines of projects, whole artifacts, and how old all of it is.
//!
//! Every read asks for the number of the last change, once for all who ask at the same time. Only what
//! changed since is read. While the store cannot be reached, what is here is served.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use od_core::artifact::{
    ArtifactSummary, Health, HealthReason, HealthState, ListCursor, ListTally,
};
use od_core::ids::{ArtifactId, ProjectId, RefreshId};
use od_core::limits::ARTIFACT_CACHE;
use od_ports::store::{Page, PageRequest, StoreError};
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::content::{BLOB_BYTES_MAX, Loaded};
use crate::fault::Fault;
use crate::pool::{Param, Pool};
use crate::row::{AFTER_COLUMNS, ArtifactRow, COLUMNS, Lease, TABLES, unsound_head};

const TIDE: &str = "SELECT version, purged, (extract(epoch FROM clock_timestamp()) * 1000)::int8, \
    projects FROM od.store";
const PROJECT: &str = "SELECT 1 FROM od.project WHERE id = $1";

/// Leases let go that are remembered.
const RELEASES_MAX: usize = 10_000;

/// Memory of one store.
#[derive(Debug)]
pub(crate) struct Index {
    pool: Arc<Pool>,
    tide: tokio::sync::Mutex<Option<Tide>>,
    projects: Mutex<HashMap<ProjectId, Arc<tokio::sync::Mutex<ProjectIndex>>>>,
    loaded: Mutex<LoadedArtifacts>,
    /// Leases that were let go here, and may stand in the store a moment longer.
    released: Mutex<HashSet<(i64, RefreshId)>>,
}

/// The number of the last change, and the server's time, when they were asked for.
#[derive(Clone, Copy, Debug)]
struct Tide {
    asked_at: Instant,
    version: i64,
    purged: i64,
    server_ms: i64,
    projects: i64,
}

impl Tide {
    /// Returns the server's time now.
    fn now_ms(&self) -> i64 {
        let since = i64::try_from(self.asked_at.elapsed().as_millis()).unwrap_or(i64::MAX);
        self.server_ms.saturating_add(since)
    }
}

/// The lines of one project.
#[derive(Debug)]
pub(crate) struct ProjectIndex {
    version: i64,
    entries: HashMap<ArtifactId, Entry>,
    lines: BTreeMap<ListCursor, Arc<ArtifactSummary>>,
    pub(crate) tally: ListTally,
    whole: Option<Arc<[Arc<ArtifactSummary>]>>,
    /// The artifacts whose refresh runs: their status changes by itself when the lease lapses.
    running: HashSet<ArtifactId>,
}

/// One artifact as the list knows it.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: i64,
    pub(crate) version: i64,
    summary: Arc<ArtifactSummary>,
    /// The row, while a refresh runs.
    row: Option<Arc<ArtifactRow>>,
}

/// The lines of a project as they are now, or were when the store was last reached.
pub(crate) struct View {
    pub(crate) index: OwnedMutexGuard<ProjectIndex>,
    pub(crate) now_ms: i64,
}

impl Index {
    pub(crate) fn new(pool: Arc<Pool>) -> Self {
        Self {
            pool,
            tide: tokio::sync::Mutex::default(),
            projects: Mutex::default(),
            loaded: Mutex::default(),
            released: Mutex::default(),
        }
    }

    /// Asks for the number of the last change. A question that began after the caller came answers it, too.
    async fn fresh(&self) -> Result<Tide, StoreError> {
        let arrived = Instant::now();
        let mut known = self.tide.lock().await;
        if let Some(tide) = known.filter(|tide| tide.asked_at >= arrived) {
            return Ok(tide);
        }
        let asked_at = Instant::now();
        let rows = self.pool.rows(TIDE, &[]).await?;
        let read = |row: &Row| -> Result<Tide, tokio_postgres::Error> {
            let (version, purged, server_ms) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
            Ok(Tide { asked_at, version, purged, server_ms, projects: row.try_get(3)? })
        };
        let row = rows.first().ok_or(Fault::Schema(*b"XX001"))?;
        let tide = read(row).map_err(|err| Fault::of_row(&err))?;
        *known = Some(tide);
        Ok(tide)
    }

    /// Returns the number of the last change of a project.
    pub(crate) async fn projects_version(&self) -> Result<i64, StoreError> {
        Ok(self.fresh().await?.projects)
    }

    /// Returns the lines of a project; [`StoreError::ProjectNotFound`] if there is none.
    pub(crate) async fn view(&self, project: &ProjectId) -> Result<View, StoreError> {
        let fresh = self.fresh().await;
        let known = self.projects().get(project).cloned();
        let tide = match (fresh, &known) {
            (Ok(tide), _) => tide,
            (Err(_), Some(index)) if self.pool.is_down() => {
                let index = Arc::clone(index).lock_owned().await;
                let tide = *self.tide.lock().await;
                return Ok(View { index, now_ms: tide.map_or(i64::MAX, |tide| tide.now_ms()) });
            }
            (Err(error), _) => return Err(error),
        };
        let index = match known {
            Some(index) => index,
            None => {
                let id = project.as_str();
                let found = self.pool.rows(PROJECT, &[(&id, Type::TEXT)]).await?;
                if found.is_empty() {
                    return Err(StoreError::ProjectNotFound { project: project.clone() });
                }
                Arc::clone(self.projects().entry(project.clone()).or_default())
            }
        };
        let mut index = index.lock_owned().await;
        self.bring_up(project, &mut index, tide).await?;
        index.lapse(tide.now_ms(), |key, lease| self.is_released(key, lease));
        Ok(View { index, now_ms: tide.now_ms() })
    }

    async fn bring_up(
        &self,
        project: &ProjectId,
        index: &mut ProjectIndex,
        tide: Tide,
    ) -> Result<(), StoreError> {
        if index.version >= tide.version {
            return Ok(());
        }
        if index.version < tide.purged {
            *index = ProjectIndex::default();
        }
        // Digested by the server: a damaged content is told in the list without being sent.
        let sql = format!(
            "SELECT {COLUMNS}, (SELECT count(*) FROM od.blob b WHERE b.artifact = a.key \
                AND b.digest IN (a.template, a.data, a.provenance) \
                AND CASE WHEN octet_length(b.bytes) <= {BLOB_BYTES_MAX} THEN \
                    'sha256:' || encode(sha256(b.bytes), 'hex') = b.digest ELSE false END) \
             FROM {TABLES} WHERE a.project = $1 AND a.version > $2 \
                AND ($2 >= 0 OR a.deleted_at IS NULL) ORDER BY a.version"
        );
        let id = project.as_str();
        let params: [Param<'_>; 2] = [(&id, Type::TEXT), (&index.version, Type::INT8)];
        for found in self.pool.rows(&sql, &params).await? {
            let Some(row) = ArtifactRow::read(&found)? else { continue };
            let sound: i64 = found.try_get(AFTER_COLUMNS).map_err(|err| Fault::of_row(&err))?;
            let row = Arc::new(row);
            // Whoever loaded it has seen its log as well.
            let known = self.loaded().get(row.key).filter(|known| known.version == row.version);
            let health = match known {
                Some(known) => known.stored.health,
                None => listed_health(&row, sound),
            };
            let lapsed = row.lease.as_ref().is_some_and(|lease| self.is_released(row.key, lease));
            index.put(&row, health, tide.now_ms(), lapsed);
        }
        index.version = tide.version;
        Ok(())
    }

    /// Notes what a load has found out beyond the list.
    pub(crate) async fn note(&self, loaded: &Loaded) {
        let index = self.projects().get(&loaded.stored.project).cloned();
        if let Some(index) = index {
            index.lock().await.note(loaded);
        }
    }

    /// Returns an artifact that memory has in this version.
    pub(crate) fn cached(&self, key: i64, version: Option<i64>) -> Option<Arc<Loaded>> {
        let found = self.loaded().get(key);
        found.filter(|loaded| version.is_none_or(|version| loaded.version == version))
    }

    pub(crate) fn keep(&self, key: i64, loaded: &Arc<Loaded>) {
        self.loaded().put(key, Arc::clone(loaded));
    }

    pub(crate) fn is_released(&self, key: i64, lease: &Lease) -> bool {
        let released = self.released.lock().unwrap_or_else(PoisonError::into_inner);
        released.contains(&(key, lease.refresh.clone()))
    }

    pub(crate) fn release(&self, key: i64, refresh: RefreshId) {
        let mut released = self.released.lock().unwrap_or_else(PoisonError::into_inner);
        // Those of long ago are gone from the store as well. One is not forgotten as soon as it is: a
        // reader may be on its way that has seen the lease.
        if released.len() > RELEASES_MAX {
            released.clear();
        }
        released.insert((key, refresh));
    }

    /// Returns where memory has seen an artifact.
    pub(crate) async fn locate(&self, artifact: &ArtifactId) -> Option<ProjectId> {
        let known: Vec<_> =
            self.projects().iter().map(|(id, at)| (id.clone(), at.clone())).collect();
        for (project, index) in known {
            if index.lock().await.entries.contains_key(artifact) {
                return Some(project);
            }
        }
        None
    }

    /// Returns the counts of a project if it was listed.
    pub(crate) async fn tally(&self, project: &ProjectId) -> Option<ListTally> {
        let index = self.projects().get(project).cloned()?;
        Some(index.lock().await.tally)
    }

    fn projects(
        &self,
    ) -> MutexGuard<'_, HashMap<ProjectId, Arc<tokio::sync::Mutex<ProjectIndex>>>> {
        self.projects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn loaded(&self) -> MutexGuard<'_, LoadedArtifacts> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the health of an artifact as far as its row and its contents' digests tell.
fn listed_health(row: &ArtifactRow, sound: i64) -> Health {
    let Ok(artifact) = &row.pointer else { return row.health() };
    let digests = &artifact.digests;
    let named = HashSet::from([&digests.template.raw, &digests.data.raw, &digests.provenance.raw]);
    if i64::try_from(named.len()).is_ok_and(|named| named == sound) {
        row.health()
    } else {
        unsound_head(HealthReason::FileUnreadable)
    }
}

impl Default for ProjectIndex {
    fn default() -> Self {
        Self {
            version: -1,
            entries: HashMap::new(),
            lines: BTreeMap::new(),
            tally: ListTally::default(),
            whole: None,
            running: HashSet::new(),
        }
    }
}

impl ProjectIndex {
    pub(crate) fn entry(&self, artifact: &ArtifactId) -> Option<&Entry> {
        self.entries.get(artifact)
    }

    /// Returns every line, the last updated first.
    pub(crate) fn whole(&mut self) -> Arc<[Arc<ArtifactSummary>]> {
        let lines = &self.lines;
        Arc::clone(self.whole.get_or_insert_with(|| lines.values().map(Arc::clone).collect()))
    }

    /// Returns a part of the lines.
    pub(crate) fn page(&self, request: &PageRequest) -> Page {
        let after = request.after.clone().map_or(Bound::Unbounded, Bound::Excluded);
        let lines = self.lines.range((after, Bound::Unbounded)).map(|(_, line)| line);
        Page::take(lines, request, self.tally)
    }

    fn put(&mut self, row: &Arc<ArtifactRow>, health: Health, now_ms: i64, lapsed: bool) {
        if row.deleted_at.is_some() {
            // Another artifact of the same id may be there by now.
            if self.entries.get(&row.id).is_some_and(|entry| entry.key == row.key) {
                self.remove(&row.id);
            }
            return;
        }
        let lease = row.lease.as_ref().filter(|_| !lapsed);
        let summary = Arc::new(summary(row, health, lease, now_ms));
        let is_running = row.ledger.as_ref().is_some_and(|ledger| ledger.running().is_some());
        let kept = is_running.then(|| Arc::clone(row));
        let entry = Entry { key: row.key, version: row.version, summary, row: kept };
        self.replace(&row.id, entry);
    }

    fn replace(&mut self, id: &ArtifactId, entry: Entry) {
        self.remove(id);
        self.lines.insert(ListCursor::of(&entry.summary), Arc::clone(&entry.summary));
        self.tally.add(&entry.summary);
        if entry.row.is_some() {
            self.running.insert(id.clone());
        }
        self.entries.insert(id.clone(), entry);
    }

    fn remove(&mut self, id: &ArtifactId) {
        self.whole = None;
        self.running.remove(id);
        if let Some(entry) = self.entries.remove(id) {
            self.lines.remove(&ListCursor::of(&entry.summary));
            self.tally.take(&entry.summary);
        }
    }

    /// Takes in that leases have lapsed.
    fn lapse(&mut self, now_ms: i64, released: impl Fn(i64, &Lease) -> bool) {
        let running: Vec<ArtifactId> = self.running.iter().cloned().collect();
        for id in running {
            let Some(entry) = self.entries.get(&id) else { continue };
            let Some(row) = entry.row.clone() else { continue };
            let lease = row.lease.as_ref().filter(|lease| !released(entry.key, lease));
            let new = summary(&row, entry.summary.health, lease, now_ms);
            if new.refresh_status != entry.summary.refresh_status {
                let entry = Entry { summary: Arc::new(new), ..entry.clone() };
                self.replace(&id, entry);
            }
        }
    }

    fn note(&mut self, loaded: &Loaded) {
        let id = &loaded.stored.id;
        let Some(entry) = self.entries.get(id) else { return };
        if entry.version == loaded.version && entry.summary.health != loaded.stored.health {
            let summary = Arc::clone(&loaded.stored.summary);
            let entry = Entry { summary, ..entry.clone() };
            self.replace(id, entry);
        }
    }
}

/// Makes the line of an artifact from its row.
fn summary(
    row: &ArtifactRow,
    health: Health,
    lease: Option<&Lease>,
    now_ms: i64,
) -> ArtifactSummary {
    let is_readable = health.state != HealthState::CorruptHead;
    match (&row.pointer, &row.ledger) {
        (Ok(artifact), Some(ledger)) if is_readable => {
            let lock = Lease::state_at(lease, now_ms);
            let mut artifact = artifact.clone();
            artifact.refresh_status = ledger.refresh_status(artifact.refresh_status, lock);
            artifact.last_refreshed_at = ledger.last_refreshed_at(artifact.last_refreshed_at);
            artifact.summary(health).with_runs(ledger.runs())
        }
        (Ok(artifact), _) => artifact.summary(health),
        (Err(_), _) => ArtifactSummary::of_unreadable(&row.project, &row.id, health),
    }
}

/// Whole artifacts, the least recently used forgotten first.
#[derive(Debug, Default)]
struct LoadedArtifacts {
    artifacts: HashMap<i64, (Arc<Loaded>, u64)>,
    bytes: usize,
    uses: u64,
}

impl LoadedArtifacts {
    fn get(&mut self, key: i64) -> Option<Arc<Loaded>> {
        self.uses += 1;
        let (loaded, used) = self.artifacts.get_mut(&key)?;
        *used = self.uses;
        Some(Arc::clone(loaded))
    }

    fn put(&mut self, key: i64, loaded: Arc<Loaded>) {
        self.uses += 1;
        self.bytes += loaded.bytes;
        if let Some((old, _)) = self.artifacts.insert(key, (loaded, self.uses)) {
            self.bytes -= old.bytes;
        }
        while self.bytes > ARTIFACT_CACHE.max() && self.artifacts.len() > 1 {
            let oldest = self.artifacts.iter().min_by_key(|(_, (_, used))| *used);
            let Some(key) = oldest.map(|(key, _)| *key) else { break };
            if let Some((old, _)) = self.artifacts.remove(&key) {
                self.bytes -= old.bytes;
            }
        }
    }
}
