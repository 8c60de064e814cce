//! `od artifacts export`: files of one artifact, with or without a daemon.

use std::path::{Path, PathBuf};

use od_app::artifacts::{self, Address, ExportArtifact as Request};
use od_app::bundles::{self, BundleScope};
use od_app::{App, Caller};
use od_core::error::ErrorCode;
use od_core::export::{ExportFormat, export_value};
use od_core::schedule::source_files;
use serde_json::{Value, json};

use super::drawing::{self, Drawing};
use super::show::find;
use crate::args::ExportArtifact;
use crate::local;
use crate::output::{Answer, CommandError, Exit, Style, Text};
use crate::settings::Settings;
use crate::verbs::{self, new_file};

/// Makes the files that were asked for, or prints data and provenance.
pub(crate) async fn export(
    settings: &Settings,
    args: &ExportArtifact,
) -> Result<Answer, CommandError> {
    let (app, address) = find(settings, &args.artifact).await?;
    let wanted = wanted(args)?;
    let drawings = [(Drawing::Png, &args.png), (Drawing::Pdf, &args.pdf)];
    let is_drawn = drawings.iter().any(|(_, path)| path.is_some());
    if wanted.is_empty() && !is_drawn && args.bundle.is_none() {
        return print(&app, address).await;
    }
    // Every file is made before the first is written: a table that is not there leaves nothing behind.
    let mut files = Vec::new();
    for Wanted { format, table, path } in wanted {
        let request = Request { address: address.clone(), format, table };
        let file =
            artifacts::export(&app, &Caller::Person, request).await.map_err(local::failed)?;
        let path = settings.directory.join(path.unwrap_or_else(|| PathBuf::from(&file.name)));
        files.push((path, file));
    }
    let mut made: Vec<MadeFile> = files
        .into_iter()
        .map(|(path, file)| MadeFile {
            path,
            format: file.format.as_str(),
            contains: file.format.contains(),
            bytes: file.text.into_bytes(),
        })
        .collect();
    let given = drawings.iter().filter_map(|(_, path)| path.as_deref());
    let given = given.map(|path| settings.directory.join(path));
    let bundle = args.bundle.as_ref().map(|path| settings.directory.join(path));
    let targets = made.iter().map(|file| file.path.clone()).chain(given).chain(bundle);
    let targets: Vec<PathBuf> = targets.collect();
    check_targets(&targets)?;
    keep_sources(&app, &address, &targets).await?;
    if is_drawn {
        made.extend(drawn(settings, &app, &address, drawings).await?);
    }
    let mut text = Text::new();
    for file in &made {
        if !args.artifact.dry_run {
            new_file::write(&file.path, &file.bytes)?;
        }
        let verb = if args.artifact.dry_run { "would write" } else { "wrote" };
        text = text.line(&format!("{verb} {}", file.path.display()));
        text = text.styled(Style::Dim, &format!("  {}", file.contains));
    }
    let mut listed: Vec<Value> = made.iter().map(entry).collect();
    if let Some(path) = &args.bundle {
        let path = settings.directory.join(path);
        // Signing makes the key where there is none, so that a dry run only names the file.
        if args.artifact.dry_run {
            text = text.line(&format!("would write {}", path.display()));
            listed.push(json!({ "file": path.display().to_string(), "format": "bundle" }));
        } else {
            let scope = BundleScope::Artifact(address);
            let bundle = bundles::export(&app, &Caller::Person, scope).await;
            let bundle = bundle.map_err(local::failed)?;
            new_file::write(&path, &bundle.bytes)?;
            text = text.line(&format!("wrote {}", path.display()));
            listed.push(verbs::share::bundles::entry(&path, &bundle));
        }
        text = text.styled(Style::Dim, &format!("  {}", verbs::share::bundles::CONTAINS));
    }
    let answer = Answer::new(json!({ "exports": listed }), text);
    Ok(if args.artifact.dry_run { answer.dry() } else { answer })
}

/// A file that was asked for.
struct Wanted {
    format: ExportFormat,
    table: Option<String>,
    path: Option<PathBuf>,
}

fn wanted(args: &ExportArtifact) -> Result<Vec<Wanted>, CommandError> {
    let refuse = |message: &str| {
        Err(CommandError::new(ErrorCode::BadRequest, message)
            .suggest("name a file, such as `--html page.html` or `--csv rows=rows.csv`")
            .ending(Exit::Usage))
    };
    let paths = [&args.html, &args.md, &args.png, &args.pdf];
    let csv = args.csv.as_deref().map(|csv| csv.split_once('=').unwrap_or((csv, "rows.csv")));
    let mut given = paths.into_iter().flatten().map(String::as_str).chain(csv.map(|csv| csv.1));
    if given.any(|path| path == "-") {
        return refuse("`-` is no file: exports are not written to the terminal");
    }
    if csv.is_some_and(|(_, path)| path.is_empty()) {
        return refuse("`=` needs a file name after it");
    }
    let mut wanted = Vec::new();
    let mut whole = |format, path: &Option<String>| {
        if let Some(path) = path {
            wanted.push(Wanted { format, table: None, path: Some(path.into()) });
        }
    };
    whole(ExportFormat::Html, &args.html);
    whole(ExportFormat::Markdown, &args.md);
    if let Some(csv) = &args.csv {
        let (table, path) = match csv.split_once('=') {
            Some((table, path)) => (table, Some(path.into())),
            None => (csv.as_str(), None),
        };
        wanted.push(Wanted { format: ExportFormat::Csv, table: Some(table.to_owned()), path });
    }
    Ok(wanted)
}

/// Refuses two exports to one file, and what is no file to write, before anything is drawn or written.
fn check_targets(targets: &[PathBuf]) -> Result<(), CommandError> {
    let mut known = Vec::new();
    for target in targets {
        new_file::check(target)?;
        let real = real_path(target);
        if known.contains(&real) {
            let message = format!("two exports go to {}", target.display());
            return Err(CommandError::new(ErrorCode::BadRequest, message)
                .suggest("name a file for each")
                .ending(Exit::Usage));
        }
        known.push(real);
    }
    Ok(())
}

/// Refuses to write over a file that the artifact itself reads: `--csv regions=sales.csv` once put a
/// table of totals in place of the orders, and a schedule on change refreshed from that at once.
async fn keep_sources(
    app: &App,
    address: &Address,
    targets: &[PathBuf],
) -> Result<(), CommandError> {
    let Some(project) = &address.project else { return Ok(()) };
    let root = app.ports.files.root(project).await.ok().flatten();
    let stored = artifacts::get(app, &Caller::Person, address.clone()).await;
    let stored = stored.map_err(local::failed)?;
    let document = stored.state.as_deref().and_then(|state| state.artifact.document.as_ref());
    let (Some(root), Some(document)) = (root, document) else { return Ok(()) };
    let read: Vec<PathBuf> =
        source_files(document).iter().map(|file| real_path(&root.join(file))).collect();
    let Some(target) = targets.iter().find(|target| read.contains(&real_path(target))) else {
        return Ok(());
    };
    let message = format!("the artifact reads {}: an export would replace it", target.display());
    Err(CommandError::new(ErrorCode::BadRequest, message)
        .suggest("name another file")
        .ending(Exit::Usage))
}

/// Resolves the folder of a path, so that two ways to one file are seen to be one.
fn real_path(path: &Path) -> PathBuf {
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        (None, _) | (_, None) => path.to_owned(),
    }
}

async fn print(app: &App, address: Address) -> Result<Answer, CommandError> {
    let request = Request { address: address.clone(), format: ExportFormat::Json, table: None };
    let file = artifacts::export(app, &Caller::Person, request).await.map_err(local::failed)?;
    let stored = artifacts::get(app, &Caller::Person, address).await.map_err(local::failed)?;
    let value = stored.state.as_deref().map(export_value).unwrap_or_default();
    let text = file.text.lines().fold(Text::new(), |text, line| text.line(line));
    Ok(Answer::new(json!({ "export": value }), text))
}

/// Draws the page in the forms that were asked for.
async fn drawn(
    settings: &Settings,
    app: &App,
    address: &Address,
    drawings: [(Drawing, &Option<String>); 2],
) -> Result<Vec<MadeFile>, CommandError> {
    let request = Request { address: address.clone(), format: ExportFormat::Html, table: None };
    let page = artifacts::export(app, &Caller::Person, request).await.map_err(local::failed)?;
    let mut made = Vec::new();
    for (drawing, path) in drawings {
        let Some(path) = path else { continue };
        let bytes = drawing::draw(&page.text, drawing).await?;
        let (path, format) = (settings.directory.join(path), drawing.word());
        made.push(MadeFile { path, format, contains: drawing.contains(), bytes });
    }
    Ok(made)
}

/// A file that is ready to be written.
struct MadeFile {
    path: PathBuf,
    format: &'static str,
    contains: &'static str,
    bytes: Vec<u8>,
}

fn entry(file: &MadeFile) -> Value {
    json!({
        "file": file.path.display().to_string(),
        "format": file.format,
        "bytes": file.bytes.len(),
        "contains": file.contains,
    })
}
