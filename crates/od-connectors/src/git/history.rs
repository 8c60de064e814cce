//! The history of a repository: commits with what they changed, who wrote a file's lines, words in its code.
//!
//! Everything is read from commits, never from the work tree, so nothing that is not committed is told.

use std::collections::BTreeMap;

use od_core::connector::Clip;
use od_core::credential::is_secret_path;
use od_core::ids::{RelPath, Timestamp};
use od_core::json::Value;
use od_core::limits::GIT_LOG;
use od_ports::connector_provider::ProviderError;
use serde_json::json;

use super::program::{ProgramError, Repository};
use super::summary::{SUBJECT_BYTES_MAX, without_controls};

/// The texts that are cut, once secrets were taken out of them.
pub(super) const CLIPS: &[Clip] = &[
    Clip { path: "/commits/*/author", bytes_max: SUBJECT_BYTES_MAX },
    Clip { path: "/commits/*/subject", bytes_max: SUBJECT_BYTES_MAX },
    Clip { path: "/authors/*/author", bytes_max: SUBJECT_BYTES_MAX },
];

/// The words that a search looks for if none are named.
const WORDS_DEFAULT: [&str; 3] = ["TODO", "FIXME", "HACK"];
/// Words of one search: each is one run of git.
pub(super) const WORDS_MAX: usize = 5;

/// Commits of a log if the caller does not say.
const LOG_DEFAULT: u64 = 100;

/// Bounds how many commits a caller asks for.
pub(super) fn limit(wanted: Option<u64>) -> usize {
    usize::try_from(wanted.unwrap_or(LOG_DEFAULT).clamp(1, GIT_LOG.allowed)).unwrap_or(1)
}

/// Names commits: a revision, or two with dots between them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct RevisionRange(String);

impl RevisionRange {
    /// Reads a range; `HEAD` if none is given.
    ///
    /// The alphabet leaves out what git would read as an option, a path or a search in messages.
    pub(super) fn parse(text: Option<&str>) -> Result<Self, ProviderError> {
        let text = text.unwrap_or("HEAD");
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"._/~^@{}-".contains(&b);
        if text.is_empty() || text.starts_with('-') || !text.bytes().all(is_plain) {
            return Err(ProviderError::Input {
                pointer: "/range".to_owned(),
                message: "a range is a branch, tag or commit, or two of them as `v1.0..main`"
                    .to_owned(),
            });
        }
        Ok(Self(text.to_owned()))
    }
}

/// A question about commits.
#[derive(Debug)]
pub(super) struct LogQuery {
    pub(super) range: RevisionRange,
    pub(super) path: Option<RelPath>,
    /// A part of the author's name or address, as it is written.
    pub(super) author: Option<String>,
    pub(super) since: Option<Timestamp>,
    pub(super) until: Option<Timestamp>,
    pub(super) limit: usize,
    /// Whether a file is followed through its former names.
    pub(super) follows: bool,
}

/// Lists commits, newest first, with the lines that each added and removed.
pub(super) async fn log(
    repository: &Repository<'_>,
    query: &LogQuery,
) -> Result<Value, ProgramError> {
    // One more than asked for tells whether there are more.
    let count = format!("--max-count={}", query.limit + 1);
    let mut args = vec![
        "-z".to_owned(),
        count,
        "--format=tformat:%H%x00%h%x00%an%x00%aI%x00%s".to_owned(),
        "--numstat".to_owned(),
        "--no-ext-diff".to_owned(),
        "--no-textconv".to_owned(),
        "--no-color".to_owned(),
        "--no-show-signature".to_owned(),
        "--fixed-strings".to_owned(),
        "--ignore-submodules=all".to_owned(),
    ];
    args.push(if query.follows { "--follow" } else { "--no-renames" }.to_owned());
    args.extend(query.author.as_ref().map(|author| format!("--author={author}")));
    args.extend(query.since.map(|at| format!("--since={at}")));
    args.extend(query.until.map(|at| format!("--until={at}")));
    args.extend(["--end-of-options".to_owned(), query.range.0.clone(), "--".to_owned()]);
    args.extend(query.path.as_ref().map(|path| path.as_str().to_owned()));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let output = repository.run("log", &args).await?;
    let mut commits = parse_log(&output.text, output.is_cut);
    let is_cut = output.is_cut || commits.len() > query.limit;
    commits.truncate(query.limit);
    Ok(json!({ "count": commits.len(), "truncated": is_cut, "commits": commits }))
}

/// Reads the records of `log -z --numstat`: five fields, then one record for each file.
///
/// Fields are counted, not looked for: a subject may hold whatever a record looks like. Between two
/// commits only the hash is without tabs, and no name of a file can stand for one.
fn parse_log(text: &str, is_cut: bool) -> Vec<Value> {
    let mut records: Vec<&str> = text.split('\0').collect();
    if is_cut {
        // Half of a subject may hold half of a secret, which nobody could find.
        records.pop();
    }
    let mut commits = Vec::new();
    let mut records = records.into_iter().peekable();
    while let Some(record) = records.next() {
        if !is_hash(record) {
            continue;
        }
        let mut field = || records.next().unwrap_or_default();
        let (short, author, time, subject) = (field(), field(), field(), field());
        let (mut files, mut insertions, mut deletions) = (0_u64, 0_u64, 0_u64);
        while let Some(stat) = records.next_if(|record| !is_hash(record)) {
            let mut parts = stat.trim_start_matches('\n').splitn(3, '\t');
            let (Some(added), Some(removed), Some(_)) = (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            // A binary file has `-` in both columns.
            files += 1;
            insertions += added.parse().unwrap_or(0);
            deletions += removed.parse().unwrap_or(0);
        }
        commits.push(json!({
            "commit": record,
            "short": short,
            "author": without_controls(author),
            "time": time,
            "subject": without_controls(subject),
            "files": files,
            "insertions": insertions,
            "deletions": deletions,
        }));
    }
    commits
}

fn is_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Counts the lines of a committed file by author.
pub(super) async fn blame(
    repository: &Repository<'_>,
    path: &RelPath,
) -> Result<Value, ProgramError> {
    // The incremental form leaves the lines themselves out.
    let args = ["--incremental", "-w", "--no-textconv", "HEAD", "--", path.as_str()];
    let output = repository.run("blame", &args).await?;
    let authors = parse_blame(&output.text);
    let lines: u64 = authors.values().map(|author| author.lines).sum();
    let mut rows: Vec<(String, Author)> = authors.into_iter().collect();
    rows.sort_by(|a, b| b.1.lines.cmp(&a.1.lines).then_with(|| a.0.cmp(&b.0)));
    let rows: Vec<Value> = rows
        .into_iter()
        .map(|(name, author)| {
            let time = |s: i64| Timestamp::from_unix_ms(s.saturating_mul(1000)).to_string();
            json!({
                "author": without_controls(&name),
                "lines": author.lines,
                "oldest": time(author.oldest),
                "newest": time(author.newest),
            })
        })
        .collect();
    Ok(json!({
        "path": path.as_str(), "lines": lines, "truncated": output.is_cut, "authors": rows,
    }))
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Author {
    lines: u64,
    oldest: i64,
    newest: i64,
}

/// Reads `blame --incremental`: `hash from to lines`, then the commit's facts the first time it appears.
fn parse_blame(text: &str) -> BTreeMap<String, Author> {
    let mut commits: BTreeMap<&str, (&str, i64)> = BTreeMap::new();
    let mut authors: BTreeMap<String, Author> = BTreeMap::new();
    let mut current: Option<(&str, u64)> = None;
    for line in text.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if is_hash(word) {
            let lines = rest.split(' ').nth(2).and_then(|count| count.parse().ok());
            current = Some((word, lines.unwrap_or(0)));
            continue;
        }
        let Some((commit, lines)) = current else { continue };
        match word {
            "author" => commits.entry(commit).or_default().0 = rest,
            "author-time" => commits.entry(commit).or_default().1 = rest.parse().unwrap_or(0),
            "filename" => {
                let (name, at) = commits.get(commit).copied().unwrap_or_default();
                let author = authors.entry(name.to_owned()).or_insert(Author {
                    lines: 0,
                    oldest: at,
                    newest: at,
                });
                author.lines += lines;
                author.oldest = author.oldest.min(at);
                author.newest = author.newest.max(at);
                current = None;
            }
            _ => {}
        }
    }
    authors
}

/// Counts the lines that hold a word, by file, in what is committed.
pub(super) async fn code_search(
    repository: &Repository<'_>,
    words: &[&str],
    path: Option<&RelPath>,
) -> Result<Value, ProgramError> {
    let words = if words.is_empty() { &WORDS_DEFAULT } else { words };
    let (mut files, mut total, mut is_cut) = (Vec::new(), 0_u64, false);
    for word in words {
        let mut args = vec![
            "-z",
            "--count",
            "-I",
            "--fixed-strings",
            "--word-regexp",
            "--no-color",
            "-e",
            word,
        ];
        args.extend(["--end-of-options", "HEAD", "--"]);
        args.extend(path.map(RelPath::as_str));
        let output = match repository.run("grep", &args).await {
            Ok(output) => output,
            // That is how it says that there is none.
            Err(ProgramError::Failed { code: 1, .. }) => continue,
            Err(err) => return Err(err),
        };
        is_cut |= output.is_cut;
        for record in output.text.lines() {
            let Some((name, count)) = record.split_once('\0') else { continue };
            let name = name.strip_prefix("HEAD:").unwrap_or(name);
            let Ok(count) = count.parse::<u64>() else { continue };
            if is_secret_path(name) {
                continue;
            }
            total += count;
            files.push(json!({ "path": name, "word": word, "count": count }));
        }
    }
    Ok(json!({ "total": total, "truncated": is_cut, "files": files }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_no_option_path_or_search() {
        for text in ["HEAD", "v1.0..main", "origin/main...HEAD~3", "main@{1}", "abc123^"] {
            assert!(RevisionRange::parse(Some(text)).is_ok(), "{text}");
        }
        for text in ["", "--output=/tmp/x", "-p", ":/word", "HEAD:file", "a b", "a;b", "$(x)"] {
            assert!(RevisionRange::parse(Some(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn a_subject_that_looks_like_a_record_is_a_subject() {
        let (one, two) = ("a".repeat(40), "b".repeat(40));
        let text = format!(
            "{one}\0aaaa\0Ada\02026-04-01T12:00:00Z\0{two}\0\n3\t1\tx.rs\0-\t-\tlogo.png\0\
             {two}\0bbbb\0Bob\02026-04-02T12:00:00Z\01\t2\tz\0"
        );
        let commits = parse_log(&text, false);
        assert_eq!(commits.len(), 2);
        assert_eq!(commits[0]["subject"], two.as_str());
        assert_eq!(commits[0]["files"], 2);
        assert_eq!((&commits[0]["insertions"], &commits[0]["deletions"]), (&json!(3), &json!(1)));
        assert_eq!(commits[1]["subject"], "1 2 z");
        assert_eq!(commits[1]["files"], 0);
    }

    #[test]
    fn lines_are_counted_by_author() {
        let (one, two) = ("a".repeat(40), "b".repeat(40));
        let text = format!(
            "{one} 1 1 2\nauthor Ada\nauthor-time 100\nsummary filename x\nfilename a.txt\n\
             {two} 3 3 1\nauthor Bob\nauthor-time 50\nfilename a.txt\n{one} 5 4 3\nfilename a.txt\n"
        );
        let authors = parse_blame(&text);
        assert_eq!(authors["Ada"], Author { lines: 5, oldest: 100, newest: 100 });
        assert_eq!(authors["Bob"].lines, 1);
    }
}
