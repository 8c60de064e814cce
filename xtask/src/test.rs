//! `cargo xtask test`: everything CI checks, cheap checks first, so that a slip is told within seconds.

use std::process::Command;

use crate::arguments::TestOptions;
use crate::steps::{Steps, announce, cargo, present, target};
use crate::system_tools::{self, SystemTool};
use crate::{console, dependencies, layering, library};

/// Runs every check; the first failure ends the run. Derived files are compared by a test of od-codegen.
pub(crate) fn run(options: &TestOptions) -> Result<(), String> {
    let mut steps = Steps::default();
    steps.call("system tools", || {
        if options.whole_faults {
            // Without them the fault suite skips these file systems, and says so.
            system_tools::offer(&[SystemTool::Xfsprogs, SystemTool::BtrfsProgs]);
        }
        system_tools::ensure(&needed(options))
    })?;
    steps.command("format", cargo(&["fmt", "--all", "--check"]))?;
    steps.call("layering", layering::run)?;
    steps.command("dependencies", dependencies::check()?)?;
    steps.command("lints", lints())?;
    steps.command("tests", tests(options))?;
    steps.command("portable twins", portable_twins(options))?;
    if present("cargo-nextest") {
        // nextest does not run examples in documentation.
        let mut examples = cargo(&["test", "--doc", "--quiet"]);
        examples.args(selection(options));
        steps.command("doc tests", examples)?;
    }
    steps.command("docs", docs())?;
    library::run(&mut steps)?;
    // Built with the tests, as the fault suite is.
    let mut conformance = Command::new(target().join("debug/od-conformance"));
    conformance.arg("--program").arg(target().join("debug/od"));
    steps.command("conformance", conformance)?;
    steps.call("console types", console::check_types)?;
    steps.call("console tests", console::run_tests)?;
    if !options.without_faults {
        // Built with the tests. Whole it took 18 minutes of two cores, and three times that on slow ones.
        let mut faults = Command::new(target().join("debug/od-faults"));
        if !options.whole_faults {
            faults.arg("quick");
        }
        steps.command("faults", faults)?;
        let mut portable = Command::new(target().join("debug/od-faults"));
        portable.arg("quick").env("OD_PORTABLE", "1");
        steps.command("faults of the portable twins", portable)?;
    }
    steps.report();
    Ok(())
}

fn needed(options: &TestOptions) -> Vec<SystemTool> {
    let mut tools =
        vec![SystemTool::Git, SystemTool::Node, SystemTool::Sqlite3, SystemTool::Valgrind];
    if !options.without_faults {
        tools.push(SystemTool::Strace);
    }
    if !options.without_browser {
        tools.push(SystemTool::Chromium);
    }
    if !options.without_postgres {
        tools.push(SystemTool::Postgres);
    }
    tools
}

fn lints() -> Command {
    cargo(&["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"])
}

/// The packages and features of everything that is built to be run.
///
/// One selection for all steps: with another, `serde` and `tokio` get other features, and everything above
/// them is compiled once more (eight minutes of two cores for the fault program alone). For the same reason
/// `xtask` depends on no crate of the product.
fn selection(options: &TestOptions) -> Vec<&'static str> {
    let mut words = vec!["--workspace"];
    if !options.without_browser {
        // The tests that start Chromium exist only under this feature.
        words.extend(["--features", "od-e2e/browser"]);
    }
    if !options.without_postgres {
        for tests in ["od-sql/real-postgres", "od-postgres/real-postgres", "od-cli/real-postgres"] {
            words.extend(["--features", tests]);
        }
    }
    words
}

fn tests(options: &TestOptions) -> Command {
    let runner = if present("cargo-nextest") { &["nextest", "run"][..] } else { &["test"] };
    let mut command = cargo(runner);
    command.arg("--no-fail-fast").args(selection(options));
    // A fresh seed for every run once refused a tree for a case in a thousand runs that its change had
    // nothing to do with. Looking for such cases is work of its own: CONTRIBUTING.md says how.
    announce(&format!("    PROPTEST_RNG_SEED={}", options.seed));
    command.env("PROPTEST_RNG_SEED", options.seed.to_string());
    command
}

/// The suites of the store, of project files and of folders again, with the calls that macOS has: the
/// same programs, so nothing is compiled for it.
fn portable_twins(options: &TestOptions) -> Command {
    let mut command = tests(options);
    command.env("OD_PORTABLE", "1");
    if present("cargo-nextest") {
        // Left out: unit tests of the kernel's queue of changes, which the twin does without.
        let with_twins = "(package(od-platform) + package(od-fs) + package(od-connectors)) \
                          - test(/^artifacts::read::(index|watch)::tests/)";
        command.args(["-E", with_twins]);
    }
    command
}

fn docs() -> Command {
    // The features of the lints: what they checked of the dependencies is not checked again.
    let mut command = cargo(&["doc", "--workspace", "--all-features", "--no-deps", "--quiet"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    command
}

/// Runs real agents against the program of this tree.
pub(crate) fn run_agents(names: &[String]) -> Result<(), String> {
    let mut steps = Steps::default();
    steps.command("od", cargo(&["build", "--workspace", "--all-features", "--bin", "od"]))?;
    let mut script = Command::new("python3");
    script.arg("xtask/agents/run.py");
    script.args(names.iter().flat_map(|name| ["--only", name]));
    steps.command("agents", script)
}

/// Builds `od` and runs real MCP clients against it; the script says what it does and what it skips.
pub(crate) fn run_mcp_clients(update: bool) -> Result<(), String> {
    let mut steps = Steps::default();
    steps.command("od", cargo(&["build", "--workspace", "--all-features", "--bin", "od"]))?;
    let mut script = Command::new("python3");
    script.arg("xtask/mcp-clients/run.py");
    if update {
        script.arg("--update");
    }
    steps.command("MCP clients", script)
}
