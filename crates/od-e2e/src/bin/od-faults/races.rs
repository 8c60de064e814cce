//! Several processes, and a person, on one artifact at once.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use od_core::ids::RefreshId;
use od_core::ledger::RefreshStart;
use od_core::refresh::{RecordStatus, RecordStep, RefreshRecord};
use od_ports::store::StoreError;
use rustix::process::{Pid, Signal};

use crate::check;
use crate::disk;
use crate::score::{Score, Violation};
use crate::strace::{self, Fault};
use crate::world::{self, SUBJECT};

pub(crate) fn run(score: &mut Score) {
    let scratch = disk::memory();
    let base = scratch.path().join("base");
    world::build(&base);
    let dir = scratch.path().join("run");
    type Trial = fn(&Path) -> Result<(), Violation>;
    let trials: [(&str, Trial); 4] = [
        ("two processes, one winner per revision", one_winner_per_revision),
        ("two refreshes, one runs", one_refresh_at_a_time),
        ("a stopped refresh is fenced off", a_stopped_refresh_is_fenced_off),
        ("a killed holder's locks are free at once", a_dead_holder_lets_go),
    ];
    for (name, trial) in trials {
        world::copy_world(&base, &dir);
        match trial(&dir) {
            Ok(()) => println!("rivals: {name}: holds"),
            Err(violation) => score.record(name, violation),
        }
    }
    edits_between_steps(score, &base, &dir);
}

fn spawn(operation: &str, dir: &Path) -> Child {
    Command::new(std::env::current_exe().expect("a program knows its path"))
        .arg("drive")
        .arg(operation)
        .arg(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the driver starts")
}

fn finish(child: Child) -> Output {
    child.wait_with_output().expect("the driver ends")
}

fn one_winner_per_revision(dir: &Path) -> Result<(), Violation> {
    let rivals: Vec<Child> = (0..3).map(|_| spawn("race", dir)).collect();
    let mut won = BTreeSet::new();
    let (mut wins, mut conflicts) = (0, 0);
    for rival in rivals {
        let output = finish(rival);
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            if let Some(revision) = line.strip_prefix("WIN ") {
                wins += 1;
                if !won.insert(revision.to_owned()) {
                    return Err(Violation::Lost(format!("two commits won revision {revision}")));
                }
            } else if line == "LOSE REVISION_CONFLICT" {
                conflicts += 1;
            } else if line.starts_with("LOSE") || line.starts_with("ERR") {
                return Err(Violation::Other(line.to_owned()));
            }
        }
    }
    let app = world::open(dir).map_err(Violation::Torn)?;
    let id = world::find(&app, SUBJECT).ok_or_else(|| Violation::Lost("no subject".to_owned()))?;
    let revision = check::load(&app, &id)?.revision().map_or(0, od_core::ids::Revision::get);
    if revision != 2 + wins {
        return Err(Violation::Lost(format!("{wins} wins, but revision {revision}")));
    }
    println!("rivals: {wins} commits won, {conflicts} lost with a typed conflict");
    Ok(())
}

/// Starts a refresh that stops itself while it runs, and waits for that.
fn stopped_refresh(dir: &Path) -> Result<Child, Violation> {
    let mut child = spawn("refresh-slowly", dir);
    if let Err(violation) = wait_until_stopped(child.id()) {
        let _ = child.kill();
        let _ = child.wait();
        return Err(violation);
    }
    Ok(child)
}

/// Waits until a process stands still.
///
/// One that is traced looks stopped at each of its calls too, so it has to stay so for a while.
pub(crate) fn wait_until_stopped(pid: u32) -> Result<(), Violation> {
    const STILL: Duration = Duration::from_millis(60);
    let began = Instant::now();
    let mut since: Option<(Instant, String)> = None;
    while began.elapsed() < Duration::from_secs(20) {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let stopped = status
            .lines()
            .any(|line| line.starts_with("State:\tT") || line.starts_with("State:\tt"));
        since = match since {
            Some((at, seen)) if stopped && seen == status => {
                if at.elapsed() >= STILL {
                    return Ok(());
                }
                Some((at, seen))
            }
            Some(_) | None => stopped.then(|| (Instant::now(), status)),
        };
        std::thread::sleep(Duration::from_millis(2));
    }
    Err(Violation::Other(format!("process {pid} does not stop")))
}

pub(crate) fn signal(pid: u32, signal: Signal) -> Result<(), Violation> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| Violation::Other("no pid".to_owned()))?;
    rustix::process::kill_process(pid, signal)
        .map_err(|err| Violation::Other(format!("kill: {err}")))
}

fn one_refresh_at_a_time(dir: &Path) -> Result<(), Violation> {
    let child = stopped_refresh(dir)?;
    let locked = begin(dir);
    signal(child.id(), Signal::CONT)?;
    let ending = strace::ending(&finish(child));
    match locked {
        Err(StoreError::RefreshLocked { .. }) if ending.acknowledged => Ok(()),
        other => Err(Violation::Mixed(format!("{other:?}, {ending:?}"))),
    }
}

fn begin(dir: &Path) -> Result<RefreshId, StoreError> {
    let app = world::open(dir).expect("the store opens");
    let id = world::find(&app, SUBJECT).expect("the subject is there");
    let at = app.ports.clock.now();
    let running = world::wait(app.ports.refresh_log.begin_refresh(
        &world::project(),
        &id,
        RefreshStart::manual(at),
    ))?;
    Ok(running.id)
}

fn a_stopped_refresh_is_fenced_off(dir: &Path) -> Result<(), Violation> {
    let child = stopped_refresh(dir)?;
    let app = world::open(dir).map_err(Violation::Torn)?;
    let id = world::find(&app, SUBJECT).ok_or_else(|| Violation::Lost("no subject".to_owned()))?;
    let record = RefreshRecord::new(
        RefreshId::from_number(1),
        RecordStep::Failed,
        RecordStatus::Abandoned,
        app.ports.clock.now(),
    );
    world::wait(app.ports.refresh_log.append_record(&world::project(), &id, record))
        .map_err(|err| Violation::Torn(format!("it cannot be closed: {err}")))?;
    signal(child.id(), Signal::CONT)?;
    let ending = strace::ending(&finish(child));
    if ending.acknowledged || ending.refused.as_deref() != Some("REFRESH_ABANDONED") {
        return Err(Violation::Mixed(format!("the fenced refresh went on: {ending:?}")));
    }
    match check::generation(&app, &id)?.as_str() {
        "old" => Ok(()),
        other => Err(Violation::Mixed(format!("fenced off, yet {other}"))),
    }
}

fn a_dead_holder_lets_go(dir: &Path) -> Result<(), Violation> {
    let child = stopped_refresh(dir)?;
    signal(child.id(), Signal::KILL)?;
    finish(child);
    // Asked once and at once: the lock waits for nobody, it is free or it refuses.
    match begin(dir) {
        Ok(next) if next.number() == 2 => Ok(()),
        other => Err(Violation::Torn(format!("the dead one still holds it: {other:?}"))),
    }
}

/// A person saves `data.json` between any two calls of an update.
fn edits_between_steps(score: &mut Score, base: &Path, dir: &Path) {
    world::copy_world(base, dir);
    let points = strace::points("update", dir);
    let mut tried = 0;
    for point in points.into_iter().filter(|point| point.call != "openat") {
        world::copy_world(base, dir);
        let mut command = strace::command(point, Fault::Stop);
        command
            .arg(std::env::current_exe().expect("a program knows its path"))
            .arg("drive")
            .arg("update")
            .arg(dir)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn().expect("strace starts");
        tried += 1;
        if let Err(violation) = edit_while_stopped(dir, child) {
            score.record(&format!("edit at {} {}", point.call, point.nth), violation);
        }
    }
    println!("rivals: {tried} edits between the steps of an update");
}

fn edit_while_stopped(dir: &Path, mut child: Child) -> Result<(), Violation> {
    let tracee = tracee(child.id())?;
    wait_until_stopped(tracee)?;
    let app = world::open(dir).map_err(Violation::Torn)?;
    let id = world::find(&app, SUBJECT).ok_or_else(|| Violation::Lost("no subject".to_owned()))?;
    let artifact = world::artifact_dir(dir, &id);
    let edited = br#"{"generation":"edited","rows":[]}"#;
    fs::write(artifact.join("data.json"), edited).expect("a file can be written");
    while child.try_wait().is_ok_and(|status| status.is_none()) {
        let _ = signal(tracee, Signal::CONT);
        std::thread::sleep(Duration::from_millis(5));
    }
    let ending = strace::ending(&finish(child));
    let stored = check::load(&app, &id)?;
    if !stored.health.is_healthy() {
        return Err(Violation::Torn(format!("{:?}", stored.health)));
    }
    let state = stored.state.as_ref().ok_or_else(|| Violation::Torn("no state".to_owned()))?;
    let served = state.data.value()["generation"] == "edited";
    let kept = stored
        .kept_aside
        .iter()
        .any(|kept| fs::read(artifact.join(&kept.path)).is_ok_and(|bytes| bytes == edited));
    // An update that read the edit first made a revision of it before its own.
    let commits = world::wait(app.ports.revisions.timeline(&world::project(), &id));
    let commits = commits.map_err(|err| Violation::Torn(err.to_string()))?.commits;
    let adopted = commits.iter().any(|commit| {
        let revision = commit.revision;
        world::wait(app.ports.revisions.revision(&world::project(), &id, revision))
            .is_ok_and(|kept| kept.data.value()["generation"] == "edited")
    });
    if !served && !kept && !adopted {
        return Err(Violation::Lost(format!("the edit is gone: {ending:?}")));
    }
    if ending.acknowledged && state.artifact.heading.title != format!("{SUBJECT} new") {
        return Err(Violation::Lost("the update is gone".to_owned()));
    }
    Ok(())
}

/// Finds the process that strace runs.
pub(crate) fn tracee(strace: u32) -> Result<u32, Violation> {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(20) {
        let path = format!("/proc/{strace}/task/{strace}/children");
        let children = fs::read_to_string(path).unwrap_or_default();
        // strace forks short-lived helpers before the program itself; that one is our own name.
        for child in children.split_whitespace().filter_map(|child| child.parse().ok()) {
            let name = fs::read_to_string(format!("/proc/{child}/comm")).unwrap_or_default();
            if name.starts_with("od-faults") {
                return Ok(child);
            }
        }
        std::thread::yield_now();
    }
    Err(Violation::Other("strace starts nothing".to_owned()))
}
