//! Breaks the store on purpose, at every system call, and looks at what is left.
//!
//! `od-faults` runs the whole suite and prints the score; `od-faults quick` a part of it. Everything
//! else on the command line is the suite starting itself as the process that gets killed.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own")]

mod check;
mod control;
mod corrupt;
mod driver;
mod errno;
mod kill;
mod power;
mod races;
mod score;
mod strace;
mod world;

use std::process::ExitCode;

use score::Score;

/// The part of the suite to run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Extent {
    Whole,
    Quick,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => suite(Extent::Whole),
        ["quick"] => suite(Extent::Quick),
        ["build", data_dir] => {
            world::build(data_dir.as_ref());
            ExitCode::SUCCESS
        }
        ["drive", operation, data_dir] => driver::drive(operation, data_dir.as_ref()),
        _ => {
            eprintln!("usage: od-faults [quick]");
            ExitCode::from(2)
        }
    }
}

fn suite(extent: Extent) -> ExitCode {
    if let Err(reason) = strace::available() {
        eprintln!("od-faults needs strace: {reason}");
        return ExitCode::FAILURE;
    }
    let mut score = Score::default();
    corrupt::run(&mut score, extent);
    races::run(&mut score);
    kill::run(&mut score, extent);
    errno::run(&mut score, extent);
    power::run(&mut score, extent);
    control::run(&mut score);
    if extent == Extent::Whole {
        score.check_tried();
    }
    score.print();
    if score.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
