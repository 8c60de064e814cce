//! The line of a list, and the hand edits it tells of.

use od_core::artifact::ArtifactState;
use od_core::ids::Digest;
use od_ports::store::{Drift, SourceFile};

/// Returns the files whose content is not what was committed.
pub(super) fn find_drift(state: &ArtifactState, template: &[u8]) -> Vec<Drift> {
    let digests = &state.artifact.digests;
    let files = [
        (SourceFile::Template, &digests.template.content),
        (SourceFile::Data, &digests.data.content),
        (SourceFile::Provenance, &digests.provenance.content),
    ];
    let found = |file| match file {
        SourceFile::Template => Digest::of_bytes(template),
        SourceFile::Data => Digest::of_json(state.data.value()),
        SourceFile::Provenance => {
            Digest::of_json(&serde_json::to_value(&state.provenance).unwrap_or_default())
        }
    };
    files
        .into_iter()
        .map(|(file, committed)| Drift { file, committed: committed.clone(), found: found(file) })
        // Content digests, not raw ones: another layout of the same JSON is no change.
        .filter(|drift| drift.committed != drift.found)
        .collect()
}

/// Returns one digest for all that was edited.
pub(super) fn digest_of_drift(drift: &[Drift]) -> Option<Digest> {
    let found: Vec<&str> = drift.iter().map(|drift| drift.found.hex_digits()).collect();
    (!found.is_empty()).then(|| Digest::of_bytes(found.join(" ").as_bytes()))
}
