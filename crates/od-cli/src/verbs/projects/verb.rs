//! `od init` and `od projects …`: only the command line binds a directory to a project.

use std::path::{Path, PathBuf};

use od_app::projects::{CreateProject, CreateProjectError, RemovedProject};
use od_app::{App, Caller};
use od_core::artifact::ListTally;
use od_core::error::ErrorCode;
use od_daemon::views;
use od_fs::DataDir;
use od_ports::project_registry::{Project, ProjectError};
use od_wire::project::{ProjectAnswer, ProjectsAnswer};
use serde_json::json;

use crate::args::{Init, RebindProject, RemoveProject, RenameProject};
use crate::local;
use crate::output::{Answer, CommandError, Exit, Style, Table, Text, ask};
use crate::settings::Settings;
use crate::verbs::daemon;

/// Registers a directory as a project; does nothing if it is one.
pub(crate) async fn init(settings: &Settings, args: Init) -> Result<Answer, CommandError> {
    let directory = local::existing_directory(args.directory)?;
    check_reach(settings, &directory)?;
    check_breadth(settings, &directory)?;
    let existing = match local::open_existing(settings)? {
        Some(app) => local::projects(&app).await?,
        None => Vec::new(),
    };
    let known = existing.into_iter().find(|project| project.root.as_deref() == Some(&directory));
    if let Some(mut project) = known {
        if let Some(allowed) = args.allow_schedules.filter(|_| !args.dry_run) {
            project = allow_schedules(settings, &project, allowed).await?;
        }
        let mut answer = answer(&project, false, args.dry_run);
        if let Some(allowed) = args.allow_schedules {
            let who = if args.dry_run { "Agents here would be" } else { "Agents here are" };
            let may = if allowed { "allowed" } else { "not allowed" };
            let says = format!("{who} {may} to switch on schedules of sources of this machine.");
            answer.text = answer.text.line(&says);
        }
        return Ok(answer);
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
    let mut project =
        od_app::projects::create(&app, &Caller::Person, request).await.map_err(local::failed)?;
    if let Some(allowed) = args.allow_schedules {
        project = allow_schedules(settings, &project, allowed).await?;
    }
    Ok(answer(&project, true, false))
}

/// Lets agents of a project switch on schedules of local sources, or no longer.
async fn allow_schedules(
    settings: &Settings,
    project: &Project,
    allowed: bool,
) -> Result<Project, CommandError> {
    let app = local::open(settings)?;
    let changed =
        od_app::projects::allow_schedules(&app, &Caller::Person, &project.id, allowed).await;
    changed.map_err(local::failed)
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

/// Lists projects with their folders, and says which folders are gone.
pub(crate) async fn list(settings: &Settings) -> Result<Answer, CommandError> {
    let found = match local::open_existing(settings)? {
        Some(app) => {
            let counted = od_app::projects::counted(&app, &Caller::Person).await;
            counted.map_err(local::failed)?
        }
        None => Vec::new(),
    };
    let line =
        |(project, tally): &(Project, Option<ListTally>)| views::project_line(project, *tally);
    let answer = ProjectsAnswer { projects: found.iter().map(line).collect() };
    if found.is_empty() {
        let text = Text::new()
            .line("No projects yet.")
            .line("`od init` in a folder makes it one; `od demo` brings one to look at.");
        return Ok(Answer::of(&answer, text));
    }
    let mut table = Table::new(&["NAME", "ID", "ARTIFACTS", "FOLDER"]);
    let mut moved = None;
    for (project, tally) in &found {
        let artifacts = tally.map_or_else(|| "?".to_owned(), |tally| tally.total().to_string());
        let (style, folder) = match &project.root {
            None => (Style::Dim, "none".to_owned()),
            Some(root) if root.is_dir() => (Style::Plain, local::display_path(root, settings)),
            Some(root) => {
                moved = Some(&project.id);
                (Style::Bad, format!("{} (gone)", local::display_path(root, settings)))
            }
        };
        table.row(&[
            (Style::Bold, &project.name),
            (Style::Plain, project.id.as_str()),
            (Style::Plain, &artifacts),
            (style, &folder),
        ]);
    }
    let mut text = table.shrinking(&[0, 3]).lay_out();
    if let Some(project) = moved {
        let hint = format!("If a folder was moved: od projects rebind {project} --dir NEW_FOLDER");
        text = text.gap().line(&hint);
    }
    Ok(Answer::of(&answer, text))
}

/// Gives a project another name.
pub(crate) async fn rename(
    settings: &Settings,
    args: &RenameProject,
) -> Result<Answer, CommandError> {
    let (app, project) = named(settings, &args.project).await?;
    if args.dry_run {
        let text =
            format!("Would call {} “{}” instead of “{}”.", project.id, args.name, project.name);
        let project = Project { name: args.name.clone(), ..project };
        return Ok(Answer::of(&answer_of(&project), Text::new().line(&text)).dry());
    }
    let answer = match daemon::running(settings).await {
        Some(daemon) => {
            let client = daemon::person_client(settings, &daemon)?;
            client.rename_project(&project.id, &args.name).await?
        }
        None => {
            let renamed =
                od_app::projects::rename(&app, &Caller::Person, &project.id, &args.name).await;
            answer_of(&renamed.map_err(local::failed)?)
        }
    };
    let text = format!("{} is called “{}” now.", project.id, answer.project.name);
    Ok(Answer::of(&answer, Text::new().line(&text)))
}

/// Binds a project to another folder.
pub(crate) async fn rebind(
    settings: &Settings,
    args: RebindProject,
) -> Result<Answer, CommandError> {
    let directory = local::existing_directory(args.directory)?;
    let (app, project) = named(settings, &args.project).await?;
    let others = local::projects(&app).await?;
    let taken = others
        .into_iter()
        .find(|other| other.id != project.id && other.root.as_deref() == Some(&directory));
    if let Some(other) = taken {
        let message = format!("{} is the folder of project `{}`", directory.display(), other.id);
        return Err(CommandError::new(ErrorCode::Conflict, message).suggest(format!(
            "choose another folder, or remove that project first: od projects remove {}",
            other.id
        )));
    }
    check_reach(settings, &directory)?;
    let before = project.root.clone();
    let project = if args.dry_run {
        Project { root: Some(directory), ..project }
    } else {
        let bound = od_app::projects::rebind(&app, &Caller::Person, &project.id, directory).await;
        bound.map_err(local::failed)?
    };
    let show = |root: &Option<PathBuf>| {
        root.as_deref().map_or_else(|| "no folder".to_owned(), |r| local::display_path(r, settings))
    };
    let verb = if args.dry_run { "would read" } else { "reads" };
    let text = Text::new()
        .line(&format!("{} {verb} {} from now on.", project.id, show(&project.root)))
        .styled(Style::Dim, &format!("Before: {}.", show(&before)));
    let answer = Answer::of(&answer_of(&project), text);
    Ok(if args.dry_run { answer.dry() } else { answer })
}

/// Takes a project out of use; its artifacts go to the trash.
pub(crate) async fn remove(
    settings: &Settings,
    args: &RemoveProject,
) -> Result<Answer, CommandError> {
    let (app, project) = named(settings, &args.project).await?;
    let artifacts = local::artifacts(&app, Some(project.id.clone())).await?;
    let mut plan = Text::new().line(&format!("Project “{}” ({}) goes.", project.name, project.id));
    plan = match artifacts.len() {
        0 => plan.line("It has no live artifacts."),
        count => plan
            .line(&format!("{count} live artifacts go to the trash, which keeps them for 7 days.")),
    };
    if let Some(root) = &project.root {
        let root = local::display_path(root, settings);
        plan = plan.line(&format!("The files in {root} stay as they are."));
    }
    if args.dry_run {
        let trashed = artifacts.iter().map(|line| line.id.clone()).collect();
        let answer = views::removed(RemovedProject { project, trashed });
        return Ok(Answer::of(&answer, plan.line("Nothing was changed.")).dry());
    }
    if !args.yes && ask(&plan, "Remove it?") != Some(true) {
        let message = "removing a project needs a person's word";
        let id = &project.id;
        return Err(CommandError::new(ErrorCode::BadRequest, message)
            .suggest(format!(
                "look with `od projects remove {id} --dry-run`, then `od projects remove {id} --yes`"
            ))
            .ending(Exit::Confirm));
    }
    let answer = match daemon::running(settings).await {
        Some(daemon) => {
            daemon::person_client(settings, &daemon)?.remove_project(&project.id).await?
        }
        None => {
            let removed = od_app::projects::remove(&app, &Caller::Person, &project.id).await;
            views::removed(removed.map_err(local::failed)?)
        }
    };
    let mut text = Text::new().line(&format!("Removed project “{}”.", project.name));
    if !answer.trashed.is_empty() {
        text = text.styled(
            Style::Dim,
            "`od artifacts list --trash` shows what can be brought back, for 7 days.",
        );
    }
    Ok(Answer::of(&answer, text))
}

/// Opens the store and finds the project that was named by its id.
async fn named(settings: &Settings, named: &str) -> Result<(App, Project), CommandError> {
    let Some(app) = local::open_existing(settings)? else {
        return Err(local::nothing_stored(&settings.data_dir));
    };
    let found = local::project(&app, settings, Some(named)).await?;
    let found = found.ok_or_else(|| local::no_project(&settings.directory))?;
    Ok((app, found))
}

/// Refuses a directory that the data directory may not name. Asked here and not only by the use case, so
/// that a dry run fails exactly as the real call does.
fn check_reach(settings: &Settings, directory: &Path) -> Result<(), CommandError> {
    let allowed = DataDir::bound(&settings.data_dir);
    match allowed.filter(|allowed| !directory.starts_with(allowed)) {
        Some(allowed) => {
            let root = directory.to_owned();
            Err(local::failed(CreateProjectError::from(ProjectError::RootOutside {
                root,
                allowed,
            })))
        }
        None => Ok(()),
    }
}

/// Refuses to make the whole disk or a whole home one project: every folder below would be in it, and a
/// token of any `od run` there would reach all of its files.
fn check_breadth(settings: &Settings, directory: &Path) -> Result<(), CommandError> {
    let home = settings.user_home.as_deref().and_then(|home| home.canonicalize().ok());
    let what = if directory.parent().is_none() {
        "the whole disk"
    } else if home.as_deref() == Some(directory) {
        "your whole home"
    } else {
        return Ok(());
    };
    let message = format!("{} is {what}: a project is one folder", directory.display());
    Err(CommandError::new(ErrorCode::BadRequest, message)
        .suggest("run `od init` in the folder whose files the pages are to read")
        .ending(Exit::Usage))
}

fn answer_of(project: &Project) -> ProjectAnswer {
    ProjectAnswer { project: views::project(project) }
}
