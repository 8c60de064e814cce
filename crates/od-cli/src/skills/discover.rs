//! The skills that an agent started in a directory would see, and the one that is built in.

use std::path::{Path, PathBuf};

use super::frontmatter::{Frontmatter, FrontmatterError, read};

/// The folders that agents look into, below a directory.
pub const PLACES: [&str; 2] = [".agents/skills", ".claude/skills"];

/// The largest SKILL.md that is read, in bytes.
const SKILL_BYTES_MAX: u64 = 1024 * 1024;

/// One SKILL.md.
#[derive(Debug)]
pub struct SkillFile {
    /// The file.
    pub path: PathBuf,
    /// The name of its directory.
    pub directory: String,
    /// The text, if it could be read.
    pub text: Option<String>,
    /// The frontmatter, or the reason why it cannot be read.
    pub head: Result<Frontmatter, FrontmatterError>,
    /// Whether a nearer skill of the same place and name hides it.
    pub shadowed: bool,
}

impl SkillFile {
    /// Returns the name that an agent shows.
    #[must_use]
    pub fn name(&self) -> &str {
        self.head.as_ref().ok().and_then(Frontmatter::name).unwrap_or(&self.directory)
    }
}

/// Finds the skills of some directories, nearest first, and of the home directory.
#[must_use]
pub fn discover<'p>(
    directories: impl Iterator<Item = &'p Path>,
    home: Option<&'p Path>,
) -> Vec<SkillFile> {
    let mut roots: Vec<&Path> = directories.collect();
    if let Some(home) = home
        && !roots.contains(&home)
    {
        roots.push(home);
    }
    let mut found: Vec<SkillFile> = Vec::new();
    for place in PLACES {
        let mut names: Vec<String> = Vec::new();
        for root in &roots {
            for mut skill in in_directory(&root.join(place)) {
                skill.shadowed = names.contains(&skill.directory);
                names.push(skill.directory.clone());
                found.push(skill);
            }
        }
    }
    found
}

fn in_directory(directory: &Path) -> Vec<SkillFile> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut found: Vec<SkillFile> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path().join("SKILL.md"))
        .filter(|path| path.is_file())
        .map(|path| load(&path))
        .collect();
    found.sort_by(|left, right| left.directory.cmp(&right.directory));
    found
}

/// Reads one SKILL.md.
#[must_use]
pub(crate) fn load(path: &Path) -> SkillFile {
    let directory = path
        .parent()
        .and_then(Path::file_name)
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let small = std::fs::metadata(path).is_ok_and(|meta| meta.len() <= SKILL_BYTES_MAX);
    let text = small.then(|| std::fs::read_to_string(path).ok()).flatten();
    let head = read(text.as_deref().unwrap_or_default());
    SkillFile { path: path.to_owned(), directory, text, head, shadowed: false }
}

/// One file of the built-in skill.
#[derive(Clone, Copy, Debug)]
pub struct BuiltinFile {
    /// The path inside the skill's directory.
    pub path: &'static str,
    /// The text.
    pub text: &'static str,
}

/// The built-in skill's name.
pub const BUILTIN_NAME: &str = "live-artifact";

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        &[$(BuiltinFile {
            path: $path,
            text: include_str!(concat!("../../../../skills/live-artifact/", $path)),
        }),*]
    };
}

/// The templates of the built-in skill, with what each is for.
pub(crate) const GALLERY: [(&str, &str); 8] = [
    ("dashboard", "figures with changes, a trend, a table with progress"),
    ("report", "one column to read: figures, findings, a table"),
    ("status", "services with their state and uptime, incidents"),
    ("releases", "releases by month, with notes and links"),
    ("sprint", "a sprint by assignee: progress, tasks, burn-down"),
    ("costs", "costs with their change, share and course"),
    ("metrics", "a wall of figures, each with its change and course"),
    ("table", "groups of rows, searched without script"),
];

/// Every file of the built-in skill, SKILL.md first.
pub const BUILTIN_FILES: &[BuiltinFile] = files![
    "SKILL.md",
    "references/artifact-schema.md",
    "references/connector-policy.md",
    "references/refresh-contract.md",
    "references/template.md",
    "assets/templates/dashboard.html",
    "assets/templates/dashboard.data.json",
    "assets/templates/report.html",
    "assets/templates/report.data.json",
    "assets/templates/status.html",
    "assets/templates/status.data.json",
    "assets/templates/releases.html",
    "assets/templates/releases.data.json",
    "assets/templates/sprint.html",
    "assets/templates/sprint.data.json",
    "assets/templates/costs.html",
    "assets/templates/costs.data.json",
    "assets/templates/metrics.html",
    "assets/templates/metrics.data.json",
    "assets/templates/table.html",
    "assets/templates/table.data.json",
];
