//! Reading only what a list needs, as long as nothing looks edited.
//!
//! A look at each file of the set, one small file read and parsed, one look at the log: no data, no
//! template and no page is opened.

use std::sync::Arc;

use od_core::artifact::Health;
use od_core::ids::{ArtifactId, ProjectId};

use super::audit_log::{AuditLog, LOG};
use super::generation::SetFile;
use super::index::Light;
use super::listed::Listed;
use super::pending::LAST_GOOD;
use super::pointer::POINTER_FILE;
use super::read;
use crate::disk::{Dir, DiskError, EntryKind, FileStat};

/// Nearly every pointer is shorter; a longer one is read with the rest of its artifact.
const POINTER_BYTES_USUAL: usize = 16 * 1024;

/// Reads one list line after the other, with the same memory for all of them.
#[derive(Debug)]
pub(crate) struct LightReader<'p> {
    live: Dir,
    project: &'p ProjectId,
    path: String,
    pointer: Vec<u8>,
}

impl<'p> LightReader<'p> {
    pub(crate) fn new(live: Dir, project: &'p ProjectId) -> Self {
        Self { live, project, path: String::new(), pointer: vec![0; POINTER_BYTES_USUAL] }
    }

    /// Reads the list's line of an artifact; `None` if there is none.
    pub(crate) fn read(&mut self, id: &ArtifactId) -> Result<Option<Light>, DiskError> {
        let Some(mut listed) = self.untouched_pointer(id)? else {
            return Ok(read::whole(&self.live, self.project, id)?.map(|full| full.light));
        };
        let log = match self.look(id, LOG)? {
            Some(_) => match read::open(&self.live, id)? {
                Some(dir) => AuditLog::look(&dir)?.unwrap_or_default(),
                None => return Ok(None),
            },
            None => AuditLog::default(),
        };
        let Listed { refresh_status, last_refreshed_at, .. } = &mut listed;
        log.view.apply(&self.live, id, refresh_status, last_refreshed_at)?;
        let health = read::overall(Health::HEALTHY, &log);
        Ok(Some(Light {
            attempt: listed.created_by_attempt.take(),
            summary: Arc::new(listed.into_summary(health)),
            refresh_open: !log.view.open().is_empty(),
        }))
    }

    /// Reads the pointer if no file was changed since the store let go of it.
    ///
    /// `last-good` is stamped after every copy was synced, and nobody can set the change time of a copy
    /// back. So a file changed at the same tick or later was changed by someone else, or by a commit
    /// that is not settled: either way the artifact is read whole.
    fn untouched_pointer(&mut self, id: &ArtifactId) -> Result<Option<Listed>, DiskError> {
        // The only file that is opened, and from a handle that lets no link lead away. The looks below
        // say no more than whether to believe it; opening the directory for them would cost as much as
        // two of them, for every artifact of a list.
        let path = below(&mut self.path, id, POINTER_FILE);
        let pointer = self.live.read_short(path, &mut self.pointer);
        // Whatever is the matter with it, reading the artifact whole finds out. It may be newer than
        // `last-good`: a commit that is not settled, and what it says is true.
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
        Ok(Some(listed))
    }

    fn look(&mut self, id: &ArtifactId, name: &str) -> Result<Option<FileStat>, DiskError> {
        self.live.stat(below(&mut self.path, id, name))
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
