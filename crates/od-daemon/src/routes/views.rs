//! What the use cases return, in the words of the wire.

use od_app::artifacts::Detail;
use od_core::artifact::ArtifactSummary;
use od_core::error::{ErrorCode, Failure, Issue};
use od_ports::stored::{Drift, Stored};
use od_wire::artifact::{ArtifactAnswer, ArtifactView, DriftView, ToolArtifact};

use crate::daemon::Urls;

/// An artifact with its data; a damaged one without any good state has none.
pub(crate) fn artifact(stored: &Stored) -> Result<ArtifactView, Failure> {
    match &stored.state {
        Some(state) => Ok(ArtifactView::new(&state.artifact, &state.data)),
        None => Err(nothing_good(stored)),
    }
}

/// An artifact with everything that is known about it.
pub(crate) fn detail(
    urls: &Urls,
    detail: &Detail,
    warnings: Vec<Issue>,
) -> Result<ArtifactAnswer, Failure> {
    let stored = &detail.stored;
    let Some(state) = &stored.state else { return Err(nothing_good(stored)) };
    Ok(ArtifactAnswer {
        artifact: ArtifactView::new(&state.artifact, &state.data),
        provenance: state.provenance.clone(),
        health: stored.health,
        drift: stored.drift.iter().map(drift).collect(),
        refreshable: detail.refreshable,
        warnings,
        console_url: urls.console(&stored.project, &stored.id),
    })
}

/// An artifact in few words.
pub(crate) fn compact(urls: &Urls, summary: &ArtifactSummary) -> ToolArtifact {
    ToolArtifact {
        id: summary.id.clone(),
        title: summary.title.clone(),
        slug: summary.slug.clone(),
        status: summary.status,
        revision: summary.revision,
        refresh_status: summary.refresh_status,
        refreshable: summary.refreshable,
        health: summary.health.state,
        updated_at: summary.updated_at,
        console_url: urls.console(&summary.project_id, &summary.id),
    }
}

fn drift(drift: &Drift) -> DriftView {
    DriftView {
        file: drift.file.file_name().to_owned(),
        committed: drift.committed.clone(),
        found: drift.found.clone(),
    }
}

fn nothing_good(stored: &Stored) -> Failure {
    let message = format!("artifact `{}` is damaged and has no good state left", stored.id);
    Failure::new(ErrorCode::LiveArtifactNotHealthy, message)
        .suggest(format!("run `od artifacts repair {}`", stored.id))
        .detail("health", stored.health.state.as_str())
}
