//! Loss of power: only what reached the disk is there afterwards.
//!
//! The data directory lies on a file system in an image file. A copy of the image, taken while the
//! process is stopped, is what the disk holds at that instant; mounting it replays the journal as the
//! next start of the machine would. With the name of the boot as it was, it is what a disk holds that
//! was unplugged and plugged in again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Extent;
use crate::check::{self, Effect, Expectation};
use crate::disk::{FileSystem, Mount, copy_image, memory};
use crate::driver::THEN_STOP;
use crate::races;
use crate::score::{Score, Violation};
use crate::strace::{self, Fault, Point};
use crate::world;

/// The places of one trial.
#[derive(Clone)]
struct Bench {
    kind: FileSystem,
    pristine: PathBuf,
    image: PathBuf,
    taken: PathBuf,
    live: PathBuf,
    after: PathBuf,
}

/// The machine after the loss.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Aftermath {
    /// It has started again.
    AnotherBoot,
    /// It went on; only the disk was gone.
    SameBoot,
}

impl Aftermath {
    const fn name(self) -> &'static str {
        match self {
            Self::AnotherBoot => "power loss",
            Self::SameBoot => "unplugged",
        }
    }
}

/// Loses the power of one file system at every point, or at a sample of them.
pub(crate) fn run(score: &mut Score, kind: FileSystem, extent: Extent) {
    let scratch = memory();
    let bench = match prepare(kind, scratch.path()) {
        Ok(bench) => bench,
        Err(reason) => {
            println!("power loss on {}: skipped, it cannot be mounted here: {reason}", kind.name());
            return;
        }
    };
    let deleted = match bench.having_done("delete") {
        Ok(deleted) => deleted,
        Err(reason) => {
            score.record("power loss", Violation::Other(reason));
            return;
        }
    };
    for (bench, operation, effect) in [
        (&bench, "create", Effect::Creates),
        (&bench, "update", Effect::Changes),
        (&bench, "refresh", Effect::Changes),
        (&bench, "refresh-twice", Effect::Changes),
        (&bench, "delete", Effect::Deletes),
        (&deleted, "restore", Effect::Restores),
    ] {
        let acknowledged = format!("{operation}{THEN_STOP}");
        let points = sync_points(bench, operation, extent);
        // What an unplugged disk loses lies behind the acknowledgement, where copies are unsynced.
        for aftermath in [Aftermath::AnotherBoot, Aftermath::SameBoot] {
            trial(score, bench, &acknowledged, effect, None, aftermath);
            let step = if aftermath == Aftermath::AnotherBoot { 1 } else { 2 };
            for point in points.iter().step_by(step) {
                trial(score, bench, operation, effect, Some(*point), aftermath);
            }
        }
    }
    println!("power: {} losses on {}", score.power_points, kind.name());
    without_syncs(score, &bench);
}

impl Bench {
    /// Returns the same places with an operation carried out before everything else.
    fn having_done(&self, operation: &str) -> Result<Self, String> {
        let pristine = self.pristine.with_extension(operation);
        copy_image(&self.pristine, &pristine);
        let mount = Mount::image(self.kind, &pristine, &self.live)?;
        let ending = strace::plain(operation, &mount.at.join("data"));
        drop(mount);
        if !ending.acknowledged {
            return Err(format!("{operation} does not work: {ending:?}"));
        }
        Ok(Self { pristine, ..self.clone() })
    }
}

fn prepare(kind: FileSystem, scratch: &Path) -> Result<Bench, String> {
    let bench = Bench {
        kind,
        pristine: scratch.join("pristine.img"),
        image: scratch.join("live.img"),
        taken: scratch.join("taken.img"),
        live: scratch.join("live"),
        after: scratch.join("after"),
    };
    kind.format(&bench.pristine)?;
    let mount = Mount::image(kind, &bench.pristine, &bench.live)?;
    world::build(&bench.live.join("data"));
    drop(mount);
    Ok(bench)
}

fn sync_points(bench: &Bench, operation: &str, extent: Extent) -> Vec<Point> {
    copy_image(&bench.pristine, &bench.image);
    let Ok(_mount) = Mount::image(bench.kind, &bench.image, &bench.live) else { return Vec::new() };
    let points = strace::points(operation, &bench.live.join("data"));
    let step = match extent {
        Extent::Whole => 1,
        Extent::Sampled => 5,
        Extent::Touched => 20,
        Extent::Quick => 8,
    };
    let telling = |point: &Point| {
        matches!(point.call, "fsync" | "fdatasync" | "renameat" | "renameat2" | "unlinkat")
    };
    points.into_iter().filter(telling).step_by(step).collect()
}

/// Takes the power away at one point, or after the acknowledgement.
fn trial(
    score: &mut Score,
    bench: &Bench,
    operation: &str,
    effect: Effect,
    point: Option<Point>,
    aftermath: Aftermath,
) {
    let place = format!("{} on {}, {operation} {point:?}", aftermath.name(), bench.kind.name());
    score.power_points += 1;
    if let Err(violation) = lose(bench, operation, effect, point, aftermath, &[]) {
        score.record(&place, violation);
    }
}

/// Runs an operation up to the loss, and checks what the disk has kept.
fn lose(
    bench: &Bench,
    operation: &str,
    effect: Effect,
    point: Option<Point>,
    aftermath: Aftermath,
    more: &[&str],
) -> Result<(), Violation> {
    lose_power(bench, operation, point, more)?;
    let mount = Mount::image(bench.kind, &bench.taken, &bench.after).map_err(Violation::Torn)?;
    if aftermath == Aftermath::AnotherBoot {
        another_boot(&mount.at);
    }
    let acknowledged = point.is_none();
    check::full(&mount.at.join("data"), Expectation { effect, acknowledged })
}

/// Renames what names this boot: the machine that lost its power starts with another one.
fn another_boot(dir: &Path) {
    for entry in fs::read_dir(dir).expect("a directory can be read").flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            another_boot(&path);
        } else if let Some((revision, _)) = path.to_str().and_then(|path| path.split_once('@')) {
            fs::rename(&path, format!("{revision}@00000000")).expect("a file can be renamed");
        }
    }
}

fn lose_power(
    bench: &Bench,
    operation: &str,
    point: Option<Point>,
    more: &[&str],
) -> Result<(), Violation> {
    copy_image(&bench.pristine, &bench.image);
    let mount = Mount::image(bench.kind, &bench.image, &bench.live).map_err(Violation::Other)?;
    let mut command = match point {
        Some(point) => strace::command(point, Fault::Stop),
        None => {
            let mut command = Command::new("strace");
            command.args(["-f", "-qqq", "-o", "/dev/null"]).args(more);
            command
        }
    };
    command
        .arg(std::env::current_exe().expect("a program knows its path"))
        .arg("drive")
        .arg(operation)
        .arg(mount.at.join("data"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().expect("strace starts");
    let tracee = races::tracee(child.id());
    let stopped = tracee.and_then(|tracee| races::wait_until_stopped(tracee).map(|()| tracee));
    if stopped.is_ok() {
        copy_image(&bench.image, &bench.taken);
    }
    let ended = match &stopped {
        Ok(tracee) => races::signal(*tracee, rustix::process::Signal::KILL),
        Err(_) => Ok(()),
    };
    if ended.is_err() || stopped.is_err() {
        let _ = child.kill();
    }
    let _ = child.wait();
    stopped.map(|_| ())
}

/// The control for durability: the same program with syncs that do nothing must lose something.
fn without_syncs(score: &mut Score, bench: &Bench) {
    let inject = ["-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:retval=0"];
    let mut lost = 0;
    let operations = [
        ("create-then-stop", Effect::Creates),
        ("update-then-stop", Effect::Changes),
        ("refresh-then-stop", Effect::Changes),
    ];
    for (operation, effect) in operations {
        if lose(bench, operation, effect, None, Aftermath::AnotherBoot, &inject).is_err() {
            lost += 1;
        }
    }
    println!(
        "control on {}, without syncs: {lost} of 3 acknowledged changes lost (must be 3)",
        bench.kind.name()
    );
    if lost < 3 {
        let violation = Violation::Other("a program that does not sync passed".to_owned());
        score.record("control without syncs", violation);
    }
}
