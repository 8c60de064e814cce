//! `od init`: only the command line binds a directory to a project.

use std::path::Path;

use od_app::Caller;
use od_app::projects::{CreateProject, CreateProjectError};
use od_fs::DataDir;
use od_ports::project_registry::{Project, ProjectError};
use serde_json::json;

use crate::args::Init;
use crate::local;
use crate::output::{Answer, CommandError, Style, Text};
use crate::settings::Settings;

/// Registers a directory as a project; does nothing if it is one.
pub(crate) async fn init(settings: &Settings, args: Init) -> Result<Answer, CommandError> {
    let directory = local::existing_directory(args.directory)?;
    // Asked here and not only by the use case, so that a dry run fails exactly as the real call does.
    if let Some(allowed) =
        DataDir::bound(&settings.data_dir).filter(|allowed| !directory.starts_with(allowed))
    {
        let error =
            CreateProjectError::from(ProjectError::RootOutside { root: directory, allowed });
        return Err(local::failed(error));
    }
    let existing = match local::open_existing(settings)? {
        Some(app) => local::projects(&app).await?,
        None => Vec::new(),
    };
    let known = existing.into_iter().find(|project| project.root.as_deref() == Some(&directory));
    if let Some(project) = known {
        return Ok(answer(&project, false, args.dry_run));
    }
    let name = args.name.unwrap_or_else(|| {
        let last = directory.file_name().map(|name| name.to_string_lossy().into_owned());
        // The root of the disk has no name.
        last.unwrap_or_else(|| "project".to_owned())
    });
    if args.dry_run {
        let text = Text::new()
            .line(&format!("Would register {} as project “{name}”.", directory.display()));
        let json = json!({ "dryRun": true, "created": true, "project": { "name": name, "root": directory } });
        return Ok(Answer::new(json, text));
    }
    let app = local::open(settings)?;
    let request = CreateProject { id: None, name, root: Some(directory) };
    let project =
        od_app::projects::create(&app, &Caller::Person, request).await.map_err(local::failed)?;
    Ok(answer(&project, true, false))
}

fn answer(project: &Project, created: bool, dry_run: bool) -> Answer {
    let root = project.root.as_deref().unwrap_or(Path::new("")).display();
    let verb = if created { "Registered" } else { "Already registered:" };
    let mut text = Text::new().pieces(&[
        (Style::Good, verb),
        (Style::Plain, &format!(" {root} as project ")),
        (Style::Bold, project.id.as_str()),
    ]);
    if created {
        text = text
            .gap()
            .line("Next:")
            .line("  od skills install     teach agents here to make live artifacts")
            .line("  od run -- AGENT       start one, and ask it for a live dashboard")
            .line("  od open               see what it makes");
    }
    Answer::new(json!({ "dryRun": dry_run, "created": created, "project": project }), text)
}
