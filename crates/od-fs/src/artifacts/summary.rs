//! The line of the list.

use od_core::artifact::{ArtifactSummary, Heading, Health, Preview, RefreshStatus, Status};
use od_core::ids::{ArtifactId, ProjectId, Revision, Timestamp};

/// Says what is known of an artifact of which nothing can be read: that it is there, and damaged.
pub(crate) fn of_unreadable(
    project: &ProjectId,
    id: &ArtifactId,
    health: Health,
) -> ArtifactSummary {
    let unknown = Timestamp::from_unix_ms(0);
    ArtifactSummary {
        id: id.clone(),
        project_id: project.clone(),
        heading: Heading { status: Status::Error, ..Heading::of_title(id.as_str()) },
        pinned: false,
        preview: Preview::html(),
        refresh_status: RefreshStatus::Idle,
        created_at: unknown,
        updated_at: unknown,
        last_refreshed_at: None,
        revision: Revision::first(),
        has_document: false,
        refreshable: false,
        health,
        created_by_run_id: None,
        source_label: None,
        account_label: None,
        edited: None,
    }
}
