//! Reading only what a list needs, as long as nothing looks edited.

use std::sync::Arc;

use od_core::artifact::Health;
use od_core::ids::{ArtifactId, ProjectId};

use super::audit_log::AuditLog;
use super::generation::SetFile;
use super::index::Light;
use super::pending::LAST_GOOD;
use super::pointer::{POINTER_BYTES_MAX, POINTER_FILE, Pointer};
use super::read;
use super::refresh_view::RefreshView;
use crate::disk::{Dir, DiskError, EntryKind};

/// Reads the list's line of an artifact; `None` if there is none.
pub(crate) fn light(
    live: &Dir,
    project: &ProjectId,
    id: &ArtifactId,
) -> Result<Option<Light>, DiskError> {
    let Some(dir) = read::open(live, id)? else { return Ok(None) };
    if !looks_untouched(&dir)? {
        return Ok(read::whole(live, project, id)?.map(|full| full.light));
    }
    let pointer = dir
        .read_if_there(POINTER_FILE, POINTER_BYTES_MAX)?
        .and_then(|bytes| Pointer::decode(&bytes).ok());
    let Some(Pointer { mut artifact, store }) = pointer else {
        return Ok(read::whole(live, project, id)?.map(|full| full.light));
    };
    for file in SetFile::SOURCES {
        if dir.stat(file.name())?.is_none_or(|stat| stat.bytes != file.size(&store.bytes)) {
            return Ok(read::whole(live, project, id)?.map(|full| full.light));
        }
    }
    let log = AuditLog::read(&dir)?;
    let refresh = RefreshView::derive(live, id, &log, None)?;
    refresh.apply(&mut artifact);
    let health = read::overall(Health::HEALTHY, &log);
    Ok(Some(Light {
        summary: Arc::new(artifact.summary(health)),
        attempt: artifact.created_by_attempt,
        refresh_open: refresh.open.is_some(),
    }))
}

/// Tells whether no file was changed since the store let go of it.
///
/// `last-good` is renamed into place after every copy was synced, which sets its change time; nobody
/// can set a change time back. So a file changed at the same tick or later was changed by someone else, or by a commit
/// that is not settled: either way it is read whole.
fn looks_untouched(dir: &Dir) -> Result<bool, DiskError> {
    let Some(settled) = dir.stat(LAST_GOOD)? else { return Ok(false) };
    let names = SetFile::SOURCES.iter().map(|file| file.name()).chain([POINTER_FILE]);
    for name in names {
        let untouched = dir.stat(name)?.is_some_and(|stat| {
            stat.kind == EntryKind::Regular && stat.changed_ns < settled.changed_ns
        });
        if !untouched {
            return Ok(false);
        }
    }
    Ok(true)
}
