//! From a state to the bytes of its generation.

use std::sync::Arc;

use od_core::artifact::{ArtifactState, Digests, FileDigests};
use od_core::ids::{Digest, RefreshId, Revision};
use od_core::json;
use od_ports::store::{SourceFile, Stored};

use super::generation::{Generation, RefreshPart, Replaces, SetFile};
use super::pointer::{Pointer, StorePart};
use crate::disk::DiskError;

/// What becomes a generation.
pub(crate) struct Draft {
    pub(crate) state: ArtifactState,
    pub(crate) page: Arc<[u8]>,
    pub(crate) revision: Revision,
    pub(crate) last_refresh: Option<RefreshId>,
    pub(crate) refresh: Option<RefreshPart>,
}

/// Builds the generation, and sets revision and digests of the state to match.
pub(crate) fn generation(draft: Draft) -> Result<(ArtifactState, Generation), DiskError> {
    let Draft { mut state, page, revision, last_refresh, refresh } = draft;
    let unwritable = |err: serde_json::Error| {
        DiskError::new("write an artifact as JSON", std::io::Error::from(err))
    };
    let provenance_value = serde_json::to_value(&state.provenance).map_err(unwritable)?;
    let template = state.template_html.as_bytes().to_vec();
    let data = json::pretty_bytes(state.data.value());
    let provenance = json::pretty_bytes(&provenance_value);
    let index = page.to_vec();
    state.artifact.revision = revision;
    state.artifact.digests = Digests {
        template: FileDigests::of_html(&template),
        data: FileDigests::of_json(state.data.value(), &data),
        provenance: FileDigests::of_json(&provenance_value, &provenance),
        index: FileDigests::of_html(&index),
    };
    let store = StorePart { last_refresh };
    let pointer = Pointer { artifact: state.artifact.clone(), store };
    let pointer_bytes = pointer.encode().map_err(unwritable)?;
    let generation = Generation {
        pointer,
        pointer_bytes,
        template,
        data,
        provenance,
        index,
        replaces: Replaces::new(),
        refresh,
    };
    Ok((state, generation))
}

/// Says which copies the next generation may replace: those of the last commit, and hand edits that
/// it adopts.
pub(crate) fn replaces(before: &Stored, committed: &Digests, next: &Digests) -> Replaces {
    let mut replaces = Replaces::new();
    for file in SetFile::ALL {
        let mut digests = vec![file.digests(committed).raw.clone()];
        let adopted = seen(before, file, committed)
            .filter(|(_, content)| *content == file.digests(next).content);
        digests.extend(adopted.map(|(raw, _)| raw));
        replaces.insert(file.name().to_owned(), digests);
    }
    replaces
}

/// Returns raw and content digest of a source file as it was last read.
fn seen(before: &Stored, file: SetFile, committed: &Digests) -> Option<(Digest, Digest)> {
    let page_key = before.page_key.as_ref()?;
    let (source, raw) = match file {
        SetFile::Template => (SourceFile::Template, &page_key.template),
        SetFile::Data => (SourceFile::Data, &page_key.data),
        SetFile::Provenance => (SourceFile::Provenance, &page_key.provenance),
        SetFile::Index => return None,
    };
    let drift = before.drift.iter().find(|drift| drift.file == source);
    let content = drift.map_or(&file.digests(committed).content, |drift| &drift.found);
    Some((raw.clone(), content.clone()))
}
