//! Runs the verb of a command.

use std::process::ExitCode;

use od_core::error::ErrorCode;

use crate::args::{
    self, ArtifactsCommand, Command, ConnectorsCommand, Format, Globals, Invocation, KeysCommand,
    McpCommand, ProjectsCommand, SessionsCommand, SkillsCommand, SourcesCommand, ToolCommand,
};
use crate::help;
use crate::output::{Answer, CommandError, Exit, Sink, with_progress};
use crate::settings::Settings;
use crate::verbs;
use crate::verbs::webhooks::webhooks;

/// Runs the command in the process's arguments and returns the exit code.
#[must_use]
pub fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    // Not a verb: the daemon starts it, nobody types it, and it reads no settings.
    if words.first().is_some_and(|word| word == od_agents::SUPERVISOR_VERB) {
        return supervise(&words[1..]);
    }
    let asked_json = words.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    // The agent's commands answer in JSON, also when they were not understood.
    let by_agent = words.iter().find(|word| !word.as_encoded_bytes().starts_with(b"-"));
    let by_agent = by_agent.is_some_and(|word| word == "tools");
    let exit = match args::parse(words) {
        Ok(Invocation { globals, command }) => {
            let sink = Sink::of_process(globals.json);
            sink.finish(answer(&globals, command, sink))
        }
        Err(error) if by_agent => Sink::refusal_document(&error.into(), false),
        Err(error) => Sink::of_process(asked_json).finish(Err(error.into())),
    };
    ExitCode::from(exit.code())
}

/// Stands between the daemon and an agent.
fn supervise(words: &[std::ffi::OsString]) -> ExitCode {
    let parent = words.first().and_then(|word| word.to_str()?.parse().ok());
    let (Some(parent), Some(command)) = (parent, words.get(1..)) else {
        return ExitCode::from(Exit::Usage.code());
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let outcome = runtime.map(|runtime| runtime.block_on(od_agents::supervise(parent, command)));
    match outcome {
        Ok(Ok(code)) => ExitCode::from(code),
        Ok(Err(error)) | Err(error) => {
            Sink::of_process(false).remark(&format!("the agent does not start: {error}"));
            ExitCode::from(127)
        }
    }
}

#[expect(clippy::too_many_lines, reason = "one arm for each verb")]
fn answer(globals: &Globals, command: Command, sink: Sink) -> Result<Answer, CommandError> {
    // Looked up only by verbs that need them: the others work where no directory of ours is usable.
    let settings = || Settings::of_process(globals);
    match command {
        Command::Help(words) => help::help(&words),
        Command::Version => Ok(help::version()),
        Command::Completions(shell) => Ok(help::completions(shell)),
        Command::Serve(args) => on_many_threads(verbs::daemon::serve(&settings()?, args, sink)),
        Command::Stop { dry_run } => block_on(with_progress(
            sink,
            "ending the daemon",
            verbs::daemon::stop(&settings()?, dry_run),
        )),
        Command::Demo(args) => on_many_threads(verbs::demo::run(&settings()?, args, sink)),
        Command::Open(args) => block_on(verbs::daemon::open_console(&settings()?, &args, sink)),
        Command::Init(args) => block_on(verbs::projects::init(&settings()?, args)),
        Command::Refresh(args) => {
            let settings = settings()?;
            let work = verbs::refresh_due::refresh_due(&settings, &args);
            block_on(with_progress(sink, "running what is due", work))
        }
        Command::Trust(args) => block_on(verbs::projects::trust::trust(&settings()?, &args)),
        Command::Build(args) => {
            let settings = settings()?;
            let work = verbs::share::build::build(&settings, &args);
            block_on(with_progress(sink, "building the site", work))
        }
        Command::Verify(file) => verbs::share::bundles::verify(&settings()?, &file),
        Command::Service(command) => block_on(verbs::service::service(&settings()?, command)),
        Command::Run(args) => block_on(verbs::run::run(&settings()?, args, sink)),
        Command::Chat(args) => block_on(verbs::chat::chat(&settings()?, args, sink)),
        Command::Tools(command) => Ok(Answer::silent().ending(tool(command))),
        Command::Artifacts(command) => block_on(artifacts(&settings()?, command, sink)),
        Command::Projects(command) => block_on(projects(&settings()?, command)),
        Command::Connectors(command) => block_on(connectors(&settings()?, command, sink)),
        Command::Sources(command) => block_on(sources(&settings()?, command, sink)),
        Command::Webhooks(command) => block_on(webhooks(&settings()?, command, sink)),
        Command::Skills(command) => skills(globals, command),
        Command::Mcp(McpCommand::Serve { project }) => {
            on_pipes(verbs::mcp::serve(globals.clone(), project, sink))
        }
        Command::Mcp(McpCommand::Config { agent, project }) => {
            block_on(verbs::mcp::config(globals, agent, project, sink))
        }
        Command::Config(command) => {
            // `set` and `unset` mend a configuration that every other verb refuses.
            block_on(verbs::config::config(&Settings::unchecked(globals)?, command))
        }
        Command::Keys(KeysCommand::Status) => verbs::share::keys::status(&settings()?),
        Command::Keys(KeysCommand::Rotate { dry_run }) => {
            verbs::share::keys::rotate(&settings()?, dry_run)
        }
        Command::Keys(KeysCommand::ExportPublic) => verbs::share::keys::export_public(&settings()?),
        Command::Keys(KeysCommand::Signers) => verbs::share::keys::signers(&settings()?),
        Command::Keys(KeysCommand::Trust(args)) => verbs::share::keys::trust(&settings()?, &args),
        Command::Keys(KeysCommand::Revoke(args)) => verbs::share::keys::revoke(&settings()?, &args),
        Command::Store(command) => {
            let settings = settings()?;
            block_on(with_progress(
                sink,
                "asking the store",
                verbs::store::store(&settings, command),
            ))
        }
        Command::Sessions(SessionsCommand::List) => verbs::sessions::list(&settings()?),
        Command::Sessions(SessionsCommand::Revoke(args)) => {
            block_on(verbs::sessions::revoke(&settings()?, &args))
        }
        Command::Report => {
            let settings = Settings::unchecked(globals)?;
            block_on(with_progress(
                sink,
                "checking this installation",
                verbs::report::report(&settings),
            ))
        }
        Command::Doctor => {
            // It says what is wrong with directories that every other verb refuses to use.
            let settings = Settings::unchecked(globals)?;
            let work = verbs::doctor::run(&settings);
            block_on(with_progress(sink, "checking this installation", work))
        }
    }
}

fn skills(globals: &Globals, command: SkillsCommand) -> Result<Answer, CommandError> {
    use verbs::skills;
    let settings = || Settings::of_process(globals);
    match command {
        SkillsCommand::List { directory } => skills::list(directory, &settings()?),
        SkillsCommand::Show { template: Some(template), .. } => skills::show_template(&template),
        SkillsCommand::Show { templates: true, .. } => Ok(skills::list_templates()),
        SkillsCommand::Show { name, .. } => skills::show(&name, &settings()?),
        SkillsCommand::Install(args) => skills::install(args),
        SkillsCommand::Check { paths } => skills::check(&paths, &settings()?),
    }
}

async fn artifacts(
    settings: &Settings,
    command: ArtifactsCommand,
    sink: Sink,
) -> Result<Answer, CommandError> {
    use verbs::artifacts;
    match command {
        ArtifactsCommand::List(args) if args.trash => artifacts::list_trash(settings, &args).await,
        ArtifactsCommand::List(args) => artifacts::list(settings, &args).await,
        ArtifactsCommand::Show(args) => artifacts::show(settings, &args).await,
        ArtifactsCommand::History(args) => artifacts::history(settings, &args).await,
        ArtifactsCommand::Export(args) => artifacts::export(settings, &args).await,
        ArtifactsCommand::Import(args) => verbs::share::bundles::import(settings, &args).await,
        ArtifactsCommand::Revisions(args) => artifacts::revisions(settings, &args).await,
        ArtifactsCommand::Diff(args) => artifacts::diff(settings, &args).await,
        ArtifactsCommand::Schedule(args) => artifacts::schedule(settings, &args).await,
        ArtifactsCommand::Refresh(args) => artifacts::refresh(settings, &args, sink).await,
        ArtifactsCommand::Rollback(args) => artifacts::roll_back(settings, &args).await,
        ArtifactsCommand::Delete(args) => artifacts::delete(settings, &args).await,
        ArtifactsCommand::Restore(args) => artifacts::restore(settings, &args).await,
        ArtifactsCommand::Check(args) => artifacts::check(settings, args).await,
        ArtifactsCommand::Verify(args) => {
            let work = artifacts::verify(settings, args);
            with_progress(sink, "checking stored files", work).await
        }
        ArtifactsCommand::Repair(args) => artifacts::repair(settings, args).await,
        ArtifactsCommand::Open(args) => verbs::daemon::open_artifact(settings, &args, sink).await,
    }
}

async fn projects(settings: &Settings, command: ProjectsCommand) -> Result<Answer, CommandError> {
    use verbs::projects;
    match command {
        ProjectsCommand::List => projects::list(settings).await,
        ProjectsCommand::Rename(args) => projects::rename(settings, &args).await,
        ProjectsCommand::Rebind(args) => projects::rebind(settings, args).await,
        ProjectsCommand::Export(args) => {
            verbs::share::bundles::export_project(settings, &args).await
        }
        ProjectsCommand::Remove(args) => projects::remove(settings, &args).await,
    }
}

async fn connectors(
    settings: &Settings,
    command: ConnectorsCommand,
    sink: Sink,
) -> Result<Answer, CommandError> {
    use verbs::projects::connectors;
    match command {
        ConnectorsCommand::List => connectors::list(settings).await,
        ConnectorsCommand::Connect(args) => connectors::connect(settings, &args, sink).await,
        ConnectorsCommand::Disconnect(args) => connectors::disconnect(settings, &args).await,
    }
}

async fn sources(
    settings: &Settings,
    command: SourcesCommand,
    sink: Sink,
) -> Result<Answer, CommandError> {
    use verbs::projects::sources;
    match command {
        SourcesCommand::AddHttp(args) => sources::add_http(settings, &args).await,
        SourcesCommand::AddPostgres(args) => sources::add_postgres(settings, &args).await,
        SourcesCommand::List => sources::list(settings).await,
        SourcesCommand::Test(args) => sources::test(settings, &args, sink).await,
        SourcesCommand::Remove(args) => sources::remove(settings, &args).await,
    }
}

/// Runs one of the agent's commands: a client, one exchange, one JSON document.
fn tool(command: ToolCommand) -> Exit {
    let indented = match command.format() {
        Format::Compact => false,
        Format::Json => true,
    };
    let sink = Sink::of_process(true);
    let outcome = verbs::tools::client_of_living().and_then(|client| {
        let work = verbs::tools::perform(&client, command);
        block_on(with_progress(sink, "waiting for the daemon", work))
    });
    match outcome {
        Ok(document) => Sink::document(&document, indented, Exit::Ok),
        Err(refusal) => Sink::refusal_document(&verbs::tools::explained(refusal), indented),
    }
}

/// Runs a future on this thread: most verbs make one exchange and end.
fn block_on<T>(work: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
    run_on(tokio::runtime::Builder::new_current_thread(), work)
}

/// Runs a future that reads stdin, and does not wait for a read that still hangs when it is done.
fn on_pipes<T>(work: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
    let runtime = build(tokio::runtime::Builder::new_current_thread())?;
    let outcome = runtime.block_on(work);
    runtime.shutdown_background();
    outcome
}

/// Runs a future that serves others on all of the machine's cores.
fn on_many_threads<T>(
    work: impl Future<Output = Result<T, CommandError>>,
) -> Result<T, CommandError> {
    run_on(tokio::runtime::Builder::new_multi_thread(), work)
}

fn run_on<T>(
    builder: tokio::runtime::Builder,
    work: impl Future<Output = Result<T, CommandError>>,
) -> Result<T, CommandError> {
    build(builder)?.block_on(work)
}

fn build(mut builder: tokio::runtime::Builder) -> Result<tokio::runtime::Runtime, CommandError> {
    builder.enable_all().build().map_err(|error| {
        CommandError::new(ErrorCode::Internal, format!("cannot start: {error}"))
            .suggest("raise the limits on open files and processes")
    })
}
