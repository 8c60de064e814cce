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
use crate::verbs::new_file;

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
            // What was removed by hand before is gone already; what stands behind a link is not ours.
            let Ok(gone) = own_path(&out, gone, Folders::AsTheyAre) else { continue };
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
    if fs::symlink_metadata(out).is_ok_and(|found| found.is_symlink()) {
        return Err(refuse(format!("{} is a symbolic link", out.display())));
    }
    let entries = match fs::read_dir(out) {
        Ok(mut entries) => entries.next(),
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(err) => return Err(refuse(format!("{}: {err}", out.display()))),
    };
    if entries.is_none() {
        return Ok(Vec::new());
    }
    let list = out.join(SITE_LIST);
    let is_small = fs::symlink_metadata(&list)
        .is_ok_and(|list| list.is_file() && list.len() <= SITE_LIST_FILE.allowed);
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

/// Whether folders that a path needs are made.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Folders {
    Made,
    AsTheyAre,
}

/// Returns where a file of the site stands, with every folder above it a folder of its own.
///
/// A repository can bring the folder of its site: a link in it once led a build to the `.bashrc` of whoever
/// ran it, and the list of files to what it then removed.
fn own_path(out: &Path, path: &str, folders: Folders) -> io::Result<PathBuf> {
    let mut at = out.to_path_buf();
    let mut parts = Path::new(path).components().peekable();
    if folders == Folders::Made {
        fs::create_dir_all(out)?;
    }
    while let Some(part) = parts.next() {
        at.push(part);
        if parts.peek().is_none() {
            break;
        }
        match fs::symlink_metadata(&at) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => {
                let message = format!("{} is a link or a file, no folder", at.display());
                return Err(io::Error::new(io::ErrorKind::NotADirectory, message));
            }
            Err(err) if err.kind() == io::ErrorKind::NotFound && folders == Folders::Made => {
                fs::create_dir(&at)?;
            }
            Err(err) => return Err(err),
        }
    }
    Ok(at)
}

/// Writes a file of the site; a link in its place is replaced and not followed.
fn write(out: &Path, file: &SiteFile) -> io::Result<()> {
    let path = own_path(out, &file.path, Folders::Made)?;
    match fs::symlink_metadata(&path) {
        Ok(found) if !found.is_file() => fs::remove_file(&path)?,
        Ok(_) | Err(_) => {}
    }
    new_file::put(&path, &file.bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_in_the_folder_of_a_site_leads_neither_a_write_nor_a_removal_out_of_it() {
        let scratch = tempfile::tempdir().unwrap();
        let (out, home) = (scratch.path().join("site"), scratch.path().join("home"));
        fs::create_dir_all(out.join("data")).unwrap();
        fs::create_dir(&home).unwrap();
        fs::write(home.join("kept"), "mine").unwrap();
        symlink(home.join("kept"), out.join("data/rows.csv")).unwrap();
        symlink(&home, out.join("linked")).unwrap();
        let file = |path: &str| SiteFile { path: path.to_owned(), bytes: b"new".to_vec() };
        write(&out, &file("data/rows.csv")).unwrap();
        write(&out, &file("fresh/deep/page.html")).unwrap();
        assert!(write(&out, &file("linked/kept")).is_err());
        assert!(own_path(&out, "linked/kept", Folders::AsTheyAre).is_err());
        assert_eq!(fs::read_to_string(home.join("kept")).unwrap(), "mine");
        assert_eq!(fs::read_to_string(out.join("data/rows.csv")).unwrap(), "new");
        assert!(!out.join("data/rows.csv").is_symlink());
        assert!(out.join("fresh/deep/page.html").is_file());
    }

    #[test]
    fn a_folder_that_is_a_link_is_no_place_for_a_site() {
        let scratch = tempfile::tempdir().unwrap();
        let out = scratch.path().join("site");
        symlink(scratch.path(), &out).unwrap();
        assert!(earlier_files(&out).unwrap_err().failure.message.ends_with("is a symbolic link"));
    }
}
