//! From a command to its verb.

use std::process::ExitCode;

use od_core::error::ErrorCode;

use crate::args::{self, Command, Format, Globals, Invocation, ToolCommand};
use crate::output::{Answer, Exit, Refusal, Sink};
use crate::settings::Settings;
use crate::verbs;

/// Understands the process's arguments, does what they ask, and returns how the process ends.
#[must_use]
pub fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let asked_json = words.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    let exit = match args::parse(words) {
        Ok(invocation) => execute(invocation),
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
    sink.finish(answer(&globals, command))
}

fn answer(globals: &Globals, command: Command) -> Result<Answer, Refusal> {
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
        Command::McpConfig(asked) => verbs::mcp::config(&asked.agent),
        Command::Tool(_)
        | Command::Serve(_)
        | Command::Demo(_)
        | Command::Open(_)
        | Command::Init(_)
        | Command::Run(_)
        | Command::Artifacts(_)
        | Command::ConnectorsList
        | Command::ConnectorsConnect(_)
        | Command::ConnectorsDisconnect(_)
        | Command::McpServe
        | Command::KeysStatus
        | Command::KeysRotate(_)
        | Command::Doctor => {
            Err(Refusal::new(ErrorCode::Internal, "this build does not have the verb yet"))
        }
    }
}

/// Runs one of the agent's commands: a client, one exchange, one JSON document.
fn tool(asked: ToolCommand) -> Exit {
    let indented = match asked.format() {
        Format::Compact => false,
        Format::Json => true,
    };
    let outcome =
        verbs::tools::client().and_then(|client| block_on(verbs::tools::perform(&client, asked)));
    match outcome {
        Ok(document) => Sink::document(&document, indented, Exit::Ok),
        Err(refusal) => Sink::refusal_document(&refusal, indented),
    }
}

/// Runs a future on this thread: most verbs make one exchange and end.
fn block_on<T>(work: impl Future<Output = Result<T, Refusal>>) -> Result<T, Refusal> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        Refusal::new(ErrorCode::Internal, format!("cannot start: {error}"))
            .suggesting("raise the limits on open files and processes")
    })?;
    runtime.block_on(work)
}
