//! The project's own commands: `cargo xtask test`, `codegen`, `layering`, `count`, `bench`,
//! `mcp-clients`.
//!
//! Must not know: anything at run time of the product; nothing depends on it.

use std::process::ExitCode;

mod arguments;
mod bench;
mod codegen;
mod console;
mod count;
mod dependencies;
mod layering;
mod steps;
mod system_tools;
mod test;

use arguments::Command;

fn main() -> ExitCode {
    let outcome = match arguments::parse(lexopt::Parser::from_env()) {
        Ok(Command::Help) => say(arguments::HELP),
        Ok(Command::Codegen(mode)) => codegen::run(mode),
        Ok(Command::Layering) => layering::run(),
        Ok(Command::Count { root }) => count::run(&root.unwrap_or_else(steps::root)),
        Ok(Command::Test(options)) => test::run(&options),
        Ok(Command::Bench(options)) => bench::run(&options),
        Ok(Command::McpClients { update }) => test::run_mcp_clients(update),
        Err(err) => Err(format!("{err}\n\n{}", arguments::HELP)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => complain(&message),
    }
}

#[expect(clippy::print_stdout, reason = "the help text is what was asked for")]
fn say(text: &str) -> Result<(), String> {
    print!("{text}");
    Ok(())
}

#[expect(clippy::print_stderr, reason = "the one place where a failed command speaks")]
fn complain(message: &str) -> ExitCode {
    eprintln!("xtask: {message}");
    ExitCode::FAILURE
}
