//! Reading only what a list needs, as long as nothing looks edited.
//!
//! Where an artifact has a line (see [`super::lines`]), a look at each of its files tells whether the
//! line still holds, and nothing is opened. Everything else is read whole.

use std::sync::Arc;

use od_core::artifact::{Health, HealthReason, HealthState};
use od_core::ids::{ArtifactId, ProjectId};

use super::audit_log::{AuditLog, LOG, ROTATED};
use super::entries::{Lasts, Light};
use super::generation::SetFile;
use super::lines::{self, Line, Lines, Look};
use super::listed::Listed;
use super::pending::{LAST_GOOD, is_damage, is_foreign};
use super::pointer::{POINTER_BYTES_MAX, POINTER_FILE};
use super::{read, roll, summary};
use crate::disk::{Dir, DiskError, FileStat};

/// Reads one list line after the other, with the same memory for all of them.
#[derive(Debug)]
pub(crate) struct LightReader<'p> {
    live: &'p Dir,
    project: &'p ProjectId,
    lines: &'p Lines,
    path: String,
}

impl<'p> LightReader<'p> {
    pub(crate) const fn new(live: &'p Dir, project: &'p ProjectId, lines: &'p Lines) -> Self {
        Self { live, project, lines, path: String::new() }
    }

    /// Reads the list's line of an artifact; `None` if there is none.
    pub(crate) fn read(&mut self, id: &ArtifactId) -> Result<Option<Light>, DiskError> {
        match self.read_files(id) {
            // One artifact that the disk does not give hides no other, and is not hidden itself.
            Err(err) if is_foreign(&err) || is_damage(&err.source) => {
                let reason = HealthReason::PointerUnreadable;
                let health = Health::unsound(HealthState::CorruptHead, reason);
                let summary = Arc::new(summary::of_unreadable(self.project, id, health));
                // Who made it is asked before the same attempt is made again.
                let known = read::despite_damage(self.live, self.project, id);
                let attempt = known.and_then(|full| full.light.attempt);
                Ok(Some(Light { summary, attempt, lasts: Lasts::ForThisAnswer }))
            }
            other => other,
        }
    }

    fn read_files(&mut self, id: &ArtifactId) -> Result<Option<Light>, DiskError> {
        if let Some(line) = self.lines.get(id)
            && line.looks == self.looks(id)?
        {
            return Ok(Some(light_of(line.listed)));
        }
        Ok(read::whole(self.live, self.project, id)?.map(|full| full.light))
    }

    /// Writes down what a list needs of an artifact that was just settled. The caller holds its lock.
    pub(crate) fn note(&mut self, id: &ArtifactId) -> Result<(), DiskError> {
        // The looks come first: what changes after them looks different when the line is read.
        let looks = self.looks(id)?;
        let Some(settled) = self.look(id, LAST_GOOD)? else { return Ok(()) };
        // A file that changed at the tick at which `last-good` got its name could change again and look
        // the same.
        let at_rest = |look: &Look| i128::from(look.changed_ns()) < settled.changed_ns;
        if !looks.iter().flatten().all(at_rest) {
            return Ok(());
        }
        let Some(dir) = read::open(self.live, id)? else { return Ok(()) };
        let Some(bytes) = dir.read_if_there(POINTER_FILE, POINTER_BYTES_MAX)? else {
            return Ok(());
        };
        let Some(mut listed) = Listed::decode(&bytes) else { return Ok(()) };
        let log = AuditLog::read(&dir)?;
        let healthy = read::overall(Health::HEALTHY, &log).is_healthy();
        // What was rotated away is not looked at, and the status depends on it.
        let rotated = dir.stat(ROTATED)?.is_some();
        let open = is_unplaced(&listed, &log) || !log.view.open().is_empty();
        if !healthy || rotated || open || !roll::copies_are_right(&dir, &bytes)? {
            return Ok(());
        }
        let Listed { refresh_status, last_refreshed_at, .. } = &mut listed;
        log.view.apply(self.live, id, refresh_status, last_refreshed_at)?;
        lines::append(self.live, id, &Line::new(looks, listed))
    }

    /// Looks at every file that a line is made from.
    fn looks(&mut self, id: &ArtifactId) -> Result<Vec<Option<Look>>, DiskError> {
        let sources = SetFile::SOURCES.map(SetFile::name);
        let names = [POINTER_FILE].into_iter().chain(sources).chain([LOG]);
        names.map(|name| Ok(self.look(id, name)?.as_ref().map(Look::of))).collect()
    }

    fn look(&mut self, id: &ArtifactId, name: &str) -> Result<Option<FileStat>, DiskError> {
        self.live.stat(below(&mut self.path, id, name))
    }
}

/// Tells a commit of a refresh whose record is not in the log yet.
fn is_unplaced(listed: &Listed, log: &AuditLog) -> bool {
    let committed = listed.store.last_refresh.as_ref();
    committed.is_some_and(|refresh| !log.view.has_ended(refresh))
}

fn light_of(mut listed: Listed) -> Light {
    Light {
        attempt: listed.created_by_attempt.take(),
        summary: Arc::new(listed.into_summary(Health::HEALTHY)),
        lasts: Lasts::UntilAChange,
    }
}

/// Writes `<id>/<name>` into a string that is used again and again.
fn below<'s>(path: &'s mut String, id: &ArtifactId, name: &str) -> &'s str {
    path.clear();
    path.push_str(id.as_str());
    path.push('/');
    path.push_str(name);
    path
}
