//! What a change would store, for answers about what was only tried.

use std::sync::Arc;

use od_core::artifact::{ArtifactState, Digests, Health};
use od_core::ids::Revision;
use od_ports::store::Stored;

/// Returns a state as the store would give it back after a commit of this revision.
pub(crate) fn as_stored(mut state: ArtifactState, page: &[u8], revision: Revision) -> Arc<Stored> {
    state.artifact.revision = revision;
    state.artifact.digests = Digests::of(&state, page);
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
