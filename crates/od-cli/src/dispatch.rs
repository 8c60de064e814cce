//! From a command to its verb.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::args::{self, Command, Invocation};
use crate::output::{Answer, Exit, Refusal, Sink};
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
    sink.finish(answer(command))
}

fn answer(command: Command) -> Result<Answer, Refusal> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    match command {
        Command::Help(words) => verbs::help::page(&words.join(" ")),
        Command::HelpFor(words) => verbs::help::page(&words),
        Command::Version => Ok(verbs::help::version()),
        Command::Completions(asked) => Ok(verbs::help::completions(asked.shell)),
        Command::SkillsList { directory } => verbs::skills_list::list(directory, home.as_deref()),
        Command::SkillsShow { name } => verbs::skills_show::show(&name, home.as_deref()),
        Command::SkillsInstall(asked) => verbs::skills_install::install(asked),
        Command::SkillsCheck(asked) => verbs::skills_check::check(&asked.paths, home.as_deref()),
        Command::Serve(_)
        | Command::Demo(_)
        | Command::Open(_)
        | Command::Init(_)
        | Command::Run(_)
        | Command::ToolCreate(_)
        | Command::ToolList(_)
        | Command::ToolUpdate(_)
        | Command::ToolRefresh(_)
        | Command::ToolValidate(_)
        | Command::ToolConnectors(_)
        | Command::ToolExecute(_)
        | Command::ArtifactsList { .. }
        | Command::ArtifactsShow(_)
        | Command::ArtifactsRefresh(_)
        | Command::ArtifactsHistory(_)
        | Command::ArtifactsVerify(_)
        | Command::ArtifactsRepair(_)
        | Command::ArtifactsRestore(_)
        | Command::ArtifactsOpen { .. }
        | Command::ConnectorsList
        | Command::ConnectorsConnect(_)
        | Command::ConnectorsDisconnect(_)
        | Command::McpServe
        | Command::McpConfig(_)
        | Command::KeysStatus
        | Command::KeysRotate(_)
        | Command::Doctor => {
            Err(Refusal::new("INTERNAL", "this build does not have the verb yet", Exit::Usage))
        }
    }
}
