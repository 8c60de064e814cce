//! Carries notifications in the background: one for each change of a check, to the desktop and to every
//! webhook, each at its own pace.
//!
//! What is on its way is in memory alone. A daemon that dies loses it; the change itself is in the
//! history, and whoever needs more than a hint reads that.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use od_core::connector::ServiceName;
use od_core::ids::{ArtifactId, ProjectId};
use od_core::limits::{DESKTOP_TIMEOUT, NOTIFICATION_QUEUE};
use od_core::notification::{DeliveryOutcome, Notification, Webhook, pause_before};
use od_ports::Ports;
use od_ports::notifier::Readiness;
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::delivery::{DeliveryFault, send_once};

/// The notifications that are on their way.
#[derive(Clone, Debug)]
pub(crate) struct Outbox {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    ports: Ports,
    /// What stands before the ids in the address of an artifact's page.
    console: OnceLock<String>,
    queues: Mutex<Queues>,
    /// The number of notifications that are on their way, counted once for each receiver.
    open: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct Queues {
    /// Those whose receivers are not worked out yet.
    fresh: VecDeque<Arc<Notification>>,
    is_sorting: bool,
    /// Those for which `fresh` had no room.
    overflow: u64,
    lanes: HashMap<Receiver, Lane>,
}

/// What waits for one receiver. A lane is there as long as its task is.
#[derive(Debug, Default)]
struct Lane {
    waiting: VecDeque<Arc<Notification>>,
    lost: u64,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Receiver {
    Desktop,
    Webhook(ServiceName),
}

impl Outbox {
    pub(crate) fn new(ports: Ports) -> Self {
        let shared = Shared {
            ports,
            console: OnceLock::new(),
            queues: Mutex::default(),
            open: watch::Sender::new(0),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Says where the console is, for the links in notifications. The first word counts.
    pub(crate) fn set_console(&self, url: &str) {
        let _ = self.shared.console.set(url.to_owned());
    }

    /// Takes one notification and returns at once; the rest happens in the background.
    pub(crate) fn push(&self, notification: Notification) {
        // Without a runtime there is no background; that is a tool of ours, not a daemon or a command.
        let Ok(runtime) = Handle::try_current() else { return };
        let mut queues = self.shared.queues();
        match queue_fairly(&mut queues.fresh, Arc::new(notification)) {
            Queued::Behind => self.shared.open.send_modify(|open| *open += 1),
            Queued::Instead | Queued::Not => queues.overflow += 1,
        }
        if !queues.is_sorting {
            queues.is_sorting = true;
            runtime.spawn(sort(Arc::clone(&self.shared)));
        }
    }

    /// Waits until nothing is on its way, or for as long as allowed; what is left then counts as lost.
    pub(crate) async fn settle(&self, longest: Duration) {
        let mut open = self.shared.open.subscribe();
        let settled = tokio::select! {
            _ = open.wait_for(|open| *open == 0) => true,
            () = self.shared.ports.clock.sleep(longest) => false,
        };
        if !settled {
            self.shared.give_up().await;
        }
    }

    /// Sends one notification to a webhook, once.
    pub(crate) async fn try_webhook(
        &self,
        webhook: &Webhook,
        notification: &Notification,
    ) -> Result<u16, DeliveryFault> {
        send_once(&self.shared.ports, webhook, notification, None).await
    }

    /// Notes what became of a delivery.
    pub(crate) async fn note(&self, webhook: &Webhook, outcome: DeliveryOutcome) {
        self.shared.note(webhook, outcome).await;
    }
}

/// What became of a notification that was to be queued.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Queued {
    /// It waits.
    Behind,
    /// It waits, and one of an artifact that had more is lost.
    Instead,
    /// It is lost.
    Not,
}

/// Queues a notification. Where there is no room, the artifact with the most has to give way: an agent
/// that changed one check 600 times in 1.5 s once kept 20 alerts of another page from their receiver.
fn queue_fairly(queue: &mut VecDeque<Arc<Notification>>, told: Arc<Notification>) -> Queued {
    if NOTIFICATION_QUEUE.allows(queue.len() + 1) {
        queue.push_back(told);
        return Queued::Behind;
    }
    let mut waiting: HashMap<(ProjectId, ArtifactId), usize> = HashMap::new();
    for queued in queue.iter() {
        *waiting.entry(origin(queued)).or_default() += 1;
    }
    let own = waiting.get(&origin(&told)).copied().unwrap_or_default();
    let loudest = waiting.into_iter().max_by_key(|(_, count)| *count);
    let Some((loudest, _)) = loudest.filter(|(_, count)| *count > own + 1) else {
        return Queued::Not;
    };
    // The oldest of them: the others say what came after it.
    if let Some(at) = queue.iter().position(|queued| origin(queued) == loudest) {
        queue.remove(at);
    }
    queue.push_back(told);
    Queued::Instead
}

fn origin(told: &Notification) -> (ProjectId, ArtifactId) {
    (told.project.clone(), told.artifact.clone())
}

/// Gives every notification to each of its receivers, until none is left.
async fn sort(shared: Arc<Shared>) {
    loop {
        let (notification, overflow) = {
            let mut queues = shared.queues();
            let Some(next) = queues.fresh.pop_front() else {
                queues.is_sorting = false;
                return;
            };
            (next, std::mem::take(&mut queues.overflow))
        };
        // Read here and not at the commit, which waits for no file of anybody's.
        // What is wrong with a file that cannot be read, `od doctor` says.
        let webhooks = shared.ports.webhooks.list().await.unwrap_or_default();
        let shows = matches!(shared.ports.notifier.readiness(), Readiness::Ready { .. });
        let desktop = shows.then_some(Receiver::Desktop);
        let named = webhooks.into_iter().map(|webhook| Receiver::Webhook(webhook.name));
        for receiver in desktop.into_iter().chain(named) {
            shared.enqueue(receiver, &notification, overflow);
        }
        shared.closed(1);
    }
}

/// Carries what waits for one receiver, one after the other, until nothing is left.
async fn carry(shared: Arc<Shared>, receiver: Receiver) {
    loop {
        let (notification, lost) = {
            let mut queues = shared.queues();
            let Some(lane) = queues.lanes.get_mut(&receiver) else { return };
            let lost = std::mem::take(&mut lane.lost);
            let Some(next) = lane.waiting.pop_front() else {
                queues.lanes.remove(&receiver);
                return;
            };
            (next, lost)
        };
        match &receiver {
            Receiver::Desktop => shared.show(&notification).await,
            Receiver::Webhook(name) => shared.deliver(name, &notification, lost).await,
        }
        shared.closed(1);
    }
}

impl Shared {
    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn closed(&self, count: usize) {
        self.open.send_modify(|open| *open = open.saturating_sub(count));
    }

    fn enqueue(self: &Arc<Self>, receiver: Receiver, told: &Arc<Notification>, overflow: u64) {
        let mut queues = self.queues();
        let is_new = !queues.lanes.contains_key(&receiver);
        let lane = queues.lanes.entry(receiver.clone()).or_default();
        lane.lost += overflow;
        match queue_fairly(&mut lane.waiting, Arc::clone(told)) {
            Queued::Behind => self.open.send_modify(|open| *open += 1),
            Queued::Instead | Queued::Not => lane.lost += 1,
        }
        if is_new {
            tokio::spawn(carry(Arc::clone(self), receiver));
        }
    }

    async fn show(&self, notification: &Notification) {
        let shown = self.ports.notifier.show(notification);
        // A desktop that does not answer has nobody before it; `od doctor` tries what can be tried.
        tokio::select! {
            _ = shown => {}
            () = self.ports.clock.sleep(DESKTOP_TIMEOUT.duration()) => {}
        }
    }

    async fn deliver(&self, name: &ServiceName, notification: &Notification, lost: u64) {
        let mut last = None;
        for attempt in 1.. {
            let Some(pause) = pause_before(attempt) else { break };
            if !pause.is_zero() {
                self.ports.clock.sleep(pause).await;
            }
            // Looked up at every try: whoever removes a webhook ends what waits for it.
            let Some(webhook) = self.find(name).await else { return };
            if attempt == 1 && lost > 0 {
                let because = "more changes came than it took".to_owned();
                self.note(&webhook, DeliveryOutcome::Lost { count: lost, because }).await;
            }
            let page = self.page_of(notification);
            match send_once(&self.ports, &webhook, notification, page).await {
                Ok(_) => return self.note(&webhook, DeliveryOutcome::Delivered).await,
                Err(fault) => last = Some((webhook, fault)),
            }
        }
        if let Some((webhook, fault)) = last {
            let outcome = DeliveryOutcome::Lost { count: 1, because: fault.to_string() };
            self.note(&webhook, outcome).await;
        }
    }

    async fn find(&self, name: &ServiceName) -> Option<Webhook> {
        let webhooks = self.ports.webhooks.list().await.ok()?;
        webhooks.into_iter().find(|webhook| webhook.name == *name)
    }

    fn page_of(&self, notification: &Notification) -> Option<String> {
        let Notification { project, artifact, .. } = notification;
        self.console.get().map(|console| format!("{console}/#/p/{project}/live/{artifact}"))
    }

    async fn note(&self, webhook: &Webhook, outcome: DeliveryOutcome) {
        // What is noted is for people to look at; that it cannot be written is told by `od doctor`.
        let _ = self.ports.webhooks.note(webhook, outcome, self.ports.clock.now()).await;
    }

    /// Drops what waits and notes it as lost; what is being sent at this moment is counted with it.
    async fn give_up(&self) {
        let (unsorted, mut left) = {
            let mut queues = self.queues();
            let fresh = queues.fresh.drain(..).count();
            let mut dropped = fresh;
            let unsorted = fresh as u64 + std::mem::take(&mut queues.overflow);
            let mut left: HashMap<Receiver, u64> = HashMap::new();
            for (receiver, lane) in &mut queues.lanes {
                let waiting = lane.waiting.drain(..).count();
                dropped += waiting;
                // One more than waits: the lane's task has it in its hands.
                let lost = std::mem::take(&mut lane.lost) + waiting as u64 + 1;
                left.insert(receiver.clone(), lost);
            }
            self.closed(dropped);
            (unsorted, left)
        };
        for webhook in self.ports.webhooks.list().await.unwrap_or_default() {
            let own = left.remove(&Receiver::Webhook(webhook.name.clone())).unwrap_or_default();
            let count = own + unsorted;
            if count > 0 {
                let because = "od ended before it arrived".to_owned();
                self.note(&webhook, DeliveryOutcome::Lost { count, because }).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use od_core::ids::Timestamp;

    use super::*;

    fn told(artifact: &str) -> Arc<Notification> {
        let mut told = Notification::trial(Timestamp::from_unix_ms(1_777_507_200_000));
        told.artifact = artifact.parse().unwrap();
        Arc::new(told)
    }

    #[test]
    fn an_artifact_that_floods_the_queue_keeps_no_other_from_its_receiver() {
        let (loud, quiet) = (told("la-loud-0123456789ab"), told("la-quiet-0123456789ab"));
        let mut queue = VecDeque::new();
        for _ in 0..NOTIFICATION_QUEUE.max() {
            assert_eq!(queue_fairly(&mut queue, Arc::clone(&loud)), Queued::Behind);
        }
        assert_eq!(queue_fairly(&mut queue, Arc::clone(&loud)), Queued::Not);
        for _ in 0..20 {
            assert_eq!(queue_fairly(&mut queue, Arc::clone(&quiet)), Queued::Instead);
            assert_eq!(queue_fairly(&mut queue, Arc::clone(&loud)), Queued::Not);
        }
        assert_eq!(queue.iter().filter(|waits| waits.artifact == quiet.artifact).count(), 20);
        assert_eq!(queue.len(), NOTIFICATION_QUEUE.max());
    }
}
