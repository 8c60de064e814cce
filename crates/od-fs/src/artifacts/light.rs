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

/// Reads the list's line of an artifact; `None` if there is none.
pub(crate) fn light(
    live: &Dir,
    project: &ProjectId,
    id: &ArtifactId,
) -> Result<Option<Light>, DiskError> {
    let Some(mut listed) = untouched_pointer(live, id)? else {
        return Ok(read::whole(live, project, id)?.map(|full| full.light));
    };
    let log = match live.stat(&format!("{id}/{LOG}"))? {
        Some(_) => match read::open(live, id)? {
            Some(dir) => AuditLog::look(&dir)?.unwrap_or_default(),
            None => return Ok(None),
        },
        None => AuditLog::default(),
    };
    log.view.apply(live, id, &mut listed.refresh_status, &mut listed.last_refreshed_at)?;
    let health = read::overall(Health::HEALTHY, &log);
    Ok(Some(Light {
        attempt: listed.created_by_attempt.take(),
        summary: Arc::new(listed.into_summary(health)),
        refresh_open: !log.view.open().is_empty(),
    }))
}

/// Reads the pointer if no file was changed since the store let go of it.
///
/// `last-good` is renamed into place after every copy was synced, which sets its change time; nobody
/// can set a change time back. So a file changed at the same tick or later was changed by someone
/// else, or by a commit that is not settled: either way the artifact is read whole.
fn untouched_pointer(live: &Dir, id: &ArtifactId) -> Result<Option<Listed>, DiskError> {
    // The only file that is opened, and from a handle that lets no link lead away. The looks below
    // say no more than whether to believe it; opening the directory for them would cost as much as
    // two of them, for every artifact of a list.
    let mut buffer = [0; POINTER_BYTES_USUAL];
    let pointer = live.read_short(&format!("{id}/{POINTER_FILE}"), &mut buffer);
    // Whatever is the matter with it, reading the artifact whole finds out. It may be newer than
    // `last-good`: a commit that is not settled, and what it says is true.
    let Ok(Some(bytes)) = pointer else { return Ok(None) };
    let Some(listed) = Listed::decode(bytes) else { return Ok(None) };
    let Some(settled) = live.stat(&format!("{id}/{LAST_GOOD}"))? else { return Ok(None) };
    let is_untouched =
        |stat: &FileStat| stat.kind == EntryKind::Regular && stat.changed_ns < settled.changed_ns;
    for file in SetFile::SOURCES {
        let stat = live.stat(&format!("{id}/{}", file.name()))?.filter(is_untouched);
        if stat.is_none_or(|stat| stat.bytes != file.size(&listed.store.bytes)) {
            return Ok(None);
        }
    }
    Ok(Some(listed))
}
