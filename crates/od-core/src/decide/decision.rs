//! A decision: the next state of an artifact with its page.

use std::sync::Arc;

use crate::artifact::{ArtifactState, Digests, PageRefused, render_page};
use crate::error::Issue;
use crate::ids::Revision;
use crate::refresh::ChangeReport;

/// The next state of an artifact, checked and rendered, and nothing of it written yet.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The whole next state. Its revision and digests are set when it is committed or shown.
    pub state: ArtifactState,
    /// The page of that state.
    pub page: Arc<[u8]>,
    /// The places of the data that differ from before; none for a new artifact.
    pub changes: ChangeReport,
    /// Remarks for the author; none of them is a fault.
    pub warnings: Vec<Issue>,
}

impl Decision {
    /// Renders the page of a state that keeps every other rule, and adds its remarks.
    pub(super) fn of(
        state: ArtifactState,
        changes: ChangeReport,
        mut warnings: Vec<Issue>,
    ) -> Result<Self, PageRefused> {
        let (page, remarks) = render_page(&state.template_html, state.data.value())?;
        warnings.extend(remarks);
        Ok(Self { state, page: page.into(), changes, warnings })
    }

    /// Returns the state as a commit under this revision would store it.
    #[must_use]
    pub fn state_at(self, revision: Revision) -> ArtifactState {
        let mut state = self.state;
        state.artifact.revision = revision;
        state.artifact.digests = Digests::of(&state, &self.page);
        state
    }
}
