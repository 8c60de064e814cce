//! `cargo xtask dist`: the files that people install, and a try of the Debian package.
//!
//! On Debian `/usr/bin/od` is octal dump, so the package puts the program at `/usr/lib/open-design/od` and
//! a link `/usr/bin/open-design` beside it; the tarball leaves the choice to whoever unpacks it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::codegen;
use crate::steps::{Steps, announce, cargo, present, root};
use crate::system_tools::{self, SystemTool};

const PACKAGE: &str = "open-design";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Makes the tarball and the Debian package below `target/dist`.
pub(crate) fn run(check: bool) -> Result<(), String> {
    let mut steps = Steps::default();
    steps.command("release program", cargo(&["build", "--release", "-p", "od-cli"]))?;
    let out = root().join("target/dist");
    if out.exists() {
        fs::remove_dir_all(&out).map_err(|err| format!("{}: {err}", out.display()))?;
    }
    make(&out)?;
    let contents = Contents::collect()?;
    steps.call("tarball", || tarball(&out, &contents))?;
    let mut package = None;
    if present("dpkg-deb") {
        steps.call("Debian package", || {
            package = Some(debian_package(&out, &contents)?);
            Ok(())
        })?;
    } else {
        announce("    no dpkg-deb here: no Debian package");
    }
    match (check, package) {
        (true, Some(package)) => {
            steps.call("installed and removed", || try_package(&package))?;
            system_tools::ensure(&[SystemTool::Lintian])?;
            let mut lintian = Command::new("lintian");
            lintian.args(["--fail-on", "error"]).arg(&package);
            steps.command("lintian", lintian)?;
        }
        (true, None) => return Err("--check needs dpkg-deb".to_owned()),
        (false, _) => {}
    }
    steps.report();
    Ok(())
}

/// One file of a distribution.
struct Item {
    /// The path below the top of the tarball.
    path: String,
    bytes: Vec<u8>,
    mode: u32,
}

/// Everything that is installed, beside the program itself.
struct Contents {
    program: PathBuf,
    items: Vec<Item>,
}

impl Contents {
    fn collect() -> Result<Self, String> {
        let program = root().join("target/release/od");
        let text = |path: &str, text: String| Item {
            path: path.to_owned(),
            bytes: text.into_bytes(),
            mode: 0o644,
        };
        let mut items = vec![
            text("LICENSE", read("LICENSE")?),
            text("README.md", read("README.md")?),
            text("THIRD-PARTY-LICENSES.txt", licences()?),
        ];
        for (file, page) in manual()? {
            items.push(text(&format!("man/man1/{file}"), page));
        }
        for shell in ["bash", "fish", "zsh"] {
            let mut command = Command::new(&program);
            command.args(["completions", shell]);
            items.push(text(&format!("completions/od.{shell}"), output(&mut command)?));
        }
        Ok(Self { program, items })
    }
}

/// Returns the manual pages by the names of their files.
fn manual() -> Result<Vec<(String, String)>, String> {
    let folder = root().join("target/dist/manual");
    output(&mut codegen::manual(&folder))?;
    let told = |err: std::io::Error| format!("{}: {err}", folder.display());
    let mut pages = Vec::new();
    for entry in fs::read_dir(&folder).map_err(told)? {
        let path = entry.map_err(told)?.path();
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        pages.push((file, fs::read_to_string(&path).map_err(told)?));
    }
    pages.sort();
    fs::remove_dir_all(&folder).map_err(told)?;
    Ok(pages)
}

/// Returns every crate in the program with its version and licence.
fn licences() -> Result<String, String> {
    let mut command = cargo(&["tree", "-p", "od-cli", "-e", "normal", "--prefix", "none"]);
    command.args(["--format", "{p}\t{l}\t{r}", "--locked"]).current_dir(root());
    let mut lines: Vec<String> = output(&mut command)?
        .lines()
        // Our own crates have a path behind their version, repeated ones a star.
        .filter(|line| !line.contains(" (/") && !line.starts_with("od-"))
        .map(|line| line.replace(" (*)", "").replace(" (proc-macro)", ""))
        .collect();
    lines.sort();
    lines.dedup();
    if let Some(bare) = lines.iter().find(|line| line.split('\t').nth(1).is_none_or(str::is_empty))
    {
        return Err(format!("a dependency without a licence: {bare}"));
    }
    let rows: Vec<String> = lines.iter().map(|line| line.replace('\t', "  ")).collect();
    Ok(format!(
        "The program holds code of these crates: name, version, licence, source.\n\n{}\n",
        rows.join("\n")
    ))
}

fn tarball(out: &Path, contents: &Contents) -> Result<(), String> {
    let name = format!("{PACKAGE}-{VERSION}-{}-{}", std::env::consts::OS, std::env::consts::ARCH);
    let top = out.join(&name);
    make(&top.join("bin"))?;
    copy(&contents.program, &top.join("bin/od"), 0o755)?;
    for item in &contents.items {
        write(&top.join(&item.path), item)?;
    }
    let file = format!("{name}.tar.gz");
    // Sorted, without owners of this machine, with the time of the commit: the same program makes the
    // same tarball. (A time of zero is refused by lintian as an accident.)
    let mut tar = Command::new("tar");
    tar.current_dir(out).args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    tar.arg(format!("--mtime=@{}", commit_time()?)).args(["-czf", &file, &name]);
    output(&mut tar)?;
    let sum = output(Command::new("sha256sum").current_dir(out).arg(&file))?;
    fs::write(out.join(format!("{file}.sha256")), &sum).map_err(|err| err.to_string())?;
    fs::remove_dir_all(&top).map_err(|err| err.to_string())?;
    announce(&format!("    {}", sum.trim()));
    Ok(())
}

fn debian_package(out: &Path, contents: &Contents) -> Result<PathBuf, String> {
    let tree = out.join("debian");
    let documents = tree.join(format!("usr/share/doc/{PACKAGE}"));
    make(&documents)?;
    copy(&contents.program, &tree.join(format!("usr/lib/{PACKAGE}/od")), 0o755)?;
    make(&tree.join("usr/bin"))?;
    symlink(format!("../lib/{PACKAGE}/od"), tree.join(format!("usr/bin/{PACKAGE}")))
        .map_err(|err| err.to_string())?;
    for item in &contents.items {
        let place = match item.path.split_once('/') {
            Some(("man", page)) => tree.join("usr/share/man").join(page),
            Some(("completions", _)) => tree.join(format!("usr/share/{PACKAGE}")).join(&item.path),
            Some(_) | None if item.path == "LICENSE" => continue,
            Some(_) | None => documents.join(&item.path),
        };
        write(&place, item)?;
    }
    let text = |path: PathBuf, text: String| {
        write(&path, &Item { path: String::new(), bytes: text.into_bytes(), mode: 0o644 })
    };
    text(documents.join("copyright"), copyright())?;
    text(documents.join("changelog"), changelog())?;
    for page in files_below(&tree.join("usr/share/man"))? {
        output(Command::new("gzip").args(["-9n"]).arg(page))?;
    }
    output(Command::new("gzip").args(["-9n"]).arg(documents.join("changelog")))?;
    let architecture = output(Command::new("dpkg").arg("--print-architecture"))?;
    let kilobytes = files_below(&tree)?
        .iter()
        .filter_map(|path| fs::metadata(path).ok())
        .map(|meta| meta.len().div_ceil(1024))
        .sum::<u64>();
    text(tree.join("DEBIAN/control"), control(architecture.trim(), kilobytes))?;
    let package = out.join(format!("{PACKAGE}_{VERSION}_{}.deb", architecture.trim()));
    let mut build = Command::new("dpkg-deb");
    build.args(["--root-owner-group", "-Zxz", "--build"]).arg(&tree).arg(&package);
    build.env("SOURCE_DATE_EPOCH", commit_time()?);
    output(&mut build)?;
    fs::remove_dir_all(&tree).map_err(|err| err.to_string())?;
    Ok(package)
}

fn control(architecture: &str, kilobytes: u64) -> String {
    format!(
        "Package: {PACKAGE}\nVersion: {VERSION}\nArchitecture: {architecture}\n\
         Maintainer: The od maintainers <maintainers@open-design.example>\nInstalled-Size: {kilobytes}\n\
         Depends: libc6 (>= 2.34), libgcc-s1\nRecommends: git\nSuggests: chromium\nSection: devel\n\
         Priority: optional\nDescription: live artifacts for every coding agent\n \
         An agent writes an HTML template and bounded JSON; you preview the page,\n \
         refresh it from read-only sources without the agent, see where each number\n \
         comes from, and never lose a good view.\n .\n \
         The program is called as open-design, because od is octal dump here.\n"
    )
}

fn copyright() -> String {
    format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: {PACKAGE}\n\nFiles: *\nCopyright: 2026 the od maintainers\nLicense: Apache-2.0\n \
         On Debian systems the full text of the licence is in\n \
         /usr/share/common-licenses/Apache-2.0. The licences of the crates inside the\n \
         program are listed in THIRD-PARTY-LICENSES.txt beside this file.\n"
    )
}

fn changelog() -> String {
    format!(
        "{PACKAGE} ({VERSION}) unstable; urgency=low\n\n  * See CHANGELOG.md of the source.\n\n \
         -- The od maintainers <maintainers@open-design.example>  Thu, 01 Jan 1970 00:00:00 +0000\n"
    )
}

/// Installs the package below a scratch root, runs the demo from there, removes it, and looks for remains.
fn try_package(package: &Path) -> Result<(), String> {
    let scratch = root().join("target/dist/scratch");
    make(&scratch.join("var/lib/dpkg/info"))?;
    make(&scratch.join("var/lib/dpkg/updates"))?;
    fs::write(scratch.join("var/lib/dpkg/status"), "").map_err(|err| err.to_string())?;
    let dpkg = || {
        let mut command = Command::new("dpkg");
        command.arg(format!("--root={}", scratch.display()));
        command.args(["--force-not-root", "--force-script-chrootless", "--force-depends"]);
        command
    };
    output(dpkg().arg("-i").arg(package))?;
    let program = scratch.join(format!("usr/bin/{PACKAGE}"));
    let mut demo = Command::new(&program);
    demo.args(["demo", "--once"]).current_dir(&scratch);
    demo.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", scratch.join("person"));
    let said = output(&mut demo)?;
    announce(&format!("    demo: {}", said.lines().last().unwrap_or_default()));
    output(dpkg().arg("--purge").arg(PACKAGE))?;
    let left: Vec<PathBuf> =
        files_below(&scratch)?.into_iter().filter(|path| !is_dpkgs_own(path, &scratch)).collect();
    if left.is_empty() {
        fs::remove_dir_all(&scratch).map_err(|err| err.to_string())
    } else {
        Err(format!("the package left {left:?} behind"))
    }
}

/// Returns whether a file is the package manager's own, or the demo's of the person who ran it.
fn is_dpkgs_own(path: &Path, scratch: &Path) -> bool {
    ["var", "person"].iter().any(|folder| path.starts_with(scratch.join(folder)))
}

/// Returns the time of the last commit in seconds.
fn commit_time() -> Result<String, String> {
    let mut git = Command::new("git");
    git.args(["log", "-1", "--format=%ct"]).current_dir(root());
    output(&mut git).map(|time| time.trim().to_owned())
}

fn files_below(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let entries =
            fs::read_dir(&folder).map_err(|err| format!("{}: {err}", folder.display()))?;
        for entry in entries {
            let entry = entry.map_err(|err| err.to_string())?;
            let kind = entry.file_type().map_err(|err| err.to_string())?;
            if kind.is_dir() { open.push(entry.path()) } else { found.push(entry.path()) }
        }
    }
    Ok(found)
}

fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(root().join(path)).map_err(|err| format!("{path}: {err}"))
}

fn make(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|err| format!("{}: {err}", folder.display()))
}

fn copy(from: &Path, to: &Path, mode: u32) -> Result<(), String> {
    let bytes = fs::read(from).map_err(|err| format!("{}: {err}", from.display()))?;
    write(to, &Item { path: String::new(), bytes, mode })
}

fn write(to: &Path, item: &Item) -> Result<(), String> {
    make(to.parent().unwrap_or(to))?;
    fs::write(to, &item.bytes)
        .and_then(|()| fs::set_permissions(to, fs::Permissions::from_mode(item.mode)))
        .map_err(|err| format!("{}: {err}", to.display()))
}

/// Runs a program and returns what it printed.
fn output(command: &mut Command) -> Result<String, String> {
    let shown = format!("{command:?}");
    let output = command.output().map_err(|err| format!("{shown}: {err}"))?;
    if output.status.success() {
        String::from_utf8(output.stdout).map_err(|_| format!("{shown}: no UTF-8"))
    } else {
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!("{shown} failed ({}): {}", output.status, said.trim()))
    }
}
