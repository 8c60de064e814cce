//! Artifacts of another store, taken over with their history: everything in a staging directory that is
//! synced and then renamed into the project, as a create is.

use std::collections::BTreeSet;

use od_core::artifact::{ArtifactState, render_stored};
use od_core::ids::Digest;
use od_core::json;
use od_ports::store::{Archive, StoreError};

use crate::artifacts::commit::{POINTER_FILE, Pointer, SetFile, StorePart, locks, protocol};
use crate::artifacts::dirs::busy;
use crate::artifacts::history::{LOG, Objects};
use crate::artifacts::read::ArtifactReader;
use crate::data_dir::STAGING;
use crate::disk::{Dir, DiskError};

/// Adds an artifact as it was in another store.
pub(crate) fn adopt(reader: &ArtifactReader, archive: &Archive) -> Result<(), StoreError> {
    let artifact = &archive.state.artifact;
    let (project, id) = (artifact.project_id.clone(), artifact.id.clone());
    let live = reader.dirs.live_or_make(&project)?;
    let staging = live.child_or_make(STAGING)?;
    let _staging = locks::staging_shared(&staging)?.ok_or_else(|| busy(&id))?;
    let name = protocol::make_staged(&staging, &id)?;
    let renamed = stage(&staging.child(&name)?, archive)
        .and_then(|()| staging.rename_new(&name, &live, id.as_str()))
        .and_then(|()| live.sync());
    if let Err(err) = renamed {
        let _ = staging.remove_tree(&name);
        return Err(if err.source.kind() == std::io::ErrorKind::AlreadyExists {
            StoreError::Exists { artifact: id }
        } else {
            err.into()
        });
    }
    reader.invalidate(&project, &id);
    Ok(())
}

fn stage(dir: &Dir, archive: &Archive) -> Result<(), DiskError> {
    let unwritable = |err: serde_json::Error| {
        DiskError::new("write an artifact as JSON", std::io::Error::from(err))
    };
    let ArtifactState { artifact, template_html, data, provenance } = &archive.state;
    let provenance = serde_json::to_value(provenance).map_err(unwritable)?;
    let page = render_stored(template_html, data.value(), &archive.state.page_settings(), None);
    let files = [
        (SetFile::Template, template_html.as_bytes().to_vec()),
        (SetFile::Data, json::pretty_bytes(data.value())),
        (SetFile::Provenance, json::pretty_bytes(&provenance)),
        (SetFile::Index, page.unwrap_or_default()),
    ];
    for (file, bytes) in &files {
        dir.write_synced(file.name(), bytes)?;
    }
    let mut lines = Vec::new();
    for record in &archive.records {
        lines.extend(record.clone().to_line_after(record.prev().cloned()));
        lines.push(b'\n');
    }
    dir.write_synced(LOG, &lines)?;
    keep(dir, archive).map_err(|err| match err {
        KeepError::Json(err) => unwritable(err),
        KeepError::Disk(err) => err,
    })?;
    // Nothing is sealed: what was permitted elsewhere is not permitted by being copied here.
    let store = StorePart { last_refresh: archive.last_refresh.clone(), grants: None };
    let pointer = Pointer { artifact: artifact.clone(), store };
    dir.write_synced(POINTER_FILE, &pointer.encode().map_err(unwritable)?)?;
    dir.sync()
}

enum KeepError {
    Json(serde_json::Error),
    Disk(DiskError),
}

impl From<DiskError> for KeepError {
    fn from(err: DiskError) -> Self {
        Self::Disk(err)
    }
}

/// Writes the contents of the revisions, the oldest first, each made from the one before where that saves
/// room.
fn keep(dir: &Dir, archive: &Archive) -> Result<(), KeepError> {
    let mut objects = Objects::open(dir)?;
    let mut chains = BTreeSet::new();
    let mut before: Option<[&Digest; 4]> = None;
    for kept in archive.revisions.iter().rev() {
        let provenance = serde_json::to_value(&kept.provenance).map_err(KeepError::Json)?;
        let contents = [
            kept.template_html.as_bytes().to_vec(),
            json::pretty_bytes(kept.data.value()),
            json::pretty_bytes(&provenance),
            kept.source.to_bytes(),
        ];
        let digests = kept.commit.digests.objects();
        for (at, (digest, bytes)) in digests.iter().zip(&contents).enumerate() {
            let like = before.map(|before| before[at]);
            chains.insert(objects.write(dir, digest, bytes, like)?);
        }
        before = Some(digests);
    }
    Ok(objects.sync(&chains)?)
}
