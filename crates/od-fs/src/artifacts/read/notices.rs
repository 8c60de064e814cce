//! Taking in change notices: each drops what it may have made untrue.

use od_core::ids::{ArtifactId, ProjectId};

use super::index::Index;
use super::watch::{ChangeNotice, ChangedName, InnerDir, WatchedDir};
use crate::artifacts::commit::{POINTER_FILE, SetFile, obstacle};
use crate::artifacts::history::{LOG, ROTATED};
use crate::data_dir::LOCKS;
use crate::disk::{DiskError, EntryKind};

impl Index {
    /// Takes in everything that changed since the last call.
    pub(crate) fn catch_up(&mut self) -> Result<(), DiskError> {
        for notice in self.watcher.drain()? {
            match notice {
                ChangeNotice::Overflow => {
                    self.watcher.restart();
                    self.forget_projects();
                }
                ChangeNotice::Changed(WatchedDir::Projects, changed) => {
                    self.projects_changed(changed.map(|changed| changed.name).as_deref());
                }
                // Without a directory for its locks no artifact of the project can be written, and another
                // one that stands there is watched by nobody.
                ChangeNotice::Changed(WatchedDir::Live(project), Some(changed))
                    if changed.name == LOCKS =>
                {
                    self.forget_project(&project);
                }
                ChangeNotice::Changed(WatchedDir::Locks(project), Some(changed))
                    if changed.kind == EntryKind::Directory =>
                {
                    let artifact = changed.name.strip_suffix(".commit").map(str::parse);
                    if let Some(Ok(artifact)) = artifact {
                        self.touch(&project, &artifact);
                    }
                }
                ChangeNotice::Changed(
                    WatchedDir::Inside(project, artifact, inner),
                    Some(changed),
                ) if inner.is_obstacle(&changed) => {
                    self.touch(&project, &artifact);
                }
                ChangeNotice::Changed(WatchedDir::Locks(_) | WatchedDir::Inside(..), _) => {}
                ChangeNotice::Changed(WatchedDir::Live(project), changed) => {
                    self.live_changed(&project, changed.map(|changed| changed.name).as_deref());
                }
                // Another directory may stand in its place, which nobody watches.
                ChangeNotice::Changed(WatchedDir::Artifact(project, artifact), None) => {
                    self.doubt(&project, &artifact);
                }
                ChangeNotice::Changed(WatchedDir::Artifact(project, artifact), Some(changed)) => {
                    // No other file can change an answer, but for what stands in the way of a commit.
                    let ChangedName { name, kind } = changed;
                    if InnerDir::ALL.iter().any(|inner| inner.name() == name) {
                        self.inner_replaced(&project, &artifact);
                    }
                    let is_content =
                        name == POINTER_FILE || SetFile::ALL.iter().any(|file| file.name() == name);
                    if is_content || obstacle::is_obstacle(&name, kind) {
                        self.touch(&project, &artifact);
                    } else if [LOG, ROTATED].contains(&name.as_str()) {
                        self.touch_log(&project, &artifact);
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes in that another directory may stand where a commit writes.
    fn inner_replaced(&mut self, project: &ProjectId, artifact: &ArtifactId) {
        let entries = self.projects.get_mut(project);
        let Some(entry) = entries.and_then(|entries| entries.entries.get_mut(artifact)) else {
            return;
        };
        entry.take_inner_watches().for_each(|watch| self.watcher.forget(watch));
        self.touch(project, artifact);
    }

    pub(super) fn projects_changed(&mut self, name: Option<&str>) {
        match name.map(str::parse::<ProjectId>) {
            // A project was moved away, or into its place: the watches below are of the old one.
            Some(Ok(project)) => {
                self.forget_project_ids();
                self.forget_project(&project);
            }
            Some(Err(_)) => self.forget_project_ids(),
            None => self.forget_projects(),
        }
    }

    pub(super) fn live_changed(&mut self, project: &ProjectId, name: Option<&str>) {
        match name.map(str::parse::<ArtifactId>) {
            // `.locks` and its kin are no artifacts.
            Some(Err(_)) => {}
            Some(Ok(artifact)) => self.doubt(project, &artifact),
            None => self.forget_project(project),
        }
    }
}
