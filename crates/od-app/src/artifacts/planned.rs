//! What a change would store, for answers about what was only tried.

use std::sync::Arc;

use od_core::artifact::{ArtifactState, Digests, FileDigests, Health};
use od_core::ids::{Digest, Revision};
use od_core::json::{self, Value};
use od_ports::stored::Stored;

/// Returns a state as the store would give it back after a commit of this revision.
pub(crate) fn as_stored(mut state: ArtifactState, page: &[u8], revision: Revision) -> Arc<Stored> {
    // Strings, times and JSON only: writing them cannot fail.
    let provenance = serde_json::to_value(&state.provenance).unwrap_or_default();
    state.artifact.revision = revision;
    state.artifact.digests = Digests {
        template: of_html(state.template_html.as_bytes()),
        data: of_json(state.data.value()),
        provenance: of_json(&provenance),
        index: of_html(page),
    };
    let health = Health::HEALTHY;
    Arc::new(Stored {
        id: state.artifact.id.clone(),
        project: state.artifact.project_id.clone(),
        summary: Arc::new(state.artifact.summary(health)),
        health,
        drift: Vec::new(),
        kept_aside: Vec::new(),
        page_key: None,
        state: Some(Arc::new(state)),
        last_page: None,
    })
}

fn of_html(bytes: &[u8]) -> FileDigests {
    let digest = Digest::of_bytes(bytes);
    FileDigests { content: digest.clone(), raw: digest }
}

fn of_json(value: &Value) -> FileDigests {
    let raw = Digest::of_bytes(&json::pretty_bytes(value));
    FileDigests { content: Digest::of_json(value), raw }
}
