//! `od build`: a static site, for CI and for any web server, without a daemon.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use od_app::Caller;
use od_app::site::{self, BuildSite, BuiltSite, Refreshing};
use od_core::error::ErrorCode;
use od_core::limits::SITE_LIST_FILE;
use od_core::schedule::Interval;
use od_core::site::{SITE_LIST, SiteFile};
use serde_json::{Value, json};

use crate::args::Build;
use crate::local;
use crate::output::{Answer, CommandError, Exit, Style, Text, counted};
use crate::settings::Settings;

/// Builds the site, and says what should not be published as it is.
pub(crate) async fn build(settings: &Settings, args: &Build) -> Result<Answer, CommandError> {
    let max_age_ms = args.max_age.as_deref().map(interval).transpose()?;
    let out = settings.directory.join(&args.out);
    let Some(app) = local::open_existing(settings)? else {
        return Err(local::nothing_stored(&settings.data_dir));
    };
    let before = earlier_files(&out)?;
    let project = match (args.all, args.project.as_deref()) {
        (true, _) => None,
        (false, named) => {
            let found = local::project(&app, settings, named).await?;
            // A site of everything is seldom what somebody in the wrong folder wants to publish.
            Some(found.ok_or_else(|| {
                let refusal = local::no_project(&settings.directory);
                refusal
                    .suggest("name one with `--project ID`, or put all into one site with `--all`")
            })?)
        }
    };
    let refresh = if args.refresh && !args.dry_run { Refreshing::First } else { Refreshing::Not };
    let request = BuildSite { project: project.map(|project| project.id), refresh, max_age_ms };
    let mut bytes = 0;
    let mut keep = |file: SiteFile| {
        bytes += file.bytes.len();
        if args.dry_run { Ok(()) } else { write(&out, &file) }
    };
    let built =
        site::build(&app, &Caller::Person, request, &mut keep).await.map_err(local::failed)?;
    local::settle(&app).await;
    if !args.dry_run {
        for gone in before.iter().filter(|path| !built.files.contains(path)) {
            // What was removed by hand before is gone already.
            let gone = out.join(gone);
            let _ = fs::remove_file(&gone);
            // A folder with anything else in it is not removed.
            for folder in gone.ancestors().skip(1).take_while(|folder| *folder != out) {
                if fs::remove_dir(folder).is_err() {
                    break;
                }
            }
        }
    }
    Ok(answer(&built, &out, bytes, args.dry_run))
}

fn answer(built: &BuiltSite, out: &Path, bytes: usize, dry_run: bool) -> Answer {
    let verb = if dry_run { "would write" } else { "wrote" };
    let (pages, files) = (counted(built.pages, "page"), counted(built.files.len() + 1, "file"));
    let mut text = Text::new().line(&format!("{verb} {pages} in {files} to {}", out.display()));
    for problem in &built.problems {
        text = text.styled(Style::Warn, &format!("{}: {}", problem.title, problem.told));
    }
    let json = json!({
        "out": out.display().to_string(), "pages": built.pages, "files": built.files.len() + 1,
        "bytes": bytes, "problems": built.problems,
    });
    let exit = if built.problems.is_empty() { Exit::Ok } else { Exit::Found };
    let answer = Answer::new(json, text).ending(exit);
    if dry_run { answer.dry() } else { answer }
}

fn interval(text: &str) -> Result<u64, CommandError> {
    text.parse::<Interval>().map(Interval::ms).map_err(|_| {
        CommandError::new(ErrorCode::BadRequest, format!("`{text}` is no length of time"))
            .suggest("write 30m, 12h or 1d")
            .ending(Exit::Usage)
    })
}

/// Returns the files that an earlier build put into the folder; refuses a folder with anything else in it.
fn earlier_files(out: &Path) -> Result<Vec<String>, CommandError> {
    let refuse = |message: String| {
        CommandError::new(ErrorCode::BadRequest, message)
            .suggest("name a new folder, an empty one, or one that `od build` made")
            .ending(Exit::Usage)
    };
    let entries = match fs::read_dir(out) {
        Ok(mut entries) => entries.next(),
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(err) => return Err(refuse(format!("{}: {err}", out.display()))),
    };
    if entries.is_none() {
        return Ok(Vec::new());
    }
    let list = out.join(SITE_LIST);
    let is_small = fs::metadata(&list).is_ok_and(|list| list.len() <= SITE_LIST_FILE.allowed);
    let text = is_small.then(|| fs::read(&list).ok()).flatten();
    let value: Option<Value> = text.and_then(|text| serde_json::from_slice(&text).ok());
    let files = value.as_ref().filter(|value| value["format"] == "od-site");
    let files = files.and_then(|value| value["files"].as_object());
    let Some(files) = files else {
        return Err(refuse(format!("{} has files that `od build` did not write", out.display())));
    };
    Ok(files.keys().filter(|path| is_below(path)).cloned().collect())
}

/// Returns whether a path stays below the folder: a list that somebody changed removes nothing elsewhere.
fn is_below(path: &str) -> bool {
    Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

fn write(out: &Path, file: &SiteFile) -> io::Result<()> {
    let path: PathBuf = out.join(&file.path);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, &file.bytes)
}
