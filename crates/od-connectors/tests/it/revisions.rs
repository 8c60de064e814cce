//! Every kept revision reads back as it was committed, whoever committed it and whatever came between.

use std::collections::BTreeMap;
use std::sync::Arc;

use od_app::artifacts::{self, Address, Reading, RollBack, RollBackTo, UpdateArtifact};
use od_app::{Caller, Mode};
use od_core::artifact::ArtifactState;
use od_core::ids::{ArtifactId, Revision};
use od_core::json::Message;
use od_core::ledger::{CommitKind, RevisionSource};
use serde_json::json;

use crate::scripted::Act;
use crate::world::{World, project, script_source};

/// The next number of a sequence that a seed begins.
fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

struct Model {
    world: World,
    artifact: ArtifactId,
    /// What each revision was when it was committed.
    committed: BTreeMap<Revision, (CommitKind, Arc<ArtifactState>)>,
}

impl Model {
    async fn state(&self) -> Arc<ArtifactState> {
        let stored = self.world.app.ports.artifacts.load(&project(), &self.artifact).await.unwrap();
        assert!(stored.health.is_healthy(), "{:?}", stored.health);
        stored.state.clone().unwrap()
    }

    fn address(&self) -> Address {
        Address { project: Some(project()), artifact: self.artifact.clone() }
    }

    /// Notes the commit that was just made, and that of a hand edit which it found.
    async fn note(&mut self, kind: CommitKind, edited: Option<Arc<ArtifactState>>) {
        let state = self.state().await;
        if let Some(edited) = edited {
            let revision = edited.artifact.revision.next();
            self.committed.insert(revision, (CommitKind::Edit, edited));
        }
        self.committed.entry(state.artifact.revision).or_insert((kind, state));
    }

    async fn step(&mut self, seed: &mut u64, edited: Option<Arc<ArtifactState>>) -> bool {
        let app = Arc::clone(&self.world.app);
        let value = next(seed) % 1_000;
        match next(seed) % 3 {
            0 => {
                let html = format!("<h1>{value}</h1><p>{{{{data.title}}}}</p>\n");
                let body =
                    json!({ "templateHtml": html, "input": { "title": format!("T{value}") } });
                let body = Message::read(body.to_string().as_bytes()).unwrap();
                let request =
                    UpdateArtifact { target: self.address().into(), body, reading: Reading::Now };
                artifacts::update(&app, &Caller::Person, request, Mode::Commit).await.unwrap();
                self.note(CommitKind::Update, edited).await;
            }
            1 => {
                self.world.clock.advance_ms(60_000);
                let title = format!("brought {value}");
                self.world.script.set(Act::Give(json!({ "title": title })));
                let before = self.state().await.artifact.revision;
                self.world.refresh(&self.artifact).await.unwrap();
                if self.state().await.artifact.revision == before {
                    return false;
                }
                self.note(CommitKind::Refresh, edited).await;
            }
            _ => {
                let known: Vec<Revision> = self.committed.keys().copied().collect();
                let to = known[usize::try_from(value).unwrap() % known.len()];
                let to = RollBackTo::Revision(to);
                let request = RollBack { address: self.address(), to, if_revision: None };
                let done = artifacts::roll_back(&app, &Caller::Person, request, Mode::Commit).await;
                if !done.unwrap().changed {
                    // The edit alone may have become a revision.
                    self.note(CommitKind::Edit, edited).await;
                    return true;
                }
                self.note(CommitKind::Restore, edited).await;
            }
        }
        true
    }

    /// Edits `data.json` once its copies are written; returns what is served then.
    async fn edit(&self, seed: &mut u64) -> Arc<ArtifactState> {
        self.world.generation(&self.artifact).await;
        // The title is the source's: an edit of it would be taken back when it is adopted.
        let title = self.state().await.data.value()["title"].clone();
        let data = json!({ "title": title, "mine": next(seed) % 1_000_003 });
        let file = self.world.artifact_directory(&self.artifact).join("data.json");
        std::fs::write(file, data.to_string()).unwrap();
        self.state().await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kept_revision_reads_back_as_it_was_committed() {
    for first in 1..=6_u64 {
        let mut seed = first;
        let world = World::new().await;
        let artifact = world.create(1, script_source()).await;
        let mut model = Model { world, artifact, committed: BTreeMap::new() };
        model.note(CommitKind::Create, None).await;
        for _ in 0..25 {
            let edited = if next(&mut seed).is_multiple_of(4) {
                Some(model.edit(&mut seed).await)
            } else {
                None
            };
            // A refresh that brings nothing new leaves the edit to the next one.
            let mut moved = model.step(&mut seed, edited.clone()).await;
            while edited.is_some() && !moved {
                moved = model.step(&mut seed, edited.clone()).await;
            }
        }
        check(&model, first).await;
    }
}

async fn check(model: &Model, seed: u64) {
    let store = &model.world.app.ports.revisions;
    let timeline = store.timeline(&project(), &model.artifact).await.unwrap();
    let told: Vec<(Revision, CommitKind)> =
        timeline.commits.iter().rev().map(|commit| (commit.revision, commit.kind)).collect();
    let made: Vec<(Revision, CommitKind)> =
        model.committed.iter().map(|(revision, (kind, _))| (*revision, *kind)).collect();
    assert_eq!(told, made, "seed {seed}");
    for (revision, (kind, state)) in &model.committed {
        let kept = store.revision(&project(), &model.artifact, *revision).await.unwrap();
        assert_eq!(kept.data, state.data, "seed {seed}, revision {revision}");
        assert_eq!(kept.template_html, state.template_html, "seed {seed}, revision {revision}");
        // What was served before the adoption does not say yet who made the edit.
        if *kind != CommitKind::Edit {
            assert_eq!(kept.provenance, state.provenance, "seed {seed}, revision {revision}");
        }
        assert_eq!(kept.source, RevisionSource::of(&state.artifact), "seed {seed}, {revision}");
    }
}
