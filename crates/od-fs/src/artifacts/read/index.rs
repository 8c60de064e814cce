//! The index: what memory knows of the disk, and whether that is still true.
//!
//! Every access first drains the queue of change notices, so an answer from memory is as fresh as one
//! from the disk. Reads happen without the index locked, between `begin_…`, which starts a watch and
//! returns a version, and `end_…`, which remembers what was read only if the version is still the same:
//! a change that comes between them is never covered up by what was read before it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use od_core::artifact::ArtifactSummary;
use od_core::ids::{ArtifactId, ProjectId};
use od_core::limits::ARTIFACT_CACHE;
use od_ports::store::Stored;

use super::cache_entry::{CacheEntry, ListEntry, LoadedArtifact, ProjectCache, Version, Versions};
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
        known.drop_list(&mut self.versions);
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
        let Some(entries) = self.projects.get_mut(project) else { return };
        entries.drop_list(&mut self.versions);
        if let Some(entry) = entries.entries.get_mut(artifact) {
            entry.version = self.versions.next();
        }
    }

    pub(super) fn forget(&mut self, project: &ProjectId, artifact: &ArtifactId) {
        let Some(entries) = self.projects.get_mut(project) else { return };
        entries.drop_list(&mut self.versions);
        if let Some(mut entry) = entries.entries.remove(artifact) {
            entry.take_watches().for_each(|watch| self.watcher.forget(watch));
            self.loaded_bytes -= entry.loaded.map_or(0, |(_, loaded)| loaded.bytes);
        }
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
        let entry = entries
            .entries
            .entry(artifact.clone())
            .or_insert_with(|| CacheEntry::unread(&mut self.versions));
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
        let Some(entry) = entries.entries.get_mut(artifact) else { return };
        if entry.version == version.0 {
            entry.listed = Some((version.0, listed.clone()));
            entry.is_there = true;
        }
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
        let entries = self.projects.get(project)?;
        let known = entries.is_scanned && entries.watch.is_some();
        let there = entries.entries.iter().filter(|(_, entry)| entry.is_there);
        known.then(|| there.map(|(id, _)| id.clone()).collect())
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
            let entry = entries.entries.entry(id.clone()).or_insert_with(|| {
                entries.list = None;
                CacheEntry::unread(&mut self.versions)
            });
            entry.is_there = true;
        }
        for id in gone {
            self.forget(project, &id);
        }
    }

    /// Returns the list of a project if nothing in it changed.
    pub(crate) fn list(&self, project: &ProjectId) -> Option<Arc<[Arc<ArtifactSummary>]>> {
        let entries = self.projects.get(project)?;
        if entries.is_scanned && entries.watch.is_some() { entries.list.clone() } else { None }
    }

    /// Returns the version to hand back with a list that is made from now on.
    pub(crate) fn begin_list(&self, project: &ProjectId) -> Version {
        Version(self.projects.get(project).map_or(0, |entries| entries.list_version))
    }

    /// Remembers a list, if nothing has changed since it was begun.
    pub(crate) fn end_list(
        &mut self,
        version: Version,
        project: &ProjectId,
        list: &Arc<[Arc<ArtifactSummary>]>,
    ) {
        let Some(entries) = self.projects.get_mut(project) else { return };
        // Someone else may have taken in a change and read what is newer than this list.
        if entries.list_version != version.0 {
            return;
        }
        let fresh = |entry: &CacheEntry| {
            entry.listed.as_ref().is_some_and(|(version, listed)| entry.is_fresh(*version, listed))
        };
        if entries.is_scanned && entries.entries.values().all(fresh) {
            entries.list = Some(Arc::clone(list));
        }
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

    #[test]
    fn a_list_that_was_begun_before_a_change_is_not_remembered_after_it() {
        let home = tempfile::tempdir().expect("a directory");
        let project: ProjectId = "web".parse().expect("an id");
        let data_dir = DataDir::open(home.path()).expect("a data directory");
        std::fs::create_dir_all(data_dir.live_path(&project)).expect("a directory");
        let mut index = Index::new(data_dir);
        let scan = index.begin_scan(&project);
        index.end_scan(scan, &project, &[]);
        let empty: Arc<[Arc<ArtifactSummary>]> = Arc::from([]);
        let before = index.begin_list(&project);
        // Another request takes a change in and reads what is newer.
        index.touch(&project, &"la-page-0123456789ab".parse().expect("an id"));
        index.end_list(before, &project, &empty);
        assert!(index.list(&project).is_none());
        let after = index.begin_list(&project);
        index.end_list(after, &project, &empty);
        assert!(index.list(&project).is_some());
    }
}
