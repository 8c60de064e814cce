//! Answers from memory where memory is right, from the disk where it is not.

use std::sync::Arc;

use od_core::artifact::ArtifactSummary;
use od_core::ids::{ArtifactId, ProjectId};
use od_ports::store_error::StoreError;
use od_ports::stored::Stored;

use super::index::Light;
use super::shared::{Shared, not_found};
use super::{light, read};
use crate::disk::EntryKind;

/// Artifacts that have to be read from the disk before threads are worth it.
const PARALLEL_MIN: usize = 64;
/// Artifacts that one thread reads between two looks at the index, which all threads share.
const BATCH: usize = 32;

impl Shared {
    /// Returns an artifact if memory has it as it is now.
    pub(crate) fn cached(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Option<Arc<Stored>>, StoreError> {
        let mut index = self.fresh_index()?;
        Ok(index.full(project, artifact).map(|full| full.stored))
    }

    /// Reads an artifact from the disk and remembers it.
    pub(crate) fn load(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Arc<Stored>, StoreError> {
        let Some(live) = self.live_if_there(project)? else {
            return Err(not_found(project, artifact));
        };
        let version = self.index().begin_read(project, artifact);
        let Some(full) = read::whole(&live, project, artifact)? else {
            self.index().end_read_missing(project, artifact);
            return Err(not_found(project, artifact));
        };
        self.index().end_read_full(version, &full);
        Ok(full.stored)
    }

    /// Returns a project's list if memory has it as it is now.
    pub(crate) fn cached_list(
        &self,
        project: &ProjectId,
    ) -> Result<Option<Arc<[Arc<ArtifactSummary>]>>, StoreError> {
        Ok(self.fresh_index()?.list(project))
    }

    /// Makes a project's list, reading what memory does not have.
    pub(crate) fn list(
        &self,
        project: &ProjectId,
    ) -> Result<Arc<[Arc<ArtifactSummary>]>, StoreError> {
        let mut summaries: Vec<Arc<ArtifactSummary>> =
            self.lights(project)?.into_iter().map(|(_, light)| light.summary).collect();
        summaries.sort_by(|a, b| b.updated_at.cmp(&a.updated_at).then_with(|| a.id.cmp(&b.id)));
        let list: Arc<[Arc<ArtifactSummary>]> = summaries.into();
        self.index().remember_list(project, &list);
        Ok(list)
    }

    /// Returns what a list needs of every artifact of a project.
    pub(crate) fn lights(
        &self,
        project: &ProjectId,
    ) -> Result<Vec<(ArtifactId, Light)>, StoreError> {
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for id in self.ids(project)? {
            match self.index().light(project, &id) {
                Some(light) => found.push((id, light)),
                None => missing.push(id),
            }
        }
        found.extend(self.read_lights(project, &missing)?);
        Ok(found)
    }

    fn read_lights(
        &self,
        project: &ProjectId,
        ids: &[ArtifactId],
    ) -> Result<Vec<(ArtifactId, Light)>, StoreError> {
        let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(4));
        if ids.len() < PARALLEL_MIN || threads == 1 {
            return self.read_some_lights(project, ids);
        }
        let share = ids.len().div_ceil(threads);
        let parts = std::thread::scope(|scope| {
            let (own, rest) = ids.split_at(share.min(ids.len()));
            let workers: Vec<_> = rest
                .chunks(share)
                .map(|part| scope.spawn(move || self.read_some_lights(project, part)))
                .collect();
            let mut parts = vec![Ok(self.read_some_lights(project, own))];
            parts.extend(workers.into_iter().map(std::thread::ScopedJoinHandle::join));
            parts
        });
        let mut found = Vec::with_capacity(ids.len());
        for part in parts {
            let part = part.map_err(|_| StoreError::Io {
                action: "read artifacts on several threads",
                source: std::io::Error::other("a thread ended early"),
            })?;
            found.extend(part?);
        }
        Ok(found)
    }

    fn read_some_lights(
        &self,
        project: &ProjectId,
        ids: &[ArtifactId],
    ) -> Result<Vec<(ArtifactId, Light)>, StoreError> {
        let Some(live) = self.live_if_there(project)? else { return Ok(Vec::new()) };
        let mut found = Vec::with_capacity(ids.len());
        let starter = self.index().watch_starter();
        for batch in ids.chunks(BATCH) {
            let paths = batch.iter().map(|id| self.data_dir.artifact_path(project, id));
            let started: Vec<_> = paths.map(|path| starter.start(&path)).collect();
            let versions: Vec<_> = {
                let mut index = self.index();
                let watched = batch.iter().zip(started);
                watched.map(|(id, watch)| index.begin_read_watched(project, id, watch)).collect()
            };
            let read = batch.iter().map(|id| light::light(&live, project, id));
            let lights = read.collect::<Result<Vec<_>, _>>()?;
            let mut index = self.index();
            for ((id, version), light) in batch.iter().zip(versions).zip(lights) {
                match light {
                    Some(light) => {
                        index.end_read_light(version, project, id, &light);
                        found.push((id.clone(), light));
                    }
                    None => index.end_read_missing(project, id),
                }
            }
        }
        Ok(found)
    }

    /// Returns the ids of a project's artifacts.
    pub(crate) fn ids(&self, project: &ProjectId) -> Result<Vec<ArtifactId>, StoreError> {
        if let Some(ids) = self.fresh_index()?.ids(project) {
            return Ok(ids);
        }
        let Some(live) = self.live_if_there(project)? else { return Ok(Vec::new()) };
        let version = self.index().begin_scan(project);
        let ids: Vec<ArtifactId> = live
            .entries()?
            .into_iter()
            .filter(|(_, kind)| *kind == EntryKind::Directory)
            .filter_map(|(name, _)| name.parse().ok())
            .collect();
        self.index().end_scan(version, project, &ids);
        Ok(ids)
    }

    /// Returns every project that has a directory.
    pub(crate) fn project_ids(&self) -> Result<Arc<[ProjectId]>, StoreError> {
        if let Some(ids) = self.fresh_index()?.project_ids() {
            return Ok(ids);
        }
        self.index().begin_projects();
        let ids: Arc<[ProjectId]> = self
            .data_dir
            .projects()?
            .entries()?
            .into_iter()
            .filter(|(_, kind)| *kind == EntryKind::Directory)
            .filter_map(|(name, _)| name.parse().ok())
            .collect();
        self.index().end_projects(&ids);
        Ok(ids)
    }

    /// Returns the project that has an artifact if memory is sure of it.
    pub(crate) fn cached_location(
        &self,
        artifact: &ArtifactId,
    ) -> Result<Option<ProjectId>, StoreError> {
        Ok(self.fresh_index()?.locate(artifact))
    }

    /// Looks for an artifact in every project.
    pub(crate) fn locate(&self, artifact: &ArtifactId) -> Result<Option<ProjectId>, StoreError> {
        for project in self.project_ids()?.iter() {
            if self.ids(project)?.contains(artifact) {
                return Ok(Some(project.clone()));
            }
        }
        Ok(None)
    }
}
