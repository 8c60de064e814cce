//! One client of the storm: what it asks for, and the exact model of what it was told.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use od_client::{CallError, Client};
use od_core::ids::{ArtifactId, RefreshId};
use od_wire::route::{Operation, QueryName};
use serde_json::{Value, json};

use crate::world;

/// Artifacts of one client beyond which it makes no more.
const ARTIFACTS_MAX: usize = 5;

/// Makes one change after another until the daemon is gone.
pub(super) async fn load(
    mut model: Model,
    client: Client,
    root: PathBuf,
    stop: Arc<AtomicBool>,
    acknowledged: Arc<AtomicUsize>,
) -> (Model, Vec<String>) {
    let mut refused = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        match model.change(&client, &root).await {
            Ok(()) => {
                acknowledged.fetch_add(1, Ordering::Relaxed);
            }
            Err(CallError::Refused { status, envelope }) => {
                let failure = envelope.error.failure;
                refused.push(format!("STUCK: {status} {}: {}", failure.code, failure.message));
                break;
            }
            // The kill.
            Err(_) => break,
        }
    }
    (model, refused)
}

/// The visible state of an artifact: whose texts and whose data it has.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Seen {
    pub(super) authored: String,
    pub(super) data: String,
    pub(super) trashed: bool,
}

/// One artifact, as its client knows it.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// Absent until the create is acknowledged or found.
    pub(super) id: Option<ArtifactId>,
    pub(super) slug: String,
    /// The last acknowledged state; none while only its create is under way.
    pub(super) state: Option<Seen>,
    /// The state after the call that is under way.
    pub(super) next: Option<Seen>,
    /// The data of each refresh that was acknowledged and is young enough to be kept.
    pub(super) refreshes: Vec<(RefreshId, String)>,
}

/// Everything one client was told.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) client: usize,
    pub(super) random: u64,
    pub(super) made: usize,
    pub(super) marks: usize,
    pub(super) artifacts: Vec<Known>,
}

impl Model {
    pub(super) fn new(client: usize, seed: u64) -> Self {
        let random = seed.wrapping_mul(client as u64 + 1) | 1;
        Self { client, random, made: 0, marks: 0, artifacts: Vec::new() }
    }

    fn mark(&mut self) -> String {
        self.marks += 1;
        format!("c{}m{}", self.client, self.marks)
    }

    /// Makes one random change, and remembers it before it is asked for and after it is acknowledged.
    async fn change(&mut self, client: &Client, root: &Path) -> Result<(), CallError> {
        let mark = self.mark();
        let chosen = next(&mut self.random, 10);
        if self.artifacts.is_empty() || chosen == 0 && self.artifacts.len() < ARTIFACTS_MAX {
            return self.create(client, &mark).await;
        }
        let at = next(&mut self.random, self.artifacts.len());
        let older = next(&mut self.random, 4);
        let known = &mut self.artifacts[at];
        let (Some(id), Some(state)) = (known.id.clone(), known.state.clone()) else {
            return Ok(());
        };
        let project = world::project();
        if state.trashed {
            known.next = Some(Seen { trashed: false, ..state });
            client.restore(&id, Some(&project)).await?;
        } else if chosen == 1 {
            known.next = Some(Seen { trashed: true, ..state });
            client.delete(&id, Some(&project)).await?;
        } else if chosen <= 4 {
            known.next = Some(Seen { data: mark.clone(), ..state });
            write_source(root, &known.slug, &mark);
            let refreshed = client.refresh(&id).await?;
            let refresh = serde_json::to_value(&refreshed.refresh).unwrap_or_default();
            let refresh = refresh["id"].as_str().or(refresh["refreshId"].as_str());
            if let Some(refresh) = refresh.and_then(|id| id.parse().ok()) {
                known.refreshes.push((refresh, mark));
                // The store keeps the newest hundred.
                let excess = known.refreshes.len().saturating_sub(20);
                known.refreshes.drain(..excess);
            }
        } else if chosen <= 6 && !known.refreshes.is_empty() {
            let back = known.refreshes.len() - 1 - older.min(known.refreshes.len() - 1);
            let (refresh, data) = known.refreshes[back].clone();
            known.next = Some(Seen { data, ..state });
            client.roll_back(&id, &refresh, None).await?;
        } else {
            // The update sends data of its own, too: the place belongs to the source and keeps its value.
            known.next = Some(Seen { authored: mark.clone(), ..state });
            let call = client.call(Operation::UpdateArtifact).parameter(&id);
            call.json(&body(&known.slug, &mark))?.send_value().await?;
        }
        known.state = known.next.take();
        Ok(())
    }

    async fn create(&mut self, client: &Client, mark: &str) -> Result<(), CallError> {
        self.made += 1;
        let slug = format!("c{}n{}", self.client, self.made);
        let state = Seen { authored: mark.to_owned(), data: mark.to_owned(), trashed: false };
        self.artifacts.push(Known {
            id: None,
            slug: slug.clone(),
            state: None,
            next: Some(state),
            refreshes: Vec::new(),
        });
        let mut body = body(&slug, mark);
        body["input"]["slug"] = slug.into();
        let made = client.call(Operation::CreateArtifact);
        let made = made.query(QueryName::ProjectId, world::project()).json(&body)?;
        let made = made.send_value().await?;
        let known = self.artifacts.last_mut().expect("it was pushed");
        known.id = made["artifact"]["id"].as_str().and_then(|id| id.parse().ok());
        known.state = known.next.take();
        Ok(())
    }
}

fn body(slug: &str, mark: &str) -> Value {
    json!({
        "input": {
            "title": format!("Storm {mark}"),
            "document": {
                "dataJson": { "generation": mark },
                "sourceJson": {
                    "type": "local_file",
                    "input": { "path": format!("{slug}.json") },
                    "outputMapping": { "dataPaths": [{ "from": "generation", "to": "generation" }] },
                    "refreshPermission": "manual_refresh_granted_for_read_only",
                },
            },
        },
        "templateHtml": format!(
            "<!doctype html><title>T</title><h1>template={mark}</h1><p>data={{{{data.generation}}}}</p>\n"
        ),
    })
}

fn write_source(root: &Path, slug: &str, mark: &str) {
    let file = root.join("project").join(format!("{slug}.json"));
    std::fs::write(file, json!({ "generation": mark }).to_string()).expect("a file can be written");
}

/// Returns whether a page shows a state.
pub(super) fn matches(page: &str, state: &Seen) -> bool {
    page.contains(&format!("template={}<", state.authored))
        && page.contains(&format!("data={}<", state.data))
}

/// Returns the next number of a sequence that a seed fixes (xorshift).
pub(super) fn next(random: &mut u64, below: usize) -> usize {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    usize::try_from(*random % below as u64).unwrap_or(0)
}
