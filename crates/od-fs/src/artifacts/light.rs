//! Reading only what a list needs, as long as nothing looks edited.
//!
//! A look at each file of the set and at the log, and one small file read and parsed, if its line is
//! not known already: no data, no template and no page is opened.

use std::sync::Arc;

use od_core::artifact::{Health, HealthReason, HealthState};
use od_core::ids::{ArtifactId, ProjectId};

use super::audit_log::{AuditLog, LOG, ROTATED};
use super::entries::Light;
use super::generation::SetFile;
use super::lines::{self, Line, Lines, Look};
use super::listed::Listed;
use super::pending::{LAST_GOOD, is_foreign};
use super::pointer::POINTER_FILE;
use super::{read, summary};
use crate::disk::{Dir, DiskError, EntryKind, FileStat};

/// Nearly every pointer is shorter; a longer one is read with the rest of its artifact.
const POINTER_BYTES_USUAL: usize = 16 * 1024;

/// Reads one list line after the other, with the same memory for all of them.
#[derive(Debug)]
pub(crate) struct LightReader<'p> {
    live: &'p Dir,
    project: &'p ProjectId,
    lines: &'p Lines,
    path: String,
    pointer: Vec<u8>,
}

/// An artifact nobody has touched since it was settled.
struct Untouched {
    listed: Listed,
    settled: FileStat,
}

impl<'p> LightReader<'p> {
    pub(crate) fn new(live: &'p Dir, project: &'p ProjectId, lines: &'p Lines) -> Self {
        let pointer = vec![0; POINTER_BYTES_USUAL];
        Self { live, project, lines, path: String::new(), pointer }
    }

    /// Reads the list's line of an artifact; `None` if there is none.
    pub(crate) fn read(&mut self, id: &ArtifactId) -> Result<Option<Light>, DiskError> {
        match self.read_files(id) {
            // One directory that may not be entered hides no other, and is not hidden itself.
            Err(err) if is_foreign(&err) => {
                let reason = HealthReason::PointerUnreadable;
                let health = Health::unsound(HealthState::CorruptHead, reason);
                let summary = Arc::new(summary::of_unreadable(self.project, id, health));
                Ok(Some(Light { summary, attempt: None, refresh_open: false }))
            }
            other => other,
        }
    }

    fn read_files(&mut self, id: &ArtifactId) -> Result<Option<Light>, DiskError> {
        if let Some(line) = self.lines.get(id)
            && line.looks == self.looks(id)?
        {
            return Ok(Some(light_of(line.listed, Health::HEALTHY, false)));
        }
        let Some(untouched) = self.untouched(id)? else {
            return Ok(read::whole(self.live, self.project, id)?.map(|full| full.light));
        };
        let Some((listed, log)) = self.with_log(id, untouched.listed)? else { return Ok(None) };
        if is_unplaced(&listed, &log) {
            return Ok(read::whole(self.live, self.project, id)?.map(|full| full.light));
        }
        let health = read::overall(Health::HEALTHY, &log);
        Ok(Some(light_of(listed, health, !log.view.open().is_empty())))
    }

    /// Writes down what a list needs of an artifact that was just settled.
    pub(crate) fn note(&mut self, id: &ArtifactId) -> Result<(), DiskError> {
        // The looks come first: what changes after them looks different when the line is read.
        let looks = self.looks(id)?;
        let Some(Untouched { listed, settled }) = self.untouched(id)? else { return Ok(()) };
        let Some((listed, log)) = self.with_log(id, listed)? else { return Ok(()) };
        // A file that changed at the tick of the stamp could change again and look the same.
        let at_rest = |look: &Look| i128::from(look.changed_ns()) < settled.modified_ns;
        let at_rest = looks.iter().flatten().all(at_rest);
        let healthy = read::overall(Health::HEALTHY, &log).is_healthy();
        // What was rotated away is not looked at, and health depends on it.
        let rotated = self.look(id, ROTATED)?.is_some();
        let open = is_unplaced(&listed, &log) || !log.view.open().is_empty();
        if !at_rest || !healthy || rotated || open {
            return Ok(());
        }
        lines::append(self.live, id, &Line::new(looks, listed))
    }

    /// Looks at every file that a line is made from.
    fn looks(&mut self, id: &ArtifactId) -> Result<Vec<Option<Look>>, DiskError> {
        let sources = SetFile::SOURCES.map(SetFile::name);
        let names = [POINTER_FILE].into_iter().chain(sources).chain([LOG]);
        names.map(|name| Ok(self.look(id, name)?.as_ref().map(Look::of))).collect()
    }

    /// Adds what the log says; `None` if the artifact is gone.
    fn with_log(
        &mut self,
        id: &ArtifactId,
        mut listed: Listed,
    ) -> Result<Option<(Listed, AuditLog)>, DiskError> {
        let log = match self.look(id, LOG)? {
            Some(_) => match read::open(self.live, id)? {
                Some(dir) => AuditLog::look(&dir)?.unwrap_or_default(),
                None => return Ok(None),
            },
            None => AuditLog::default(),
        };
        let Listed { refresh_status, last_refreshed_at, .. } = &mut listed;
        log.view.apply(self.live, id, refresh_status, last_refreshed_at)?;
        Ok(Some((listed, log)))
    }

    /// Reads the pointer if no file was changed since the store let go of it.
    ///
    /// `last-good` is stamped after every copy was synced, and nobody can set the change time of a copy
    /// back. So a file changed at the same tick or later was changed by someone else, or by a commit
    /// that is not settled: either way the artifact is read whole.
    fn untouched(&mut self, id: &ArtifactId) -> Result<Option<Untouched>, DiskError> {
        // The only file that is opened, and from a handle that lets no link lead away. The looks below
        // say no more than whether to believe it; opening the directory for them would cost as much as
        // two of them, for every artifact of a list.
        let path = below(&mut self.path, id, POINTER_FILE);
        let pointer = self.live.read_short(path, &mut self.pointer);
        // Whatever is the matter with it, reading the artifact whole finds out. It may be newer than
        // `last-good`: a commit that is not settled, and what it says is true, but for the log.
        let Ok(Some(bytes)) = pointer else { return Ok(None) };
        let Some(listed) = Listed::decode(bytes) else { return Ok(None) };
        let Some(settled) = self.look(id, LAST_GOOD)? else { return Ok(None) };
        // Not the change time of `last-good`: a `chmod -R` after an edit would move that along.
        let is_untouched = |stat: &FileStat| {
            stat.kind == EntryKind::Regular && stat.changed_ns < settled.modified_ns
        };
        for file in SetFile::SOURCES {
            let stat = self.look(id, file.name())?.filter(is_untouched);
            if stat.is_none_or(|stat| stat.bytes != file.size(&listed.store.bytes)) {
                return Ok(None);
            }
        }
        Ok(Some(Untouched { listed, settled }))
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

fn light_of(mut listed: Listed, health: Health, refresh_open: bool) -> Light {
    Light {
        attempt: listed.created_by_attempt.take(),
        summary: Arc::new(listed.into_summary(health)),
        refresh_open,
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
