//! The command line of xtask.

use std::path::PathBuf;

use lexopt::prelude::{Long, Short, Value, ValueExt};

/// The usage text.
pub(crate) const HELP: &str = "\
cargo xtask test [--seed N] [--whole-faults] [--without-browser] [--without-faults]
                 [--without-postgres]
    Everything CI checks: format, lints, derived files, layering, dependencies,
    tests, docs, the console's types, the fault suite in its short form (whole
    with --whole-faults, which takes 12 to 30 minutes more), the browser suite and
    the suite that starts a PostgreSQL. Property tests draw their cases from one seed
    (1 unless given), so that the same tree passes or fails the same way twice.
cargo xtask codegen [--check]
    Write every derived file, or name the stale ones and change nothing.
cargo xtask layering
    Compare each crate's dependencies with the table in ARCHITECTURE.md.
cargo xtask library
    Pack od-core, od-ports and od-app as a registry would get them, count the
    crates of each set of features, and compile the small ones.
cargo xtask count [DIR]
    Print figures of size and style, of this tree or of another.
cargo xtask bench [AREA…] | bench --check | bench --bless
    Measure every figure against a floor or a peer of the same run and write
    docs/benchmarks.md; or compare the instruction counts of the pure parts with
    the stored baseline; or store them.
cargo xtask dist [--check]
    Build the release program and put it, the manual, completions and licences
    into target/dist: a tarball with its checksum and a Debian package. With
    --check, also install the package below a scratch root, run the demo from
    it, remove it, and let lintian read it.
cargo xtask mutants [WORD…]
    Put the faults of xtask/mutants.jsonl (or those whose lines have a word) into
    a copy of the last commit, one by one, and fail if the named tests pass.
cargo xtask mcp-clients [--update]
    Run the official Python client and the reference inspector of MCP against
    `od mcp live-artifacts` and check their transcripts; or store them.
cargo xtask agents [NAME…]
    Let real agent CLIs from npm, driven by a scripted model in a network
    namespace, make, read, change and refresh an artifact.
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
    /// Check that the library can be depended on.
    Library,
    /// Print figures of size and style.
    Count {
        /// The tree, if not this one.
        root: Option<PathBuf>,
    },
    /// Run every check of CI.
    Test(TestOptions),
    /// Measure.
    Bench(BenchOptions),
    /// Run real agents.
    Agents {
        /// Only these, or all where none is named.
        names: Vec<String>,
    },
    /// Try faults that the tests must find.
    Mutants {
        /// Only those whose lines have one of these; all if there are none.
        words: Vec<String>,
    },
    /// Make the files that people install.
    Dist {
        /// Install the package below a scratch root, use it and remove it.
        check: bool,
    },
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

/// The seed of the property tests, and the parts that are left out of the test run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TestOptions {
    /// The seed that property tests draw their cases from.
    pub(crate) seed: u64,
    /// Leave out everything that needs Chromium.
    pub(crate) without_browser: bool,
    /// Run the fault suite whole, on every file system that can be made.
    pub(crate) whole_faults: bool,
    /// Leave out everything that needs strace.
    pub(crate) without_faults: bool,
    /// Leave out the tests that start a PostgreSQL.
    pub(crate) without_postgres: bool,
}

impl Default for TestOptions {
    fn default() -> Self {
        Self {
            seed: 1,
            without_browser: false,
            whole_faults: false,
            without_faults: false,
            without_postgres: false,
        }
    }
}

/// Reads the command line; touches nothing else.
pub(crate) fn parse(mut parser: lexopt::Parser) -> Result<Command, lexopt::Error> {
    let Some(first) = parser.next()? else { return Ok(Command::Help) };
    let verb = match first {
        Short('h') | Long("help") => return Ok(Command::Help),
        Value(verb) => verb.string()?,
        Short(_) | Long(_) => return Err(first.unexpected()),
    };
    let mut command = match verb.as_str() {
        "codegen" => Command::Codegen(CodegenMode::Write),
        "layering" => Command::Layering,
        "library" => Command::Library,
        "count" => Command::Count { root: None },
        "test" => Command::Test(TestOptions::default()),
        "bench" => Command::Bench(BenchOptions::default()),
        "mcp-clients" => Command::McpClients { update: false },
        "dist" => Command::Dist { check: false },
        "mutants" => Command::Mutants { words: Vec::new() },
        "agents" => Command::Agents { names: Vec::new() },
        "help" => return Ok(Command::Help),
        other => return Err(format!("there is no command `{other}`").into()),
    };
    while let Some(arg) = parser.next()? {
        match (&mut command, arg) {
            (Command::Codegen(mode), Long("check")) => *mode = CodegenMode::Check,
            (Command::Count { root: root @ None }, Value(folder)) => {
                *root = Some(PathBuf::from(folder));
            }
            (Command::Test(options), Long("seed")) => options.seed = parser.value()?.parse()?,
            (Command::Test(options), Long("without-browser")) => options.without_browser = true,
            (Command::Test(options), Long("whole-faults")) => options.whole_faults = true,
            (Command::Test(options), Long("without-faults")) => options.without_faults = true,
            (Command::Test(options), Long("without-postgres")) => options.without_postgres = true,
            (Command::Bench(options), Long("check")) => options.check = true,
            (Command::Bench(options), Long("bless")) => options.bless = true,
            (Command::Bench(options), Value(area)) => options.areas.push(area.string()?),
            (Command::Agents { names }, Value(name)) => names.push(name.string()?),
            (Command::Mutants { words }, Value(word)) => words.push(word.string()?),
            (Command::Dist { check }, Long("check")) => *check = true,
            (Command::McpClients { update }, Long("update")) => *update = true,
            (_, unknown) => return Err(unknown.unexpected()),
        }
    }
    Ok(command)
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
        check(&["library"], &Command::Library);
        check(&["count", "/tree"], &Command::Count { root: Some("/tree".into()) });
        check(&["agents", "codex"], &Command::Agents { names: vec!["codex".to_owned()] });
        check(&["dist", "--check"], &Command::Dist { check: true });
        check(&["mcp-clients", "--update"], &Command::McpClients { update: true });
        check(
            &["test", "--without-browser"],
            &Command::Test(TestOptions { without_browser: true, ..TestOptions::default() }),
        );
    }

    #[test]
    fn an_unknown_flag_is_refused() {
        assert!(parse(lexopt::Parser::from_args(["test", "--fast"])).is_err());
        assert!(parse(lexopt::Parser::from_args(["layering", "now"])).is_err());
    }
}
