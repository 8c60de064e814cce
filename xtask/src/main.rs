//! The project's own commands: `cargo xtask test`, `codegen`, `layering`, `library`, `count`,
//! `bench`, `dist`, `mutants`, `mcp-clients`, `agents`.
//!
//! Must not know: anything at run time of the product; nothing depends on it.

use std::process::ExitCode;

mod arguments;
/// `cargo xtask bench`: every figure against a floor or a peer of the same run.
mod bench {
    mod counts;
    mod run;

    pub(crate) use run::run;
}
mod codegen;
mod console;
mod count;
mod dependencies;
mod dist;
mod layering;
mod library;
mod mutants;
mod steps;
mod system_tools;
mod test;

use arguments::Command;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "help and failures are said here")]
fn main() -> ExitCode {
    let outcome = match arguments::parse(lexopt::Parser::from_env()) {
        Ok(Command::Help) => {
            print!("{}", arguments::HELP);
            Ok(())
        }
        Ok(Command::Codegen(mode)) => codegen::run(mode),
        Ok(Command::Layering) => layering::run(),
        Ok(Command::Library) => library::run(&mut steps::Steps::default()),
        Ok(Command::Count { root }) => count::run(&root.unwrap_or_else(steps::root)),
        Ok(Command::Test(options)) => test::run(&options),
        Ok(Command::Bench(options)) => bench::run(&options),
        Ok(Command::Agents { names }) => test::run_agents(&names),
        Ok(Command::Dist { check }) => dist::run(check),
        Ok(Command::Mutants { words }) => mutants::run(&words),
        Ok(Command::McpClients { update }) => test::run_mcp_clients(update),
        Err(err) => Err(format!("{err}\n\n{}", arguments::HELP)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
