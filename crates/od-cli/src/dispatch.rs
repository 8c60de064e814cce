//! From a command to its verb.

use std::process::ExitCode;

use od_core::error::ErrorCode;

use crate::args::{self, ArtifactsCommand, Command, Format, Globals, Invocation, ToolCommand};
use crate::output::{Answer, Exit, Refusal, Sink, with_progress};
use crate::settings::Settings;
use crate::verbs;

/// Understands the process's arguments, does what they ask, and returns how the process ends.
#[must_use]
pub fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let asked_json = words.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    // The agent's commands answer in JSON, also when they were not understood.
    let by_agent = words.iter().find(|word| !word.as_encoded_bytes().starts_with(b"-"));
    let by_agent = by_agent.is_some_and(|word| word == "tools");
    let exit = match args::parse(words) {
        Ok(invocation) => execute(invocation),
        Err(error) if by_agent => Sink::refusal_document(&error.into(), false),
        Err(error) => Sink::of_process(asked_json).finish(Err(error.into())),
    };
    ExitCode::from(exit.code())
}

fn execute(invocation: Invocation) -> Exit {
    let Invocation { globals, command } = invocation;
    let sink = Sink::of_process(globals.json);
    if let Command::Tool(asked) = command {
        return tool(asked);
    }
    if let Command::McpServe = command {
        return verbs::mcp::serve(sink);
    }
    sink.finish(answer(&globals, command, sink))
}

fn answer(globals: &Globals, command: Command, sink: Sink) -> Result<Answer, Refusal> {
    let settings = || Settings::of_process(globals);
    match command {
        Command::Help(words) => verbs::help::page(&words.join(" ")),
        Command::HelpFor(words) => verbs::help::page(&words),
        Command::Version => Ok(verbs::help::version()),
        Command::Completions(asked) => Ok(verbs::help::completions(asked.shell)),
        Command::SkillsList { directory } => verbs::skills_list::list(directory, &settings()?),
        Command::SkillsShow { name } => verbs::skills_show::show(&name, &settings()?),
        Command::SkillsInstall(asked) => verbs::skills_install::install(asked),
        Command::SkillsCheck(asked) => verbs::skills_check::check(&asked.paths, &settings()?),
        Command::KeysStatus => verbs::keys::status(&settings()?),
        Command::KeysRotate(asked) => verbs::keys::rotate(&settings()?, asked.dry_run),
        Command::Serve(asked) => on_many_threads(verbs::serve::run(&settings()?, asked, sink)),
        Command::Demo(asked) => on_many_threads(verbs::demo::run(&settings()?, asked, sink)),
        Command::Open(asked) => block_on(verbs::open::console(&settings()?, &asked, sink)),
        Command::Init(asked) => block_on(verbs::init::init(&settings()?, asked)),
        Command::Run(asked) => block_on(verbs::run::run(&settings()?, asked, sink)),
        Command::Artifacts(asked) => block_on(artifacts(&settings()?, asked, sink)),
        Command::ConnectorsList => block_on(verbs::connectors::list(&settings()?)),
        Command::ConnectorsConnect(asked) => {
            block_on(verbs::connectors::connect(&settings()?, &asked, sink))
        }
        Command::ConnectorsDisconnect(asked) => {
            block_on(verbs::connectors::disconnect(&settings()?, &asked))
        }
        Command::Doctor => {
            let settings = Settings::unchecked(globals)?;
            let work = verbs::doctor::run(&settings);
            block_on(with_progress(sink, "checking this installation", work))
        }
        Command::McpConfig(asked) => verbs::mcp::config(&asked.agent, sink),
        Command::Tool(_) | Command::McpServe => {
            Err(Refusal::new(ErrorCode::Internal, "this verb answers for itself")
                .suggesting("this is a fault of od; please report it"))
        }
    }
}

async fn artifacts(
    settings: &Settings,
    asked: ArtifactsCommand,
    sink: Sink,
) -> Result<Answer, Refusal> {
    use verbs::{artifacts_check, artifacts_list, artifacts_show, artifacts_write};
    match asked {
        ArtifactsCommand::List { project, trash: false } => {
            artifacts_list::list(settings, project.as_deref()).await
        }
        ArtifactsCommand::List { project, trash: true } => {
            artifacts_list::trash(settings, project.as_deref()).await
        }
        ArtifactsCommand::Show(asked) => artifacts_show::show(settings, &asked).await,
        ArtifactsCommand::History(asked) => artifacts_show::history(settings, &asked).await,
        ArtifactsCommand::Refresh(asked) => artifacts_write::refresh(settings, &asked, sink).await,
        ArtifactsCommand::Rollback(asked) => artifacts_write::rollback(settings, &asked).await,
        ArtifactsCommand::Restore(asked) => artifacts_write::restore(settings, &asked).await,
        ArtifactsCommand::Verify(asked) => {
            let work = artifacts_check::verify(settings, asked);
            with_progress(sink, "checking stored files", work).await
        }
        ArtifactsCommand::Repair(asked) => artifacts_check::repair(settings, asked).await,
        ArtifactsCommand::Open { artifact, print } => {
            verbs::open::artifact(settings, &artifact, print, sink).await
        }
    }
}

/// Runs one of the agent's commands: a client, one exchange, one JSON document.
fn tool(asked: ToolCommand) -> Exit {
    let indented = match asked.format() {
        Format::Compact => false,
        Format::Json => true,
    };
    let sink = Sink::of_process(true);
    let outcome = verbs::tools::client_of_living().and_then(|client| {
        let work = verbs::tools::perform(&client, asked);
        block_on(with_progress(sink, "waiting for the daemon", work))
    });
    match outcome {
        Ok(document) => Sink::document(&document, indented, Exit::Ok),
        Err(refusal) => Sink::refusal_document(&refusal, indented),
    }
}

/// Runs a future on this thread: most verbs make one exchange and end.
fn block_on<T>(work: impl Future<Output = Result<T, Refusal>>) -> Result<T, Refusal> {
    run_on(tokio::runtime::Builder::new_current_thread(), work)
}

/// Runs a future that serves others on all of the machine's cores.
fn on_many_threads<T>(work: impl Future<Output = Result<T, Refusal>>) -> Result<T, Refusal> {
    run_on(tokio::runtime::Builder::new_multi_thread(), work)
}

fn run_on<T>(
    mut builder: tokio::runtime::Builder,
    work: impl Future<Output = Result<T, Refusal>>,
) -> Result<T, Refusal> {
    let runtime = builder.enable_all().build().map_err(|error| {
        Refusal::new(ErrorCode::Internal, format!("cannot start: {error}"))
            .suggesting("raise the limits on open files and processes")
    })?;
    runtime.block_on(work)
}
