//! Breaks the store on purpose, at every system call, and looks at what is left.
//!
//! - `od-faults`: the whole suite in memory, every loss of power on ext4, and a few points of everything on
//!   each further file system. Part of the test command.
//! - `od-faults every-disk`: the same with a sample on each further file system. By hand.
//! - `od-faults quick`: a part of it.
//! - `od-faults on xfs`: everything on one file system. By hand; it takes ten to twenty minutes.
//! - `od-faults sample xfs`: the part of it that the test command runs.
//! - `od-faults power xfs`: every loss of power on one file system.
//! - `od-faults storm xfs 300`: kills a loaded daemon so many times. The test command does it a few times.
//!
//! Everything else on the command line is the suite starting itself as the process that gets killed.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own")]

mod check;
mod control;
mod corrupt;
mod disk;
mod driver;
mod errno;
mod kill;
mod power;
mod races;
mod score;
mod storm;
mod strace;
mod world;

use std::process::ExitCode;

use disk::{Disk, FileSystem};
use score::Score;

/// The part of the suite to run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Extent {
    /// Every point.
    Whole,
    /// Some points of every scenario: what a file system does differently shows at many of them.
    Sampled,
    /// A few points of every scenario: whether a file system is served at all.
    Touched,
    /// Little of everything.
    Quick,
}

impl Extent {
    /// Returns the most points of one operation, `None` for all of them.
    const fn points_per_scenario(self) -> Option<usize> {
        match self {
            Self::Whole => None,
            Self::Sampled => Some(8),
            Self::Touched => Some(2),
            Self::Quick => Some(20),
        }
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        // The test command has an hour: the other file systems are touched, and sampled by hand.
        [] => suite(Extent::Whole, Extent::Touched, &FileSystem::ALL),
        ["quick"] => suite(Extent::Quick, Extent::Quick, &[FileSystem::Tmpfs, FileSystem::Ext4]),
        ["every-disk"] => suite(Extent::Whole, Extent::Sampled, &FileSystem::ALL),
        ["on", name] => match FileSystem::parse(name) {
            Some(kind) => one_disk(kind, Extent::Whole),
            None => usage(),
        },
        ["sample", name] => match FileSystem::parse(name) {
            Some(kind) => one_disk(kind, Extent::Sampled),
            None => usage(),
        },
        ["power", name] => match FileSystem::parse(name).filter(|kind| kind.has_image()) {
            Some(kind) => {
                let mut score = Score::default();
                power::run(&mut score, kind, Extent::Whole);
                finish(&score)
            }
            None => usage(),
        },
        ["storm", name, kills] => match (FileSystem::parse(name), kills.parse()) {
            (Some(kind), Ok(kills)) => storm::run(kind, kills),
            _ => usage(),
        },
        ["serve", root] => storm::serve(root.as_ref()),
        ["build", data_dir] => {
            world::build(data_dir.as_ref());
            ExitCode::SUCCESS
        }
        ["drive", operation, data_dir] => driver::drive(operation, data_dir.as_ref()),
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    let names: Vec<&str> = FileSystem::ALL.into_iter().map(FileSystem::name).collect();
    eprintln!(
        "usage: od-faults [quick | every-disk | on DISK | sample DISK | power DISK | storm DISK KILLS]; DISK: {}",
        names.join(", ")
    );
    ExitCode::from(2)
}

/// Runs everything to an extent; file systems that few people have to another.
fn suite(extent: Extent, others: Extent, disks: &[FileSystem]) -> ExitCode {
    if let Err(reason) = strace::available() {
        eprintln!("od-faults needs strace: {reason}");
        return ExitCode::FAILURE;
    }
    let mut score = Score::default();
    corrupt::run(&mut score, extent);
    races::run(&mut score);
    control::run(&mut score);
    for kind in disks.iter().copied() {
        let sampled = match kind {
            FileSystem::Tmpfs | FileSystem::Ext4 if extent == Extent::Whole => Extent::Sampled,
            FileSystem::Tmpfs | FileSystem::Ext4 => extent,
            FileSystem::Xfs | FileSystem::Btrfs | FileSystem::Overlay => others,
        };
        // Memory is where every point is tried, since nothing there costs time; every loss of power is
        // on ext4, the one that most people have.
        let calls = if kind == FileSystem::Tmpfs { extent } else { sampled };
        let losses = if kind == FileSystem::Ext4 { extent } else { sampled };
        run_on(&mut score, kind, calls, losses);
    }
    if extent == Extent::Whole {
        score.check_tried();
    }
    // Short here: `storm` runs it for as long as one likes.
    let stormy = |kind: &&FileSystem| !matches!(kind, FileSystem::Tmpfs | FileSystem::Overlay);
    let is_calm = disks.iter().filter(stormy).all(|kind| storm::run(*kind, 4) == ExitCode::SUCCESS);
    let ended = finish(&score);
    if is_calm { ended } else { ExitCode::FAILURE }
}

fn one_disk(kind: FileSystem, extent: Extent) -> ExitCode {
    let mut score = Score::default();
    run_on(&mut score, kind, extent, extent);
    finish(&score)
}

fn run_on(score: &mut Score, kind: FileSystem, calls: Extent, losses: Extent) {
    println!("on {}:", kind.name());
    let disk = match Disk::make(kind) {
        Ok(disk) => disk,
        Err(reason) => return score.skip_disk(kind.name(), &reason),
    };
    let mut found = Score::default();
    kill::run(&mut found, &disk.root, calls);
    errno::run(&mut found, &disk.root, calls);
    drop(disk);
    if kind.has_image() {
        power::run(&mut found, kind, losses);
    }
    score.add_disk(kind.name(), found);
}

fn finish(score: &Score) -> ExitCode {
    score.print();
    if score.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
