//! Lists of a project's artifacts: what memory does not have is read, on several threads if it is much.

use std::slice::Chunks;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use od_core::artifact::ArtifactSummary;
use od_core::ids::{ArtifactId, ProjectId};
use od_ports::store::{Census, Page, PageRequest, StoreError};

use super::artifact::read_list_entry;
use super::cache_entry::{ListEntry, Version};
use super::lines::OrderedLines;
use super::reader::{ArtifactReader, with_health};

/// Artifacts that have to be read from the disk before threads are worth it.
const PARALLEL_MIN: usize = 64;
/// Artifacts that one thread reads between two locks of the index, which all threads share.
const BATCH: usize = 32;
/// More threads than this read a directory no faster.
const READERS_MAX: usize = 4;

/// The lines of a project as they are now.
enum UpToDate {
    /// In the index, unless something was forgotten since this epoch.
    Since(Version),
    /// Beside the index, which does not know every artifact.
    Separate(OrderedLines),
}

impl ArtifactReader {
    /// Returns a project's list if memory has it as it is now.
    pub(crate) fn cached_list(
        &self,
        project: &ProjectId,
    ) -> Result<Option<Arc<[Arc<ArtifactSummary>]>>, StoreError> {
        Ok(self.fresh_index()?.lines(project, None).map(OrderedLines::whole))
    }

    /// Makes a project's list, reading what memory does not have.
    pub(crate) fn list(
        &self,
        project: &ProjectId,
    ) -> Result<Arc<[Arc<ArtifactSummary>]>, StoreError> {
        self.with_lines(project, OrderedLines::whole)
    }

    /// Returns a page of a project's list if memory has the list as it is now.
    pub(crate) fn cached_page(
        &self,
        project: &ProjectId,
        request: &PageRequest,
    ) -> Result<Option<Page>, StoreError> {
        Ok(self.fresh_index()?.lines(project, None).map(|lines| lines.page(request)))
    }

    /// Makes a page of a project's list, reading what memory does not have.
    pub(crate) fn page(
        &self,
        project: &ProjectId,
        request: &PageRequest,
    ) -> Result<Page, StoreError> {
        self.with_lines(project, |lines| lines.page(request))
    }

    /// Gives a project's lines as they are now to `answer`.
    fn with_lines<T>(
        &self,
        project: &ProjectId,
        answer: impl FnOnce(&mut OrderedLines) -> T,
    ) -> Result<T, StoreError> {
        let read = self.bring_up_to_date(project);
        self.index().note_listing(project, &read.as_ref().map(|_| ()));
        match read? {
            UpToDate::Since(epoch) => {
                if let Some(lines) = self.index().lines(project, Some(epoch)) {
                    return Ok(answer(lines));
                }
                // Something was forgotten between the two, as after an overflow of the queue.
                Ok(answer(&mut self.lines_read_now(project)?))
            }
            UpToDate::Separate(mut lines) => Ok(answer(&mut lines)),
        }
    }

    /// Reads what memory does not have of a project's list.
    fn bring_up_to_date(&self, project: &ProjectId) -> Result<UpToDate, StoreError> {
        let due = self.fresh_index()?.due(project);
        let Some((epoch, due)) = due else {
            return self.lines_read_now(project).map(UpToDate::Separate);
        };
        self.read_list_entries(project, &due)?;
        Ok(UpToDate::Since(epoch))
    }

    /// Gathers a project's lines without relying on what memory keeps beyond this call.
    fn lines_read_now(&self, project: &ProjectId) -> Result<OrderedLines, StoreError> {
        let entries = self.list_entries(project)?;
        Ok(entries.into_iter().map(|(_, entry)| entry.summary).collect())
    }

    /// Counts what memory knows of some projects, and reads nothing.
    pub(crate) fn census(&self, projects: &[ProjectId]) -> Census {
        let unfinished = self.unfinished();
        self.index().census(projects, &unfinished)
    }

    /// Returns what a list needs of every artifact of a project.
    pub(crate) fn list_entries(
        &self,
        project: &ProjectId,
    ) -> Result<Vec<(ArtifactId, ListEntry)>, StoreError> {
        let entries = self.gather_list_entries(project);
        self.index().note_listing(project, &entries.as_ref().map(|_| ()));
        entries
    }

    fn gather_list_entries(
        &self,
        project: &ProjectId,
    ) -> Result<Vec<(ArtifactId, ListEntry)>, StoreError> {
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for id in self.ids(project)? {
            match self.index().listed(project, &id) {
                Some(entry) => found.push((id, entry)),
                None => missing.push(id),
            }
        }
        found.extend(self.read_list_entries(project, &missing)?);
        Ok(found)
    }

    pub(super) fn read_list_entries(
        &self,
        project: &ProjectId,
        ids: &[ArtifactId],
    ) -> Result<Vec<(ArtifactId, ListEntry)>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let batches = Mutex::new(ids.chunks(BATCH));
        let read = || self.read_batches(project, &batches);
        if ids.len() < PARALLEL_MIN {
            return read();
        }
        let readers =
            thread::available_parallelism().map_or(1, |cores| cores.get().min(READERS_MAX));
        thread::scope(|scope| {
            // Where no thread can be made, the others do its share.
            let others: Vec<_> = (1..readers)
                .filter_map(|_| thread::Builder::new().spawn_scoped(scope, read).ok())
                .collect();
            let mut found = read()?;
            for other in others {
                found.extend(other.join().map_err(|_| StoreError::Io {
                    action: "read artifacts on several threads",
                    source: std::io::Error::other("a thread ended early"),
                })??);
            }
            Ok(found)
        })
    }

    /// Reads batches until none is left.
    fn read_batches(
        &self,
        project: &ProjectId,
        batches: &Mutex<Chunks<'_, ArtifactId>>,
    ) -> Result<Vec<(ArtifactId, ListEntry)>, StoreError> {
        let Some(live) = self.dirs.live(project)? else { return Ok(Vec::new()) };
        let starter = self.index().watch_starter();
        let live_path = self.dirs.data_dir().live_path(project);
        let mut found = Vec::new();
        let next = || batches.lock().unwrap_or_else(PoisonError::into_inner).next();
        while let Some(batch) = next() {
            // Starting a watch takes the kernel as long as opening a file, so it is done before the
            // index, which all threads wait for, is locked.
            let started: Vec<_> = batch
                .iter()
                .map(|id| starter.start_artifact(&live_path.join(id.as_str())))
                .collect();
            let versions: Vec<_> = {
                let mut index = self.index();
                let watched = batch.iter().zip(started);
                watched.map(|(id, watch)| index.begin_watched_read(project, id, watch)).collect()
            };
            let entries = batch
                .iter()
                .map(|id| read_list_entry(&live, project, id, self.grants()))
                .collect::<Result<Vec<_>, _>>()?;
            let mut index = self.index();
            for ((id, version), entry) in batch.iter().zip(versions).zip(entries) {
                match entry {
                    Some(mut entry) => {
                        let read = entry.summary.health;
                        let health = self.health_after_recovery(project, id, read);
                        if health != read {
                            entry.summary = with_health(&entry.summary, health);
                        }
                        index.end_read(version, project, id, &entry);
                        found.push((id.clone(), entry));
                    }
                    None => index.end_read_missing(version, project, id),
                }
            }
        }
        Ok(found)
    }
}
