//! Loss of power: only what reached the disk is there afterwards.
//!
//! The data directory lies on an ext4 in an image file. A copy of the image, taken while the process
//! is stopped, is what the disk holds at that instant; mounting it replays the journal as the next
//! start of the machine would.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Extent;
use crate::check::{self, Effect, Expectation};
use crate::driver::THEN_STOP;
use crate::races;
use crate::score::{Score, Violation};
use crate::strace::{self, Fault, Point};
use crate::world;

const IMAGE_BYTES: u64 = 24 * 1024 * 1024;

/// A mounted image; unmounted when dropped.
struct Mount {
    at: PathBuf,
}

impl Mount {
    fn new(image: &Path, at: &Path) -> Result<Self, String> {
        fs::create_dir_all(at).map_err(|err| err.to_string())?;
        let mut command = Command::new("mount");
        // No commit of the journal unless someone asks for it.
        command.args(["-o", "loop,commit=600"]).arg(image).arg(at);
        succeed(&mut command)?;
        Ok(Self { at: at.to_path_buf() })
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        for _ in 0..50 {
            if succeed(Command::new("umount").arg(&self.at)).is_ok() {
                return;
            }
            std::thread::yield_now();
        }
        let _ = succeed(Command::new("umount").arg("-l").arg(&self.at));
    }
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|err| err.to_string())?;
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }
}

/// The places of one trial.
#[derive(Clone)]
struct Bench {
    pristine: PathBuf,
    image: PathBuf,
    taken: PathBuf,
    live: PathBuf,
    after: PathBuf,
}

pub(crate) fn run(score: &mut Score, extent: Extent) {
    let scratch = world::scratch();
    let bench = match prepare(scratch.path()) {
        Ok(bench) => bench,
        Err(reason) => {
            println!("power loss: skipped, no filesystem can be mounted here: {reason}");
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
        trial(score, bench, &acknowledged, effect, None, &[]);
        for point in sync_points(bench, operation, extent) {
            trial(score, bench, operation, effect, Some(point), &[]);
        }
    }
    without_syncs(score, &bench);
}

impl Bench {
    /// Returns the same places with an operation carried out before everything else.
    fn having_done(&self, operation: &str) -> Result<Self, String> {
        let pristine = self.pristine.with_extension(operation);
        fs::copy(&self.pristine, &pristine).map_err(|err| err.to_string())?;
        let mount = Mount::new(&pristine, &self.live)?;
        let ending = strace::plain(operation, &mount.at.join("data"));
        drop(mount);
        if !ending.acknowledged {
            return Err(format!("{operation} does not work: {ending:?}"));
        }
        Ok(Self { pristine, ..self.clone() })
    }
}

fn prepare(scratch: &Path) -> Result<Bench, String> {
    let bench = Bench {
        pristine: scratch.join("pristine.img"),
        image: scratch.join("live.img"),
        taken: scratch.join("taken.img"),
        live: scratch.join("live"),
        after: scratch.join("after"),
    };
    let file = fs::File::create(&bench.pristine).map_err(|err| err.to_string())?;
    file.set_len(IMAGE_BYTES).map_err(|err| err.to_string())?;
    succeed(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&bench.pristine))?;
    let mount = Mount::new(&bench.pristine, &bench.live)?;
    world::build(&bench.live.join("data"));
    drop(mount);
    Ok(bench)
}

fn sync_points(bench: &Bench, operation: &str, extent: Extent) -> Vec<Point> {
    fs::copy(&bench.pristine, &bench.image).expect("an image can be copied");
    let Ok(_mount) = Mount::new(&bench.image, &bench.live) else { return Vec::new() };
    let points = strace::points(operation, &bench.live.join("data"));
    let step = match extent {
        Extent::Whole => 1,
        Extent::Quick => 4,
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
    more: &[&str],
) -> bool {
    let place = format!("power loss, {operation} {point:?}");
    let taken = lose_power(bench, operation, point, more);
    let acknowledged = point.is_none();
    let seen = taken.and_then(|()| {
        let mount = Mount::new(&bench.taken, &bench.after).map_err(Violation::Torn)?;
        another_boot(&mount.at);
        let expected = Expectation { effect, acknowledged };
        let seen = check::full(&mount.at.join("data"), expected);
        drop(mount);
        seen
    });
    if more.is_empty() {
        score.power_points += 1;
        if let Err(violation) = seen {
            score.record(&place, violation);
            return false;
        }
        return true;
    }
    seen.is_ok()
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
    fs::copy(&bench.pristine, &bench.image).expect("an image can be copied");
    let mount = Mount::new(&bench.image, &bench.live).map_err(Violation::Other)?;
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
        fs::copy(&bench.image, &bench.taken).expect("an image can be copied");
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
        if !trial(score, bench, operation, effect, None, &inject) {
            lost += 1;
        }
    }
    println!("control, without syncs: {lost} of 3 acknowledged changes lost (must be 3)");
    if lost < 3 {
        let violation = Violation::Other("a program that does not sync passed".to_owned());
        score.record("control without syncs", violation);
    }
}
