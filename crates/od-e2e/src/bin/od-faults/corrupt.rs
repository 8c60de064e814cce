//! Flipped bits and cut files.

use std::fs;
use std::path::{Path, PathBuf};

use od_app::artifacts::{self, RepairArtifact, UpdateArtifact};
use od_app::{App, Caller, Mode};
use od_core::artifact::HealthState;
use od_core::error::{ErrorCode, Failure};
use od_core::ids::ArtifactId;
use od_ports::store::RepairMode;

use crate::Extent;
use crate::check::{load, of_one_generation};
use crate::disk;
use crate::kill;
use crate::score::{Score, Violation};
use crate::strace;
use crate::world::{self, SUBJECT};

pub(crate) fn run(score: &mut Score, extent: Extent) {
    let scratch = disk::memory();
    let base = scratch.path().join("base");
    world::build(&base);
    pointer(score, &base, extent);
    frame(score, scratch.path(), &base, extent);
    log(score, scratch.path(), &base, extent);
}

/// A file to damage, and the state that must be seen then.
struct Target<'a> {
    app: &'a App,
    id: ArtifactId,
    file: PathBuf,
    good: Vec<u8>,
    /// The generation that must still be served.
    generation: &'static str,
    health: HealthState,
}

fn step(extent: Extent) -> usize {
    match extent {
        Extent::Whole => 1,
        Extent::Sampled | Extent::Touched | Extent::Quick => 31,
    }
}

/// Damages a file in every way and puts it back each time.
fn damage(score: &mut Score, what: &str, target: &Target<'_>, extent: Extent) {
    let bits = target.good.len() * 8;
    let mut tried = 0;
    for bit in (0..bits).step_by(step(extent)) {
        let mut bytes = target.good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        tried += 1;
        if let Err(violation) = one(target, &bytes, tried) {
            score.record(&format!("{what}, bit {bit}"), violation);
        }
    }
    for length in (0..target.good.len()).step_by(step(extent)) {
        tried += 1;
        if let Err(violation) = one(target, &target.good[..length], tried) {
            score.record(&format!("{what}, cut at {length}"), violation);
        }
    }
    fs::write(&target.file, &target.good).expect("a file can be written");
    score.corruptions += tried;
    println!("corruption: {tried} of {what}");
}

fn one(target: &Target<'_>, bytes: &[u8], number: usize) -> Result<(), Violation> {
    fs::write(&target.file, bytes).expect("a file can be written");
    // The store that was open all along has to notice by itself.
    let stored = load(target.app, &target.id)?;
    if stored.health.state != target.health {
        return Err(Violation::Mixed(format!("believed: {:?}", stored.health)));
    }
    let page = page(target.app, &target.id)?;
    let seen = of_one_generation(&stored, &page)?;
    if seen != target.generation {
        return Err(Violation::Lost(format!("serves {seen}, not {}", target.generation)));
    }
    if number.is_multiple_of(101) {
        refuses(target)?;
    }
    Ok(())
}

fn page(app: &App, id: &ArtifactId) -> Result<String, Violation> {
    let request = od_app::preview::PageRequest {
        project: Some(world::project()),
        artifact: id.clone(),
        variant: od_core::token::Variant::Rendered,
        snapshot: None,
        revision: None,
    };
    let page = world::wait(od_app::preview::page(app, request))
        .map_err(|err| Violation::Torn(format!("no page: {err}")))?;
    Ok(String::from_utf8_lossy(&page.bytes).into_owned())
}

fn refuses(target: &Target<'_>) -> Result<(), Violation> {
    let request = UpdateArtifact {
        target: world::address(&target.id).into(),
        body: world::body(SUBJECT, "forbidden").into(),
        reading: artifacts::Reading::Now,
    };
    match world::wait(artifacts::update(target.app, &Caller::Person, request, Mode::Commit)) {
        Ok(_) => Err(Violation::Torn("a damaged artifact was written".to_owned())),
        Err(err) => match Failure::from(err) {
            Failure { code: ErrorCode::LiveArtifactNotHealthy, .. } => Ok(()),
            failure => Err(Violation::Other(format!("a write was refused: {}", failure.message))),
        },
    }
}

/// Repairs a damaged artifact and checks that it can be used again.
fn repairs(score: &mut Score, what: &str, data_dir: &Path, generation: &str) {
    let mended = || -> Result<(), Violation> {
        let app = world::open(data_dir).map_err(Violation::Torn)?;
        let id =
            world::find(&app, SUBJECT).ok_or_else(|| Violation::Lost("no subject".to_owned()))?;
        let mode = RepairMode::Apply;
        let request = RepairArtifact { address: world::address(&id), mode };
        world::wait(artifacts::repair(&app, &Caller::Person, request))
            .map_err(|err| Violation::Torn(format!("repair: {err}")))?;
        let stored = load(&app, &id)?;
        if !stored.health.is_healthy() {
            return Err(Violation::Torn(format!("still {:?} after its repair", stored.health)));
        }
        let seen = of_one_generation(&stored, &page(&app, &id)?)?;
        if seen != generation {
            return Err(Violation::Lost(format!("repaired to {seen}, not {generation}")));
        }
        world::wait(world::update(&app, &id, SUBJECT, "next"))
            .map_err(|failure| Violation::Torn(format!("not writable: {}", failure.message)))
    };
    score.corruptions += 1;
    if let Err(violation) = mended() {
        score.record(what, violation);
    }
}

fn pointer(score: &mut Score, base: &Path, extent: Extent) {
    let app = world::open(base).expect("the store opens");
    let id = world::find(&app, SUBJECT).expect("the subject is there");
    let file = world::artifact_dir(base, &id).join("artifact.json");
    let good = fs::read(&file).expect("the pointer");
    let (generation, health) = ("old", HealthState::CorruptHead);
    let target = Target { app: &app, id, file: file.clone(), good, generation, health };
    damage(score, "artifact.json", &target, extent);
    let copy = base.with_extension("repair");
    for length in (0..target.good.len()).step_by(211) {
        world::copy_world(base, &copy);
        let damaged = world::artifact_dir(&copy, &target.id).join("artifact.json");
        fs::write(damaged, &target.good[..length]).expect("a file can be written");
        repairs(score, &format!("repair of artifact.json cut at {length}"), &copy, "old");
    }
}

fn frame(score: &mut Score, scratch: &Path, base: &Path, extent: Extent) {
    let crashed = scratch.join("crashed");
    world::copy_world(base, &crashed);
    kill::crash_after_commit(&crashed);
    let app = world::open(&crashed).expect("the store opens");
    let id = world::find(&app, SUBJECT).expect("the subject is there");
    let pending = world::artifact_dir(&crashed, &id).join("pending");
    let file =
        fs::read_dir(pending).expect("a directory").flatten().next().expect("a frame").path();
    let good = fs::read(&file).expect("the frame");
    let (generation, health) = ("old", HealthState::CorruptHead);
    let target = Target { app: &app, id, file, good, generation, health };
    damage(score, "a pending frame", &target, extent);
    let copy = scratch.join("frame-repair");
    let name = target.file.file_name().expect("a name").to_owned();
    for length in (0..target.good.len()).step_by(409) {
        world::copy_world(&crashed, &copy);
        let damaged = world::artifact_dir(&copy, &target.id).join("pending").join(&name);
        fs::write(damaged, &target.good[..length]).expect("a file can be written");
        repairs(score, &format!("repair of a frame cut at {length}"), &copy, "old");
    }
}

/// Cuts the last line of the log at every byte, and flips the bits of the lines before it.
fn log(score: &mut Score, scratch: &Path, base: &Path, extent: Extent) {
    let refreshed = scratch.join("refreshed");
    world::copy_world(base, &refreshed);
    strace::plain("refresh", &refreshed);
    let app = world::open(&refreshed).expect("the store opens");
    let id = world::find(&app, SUBJECT).expect("the subject is there");
    let file = world::artifact_dir(&refreshed, &id).join("refreshes.jsonl");
    let good = fs::read(&file).expect("the log");
    let last =
        good[..good.len() - 1].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let mut tried = 0;
    let copy = scratch.join("log-copy");
    for length in (last + 1..good.len()).step_by(step(extent)) {
        tried += 1;
        fs::write(&file, &good[..length]).expect("a file can be written");
        let health = load(&app, &id).map(|stored| stored.health);
        if !health.as_ref().is_ok_and(od_core::artifact::Health::is_healthy) {
            score.record(
                &format!("the log, cut at {length}"),
                Violation::Torn(format!("{health:?}")),
            );
        }
        if tried % 25 == 1 {
            world::copy_world(&refreshed, &copy);
            if let Err(violation) = refresh_after_torn_line(&copy) {
                score.record(&format!("the log, cut at {length}, then used"), violation);
            }
        }
    }
    for bit in (0..(last - 1) * 8).step_by(step(extent)) {
        tried += 1;
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&file, bytes).expect("a file can be written");
        let health = load(&app, &id).map(|stored| stored.health.state);
        if health.as_ref().ok() != Some(&HealthState::CorruptTail) {
            score.record(&format!("the log, bit {bit}"), Violation::Mixed(format!("{health:?}")));
        }
        if bit % 1009 == 0 {
            world::copy_world(&refreshed, &copy);
            repairs(score, &format!("repair of the log, bit {bit}"), &copy, "new");
        }
    }
    score.corruptions += tried;
    println!("corruption: {tried} of the audit log");
}

/// Recovers and appends: the torn line is kept aside and the chain goes on.
fn refresh_after_torn_line(data_dir: &Path) -> Result<(), Violation> {
    strace::plain("recover", data_dir);
    let ending = strace::plain("refresh", data_dir);
    if !ending.acknowledged {
        return Err(Violation::Torn(format!("no refresh after a torn line: {:?}", ending.refused)));
    }
    let app = world::open(data_dir).map_err(Violation::Torn)?;
    let id = world::find(&app, SUBJECT).ok_or_else(|| Violation::Lost("no subject".to_owned()))?;
    let stored = load(&app, &id)?;
    if !stored.health.is_healthy() || stored.kept_aside.is_empty() {
        return Err(Violation::Torn(format!("{:?}, {:?}", stored.health, stored.kept_aside)));
    }
    Ok(())
}
