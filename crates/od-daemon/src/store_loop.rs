//! What other machines change in a shared store, told to who listens here.

use std::sync::Arc;
use std::time::Duration;

use od_core::event::{ArtifactEvent, Event};
use od_core::limits::STORE_LOOK;
use od_ports::store::{ChangeElsewhere, StorePlace};
use tokio::sync::watch;

use crate::change_loop::stopped;
use crate::daemon::Daemon;

/// Runs until the daemon stops; at once where nobody else can change the store unseen.
///
/// The same question finds out that a store answers again: reads are served from memory meanwhile, and
/// nobody has to try a write to learn it.
pub(crate) async fn run(daemon: Arc<Daemon>, mut stopping: watch::Receiver<bool>) {
    if daemon.app.ports.maintenance.place() == StorePlace::Files {
        return;
    }
    let pause = Duration::from_millis(STORE_LOOK.allowed);
    loop {
        for ChangeElsewhere { action, summary } in
            daemon.app.ports.maintenance.changes_elsewhere().await
        {
            daemon.app.ports.events.publish(Event::Artifact(ArtifactEvent {
                action,
                project_id: summary.project_id.clone(),
                artifact_id: summary.id.clone(),
                title: summary.heading.title.clone(),
                refresh_status: summary.refresh_status,
                run_id: None,
            }));
        }
        tokio::select! {
            () = stopped(&mut stopping) => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}
