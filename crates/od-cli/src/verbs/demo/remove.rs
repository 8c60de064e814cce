//! `od demo --remove`: takes away what the demo brought, and nothing else.

use std::path::PathBuf;

use od_app::artifacts::{Address, DeleteArtifact};
use od_app::{App, Caller, Mode};
use od_core::error::ErrorCode;
use od_core::ids::{ArtifactId, ProjectId};
use od_ports::project_registry::Project;
use serde_json::json;

use super::content::{ARTIFACTS, Home, remove_files};
use crate::args::Demo;
use crate::local;
use crate::output::{Answer, CommandError, Exit, Style, Text, ask};
use crate::settings::Settings;
use crate::verbs::daemon;

/// The things that the demo brought and that are still there.
struct Brought {
    app: Option<App>,
    project: Option<Project>,
    /// Its artifact over a repository of the person's, which is in a project of that repository.
    elsewhere: Vec<(ProjectId, ArtifactId)>,
    directory: PathBuf,
    /// Whether the directory is the demo's own, and not one that the person named.
    is_own: bool,
}

/// Removes the demo's project, artifacts and files, after asking.
pub(super) async fn remove(
    settings: &Settings,
    args: &Demo,
    default: PathBuf,
) -> Result<Answer, CommandError> {
    let brought = look(settings, args, default).await?;
    let there = brought.directory.is_dir();
    if brought.project.is_none() && brought.elsewhere.is_empty() && !there {
        let text = Text::new().line("There is nothing of the demo here.");
        return Ok(Answer::new(json!({ "removed": false, "dryRun": args.dry_run }), text));
    }
    let plan = plan(&brought, settings, there);
    let json = json!({
        "dryRun": args.dry_run,
        "removed": !args.dry_run,
        "projectId": brought.project.as_ref().map(|project| &project.id),
        "artifactIds": brought.elsewhere.iter().map(|(_, id)| id).collect::<Vec<_>>(),
        "directory": brought.directory,
    });
    if args.dry_run {
        return Ok(Answer::new(json, plan.line("Nothing was changed.")));
    }
    if !args.yes && ask(&plan, "Remove it?") != Some(true) {
        return Err(CommandError::new(
            ErrorCode::BadRequest,
            "removing the demo needs a person's word",
        )
        .suggest("look with `od demo --remove --dry-run`, then `od demo --remove --yes`")
        .ending(Exit::Confirm));
    }
    take_away(settings, &brought).await?;
    let kept = if there {
        remove_files(&brought.directory, brought.is_own).map_err(|error| {
            let message = format!("cannot remove {}: {error}", brought.directory.display());
            CommandError::new(ErrorCode::Internal, message).suggest("remove the rest by hand")
        })?
    } else {
        false
    };
    let mut text = Text::new().line("The demo is gone.");
    if kept {
        let directory = local::display_path(&brought.directory, settings);
        let note = format!("{directory} holds files that are not the demo's; they stay.");
        text = text.styled(Style::Dim, &note);
    }
    Ok(Answer::new(json, text))
}

async fn look(settings: &Settings, args: &Demo, default: PathBuf) -> Result<Brought, CommandError> {
    let is_own = args.directory.is_none();
    let directory = args.directory.clone().unwrap_or(default);
    // Roots are stored without links.
    let directory = directory.canonicalize().unwrap_or(directory);
    let Some(app) = local::open_existing(settings)? else {
        return Ok(Brought { app: None, project: None, elsewhere: Vec::new(), directory, is_own });
    };
    let projects = local::projects(&app).await?;
    let project = projects.into_iter().find(|known| known.root.as_deref() == Some(&directory));
    let repository = ARTIFACTS.iter().filter(|artifact| artifact.home == Home::Repository);
    let slugs: Vec<&str> = repository.map(|artifact| artifact.slug).collect();
    let lines = local::artifacts(&app, None).await?;
    // A project with the demo's other artifacts is a demo over another folder, with its own repository.
    let is_demo = |of: &ProjectId| {
        lines.iter().any(|line| {
            let slug = line.heading.slug.as_str();
            let mut files = ARTIFACTS.iter().filter(|artifact| artifact.home == Home::Files);
            line.project_id == *of && files.any(|artifact| artifact.slug == slug)
        })
    };
    let elsewhere = lines
        .iter()
        .filter(|line| !is_demo(&line.project_id))
        .filter(|line| Some(&line.project_id) != project.as_ref().map(|project| &project.id))
        // A person's own page may have the slug, but not the demo's title as well.
        .filter(|line| slugs.contains(&line.heading.slug.as_str()))
        .filter(|line| line.heading.title == "State of this repository")
        .map(|line| (line.project_id.clone(), line.id.clone()))
        .collect();
    Ok(Brought { app: Some(app), project, elsewhere, directory, is_own })
}

fn plan(brought: &Brought, settings: &Settings, there: bool) -> Text {
    let mut text = Text::new();
    if let Some(project) = &brought.project {
        text = text.line(&format!(
            "Project “{}” goes; its live artifacts go to the trash, which keeps them for 7 days.",
            project.name
        ));
    }
    for (project, id) in &brought.elsewhere {
        text = text.line(&format!("{id} of project {project} goes to the trash."));
    }
    if there {
        let directory = local::display_path(&brought.directory, settings);
        text = text.line(&format!("The demo's files in {directory} are deleted."));
    }
    text
}

async fn take_away(settings: &Settings, brought: &Brought) -> Result<(), CommandError> {
    let Some(app) = &brought.app else { return Ok(()) };
    let client = match daemon::running(settings).await {
        Some(daemon) => Some(daemon::person_client(settings, &daemon)?),
        None => None,
    };
    for (project, artifact) in &brought.elsewhere {
        if let Some(client) = &client {
            client.delete(artifact, Some(project)).await?;
            continue;
        }
        let address = Address { project: Some(project.clone()), artifact: artifact.clone() };
        let request = DeleteArtifact { address, if_revision: None };
        let done = od_app::artifacts::delete(app, &Caller::Person, request, Mode::Commit).await;
        done.map_err(local::failed)?;
    }
    match (&brought.project, &client) {
        (Some(project), Some(client)) => drop(client.remove_project(&project.id).await?),
        (Some(project), None) => {
            let done = od_app::projects::remove(app, &Caller::Person, &project.id).await;
            drop(done.map_err(local::failed)?);
        }
        (None, _) => {}
    }
    Ok(())
}
