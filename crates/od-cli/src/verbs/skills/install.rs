//! `od skills install`

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use od_core::error::ErrorCode;
use od_fs::shell_quoted;
use serde_json::json;

use crate::args::InstallSkill;
use crate::local;
use crate::output::{Answer, CommandError, Style, Text};
use crate::settings::Settings;
use crate::skills::{self, BUILTIN_FILES, BUILTIN_NAME, BuiltinFile, PLACES};

/// The state of one file before the skill is installed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum FileState {
    New,
    Same,
    Differs,
}

struct Target {
    file: &'static BuiltinFile,
    path: PathBuf,
    state: FileState,
}

/// Writes the built-in skill where agents look: every file, or none.
pub(crate) fn install(args: InstallSkill) -> Result<Answer, CommandError> {
    let directory = local::existing_directory(args.directory)?;
    let mut targets = Vec::new();
    for (place, wanted) in PLACES.into_iter().zip([args.agents, args.claude]) {
        if wanted {
            let root = directory.join(place).join(BUILTIN_NAME);
            for file in BUILTIN_FILES {
                let target = target(file, &root);
                no_link_out_of(&directory, &target.path)?;
                targets.push(target);
            }
        }
    }
    let changed: Vec<&Target> =
        targets.iter().filter(|target| target.state == FileState::Differs).collect();
    // Before anything is written: half a new skill beside half an old one would mislead an agent.
    if !changed.is_empty() && !args.force {
        let paths: Vec<_> =
            changed.iter().map(|target| target.path.display().to_string()).collect();
        let message = format!(
            "{} of the skill's files are there and differ: {}",
            paths.len(),
            paths.join(", ")
        );
        return Err(CommandError::new(ErrorCode::Conflict, message)
            .suggest("`od skills install --force` replaces them")
            .detail("files", paths));
    }
    if !args.dry_run {
        for target in targets.iter().filter(|target| target.state != FileState::Same) {
            write(&target.path, target.file.text).map_err(|error| {
                let message = format!("cannot write {}: {error}", target.path.display());
                CommandError::new(ErrorCode::Internal, message)
                    .suggest("check the directory's permissions and free space")
            })?;
        }
    }
    Ok(answer(&directory, &targets, args.dry_run))
}

/// Makes the built-in skill known to agents that are started in a project: it is written where agents
/// look and do not find it. A copy that is there is its person's, whatever it says. Returns the
/// places it was, or would be, written to.
pub(crate) fn make_known(
    settings: &Settings,
    root: &Path,
    dry_run: bool,
) -> Result<Vec<&'static str>, CommandError> {
    let found = skills::discover(settings.upward(root), settings.user_home.as_deref());
    let is_known = |place: &str| {
        let mut known = found.iter().filter(|skill| skill.directory == BUILTIN_NAME);
        known.any(|skill| {
            skill.path.parent().is_some_and(|it| it.ends_with(format!("{place}/{BUILTIN_NAME}")))
        })
    };
    let missing: Vec<&'static str> = PLACES.into_iter().filter(|place| !is_known(place)).collect();
    if missing.is_empty() {
        return Ok(missing);
    }
    let args = InstallSkill {
        directory: Some(root.to_owned()),
        agents: missing.contains(&PLACES[0]),
        claude: missing.contains(&PLACES[1]),
        force: false,
        dry_run,
    };
    install(args).map(|_| missing)
}

fn target(file: &'static BuiltinFile, root: &Path) -> Target {
    let path = root.join(file.path);
    let state = match fs::read(&path) {
        Ok(bytes) if bytes == file.text.as_bytes() => FileState::Same,
        Ok(_) => FileState::Differs,
        Err(_) => FileState::New,
    };
    Target { file, path, state }
}

fn answer(directory: &Path, targets: &[Target], dry_run: bool) -> Answer {
    let count = |state| targets.iter().filter(|target| target.state == state).count();
    let mut text = Text::new();
    for target in targets {
        let (style, word) = match target.state {
            FileState::New => {
                (Style::Good, if dry_run { "would write  " } else { "wrote        " })
            }
            FileState::Differs => {
                (Style::Warn, if dry_run { "would replace" } else { "replaced     " })
            }
            FileState::Same => (Style::Dim, "already there"),
        };
        let shown = target.path.strip_prefix(directory).unwrap_or(&target.path);
        text = text.pieces(&[
            (style, word),
            (Style::Plain, "  "),
            (Style::Plain, &shown.display().to_string()),
        ]);
    }
    if !dry_run {
        text = text
            .gap()
            .line("Start an agent here with `od run -- AGENT` and ask for a live dashboard.");
    }
    let json = json!({
        "dryRun": dry_run,
        "directory": directory,
        "written": count(FileState::New),
        "replaced": count(FileState::Differs),
        "unchanged": count(FileState::Same),
        "files": targets.iter().map(|target| &target.path).collect::<Vec<_>>(),
    });
    Answer::new(json, text)
}

/// Refuses a file that is a link, and a link on the way to it that leads out of the directory: a
/// repository may hold one, and what is there would be written over.
///
/// One that stays inside, say from one agent's folder to another's, is the person's own arrangement.
fn no_link_out_of(directory: &Path, path: &Path) -> Result<(), CommandError> {
    let below = path.ancestors().take_while(|above| *above != directory);
    for step in below {
        let is_link = fs::symlink_metadata(step).is_ok_and(|found| found.is_symlink());
        let stays = || fs::canonicalize(step).is_ok_and(|real| real.starts_with(directory));
        if is_link && (step == path || !stays()) {
            let message = format!("{} is a symbolic link and is not followed", step.display());
            return Err(CommandError::new(ErrorCode::Conflict, message).suggest(format!(
                "name another directory: od skills install DIR; or remove the link: rm {}",
                shell_quoted(step)
            )));
        }
    }
    Ok(())
}

/// Writes beside the file and renames, so that an agent never reads half a skill.
///
/// The name beside it is a new one: whatever is there already is neither followed nor written over.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut beside = tempfile::Builder::new()
        .prefix(".od-new-")
        // What the person's umask leaves of it: agents of other users may read a skill.
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    beside.write_all(text.as_bytes())?;
    beside.persist(path).map_err(|error| error.error)?;
    Ok(())
}
