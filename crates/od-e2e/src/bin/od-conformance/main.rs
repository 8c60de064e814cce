//! Plays the cases of `spec/cases` and `fixtures/doors` against an `od`, through the doors that everybody has.
//!
//! - `od-conformance --program PATH`: starts the `od` at the path for every scene, over folders of its own, and
//!   plays each scene twice: an agent's calls over HTTP, and by the command line. Part of the test command.
//! - `od run -- od-conformance`: plays what an agent alone can ask of the daemon that runs, by the address and
//!   the token of the environment, over HTTP; the calls write into the current folder. The rest is counted as
//!   left out.
//!
//! `--only WORD` plays the scenes whose names contain the word. How a scene is written is said in
//! `spec/README.md`. Nothing of the daemon under test is linked in but what the contract says of tokens.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own")]

mod case;
mod cli;
mod grow;
mod http;
mod judge;
mod provider;
mod scene;
mod world;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use case::Scene;
use scene::Tally;
use world::{Door, World};

/// What cannot be gone on with, in words.
type Outcome<T> = Result<T, String>;

const USAGE: &str = "usage: od-conformance --program PATH [--only WORD]\n       \
                     od run -- od-conformance [--only WORD]";

/// The folders of scenes, from the root of the repository.
const FOLDERS: [&str; 2] = ["spec/cases", "fixtures/doors"];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["--program", program] => of_program(Path::new(program), ""),
        ["--program", program, "--only", word] => of_program(Path::new(program), word),
        [] => of_environment(""),
        ["--only", word] => of_environment(word),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(tally) => {
            println!("{}", tally.line());
            if tally.failed == 0 && tally.held > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn of_program(program: &Path, word: &str) -> Outcome<Tally> {
    let program = program.canonicalize().map_err(|err| format!("{}: {err}", program.display()))?;
    let mut tally = Tally::default();
    for scene in scenes(word)? {
        for door in [Door::Http, Door::CommandLine] {
            let mut world = World::start(&program, door)?;
            tally.add(scene::play(&mut world, &scene));
        }
    }
    Ok(tally)
}

fn of_environment(word: &str) -> Outcome<Tally> {
    let variable =
        |name: &str| std::env::var(name).map_err(|_| format!("{name} is not set; {USAGE}"));
    let (url, token) = (variable("OD_DAEMON_URL")?, variable("OD_TOOL_TOKEN")?);
    let mut tally = Tally::default();
    for scene in scenes(word)? {
        let mut world = World::attach(&url, &token)?;
        tally.add(scene::play(&mut world, &scene));
    }
    Ok(tally)
}

fn scenes(word: &str) -> Outcome<Vec<Scene>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in FOLDERS {
        let entries =
            std::fs::read_dir(root.join(folder)).map_err(|err| format!("{folder}: {err}"))?;
        files.extend(
            entries
                .flatten()
                .map(|entry| entry.path())
                .filter(|path| path.extension().is_some_and(|end| end == "json")),
        );
    }
    files.sort();
    let read: Outcome<Vec<Scene>> = files.iter().map(|file| Scene::read(file)).collect();
    Ok(read?.into_iter().filter(|scene| scene.name.contains(word)).collect())
}
