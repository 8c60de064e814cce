//! Reading only what a list needs, as long as nothing looks edited.
//!
//! A look at each file of the set, one small file read and parsed, one look at the log: no data, no
//! template and no page is opened.

use std::sync::Arc;

use od_core::artifact::Health;
use od_core::ids::{ArtifactId, ProjectId};

use super::audit_log::AuditLog;
use super::generation::SetFile;
use super::index::Light;
use super::pending::LAST_GOOD;
use super::pointer::{POINTER_FILE, Pointer};
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
    let Some(dir) = read::open(live, id)? else { return Ok(None) };
    let Some(Pointer { mut artifact, .. }) = untouched_pointer(&dir)? else {
        return Ok(read::whole(live, project, id)?.map(|full| full.light));
    };
    let log = AuditLog::look(&dir)?.unwrap_or_default();
    log.view.apply(live, id, &mut artifact)?;
    let health = read::overall(Health::HEALTHY, &log);
    Ok(Some(Light {
        summary: Arc::new(artifact.summary(health)),
        attempt: artifact.created_by_attempt,
        refresh_open: !log.view.open().is_empty(),
    }))
}

/// Reads the pointer if no file was changed since the store let go of it.
///
/// `last-good` is renamed into place after every copy was synced, which sets its change time; nobody
/// can set a change time back. So a file changed at the same tick or later was changed by someone
/// else, or by a commit that is not settled: either way the artifact is read whole.
fn untouched_pointer(dir: &Dir) -> Result<Option<Pointer>, DiskError> {
    let Some(settled) = dir.stat(LAST_GOOD)? else { return Ok(None) };
    let is_untouched =
        |stat: &FileStat| stat.kind == EntryKind::Regular && stat.changed_ns < settled.changed_ns;
    let mut sizes = [0; SetFile::SOURCES.len()];
    for (file, size) in SetFile::SOURCES.into_iter().zip(&mut sizes) {
        match dir.stat(file.name())?.filter(is_untouched) {
            Some(stat) => *size = stat.bytes,
            None => return Ok(None),
        }
    }
    // The pointer itself may be newer than that: a commit that is not settled, and what it says is
    // true. Whatever else is the matter with it, its checksum or reading the artifact whole finds out.
    let mut buffer = [0; POINTER_BYTES_USUAL];
    let Ok(Some(bytes)) = dir.read_short(POINTER_FILE, &mut buffer) else { return Ok(None) };
    let Ok(pointer) = Pointer::decode(bytes) else { return Ok(None) };
    let fits = SetFile::SOURCES
        .into_iter()
        .zip(sizes)
        .all(|(file, size)| file.size(&pointer.store.bytes) == size);
    Ok(fits.then_some(pointer))
}
