//! The index: what memory knows of the disk, and whether that is still true.
//!
//! Every access first drains the queue of change notices, so an answer from memory is as fresh as one
//! from the disk. Reads happen without the index locked, between `begin_…`, which starts a watch and
//! returns a version, and `end_…`, which remembers what was read only if the version is still the same:
//! a change that comes between them is never covered up by what was read before it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use od_core::artifact::{ArtifactSummary, Health, HealthReason, HealthState, ListTally};
use od_core::ids::{ArtifactId, ProjectId};
use od_core::limits::ARTIFACT_CACHE;
use od_ports::store::{Census, StoreError, Stored};

use super::cache_entry::{
    CacheEntry, Doubted, ListEntry, Listing, LoadedArtifact, ProjectCache, Version, Versions,
};
use super::lines::OrderedLines;
use super::watch::{InnerDir, StartedWatches, WatchStarter, WatchedDir, Watcher};
use crate::data_dir::{DataDir, LOCKS};

/// Keeps what was read of projects and artifacts, and watches the directories it was read from.
#[derive(Debug)]
pub(crate) struct Index {
    data_dir: DataDir,
    pub(super) watcher: Watcher,
    pub(super) projects: HashMap<ProjectId, ProjectCache>,
    projects_watch: Option<i32>,
    /// Every project, once `projects/` was read.
    project_ids: Option<Arc<[ProjectId]>>,
    /// Names the state between two changes of `projects/`.
    projects_version: u64,
    loaded_bytes: usize,
    tick: u64,
    pub(super) versions: Versions,
}

impl Index {
    pub(crate) fn new(data_dir: DataDir) -> Self {
        Self {
            data_dir,
            watcher: Watcher::new(),
            projects: HashMap::new(),
            projects_watch: None,
            project_ids: None,
            projects_version: 0,
            loaded_bytes: 0,
            tick: 0,
            versions: Versions::default(),
        }
    }

    pub(super) fn forget_project_ids(&mut self) {
        self.project_ids = None;
        self.projects_version = self.versions.next();
    }

    pub(super) fn forget_projects(&mut self) {
        self.forget_project_ids();
        let projects: Vec<ProjectId> = self.projects.keys().cloned().collect();
        projects.iter().for_each(|project| self.forget_project(project));
        if let Some(watch) = self.projects_watch.take() {
            self.watcher.forget(watch);
        }
    }

    pub(super) fn forget_project(&mut self, project: &ProjectId) {
        let Some(known) = self.projects.get_mut(project) else { return };
        let entries = std::mem::take(known);
        known.require_scan(&mut self.versions);
        known.epoch = known.version;
        for mut entry in entries.entries.into_values() {
            entry.take_watches().for_each(|watch| self.watcher.forget(watch));
            self.loaded_bytes -= entry.loaded.map_or(0, |(_, loaded)| loaded.bytes);
        }
        for watch in entries.watch.into_iter().chain(entries.locks_watch) {
            self.watcher.forget(watch);
        }
    }

    /// Marks an artifact as changed, by this process: that is known before the kernel's notice of it is
    /// drained.
    pub(crate) fn touch(&mut self, project: &ProjectId, artifact: &ArtifactId) {
        self.touch_log(project, artifact);
        let Some(entries) = self.projects.get_mut(project) else { return };
        if let Some(entry) = entries.entries.get_mut(artifact) {
            entry.content_version = entry.version;
        }
    }

    /// Marks an artifact's log as changed, and nothing else of it.
    pub(crate) fn touch_log(&mut self, project: &ProjectId, artifact: &ArtifactId) {
        let Some(entries) = self.projects.get_mut(project) else { return };
        if let Some(entry) = entries.entries.get_mut(artifact) {
            entry.version = self.versions.next();
            entries.due.insert(artifact.clone());
        }
    }

    /// Marks an artifact that may be gone, or another one, or new: the next list reads it, and only it.
    pub(super) fn doubt(&mut self, project: &ProjectId, artifact: &ArtifactId) {
        let Some(entries) = self.projects.get_mut(project) else { return };
        let doubted = entries.doubt(artifact, &mut self.versions);
        self.let_go(doubted);
    }

    fn forget(&mut self, project: &ProjectId, artifact: &ArtifactId) {
        let Some(entries) = self.projects.get_mut(project) else { return };
        let removed = entries.remove(artifact);
        self.let_go(removed);
    }

    fn let_go(&mut self, Doubted { watches, bytes }: Doubted) {
        self.loaded_bytes -= bytes;
        watches.into_iter().for_each(|watch| self.watcher.forget(watch));
    }

    /// Returns a whole artifact if memory has it as it is.
    pub(crate) fn loaded(
        &mut self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Option<LoadedArtifact> {
        self.tick += 1;
        let entry = self.projects.get_mut(project)?.entries.get_mut(artifact)?;
        entry.used = self.tick;
        let (version, loaded) = entry.loaded.as_ref()?;
        entry.is_fresh(*version, &loaded.entry).then(|| loaded.clone())
    }

    /// Returns a whole artifact of which memory has everything as it is but what its log says.
    pub(crate) fn loaded_but_for_log(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Option<LoadedArtifact> {
        let entry = self.projects.get(project)?.entries.get(artifact)?;
        let is_same = entry.watch.is_some() && entry.loaded_content == entry.content_version;
        let (_, loaded) = entry.loaded.as_ref().filter(|_| is_same)?;
        loaded.committed.is_some().then(|| loaded.clone())
    }

    /// Returns what a list needs of an artifact if memory has it as it is.
    pub(crate) fn listed(&self, project: &ProjectId, artifact: &ArtifactId) -> Option<ListEntry> {
        let entry = self.projects.get(project)?.entries.get(artifact)?;
        let (version, listed) = entry.listed.as_ref()?;
        entry.is_fresh(*version, listed).then(|| listed.clone())
    }

    /// Returns a way to start watching artifacts without holding the index.
    pub(crate) fn watch_starter(&self) -> WatchStarter {
        self.watcher.starter()
    }

    /// Starts watching an artifact and returns the version to hand back with what is read next.
    pub(crate) fn begin_read(&mut self, project: &ProjectId, artifact: &ArtifactId) -> Version {
        let path = self.data_dir.artifact_path(project, artifact);
        let is_watched = self
            .projects
            .get(project)
            .and_then(|entries| entries.entries.get(artifact))
            .is_some_and(|entry| entry.watch.is_some() && entry.inner.is_some());
        let started = if is_watched {
            StartedWatches::default()
        } else {
            self.watcher.starter().start_artifact(&path)
        };
        self.begin_watched_read(project, artifact, started)
    }

    /// As [`Self::begin_read`], with a watch that was started before the index was locked.
    pub(crate) fn begin_watched_read(
        &mut self,
        project: &ProjectId,
        artifact: &ArtifactId,
        started: StartedWatches,
    ) -> Version {
        self.watch_above(project);
        let entries = self.projects.entry(project.clone()).or_default();
        let version = self.versions.next();
        let entry =
            entries.entries.entry(artifact.clone()).or_insert_with(|| CacheEntry::unread(version));
        if entry.watch.is_none() {
            let target = WatchedDir::Artifact(project.clone(), artifact.clone());
            entry.watch = self.watcher.register(started.own, target);
        }
        if let (None, Some(inner)) = (entry.inner, started.inner) {
            let mut watches = [None; 2];
            for ((which, started), watch) in InnerDir::ALL.into_iter().zip(inner).zip(&mut watches)
            {
                let target = WatchedDir::Inside(project.clone(), artifact.clone(), which);
                *watch = self.watcher.register(started, target);
            }
            entry.inner = Some(watches);
        }
        Version(entry.version)
    }

    /// Remembers what was read, unless the artifact changed meanwhile.
    pub(crate) fn end_load(&mut self, version: Version, loaded: &LoadedArtifact) {
        let Stored { project, id, .. } = loaded.stored.as_ref();
        self.end_read(version, project, id, &loaded.entry);
        let Some(entries) = self.projects.get_mut(project) else { return };
        let Some(entry) = entries.entries.get_mut(id) else { return };
        if entry.version != version.0 {
            return;
        }
        let before = entry.loaded.replace((version.0, loaded.clone()));
        // A change of the content would be another version.
        entry.loaded_content = entry.content_version;
        entry.used = self.tick;
        self.loaded_bytes -= before.map_or(0, |(_, loaded)| loaded.bytes);
        self.loaded_bytes += loaded.bytes;
        self.evict();
    }

    pub(crate) fn end_read(
        &mut self,
        version: Version,
        project: &ProjectId,
        artifact: &ArtifactId,
        listed: &ListEntry,
    ) {
        let Some(entries) = self.projects.get_mut(project) else { return };
        entries.put_line(artifact, version, listed);
    }

    /// Remembers that an artifact is not there, unless it changed meanwhile.
    pub(crate) fn end_read_missing(
        &mut self,
        version: Version,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) {
        let Some(entries) = self.projects.get_mut(project) else { return };
        let Some(entry) = entries.entries.get(artifact) else { return };
        if entry.version != version.0 {
            return;
        }
        if entry.is_there {
            // It was found before: something was missed.
            entries.require_scan(&mut self.versions);
        }
        self.forget(project, artifact);
    }

    /// Remembers that an artifact was moved away.
    pub(crate) fn removed(&mut self, project: &ProjectId, artifact: &ArtifactId) {
        self.live_changed(project, Some(artifact.as_str()));
    }

    /// Evicts the least recently used whole artifacts beyond the limit.
    fn evict(&mut self) {
        while self.loaded_bytes > ARTIFACT_CACHE.max() {
            let oldest = self
                .projects
                .values_mut()
                .flat_map(|entries| entries.entries.values_mut())
                .filter(|entry| entry.loaded.is_some())
                .min_by_key(|entry| entry.used);
            let Some((_, loaded)) = oldest.and_then(|entry| entry.loaded.take()) else { return };
            self.loaded_bytes -= loaded.bytes;
        }
    }

    /// Returns the ids of a project's artifacts if memory has them all.
    pub(crate) fn ids(&self, project: &ProjectId) -> Option<Vec<ArtifactId>> {
        let entries = &self.projects.get(project).filter(|_| self.is_sure(project))?.entries;
        let there = entries.iter().filter(|(_, entry)| entry.is_there);
        Some(there.map(|(id, _)| id.clone()).collect())
    }

    fn is_sure(&self, project: &ProjectId) -> bool {
        self.unsure(project).is_some_and(|unsure| unsure.is_empty())
    }

    /// Returns the names that may be no artifacts any more, or new ones, if memory has all others.
    pub(crate) fn unsure(&self, project: &ProjectId) -> Option<Vec<ArtifactId>> {
        let entries = self.projects.get(project).filter(|entries| entries.is_complete())?;
        let is_there = |id: &ArtifactId| entries.entries.get(id).is_none_or(|entry| entry.is_there);
        Some(entries.due.iter().filter(|id| !is_there(id)).cloned().collect())
    }

    /// Returns the artifacts that have to be read before the next list, if memory has all others; and the
    /// epoch, by which [`Self::page`] tells whether that is still so.
    pub(crate) fn due(&self, project: &ProjectId) -> Option<(Version, Vec<ArtifactId>)> {
        let entries = self.projects.get(project).filter(|entries| entries.is_complete())?;
        Some((Version(entries.epoch), entries.due.iter().cloned().collect()))
    }

    /// Starts watching a project and returns the version to hand back with its ids.
    pub(crate) fn begin_scan(&mut self, project: &ProjectId) -> Version {
        self.watch_above(project);
        Version(self.projects.get(project).map_or(0, |entries| entries.version))
    }

    /// Watches the directories above the artifacts of a project: what stands in them may be replaced.
    fn watch_above(&mut self, project: &ProjectId) {
        self.watch_projects();
        let entries = self.projects.entry(project.clone()).or_default();
        if entries.watch.is_none() {
            let path = self.data_dir.live_path(project);
            entries.watch = self.watcher.watch(&path, WatchedDir::Live(project.clone()));
        }
        if entries.locks_watch.is_none() {
            let path = self.data_dir.live_path(project).join(LOCKS);
            let target = WatchedDir::Locks(project.clone());
            entries.locks_watch = self.watcher.watch_new_names(&path, target);
        }
    }

    /// Remembers the ids of a project.
    pub(crate) fn end_scan(&mut self, version: Version, project: &ProjectId, ids: &[ArtifactId]) {
        let Some(entries) = self.projects.get_mut(project) else { return };
        entries.is_scanned = entries.version == version.0;
        let gone: Vec<ArtifactId> = if entries.entries.is_empty() {
            Vec::new()
        } else {
            let there: HashSet<&ArtifactId> = ids.iter().collect();
            entries.entries.keys().filter(|id| !there.contains(id)).cloned().collect()
        };
        entries.entries.reserve(ids.len());
        for id in ids {
            let version = self.versions.next();
            let unread = || CacheEntry::unread(version);
            let entry = entries.entries.entry(id.clone()).or_insert_with(unread);
            entry.is_there = true;
            let is_known =
                entry.listed.as_ref().is_some_and(|(at, line)| entry.is_fresh(*at, line));
            if !is_known {
                entries.due.insert(id.clone());
            }
        }
        for id in gone {
            self.forget(project, &id);
        }
    }

    /// Returns the lines of a project if memory has every one as it is, or, with an epoch, if none was
    /// forgotten since.
    pub(crate) fn lines(
        &mut self,
        project: &ProjectId,
        since: Option<Version>,
    ) -> Option<&mut OrderedLines> {
        let entries = self.projects.get_mut(project).filter(|entries| entries.is_complete())?;
        let is_known = match since {
            Some(epoch) => entries.epoch == epoch.0,
            None => entries.due.is_empty(),
        };
        is_known.then_some(&mut entries.lines)
    }

    /// Remembers whether the last list of a project could be read.
    pub(crate) fn note_listing(&mut self, project: &ProjectId, read: &Result<(), &StoreError>) {
        match read {
            Ok(()) => self.projects.entry(project.clone()).or_default().listing = Listing::Read,
            // Anybody may ask for any name: nothing is remembered of those that are none of a project.
            Err(StoreError::ProjectNotFound { .. }) => {
                if let Some(known) = self.projects.get_mut(project) {
                    known.listing = Listing::Failed;
                }
            }
            Err(_) => self.projects.entry(project.clone()).or_default().listing = Listing::Failed,
        }
    }

    /// Counts what is known of some projects; a line that calls an artifact healthy whose last commit
    /// could not be finished was read before that.
    pub(crate) fn census(
        &self,
        projects: &[ProjectId],
        unfinished: &[(ProjectId, ArtifactId)],
    ) -> Census {
        let mut census = Census::default();
        for project in projects {
            let Some(known) = self.projects.get(project) else {
                census.unlisted += 1;
                continue;
            };
            match known.listing {
                Listing::None => census.unlisted += 1,
                Listing::Failed => census.failing += 1,
                Listing::Read => {}
            }
            let unread = known.entries.len().saturating_sub(known.lines.len());
            census.tally.merge(&ListTally { unread, ..known.lines.tally() });
            for (_, artifact) in unfinished.iter().filter(|(of, _)| of == project) {
                let line = known.entries.get(artifact).and_then(|entry| entry.listed.as_ref());
                if let Some((_, line)) = line.filter(|(_, line)| line.summary.health.is_healthy()) {
                    census.tally.take(&line.summary);
                    let health =
                        Health::unsound(HealthState::CorruptTail, HealthReason::RecoveryFailed);
                    census.tally.add(&ArtifactSummary { health, ..(*line.summary).clone() });
                }
            }
        }
        census
    }

    /// Returns every project if memory has them all.
    pub(crate) fn project_ids(&self) -> Option<Arc<[ProjectId]>> {
        self.projects_watch.and(self.project_ids.clone())
    }

    /// Starts watching `projects/` and returns the version to hand back with what is read next.
    pub(crate) fn begin_projects(&mut self) -> Version {
        self.watch_projects();
        Version(self.projects_version)
    }

    fn watch_projects(&mut self) {
        if self.projects_watch.is_none() {
            let path = self.data_dir.projects_path();
            self.projects_watch = self.watcher.watch(&path, WatchedDir::Projects);
        }
    }

    /// Remembers the projects, unless they changed meanwhile.
    pub(crate) fn end_projects(&mut self, version: Version, ids: &Arc<[ProjectId]>) {
        if version.0 == self.projects_version {
            self.project_ids = Some(Arc::clone(ids));
        }
    }

    /// Returns the project that has an artifact, among those known.
    pub(crate) fn locate(&self, artifact: &ArtifactId) -> Option<ProjectId> {
        self.projects
            .iter()
            .find(|(_, entries)| entries.entries.get(artifact).is_some_and(|entry| entry.is_there))
            .map(|(project, _)| project.clone())
    }
}

#[cfg(test)]
mod tests {
    use od_ports::contract::sample;

    use super::*;

    #[test]
    fn projects_that_were_read_before_a_change_are_not_remembered_after_it() {
        let home = tempfile::tempdir().expect("a directory");
        let mut index = Index::new(DataDir::open(home.path()).expect("a data directory"));
        let none: Arc<[ProjectId]> = Arc::from([]);
        let before = index.begin_projects();
        index.projects_changed(Some("web"));
        index.end_projects(before, &none);
        assert!(index.project_ids().is_none());
        let after = index.begin_projects();
        index.end_projects(after, &none);
        assert!(index.project_ids().is_some());
    }

    fn scanned(home: &tempfile::TempDir, project: &ProjectId, ids: &[ArtifactId]) -> Index {
        let data_dir = DataDir::open(home.path()).expect("a data directory");
        for id in ids {
            std::fs::create_dir_all(data_dir.artifact_path(project, id)).expect("a directory");
        }
        let mut index = Index::new(data_dir);
        let scan = index.begin_scan(project);
        index.end_scan(scan, project, ids);
        index
    }

    fn entry(project: &ProjectId, id: &ArtifactId, title: &str) -> ListEntry {
        let summary = sample::state(project, id, title).artifact.summary(Health::HEALTHY);
        let validity = crate::artifacts::read::Validity::UntilChanged;
        ListEntry { summary: Arc::new(summary), attempt: None, validity }
    }

    fn titles(
        index: &mut Index,
        project: &ProjectId,
        since: Option<Version>,
    ) -> Option<Vec<String>> {
        let lines = index.lines(project, since)?.whole();
        Some(lines.iter().map(|line| line.heading.title.clone()).collect())
    }

    #[test]
    fn what_was_read_before_a_change_hides_nothing_that_was_read_after_it() {
        let home = tempfile::tempdir().expect("a directory");
        let project: ProjectId = "web".parse().expect("an id");
        let id = sample::id(1);
        let mut index = scanned(&home, &project, std::slice::from_ref(&id));
        assert_eq!(titles(&mut index, &project, None), None, "nothing was read yet");
        let before = index.begin_read(&project, &id);
        // Another request takes a change in and reads what is newer.
        index.touch(&project, &id);
        let after = index.begin_read(&project, &id);
        index.end_read(after, &project, &id, &entry(&project, &id, "after"));
        index.end_read(before, &project, &id, &entry(&project, &id, "before"));
        assert_eq!(titles(&mut index, &project, None), Some(vec!["after".to_owned()]));
    }

    #[test]
    fn one_new_artifact_is_all_that_the_next_list_reads() {
        let home = tempfile::tempdir().expect("a directory");
        let project: ProjectId = "web".parse().expect("an id");
        let (old, new) = (sample::id(1), sample::id(2));
        let mut index = scanned(&home, &project, std::slice::from_ref(&old));
        let version = index.begin_read(&project, &old);
        index.end_read(version, &project, &old, &entry(&project, &old, "old"));
        index.live_changed(&project, Some(new.as_str()));
        assert_eq!(index.ids(&project), None, "it may be there");
        let (epoch, due) = index.due(&project).expect("the others are known");
        assert_eq!(due, std::slice::from_ref(&new));
        assert_eq!(titles(&mut index, &project, None), None);
        let version = index.begin_read(&project, &new);
        index.end_read_missing(version, &project, &new);
        assert_eq!(index.ids(&project), Some(vec![old]), "it was not, and nobody looks again");
        assert_eq!(titles(&mut index, &project, Some(epoch)), Some(vec!["old".to_owned()]));
        index.forget_project(&project);
        assert_eq!(
            titles(&mut index, &project, Some(epoch)),
            None,
            "lines were forgotten meanwhile"
        );
    }

    #[test]
    fn an_artifact_that_is_replaced_stays_in_the_list_until_it_is_read_again() {
        let home = tempfile::tempdir().expect("a directory");
        let project: ProjectId = "web".parse().expect("an id");
        let id = sample::id(1);
        let mut index = scanned(&home, &project, std::slice::from_ref(&id));
        let version = index.begin_read(&project, &id);
        index.end_read(version, &project, &id, &entry(&project, &id, "first"));
        let (epoch, _) = index.due(&project).expect("all are known");
        index.live_changed(&project, Some(id.as_str()));
        assert_eq!(titles(&mut index, &project, Some(epoch)), Some(vec!["first".to_owned()]));
        assert_eq!(titles(&mut index, &project, None), None, "but it is not believed");
        let counted = index.census(std::slice::from_ref(&project), &[]);
        assert_eq!((counted.tally.total(), counted.unlisted), (1, 1));
    }
}
