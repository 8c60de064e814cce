//! The dependencies against deny.toml, by cargo-deny: licences, duplicate versions, sources.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::steps::{announce, cargo, present, root};

const PROGRAM: &str = "cargo-deny";
/// Pinned, because a newer one may refuse what this one accepts.
const VERSION: &str = "0.20.2";
/// Advisories are left out: their database has to be fetched, and a change of it would fail a commit
/// that changed nothing.
const CHECKS: [&str; 4] = ["check", "bans", "licenses", "sources"];

/// Returns the command that checks this repository, installing cargo-deny if it is missing.
pub(crate) fn check() -> Result<Command, String> {
    let program = match find() {
        Some(program) => program,
        None => install()?,
    };
    Ok(checking(program))
}

fn checking(program: PathBuf) -> Command {
    let mut command = Command::new(program);
    command.args(["--log-level", "error", "--all-features"]).args(CHECKS);
    command.args(["--hide-inclusion-graph", "--show-stats"]);
    command
}

/// Returns the one on the search path, else the one that this command installed earlier.
fn find() -> Option<PathBuf> {
    let own = own_place().join("bin").join(PROGRAM);
    if present(PROGRAM) { Some(PROGRAM.into()) } else { own.is_file().then_some(own) }
}

fn own_place() -> PathBuf {
    root().join("target/tools")
}

/// Compiles cargo-deny below `target/`, once.
///
/// Without optimisation that takes a minute and a half of one core; optimised it would take three
/// times as long, to save one second of each check.
fn install() -> Result<PathBuf, String> {
    announce("    installing cargo-deny into target/tools, once");
    let version = format!("{PROGRAM}@{VERSION}");
    let status = cargo(&["install", &version, "--locked", "--debug", "--no-track", "--quiet"])
        .arg("--root")
        .arg(own_place())
        .stdin(Stdio::null())
        .status()
        .map_err(|err| format!("cargo install: {err}"))?;
    match find() {
        Some(program) if status.success() => Ok(program),
        Some(_) | None => Err(format!(
            "cargo-deny is missing and could not be installed: `cargo install {version} --locked`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Writes a crate that depends on others beside it.
    fn plant(at: &Path, name: &str, version: &str, further: &str) {
        fs::create_dir_all(at.join("src")).unwrap();
        fs::write(at.join("src/lib.rs"), "").unwrap();
        let head = format!("[package]\nname = \"{name}\"\nversion = \"{version}\"\n");
        fs::write(at.join("Cargo.toml"), format!("{head}edition = \"2024\"\n{further}")).unwrap();
    }

    fn git(at: &Path, arguments: &[&str]) {
        let done = Command::new("git")
            .args(["-c", "user.name=A", "-c", "user.email=a@example.com"])
            .args(["-c", "commit.gpgsign=false"])
            .args(arguments)
            .current_dir(at)
            .status();
        assert!(done.unwrap().success(), "{arguments:?}");
    }

    /// Checks the crate `planted` by the project's own deny.toml; returns the codes of its errors.
    ///
    /// Dependencies lie beside it: below it cargo would take them for members.
    fn errors(root: &Path) -> Option<Vec<String>> {
        let Some(program) = find() else {
            announce("skipped: cargo-deny is not installed; `cargo xtask test` installs it");
            return None;
        };
        let planted = root.join("planted");
        fs::copy(super::root().join("deny.toml"), planted.join("deny.toml")).unwrap();
        let output = checking(program)
            .current_dir(planted)
            .env("CARGO_HOME", root.join("cargo-home"))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let mut codes: Vec<String> = said
            .lines()
            .filter_map(|line| line.strip_prefix("error[")?.split_once(']'))
            .map(|(code, _)| code.to_owned())
            .collect();
        assert_eq!(output.status.success(), codes.is_empty(), "{said}");
        codes.sort();
        codes.dedup();
        Some(codes)
    }

    const MIT: &str = "license = \"MIT\"\n";

    #[test]
    fn a_workspace_of_permitted_crates_passes() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        let needs = "[dependencies]\nmit = { path = \"../mit\", version = \"1\" }\n[workspace]\n";
        plant(&root.join("planted"), "planted", "0.1.0", &format!("{MIT}{needs}"));
        plant(&root.join("mit"), "mit", "1.0.0", MIT);
        let Some(codes) = errors(root) else { return };
        assert_eq!(codes, [""; 0]);
    }

    #[test]
    fn each_planted_violation_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        let elsewhere = root.join("elsewhere");
        plant(&elsewhere, "elsewhere", "1.0.0", MIT);
        git(&elsewhere, &["init", "--quiet"]);
        git(&elsewhere, &["add", "--all"]);
        git(&elsewhere, &["commit", "--quiet", "--message", "one"]);
        let needs = format!(
            "[dependencies]\n\
             copyleft = {{ path = \"../copyleft\", version = \"1\" }}\n\
             silent = {{ path = \"../silent\", version = \"1\" }}\n\
             twice = {{ path = \"../twice-1\", version = \"1\" }}\n\
             again = {{ package = \"twice\", path = \"../twice-2\", version = \"2\" }}\n\
             any = {{ path = \"../any\" }}\n\
             elsewhere = {{ git = \"file://{}\", version = \"1\" }}\n[workspace]\n",
            elsewhere.display()
        );
        plant(&root.join("planted"), "planted", "0.1.0", &format!("{MIT}{needs}"));
        plant(&root.join("copyleft"), "copyleft", "1.0.0", "license = \"GPL-3.0-only\"\n");
        plant(&root.join("silent"), "silent", "1.0.0", "");
        plant(&root.join("twice-1"), "twice", "1.0.0", MIT);
        plant(&root.join("twice-2"), "twice", "2.0.0", MIT);
        plant(&root.join("any"), "any", "1.0.0", MIT);
        let Some(codes) = errors(root) else { return };
        let wanted = ["duplicate", "rejected", "source-not-allowed", "unlicensed", "wildcard"];
        assert_eq!(codes, wanted);
    }
}
