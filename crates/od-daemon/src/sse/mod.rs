//! Server-sent events: following them, the hub that fans them out, and one follower's stream.

pub(crate) mod hub;
pub(crate) mod stream;

use std::time::Duration;

use od_app::Caller;
use od_core::error::Failure;
use od_core::ids::ProjectId;

use crate::auth::Identity;
use crate::exchange::Exchange;
use crate::http::reply::Reply;

/// Follows one project, which has to exist.
pub(crate) async fn follow_project(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let project = exchange.project()?;
    od_app::projects::get(&exchange.daemon.app, &Caller::Person, project.clone()).await?;
    follow(exchange, Some(project))
}

/// Follows every project.
pub(crate) fn follow_all(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    follow(exchange, None)
}

fn follow(exchange: &Exchange<'_>, project: Option<ProjectId>) -> Result<Reply, Failure> {
    let after = exchange.head.headers.get("last-event-id").map(|id| id.to_str().unwrap_or(""));
    let stream = exchange.daemon.hub.follow(project, after)?;
    // A stream does not outlive the bearer it was opened with.
    let stream = match exchange.identity {
        Identity::Person { until } => {
            let now = exchange.daemon.app.ports.clock.now();
            stream.ending_after(Duration::from_millis(until.ms_since(now)))
        }
        Identity::Anyone | Identity::Agent(_) => stream,
    };
    Ok(Reply::Events(stream))
}

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
