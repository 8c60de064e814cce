//! Server-sent events: the hub that fans them out, and one follower's stream.

pub(crate) mod hub;
pub(crate) mod stream;

#[cfg(test)]
mod tests {
    use od_core::artifact::RefreshStatus;
    use od_core::event::{ArtifactAction, ArtifactEvent, Event};

    /// Returns an event of a project.
    pub(super) fn happened(project: &str, title: &str) -> Event {
        Event::Artifact(ArtifactEvent {
            action: ArtifactAction::Updated,
            project_id: project.parse().unwrap(),
            artifact_id: "la-1".parse().unwrap(),
            title: title.to_owned(),
            refresh_status: RefreshStatus::Idle,
        })
    }
}
