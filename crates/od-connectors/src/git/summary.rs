//! Turns git's machine-readable output into the summary of a repository.

use od_core::connector::Clip;
use od_core::json::{Map, Value};
use serde_json::json;

use super::program::{Output, ProgramError, Repository};

/// Files listed by name; the counts cover all.
const FILES_LISTED_MAX: usize = od_core::limits::GIT_FILES.max();
/// Bytes of a commit's subject.
pub(super) const SUBJECT_BYTES_MAX: usize = 300;

/// The texts that are cut, once secrets were taken out of them.
pub(super) const CLIPS: &[Clip] = &[
    Clip { path: "/commits/*/author", bytes_max: SUBJECT_BYTES_MAX },
    Clip { path: "/commits/*/subject", bytes_max: SUBJECT_BYTES_MAX },
];

/// Commits and tags reported if the caller does not say.
const ENTRIES_DEFAULT: u64 = 10;
/// Commits and tags reported at most.
pub(super) const ENTRIES_MAX: u64 = od_core::limits::GIT_COMMITS.allowed;

/// The number of entries to report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SummaryLimits {
    /// Newest commits.
    pub(crate) commits: usize,
    /// Newest tags.
    pub(crate) tags: usize,
}

impl SummaryLimits {
    /// Bounds what a caller asks for.
    pub(super) fn of(commits: Option<u64>, tags: Option<u64>) -> Self {
        let bounded = |wanted: Option<u64>| {
            usize::try_from(wanted.unwrap_or(ENTRIES_DEFAULT).min(ENTRIES_MAX)).unwrap_or(0)
        };
        Self { commits: bounded(commits), tags: bounded(tags) }
    }
}

/// Reads branch, upstream, status, recent commits, diff stat and tags.
pub(crate) async fn read_summary(
    repository: &Repository<'_>,
    limits: SummaryLimits,
) -> Result<Value, ProgramError> {
    let status = repository
        .run(
            "status",
            &[
                "--porcelain=v2",
                "--branch",
                "-z",
                "--untracked-files=normal",
                "--ignore-submodules=all",
                "--no-renames",
            ],
        )
        .await?;
    let state = WorkTree::parse(&status);
    let mut summary = state.head();
    summary.insert("status".to_owned(), state.status());
    let (commits, diff) = if state.commit.is_some() {
        (commits(repository, limits.commits).await?, diff_stat(repository).await?)
    } else {
        (json!([]), DiffStat::default().into_json())
    };
    summary.insert("commits".to_owned(), commits);
    summary.insert("diffStat".to_owned(), diff);
    summary.insert("tags".to_owned(), tags(repository, limits.tags).await?);
    summary.insert("isRepository".to_owned(), true.into());
    Ok(Value::Object(summary))
}

/// The output of `git status --porcelain=v2 --branch -z`.
#[derive(Debug, Default, Eq, PartialEq)]
struct WorkTree {
    commit: Option<String>,
    branch: Option<String>,
    upstream: Option<String>,
    ahead_behind: Option<(u64, u64)>,
    staged: u64,
    modified: u64,
    untracked: u64,
    conflicted: u64,
    files: Vec<(String, &'static str)>,
    is_cut: bool,
}

impl WorkTree {
    fn parse(output: &Output) -> Self {
        let mut tree = Self { is_cut: output.is_cut, ..Self::default() };
        let mut records: Vec<&str> = output.text.split('\0').collect();
        if output.is_cut {
            // The last record ends wherever the cap fell.
            records.pop();
        }
        for record in records {
            match record.split_once(' ') {
                Some(("#", header)) => tree.read_header(header),
                Some(("1", rest)) => tree.read_change(rest),
                Some(("u", rest)) => {
                    tree.conflicted += 1;
                    tree.list(rest.splitn(10, ' ').nth(9), "conflicted");
                }
                Some(("?", path)) => {
                    tree.untracked += 1;
                    tree.list(Some(path), "untracked");
                }
                Some(_) | None => {}
            }
        }
        tree
    }

    fn read_header(&mut self, header: &str) {
        match header.split_once(' ') {
            Some(("branch.oid", oid)) if oid != "(initial)" => self.commit = Some(oid.to_owned()),
            Some(("branch.head", name)) if name != "(detached)" => {
                self.branch = Some(name.to_owned());
            }
            Some(("branch.upstream", name)) => self.upstream = Some(name.to_owned()),
            Some(("branch.ab", counts)) => {
                self.ahead_behind = counts.split_once(' ').and_then(|(ahead, behind)| {
                    Some((
                        ahead.strip_prefix('+')?.parse().ok()?,
                        behind.strip_prefix('-')?.parse().ok()?,
                    ))
                });
            }
            Some(_) | None => {}
        }
    }

    /// Reads `XY sub mH mI mW hH hI path`: X is the index against HEAD, Y the work tree against the index.
    fn read_change(&mut self, rest: &str) {
        let mut states = rest.chars();
        let (index, tree) = (states.next().unwrap_or('.'), states.next().unwrap_or('.'));
        self.staged += u64::from(index != '.');
        self.modified += u64::from(tree != '.');
        let state = if tree == '.' { "staged" } else { "modified" };
        self.list(rest.splitn(8, ' ').nth(7), state);
    }

    fn list(&mut self, path: Option<&str>, state: &'static str) {
        if let (Some(path), true) = (path, self.files.len() < FILES_LISTED_MAX) {
            self.files.push((path.to_owned(), state));
        }
    }

    fn head(&self) -> Map {
        let (ahead, behind) = self.ahead_behind.unzip();
        let head = json!({
            "branch": self.branch,
            "commit": self.commit,
            "upstream": self.upstream,
            "ahead": ahead,
            "behind": behind,
        });
        match head {
            Value::Object(map) => map,
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Map::new(),
        }
    }

    fn status(&self) -> Value {
        let files: Vec<Value> = self
            .files
            .iter()
            .map(|(path, state)| json!({ "path": path, "state": state }))
            .collect();
        let changed = self.staged + self.modified + self.untracked + self.conflicted;
        json!({
            "clean": changed == 0,
            "staged": self.staged,
            "modified": self.modified,
            "untracked": self.untracked,
            "conflicted": self.conflicted,
            "files": files,
            "truncated": self.is_cut || self.files.len() >= FILES_LISTED_MAX,
        })
    }
}

async fn commits(repository: &Repository<'_>, count: usize) -> Result<Value, ProgramError> {
    let count = format!("--max-count={count}");
    let format = "--format=tformat:%H%x00%h%x00%an%x00%aI%x00%s";
    let output = repository
        .run("log", &["-z", &count, format, "--no-color", "--no-show-signature", "HEAD", "--"])
        .await?;
    let mut fields: Vec<&str> = output.text.split('\0').collect();
    if output.is_cut {
        // Half of a subject may hold half of a secret, which nobody could find.
        fields.pop();
    }
    let commits = fields.chunks_exact(5).map(|field| {
        json!({
            "commit": field[0],
            "short": field[1],
            "author": without_controls(field[2]),
            "time": field[3],
            "subject": without_controls(field[4]),
        })
    });
    Ok(commits.collect())
}

#[derive(Default)]
struct DiffStat {
    files: u64,
    insertions: u64,
    deletions: u64,
    listed: Vec<Value>,
    is_cut: bool,
}

impl DiffStat {
    fn into_json(self) -> Value {
        json!({
            "filesChanged": self.files,
            "insertions": self.insertions,
            "deletions": self.deletions,
            "truncated": self.is_cut || self.files > self.listed.len() as u64,
            "files": self.listed,
        })
    }
}

async fn diff_stat(repository: &Repository<'_>) -> Result<Value, ProgramError> {
    let output = repository
        .run(
            "diff",
            &[
                "--numstat",
                "-z",
                "--no-ext-diff",
                "--no-textconv",
                "--no-renames",
                "--no-color",
                "--ignore-submodules=all",
                "HEAD",
                "--",
            ],
        )
        .await?;
    let mut stat = DiffStat { is_cut: output.is_cut, ..DiffStat::default() };
    for record in output.text.split('\0') {
        let mut parts = record.splitn(3, '\t');
        let (Some(added), Some(removed), Some(path)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        // A binary file has `-` in both columns.
        let (added, removed): (Option<u64>, Option<u64>) =
            (added.parse().ok(), removed.parse().ok());
        stat.files += 1;
        stat.insertions += added.unwrap_or(0);
        stat.deletions += removed.unwrap_or(0);
        if stat.listed.len() < FILES_LISTED_MAX {
            stat.listed.push(json!({ "path": path, "insertions": added, "deletions": removed }));
        }
    }
    Ok(stat.into_json())
}

async fn tags(repository: &Repository<'_>, count: usize) -> Result<Value, ProgramError> {
    if count == 0 {
        return Ok(json!([]));
    }
    let count = format!("--count={count}");
    let format = "--format=%(refname:strip=2)%00%(creatordate:iso-strict)%00%(objectname)";
    let output = repository
        .run("for-each-ref", &["--sort=-creatordate", &count, format, "refs/tags"])
        .await?;
    let tags = output.text.lines().filter_map(|line| {
        let mut fields = line.split('\0');
        let (name, time, object) = (fields.next()?, fields.next()?, fields.next()?);
        Some(json!({ "name": name, "time": time, "object": object }))
    });
    Ok(tags.collect())
}

/// Replaces control characters by spaces: a subject is one line of text.
pub(super) fn without_controls(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, is_cut: bool) -> WorkTree {
        WorkTree::parse(&Output { text: text.to_owned(), is_cut })
    }

    #[test]
    fn status_records_are_counted_by_kind() {
        let tree = parse(
            "# branch.oid 12ab\0# branch.head main\0# branch.upstream origin/main\0# branch.ab +2 -1\0\
             1 M. N... 100644 100644 100644 aa bb staged file.txt\0\
             1 .M N... 100644 100644 100644 aa bb edited.txt\0\
             1 MM N... 100644 100644 100644 aa bb both.txt\0\
             u UU N... 100644 100644 100644 100644 aa bb cc clash.txt\0\
             ? new file\0",
            false,
        );
        assert_eq!((tree.staged, tree.modified, tree.untracked, tree.conflicted), (2, 2, 1, 1));
        assert_eq!(tree.ahead_behind, Some((2, 1)));
        assert_eq!(
            tree.files,
            [
                ("staged file.txt".to_owned(), "staged"),
                ("edited.txt".to_owned(), "modified"),
                ("both.txt".to_owned(), "modified"),
                ("clash.txt".to_owned(), "conflicted"),
                ("new file".to_owned(), "untracked"),
            ]
        );
    }

    #[test]
    fn a_record_cut_in_the_middle_is_not_read() {
        let tree = parse("# branch.oid 12ab\0? whole\0? hal", true);
        assert_eq!(tree.untracked, 1);
        assert_eq!(tree.status()["truncated"], true);
    }

    #[test]
    fn a_repository_without_commits_has_no_head() {
        let tree = parse("# branch.oid (initial)\0# branch.head main\0", false);
        assert_eq!(tree.commit, None);
        assert_eq!(tree.head()["branch"], "main");
        assert_eq!(tree.head()["commit"], Value::Null);
    }
}
