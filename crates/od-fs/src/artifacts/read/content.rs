//! The set of files that is served: committed, pending, edited by hand, or the last good one.

use std::sync::Arc;

use od_core::artifact::{
    ArtifactState, Health, HealthReason, HealthState, PageSettings, Provenance, check_state,
    render_stored,
};
use od_core::grant::GrantSeal;
use od_core::ids::{Digest, RefreshId};
use od_core::json::BoundedObject;
use od_core::template::Grammar;
use od_ports::store::{Drift, PageKey};

use super::summary;
use crate::artifacts::commit::pending::{self, Copies};
use crate::artifacts::commit::{
    Generation, POINTER_BYTES_MAX, POINTER_FILE, Pointer, PointerFault, SetFile,
};
use crate::disk::{Dir, DiskError, is_foreign};
use crate::grants::GrantGuard;

/// Tries of a reader whose pointer moves. Each time a whole commit went by.
const TRIES_MAX: usize = 100;

/// The set of files of an artifact as it is served, without the log.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) health: Health,
    pub(super) state: Option<ArtifactState>,
    pub(super) drift: Vec<Drift>,
    /// The data of the last commit, if it was edited since.
    pub(super) committed_data: Option<BoundedObject>,
    pub(super) page_key: Option<PageKey>,
    pub(super) last_page: Option<Arc<[u8]>>,
    /// The last refresh that committed.
    pub(super) last_refresh: Option<RefreshId>,
    /// The seal of what the artifact is allowed.
    pub(super) grants: Option<GrantSeal>,
    pub(super) bytes: usize,
}

impl Content {
    /// Takes away what the artifact was allowed elsewhere.
    pub(super) fn check_grants(&mut self, guard: Option<&GrantGuard>) {
        if let (Some(guard), Some(state)) = (guard, &mut self.state) {
            guard.check(&mut state.artifact, self.grants.as_ref());
        }
    }
}

/// The three source files as they were read.
struct Sources {
    template: Vec<u8>,
    data: Vec<u8>,
    provenance: Vec<u8>,
}

/// Reads the set that an artifact's pointer names.
///
/// A copy whose digest is not the pointer's means, in this order: a commit moved the pointer while we
/// read (read again), a commit is not rolled forward (serve its frame), or someone edited the file.
pub(super) fn read_content(dir: &Dir) -> Result<Content, DiskError> {
    let mut tries = 0;
    loop {
        tries += 1;
        let pointer_bytes = match read_pointer(dir) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return last_good_content(dir, HealthReason::PointerUnreadable),
            Err(err) if is_foreign(&err) => {
                return last_good_content(dir, HealthReason::PointerUnreadable);
            }
            Err(err) => return Err(err),
        };
        let pointer = match Pointer::decode(&pointer_bytes) {
            Ok(pointer) => pointer,
            Err(fault) => return last_good_content(dir, reason_of(&fault)),
        };
        if let Some(content) = committed(dir, &pointer, &pointer_bytes)? {
            return Ok(content);
        }
        let moved = read_pointer(dir)?.as_ref() != Some(&pointer_bytes);
        if moved && tries < TRIES_MAX {
            continue;
        }
        if is_unrolled(dir, &pointer)? {
            // A writer may be writing the copies at this moment: then a second read finds them right.
            if tries < TRIES_MAX && committed(dir, &pointer, &pointer_bytes)?.is_some() {
                continue;
            }
            return last_good_content(dir, HealthReason::PendingUnreadable);
        }
        let found = edited(dir, pointer)?;
        // Copies that a commit wrote meanwhile are no edit of the revision before it.
        if tries < TRIES_MAX && read_pointer(dir)?.as_ref() != Some(&pointer_bytes) {
            continue;
        }
        return Ok(found);
    }
}

/// Returns whether copies were never rolled forward, rather than edited.
///
/// If the frame that should replace them is damaged or gone, they are the generation before the
/// pointer's: serving them with its metadata would mix the two.
fn is_unrolled(dir: &Dir, pointer: &Pointer) -> Result<bool, DiskError> {
    let revision = pointer.artifact.revision;
    let files = pending::list(dir)?;
    if files.iter().any(|file| file.revision == revision && file.copies == Copies::Unknown) {
        return Ok(true);
    }
    if files.iter().any(|file| file.revision == revision) {
        return Ok(false);
    }
    let Some(before) = pending::read_last_good(dir)? else { return Ok(false) };
    if before.revision() >= revision {
        return Ok(false);
    }
    for file in SetFile::SOURCES {
        let old = &file.digests(&before.pointer.artifact.digests).raw;
        let is_old = read_copy(dir, file)?.is_some_and(|bytes| Digest::of_bytes(&bytes) == *old);
        if is_old && file.digests(&pointer.artifact.digests).raw != *old {
            return Ok(true);
        }
    }
    Ok(false)
}

fn read_pointer(dir: &Dir) -> Result<Option<Vec<u8>>, DiskError> {
    dir.read_if_there(POINTER_FILE, POINTER_BYTES_MAX)
}

/// Returns the reason of health that stands for a pointer nobody believes.
pub(crate) fn reason_of(fault: &PointerFault) -> HealthReason {
    match fault {
        PointerFault::Checksum => HealthReason::PointerUnreadable,
        PointerFault::Version(_) => HealthReason::SchemaVersionUnknown,
        PointerFault::Shape(_) => HealthReason::PointerInvalid,
    }
}

/// Returns the state the pointer names, from the visible copies or from its frame.
fn committed(
    dir: &Dir,
    pointer: &Pointer,
    pointer_bytes: &[u8],
) -> Result<Option<Content>, DiskError> {
    let mut copies = Vec::with_capacity(SetFile::SOURCES.len());
    for file in SetFile::SOURCES {
        let Some(bytes) = read_copy(dir, file)? else { break };
        if Digest::of_bytes(&bytes) != file.digests(&pointer.artifact.digests).raw {
            break;
        }
        copies.push(bytes);
    }
    if let Ok([template, data, provenance]) = <[Vec<u8>; 3]>::try_from(copies) {
        return Ok(sound(pointer, Sources { template, data, provenance }));
    }
    match pending::unwritten(dir, pointer.artifact.revision)? {
        Some(generation) if generation.pointer_bytes == pointer_bytes => {
            let Generation { template, data, provenance, .. } = generation;
            Ok(sound(pointer, Sources { template, data, provenance }))
        }
        Some(_) | None => Ok(None),
    }
}

/// Reads a visible copy; `None` if there is none, or something else is in its place.
pub(super) fn read_copy(dir: &Dir, file: SetFile) -> Result<Option<Vec<u8>>, DiskError> {
    match dir.read_if_there(file.name(), file.bytes_max()) {
        Err(err) if is_foreign(&err) => Ok(None),
        other => other,
    }
}

/// Builds the content from files whose digests are the pointer's.
fn sound(pointer: &Pointer, sources: Sources) -> Option<Content> {
    let bytes = sources.template.len() + 3 * sources.data.len() + sources.provenance.len();
    let digests = &pointer.artifact.digests;
    let page_key = PageKey {
        template: digests.template.raw.clone(),
        data: digests.data.raw.clone(),
        provenance: digests.provenance.raw.clone(),
    };
    let state = ArtifactState {
        artifact: pointer.artifact.clone(),
        template_html: String::from_utf8(sources.template).ok()?.into(),
        data: BoundedObject::parse(&sources.data).ok()?,
        provenance: serde_json::from_slice(&sources.provenance).ok()?,
    };
    Some(Content {
        health: Health::HEALTHY,
        state: Some(state),
        drift: Vec::new(),
        committed_data: None,
        page_key: Some(page_key),
        last_page: None,
        last_refresh: pointer.store.last_refresh.clone(),
        grants: pointer.store.grants.clone(),
        bytes,
    })
}

/// Checks copies that no commit wrote: valid ones are drift, others make the artifact unhealthy.
fn edited(dir: &Dir, pointer: Pointer) -> Result<Content, DiskError> {
    let frame = pending::written(dir, pointer.artifact.revision)?;
    let mut read = Vec::with_capacity(SetFile::SOURCES.len());
    for file in SetFile::SOURCES {
        match dir.read_if_there(file.name(), file.bytes_max()) {
            // What the disk did not keep is no edit while its frame is there.
            Ok(Some(bytes)) => read.push(match &frame {
                Some(frame) if frame.is_half_written(file, &bytes) => frame.bytes(file).to_vec(),
                Some(_) | None => bytes,
            }),
            Ok(None) => return last_good_content(dir, HealthReason::FileMissing),
            Err(err) if is_foreign(&err) => {
                return last_good_content(dir, HealthReason::FileUnreadable);
            }
            Err(err) => return Err(err),
        }
    }
    let Ok([template, data, provenance]) = <[Vec<u8>; 3]>::try_from(read) else {
        return last_good_content(dir, HealthReason::FileMissing);
    };
    let bytes = template.len() + 3 * data.len() + provenance.len();
    let sources = Sources { template, data, provenance };
    let page_key = PageKey {
        template: Digest::of_bytes(&sources.template),
        data: Digest::of_bytes(&sources.data),
        provenance: Digest::of_bytes(&sources.provenance),
    };
    let (last_refresh, grants) = (pointer.store.last_refresh.clone(), pointer.store.grants.clone());
    let committed_data = committed_data(dir, &pointer, &page_key)?;
    let state = match validate(pointer, &sources) {
        Ok(state) => state,
        Err(reason) => return last_good_content(dir, reason),
    };
    let drift = summary::find_drift(&state, &sources.template);
    Ok(Content {
        health: Health::HEALTHY,
        state: Some(state),
        drift,
        committed_data,
        page_key: Some(page_key),
        last_page: None,
        last_refresh,
        grants,
        bytes,
    })
}

/// Returns the data that the pointer names from the frame of its commit, if the visible copy is
/// another: who edited which place is told by comparing the two.
fn committed_data(
    dir: &Dir,
    pointer: &Pointer,
    found: &PageKey,
) -> Result<Option<BoundedObject>, DiskError> {
    let committed = &pointer.artifact.digests.data.raw;
    if *committed == found.data {
        return Ok(None);
    }
    let generation = newest_generation(dir)?;
    let data = generation.map(|generation| generation.data);
    let data = data.filter(|data| Digest::of_bytes(data) == *committed);
    Ok(data.and_then(|data| BoundedObject::parse(&data).ok()))
}

/// Applies the rules of create to edited files.
fn validate(pointer: Pointer, sources: &Sources) -> Result<ArtifactState, HealthReason> {
    let data = BoundedObject::parse(&sources.data).map_err(|_| HealthReason::DataInvalid)?;
    let provenance: Provenance =
        serde_json::from_slice(&sources.provenance).map_err(|_| HealthReason::ProvenanceInvalid)?;
    let template_html =
        std::str::from_utf8(&sources.template).map_err(|_| HealthReason::TemplateInvalid)?;
    check_state(&pointer.artifact, template_html, &data, &provenance)?;
    Ok(ArtifactState {
        artifact: pointer.artifact,
        template_html: template_html.into(),
        data,
        provenance,
    })
}

/// Serves the newest whole generation there is of a damaged artifact.
pub(super) fn last_good_content(dir: &Dir, reason: HealthReason) -> Result<Content, DiskError> {
    let state = if reason == HealthReason::SchemaVersionUnknown {
        HealthState::UnknownVersion
    } else {
        HealthState::CorruptHead
    };
    let health = Health::unsound(state, reason);
    let content = newest_generation(dir)?.and_then(|generation| {
        let Generation { pointer, template, data, provenance, .. } = generation;
        sound(&pointer, Sources { template, data, provenance })
    });
    Ok(match content {
        Some(content) => Content { health, ..content },
        None => Content {
            health,
            state: None,
            drift: Vec::new(),
            committed_data: None,
            page_key: None,
            last_page: render_copies(dir)?.map(Arc::from),
            last_refresh: None,
            grants: None,
            bytes: 0,
        },
    })
}

/// Renders template and data as they are, if they go together.
///
/// `index.html` itself is never served: without a pointer that can be believed nothing says that it is a
/// page that od rendered, and anybody may have written it.
fn render_copies(dir: &Dir) -> Result<Option<Vec<u8>>, DiskError> {
    let (template, data) = (read_copy(dir, SetFile::Template)?, read_copy(dir, SetFile::Data)?);
    let (Some(template), Some(data)) = (template, data) else { return Ok(None) };
    let (Ok(template), Ok(data)) = (std::str::from_utf8(&template), BoundedObject::parse(&data))
    else {
        return Ok(None);
    };
    // Without the pointer nothing says which format the template is of.
    let page = [Grammar::V1, Grammar::V2].into_iter().find_map(|grammar| {
        let settings = PageSettings { grammar, ..PageSettings::default() };
        render_stored(template, data.value(), &settings, None).ok()
    });
    Ok(page)
}

/// Finds the newest whole generation among the frames of an artifact.
pub(crate) fn newest_generation(dir: &Dir) -> Result<Option<Generation>, DiskError> {
    let mut newest = pending::read_last_good(dir)?;
    for file in pending::list(dir)? {
        if let Some(found) = pending::read(dir, &file)?
            && newest.as_ref().is_none_or(|newest| newest.revision() < found.revision())
        {
            newest = Some(found);
        }
    }
    Ok(newest)
}
