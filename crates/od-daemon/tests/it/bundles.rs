//! Bundles over the real store: what is in them, that no change of one goes unseen, and what an import
//! leaves behind.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use od_app::artifacts::{self, Address, CreateArtifact, Reading, UpdateArtifact};
use od_app::bundles::{self, BundleScope, ImportBundle, ImportedBundle};
use od_app::{App, Caller, Mode, projects};
use od_core::artifact::RefreshPermission;
use od_core::bundle::{Bundle, BundleFault, Standing};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, ProjectId, Timestamp};
use od_daemon::{ComposeOptions, compose};
use od_ports::fakes::StillClock;
use serde_json::{Value, json};

const TEMPLATE: &str = "<!doctype html><title>T</title><h1>{{data.title}}</h1>\
    <ul><li data-od-repeat=\"row in data.rows\">{{row.n | number:1}} {{data.at | date}}</li></ul>";

/// A machine with one project and one artifact of two revisions.
struct Machine {
    home: tempfile::TempDir,
    app: App,
    project: ProjectId,
}

impl Machine {
    async fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let clock = Arc::new(StillClock::at(Timestamp::from_unix_ms(1_777_507_230_000)));
        let options = ComposeOptions { clock: Some(clock), ..ComposeOptions::default() };
        let app = compose(&home.path().join("home"), &home.path().join("data"), options).unwrap();
        let project: ProjectId = "web".parse().unwrap();
        let request = projects::CreateProject {
            id: Some(project.clone()),
            name: "Web".to_owned(),
            root: None,
        };
        projects::create(&app, &Caller::Person, request).await.unwrap();
        Self { home, app, project }
    }

    async fn create(&self, title: &str) -> ArtifactId {
        let source = json!({ "type": "local_file", "input": { "path": "a.json" },
            "outputMapping": { "dataPaths": [{ "from": "rows", "to": "rows" }] },
            "refreshPermission": "manual_refresh_granted_for_read_only" });
        let body = json!({
            "input": { "title": title, "description": "Two numbers", "document": {
                "format": "html_template_v2", "locale": "de", "timeZone": "Europe/Berlin",
                "dataJson": { "title": title, "at": "2026-04-30T00:00:00Z", "rows": [{ "n": 1.5 }] },
                "sourceJson": source, "refresh": { "every": "1d", "maxAge": "2d" },
                "checks": [{ "id": "some", "path": "rows", "op": "gte", "value": 1 }] } },
            "templateHtml": TEMPLATE,
            "provenanceJson": { "notes": "by hand", "sources": [{ "label": "me", "type": "user_input" }] },
        });
        let request = CreateArtifact {
            project: self.project.clone(),
            body: body.into(),
            reading: Reading::Offline,
        };
        let made = artifacts::create(&self.app, &Caller::Person, request, Mode::Commit).await;
        made.unwrap_or_else(|err| panic!("{:?}", Failure::from(err))).stored.id.clone()
    }

    async fn change(&self, artifact: &ArtifactId, n: f64) {
        let body = json!({ "input": { "document": { "dataJson": {
            "title": "T", "at": "2026-05-01T00:00:00Z", "rows": [{ "n": n }, { "n": 2 }] } } } });
        let request = UpdateArtifact {
            target: artifacts::Target::Address(Address {
                project: None,
                artifact: artifact.clone(),
            }),
            body: body.into(),
            reading: Reading::Offline,
        };
        artifacts::update(&self.app, &Caller::Person, request, Mode::Commit).await.unwrap();
    }

    async fn export(&self, artifact: &ArtifactId) -> Vec<u8> {
        let address = Address { project: None, artifact: artifact.clone() };
        let scope = BundleScope::Artifact(address);
        bundles::export(&self.app, &Caller::Person, scope).await.unwrap().bytes
    }

    async fn import(&self, bytes: &[u8], mode: Mode) -> Result<ImportedBundle, Failure> {
        let request = ImportBundle { project: self.project.clone(), bytes: bytes.to_vec() };
        bundles::import(&self.app, &Caller::Person, request, mode).await.map_err(Failure::from)
    }
}

/// The files of the first artifact of a bundle, by name.
fn files(bytes: &[u8]) -> BTreeMap<String, String> {
    let bundle = Bundle::read(bytes).unwrap();
    let entries = bundle.manifest.entries.iter();
    entries
        .filter_map(|entry| {
            let name = entry.path.strip_prefix("artifacts/1/")?;
            Some((name.to_owned(), entry.digest.to_string()))
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_has_the_same_contents_and_nothing_that_was_granted() {
    let (one, two) = (Machine::new().await, Machine::new().await);
    let artifact = one.create("T").await;
    one.change(&artifact, 7.25).await;
    let bytes = one.export(&artifact).await;
    assert_eq!(one.export(&artifact).await, bytes, "the same state has one spelling");
    let bundle = Bundle::read(&bytes).unwrap();
    assert_eq!(bundle.examine(), []);
    assert_eq!(bundle.manifest.artifacts[0].revisions.len(), 2);

    let before = std::fs::read_dir(two.home.path().join("home/keys")).unwrap().count();
    let dry = two.import(&bytes, Mode::DryRun).await.unwrap();
    assert_eq!(dry.standing, Standing::New);
    assert_eq!(std::fs::read_dir(two.home.path().join("home/keys")).unwrap().count(), before);
    let imported = two.import(&bytes, Mode::Commit).await.unwrap();
    let stored = &imported.artifacts[0].stored;
    assert_ne!(stored.id, artifact);
    let made = stored.artifact().unwrap();
    assert_eq!(made.revision.get(), 1);
    assert_eq!(made.refresh_permission(), RefreshPermission::None);
    assert_eq!(
        (&made.schedule_grant, &made.permission_set_by, made.pins().len()),
        (&None, &None, 0)
    );
    let schedule = stored.summary.schedule.as_ref().unwrap();
    assert_eq!(schedule.state.as_str(), "proposed", "nothing runs");
    assert!(matches!(two.import(&bytes, Mode::DryRun).await.unwrap().standing, Standing::Known(_)));

    let again = two.export(&stored.id).await;
    let (was, is) = (files(&bytes), files(&again));
    for name in ["artifact.json", "template.html", "data.json", "index.html"] {
        assert_eq!(was[name], is[name], "{name}");
    }
    let third = Machine::new().await;
    let last = third.import(&again, Mode::Commit).await.unwrap();
    let last = third.export(&last.artifacts[0].stored.id).await;
    assert_eq!(files(&last), is, "equal but for ids");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_signer_is_refused_and_a_project_comes_whole() {
    let (one, two) = (Machine::new().await, Machine::new().await);
    one.create("First").await;
    one.create("Second").await;
    let scope = BundleScope::Project(one.project.clone());
    let bundle = bundles::export(&one.app, &Caller::Person, scope).await.unwrap();
    assert_eq!(bundle.artifacts, 2);
    let text = String::from_utf8_lossy(&bundle.bytes);
    assert!(!text.contains(&one.home.path().display().to_string()), "no path of the machine");
    let imported = two.import(&bundle.bytes, Mode::Commit).await.unwrap();
    assert_eq!(imported.artifacts.len(), 2);
    two.app.ports.signers.revoke(&bundle.signer, Timestamp::from_unix_ms(0)).unwrap();
    let refused = two.import(&bundle.bytes, Mode::Commit).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::Forbidden);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_neither_signs_nor_imports() {
    let machine = Machine::new().await;
    let artifact = machine.create("T").await;
    let bytes = machine.export(&artifact).await;
    let agent = Caller::Agent {
        run: od_core::ids::RunId::generate([9; 16]),
        project: machine.project.clone(),
        door: od_core::ledger::Door::ToolShell,
    };
    let scope = BundleScope::Artifact(Address { project: None, artifact });
    assert!(bundles::export(&machine.app, &agent, scope).await.is_err());
    let request = ImportBundle { project: machine.project.clone(), bytes };
    let refused = bundles::import(&machine.app, &agent, request, Mode::Commit).await.unwrap_err();
    assert_eq!(Failure::from(refused).code, ErrorCode::Forbidden);
}

fn holds(bytes: &[u8]) -> bool {
    Bundle::read(bytes).is_ok_and(|bundle| bundle.examine().is_empty())
}

/// Flips every bit of the head of the archive, manifest and signature included, and every so many-th of
/// the rest.
fn flip(good: &[u8], every: usize) -> usize {
    let manifest_and_signature = {
        let text = String::from_utf8_lossy(&good[124..135]).into_owned();
        let manifest = usize::from_str_radix(&text, 8).unwrap().next_multiple_of(512);
        512 + manifest + 512 + 512
    };
    let head = manifest_and_signature * 8;
    let rest = (head..good.len() * 8).step_by(every);
    let mut flips = 0;
    let mut bytes = good.to_vec();
    for bit in (0..head).chain(rest) {
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(!holds(&bytes), "bit {bit} flipped, and nobody saw it");
        bytes[bit / 8] ^= 1 << (bit % 8);
        flips += 1;
    }
    flips
}

#[test]
fn every_flipped_bit_is_found() {
    let good = std::fs::read(golden("artifact-v1.odb")).unwrap();
    assert!(holds(&good));
    assert!(flip(&good, 11) > 20_000);
}

/// All bits there are: minutes in a debug build.
#[test]
#[ignore = "the long form of every_flipped_bit_is_found"]
fn every_flipped_bit_of_all_is_found() {
    let good = std::fs::read(golden("artifact-v1.odb")).unwrap();
    flip(&good, 1);
}

#[test]
fn a_bundle_that_is_cut_or_put_together_otherwise_is_refused() {
    let good = std::fs::read(golden("artifact-v1.odb")).unwrap();
    for length in (0..good.len()).step_by(61) {
        assert!(Bundle::read(&good[..length]).is_err(), "{length}");
    }
    // An entry that was taken out, renamed, or put in twice.
    let blocks = |from: usize, to: usize| &good[from * 512..to * 512];
    let total = good.len() / 512;
    let starts: Vec<usize> =
        (0..total).filter(|at| blocks(*at, at + 1).starts_with(b"artifacts/1/")).collect();
    let (first, second) = (starts[0], starts[1]);
    let without = [blocks(0, first), blocks(second, total)].concat();
    assert!(matches!(Bundle::read(&without), Err(BundleFault::Entry { .. })));
    let twice = [blocks(0, second), blocks(first, second), blocks(second, total)].concat();
    assert!(matches!(Bundle::read(&twice), Err(BundleFault::Entry { .. })));
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/bundles").join(name)
}

#[test]
fn bundles_of_before_open_and_hold() {
    for (name, titles) in
        [("artifact-v1.odb", &["Ratios"][..]), ("project-v1.odb", &["Ratios", "Second"][..])]
    {
        let bytes = std::fs::read(golden(name)).unwrap();
        let bundle = Bundle::read(&bytes).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        assert_eq!(bundle.examine(), [], "{name}");
        let mut found: Vec<&str> =
            bundle.manifest.artifacts.iter().map(|artifact| artifact.title.as_str()).collect();
        found.sort_unstable();
        assert_eq!(found, titles, "{name}");
        for artifact in &bundle.manifest.artifacts {
            let body: Value = bundle.create_body(artifact).unwrap();
            assert_eq!(body["input"]["document"]["sourceJson"]["refreshPermission"], "none");
        }
    }
}

/// Writes the fixtures; only for a new version of the format, beside those of the versions before.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "writes the fixtures of a new version"]
async fn write_golden_bundles() {
    let machine = Machine::new().await;
    let artifact = machine.create("Ratios").await;
    machine.change(&artifact, 7.25).await;
    std::fs::create_dir_all(golden("")).unwrap();
    std::fs::write(golden("artifact-v1.odb"), machine.export(&artifact).await).unwrap();
    machine.create("Second").await;
    let scope = BundleScope::Project(machine.project.clone());
    let bundle = bundles::export(&machine.app, &Caller::Person, scope).await.unwrap();
    std::fs::write(golden("project-v1.odb"), bundle.bytes).unwrap();
}
