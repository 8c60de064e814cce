//! The command line of xtask.

use std::path::PathBuf;

use lexopt::prelude::{Long, Short, Value, ValueExt};

/// The usage text.
pub(crate) const HELP: &str = "\
cargo xtask test [--without-browser] [--without-faults]
    Everything CI checks: format, lints, derived files, layering, dependencies,
    tests, docs, the console's types, the fault suite and the browser suite.
cargo xtask codegen [--check]
    Write every derived file, or name the stale ones and change nothing.
cargo xtask layering
    Compare each crate's dependencies with the table in ARCHITECTURE.md.
cargo xtask count [DIR]
    Print figures of size and style, of this tree or of another.
cargo xtask bench [AREA…] | bench --check | bench --bless
    Measure every figure against a floor or a peer of the same run and write
    docs/benchmarks.md; or compare the instruction counts of the pure parts with
    the stored baseline; or store them.
cargo xtask mcp-clients [--update]
    Run the official Python client and the reference inspector of MCP against
    `od mcp live-artifacts` and check their transcripts; or store them.
";

/// One parsed command line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Print the usage text.
    Help,
    /// Write or verify the derived files.
    Codegen(CodegenMode),
    /// Check the dependency table.
    Layering,
    /// Print figures of size and style.
    Count {
        /// The tree, if not this one.
        root: Option<PathBuf>,
    },
    /// Run every check of CI.
    Test(TestOptions),
    /// Measure.
    Bench(BenchOptions),
    /// Run real MCP clients.
    McpClients {
        /// Store the transcripts instead of comparing them.
        update: bool,
    },
}

/// The choice of what is measured.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct BenchOptions {
    /// Only these areas, or all where none is named.
    pub(crate) areas: Vec<String>,
    /// Compare the instruction counts with the baseline.
    pub(crate) check: bool,
    /// Store the instruction counts as the baseline.
    pub(crate) bless: bool,
}

/// Whether derived files are written or only compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodegenMode {
    /// Write what is stale.
    Write,
    /// Change nothing, fail on what is stale.
    Check,
}

/// Parts that are left out of the test run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TestOptions {
    /// Leave out everything that needs Chromium.
    pub(crate) without_browser: bool,
    /// Leave out everything that needs strace.
    pub(crate) without_faults: bool,
}

/// Reads the command line; touches nothing else.
pub(crate) fn parse(mut parser: lexopt::Parser) -> Result<Command, lexopt::Error> {
    let Some(first) = parser.next()? else { return Ok(Command::Help) };
    let verb = match first {
        Short('h') | Long("help") => return Ok(Command::Help),
        Value(verb) => verb.string()?,
        Short(_) | Long(_) => return Err(first.unexpected()),
    };
    match verb.as_str() {
        "codegen" => parse_codegen(parser),
        "layering" => no_more(parser, Command::Layering),
        "count" => parse_count(parser),
        "test" => parse_test(parser),
        "bench" => parse_bench(parser),
        "mcp-clients" => parse_mcp_clients(parser),
        "help" => Ok(Command::Help),
        other => Err(format!("there is no command `{other}`").into()),
    }
}

fn parse_codegen(mut parser: lexopt::Parser) -> Result<Command, lexopt::Error> {
    let mut mode = CodegenMode::Write;
    while let Some(arg) = parser.next()? {
        match arg {
            Long("check") => mode = CodegenMode::Check,
            Short(_) | Long(_) | Value(_) => return Err(arg.unexpected()),
        }
    }
    Ok(Command::Codegen(mode))
}

fn parse_count(mut parser: lexopt::Parser) -> Result<Command, lexopt::Error> {
    let mut root = None;
    while let Some(arg) = parser.next()? {
        match arg {
            Value(folder) if root.is_none() => root = Some(PathBuf::from(folder)),
            Short(_) | Long(_) | Value(_) => return Err(arg.unexpected()),
        }
    }
    Ok(Command::Count { root })
}

fn parse_test(mut parser: lexopt::Parser) -> Result<Command, lexopt::Error> {
    let mut options = TestOptions::default();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("without-browser") => options.without_browser = true,
            Long("without-faults") => options.without_faults = true,
            Short(_) | Long(_) | Value(_) => return Err(arg.unexpected()),
        }
    }
    Ok(Command::Test(options))
}

fn parse_bench(mut parser: lexopt::Parser) -> Result<Command, lexopt::Error> {
    let mut options = BenchOptions::default();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("check") => options.check = true,
            Long("bless") => options.bless = true,
            Value(area) => options.areas.push(area.string()?),
            Short(_) | Long(_) => return Err(arg.unexpected()),
        }
    }
    Ok(Command::Bench(options))
}

fn parse_mcp_clients(mut parser: lexopt::Parser) -> Result<Command, lexopt::Error> {
    let mut update = false;
    while let Some(arg) = parser.next()? {
        match arg {
            Long("update") => update = true,
            Short(_) | Long(_) | Value(_) => return Err(arg.unexpected()),
        }
    }
    Ok(Command::McpClients { update })
}

fn no_more(mut parser: lexopt::Parser, command: Command) -> Result<Command, lexopt::Error> {
    match parser.next()? {
        None => Ok(command),
        Some(arg) => Err(arg.unexpected()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(args: &[&str], expected: &Command) {
        let parser = lexopt::Parser::from_args(args.iter().copied());
        assert_eq!(parse(parser).unwrap(), *expected);
    }

    #[test]
    fn flags_reach_their_command() {
        check(&[], &Command::Help);
        check(&["codegen"], &Command::Codegen(CodegenMode::Write));
        check(&["codegen", "--check"], &Command::Codegen(CodegenMode::Check));
        check(&["layering"], &Command::Layering);
        check(&["count", "/tree"], &Command::Count { root: Some("/tree".into()) });
        check(&["mcp-clients", "--update"], &Command::McpClients { update: true });
        check(
            &["test", "--without-browser"],
            &Command::Test(TestOptions { without_browser: true, without_faults: false }),
        );
    }

    #[test]
    fn an_unknown_flag_is_refused() {
        assert!(parse(lexopt::Parser::from_args(["test", "--fast"])).is_err());
        assert!(parse(lexopt::Parser::from_args(["layering", "now"])).is_err());
    }
}
