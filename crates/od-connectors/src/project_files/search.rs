//! Text search below a project's root: ignore rules, no binary files, bounded previews.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::sinks::Lossy;
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use od_core::credential::Scrubber;
use od_core::limits::SEARCH_FILE;
use od_ports::connector_provider::ProviderError;
use rustix::fs::{Mode, OFlags};

use super::fence::Fence;
use super::redacted::{Redacted, redact_line};
use super::walk::{FoundFile, Walk};

/// Bytes of one line kept as preview.
const PREVIEW_BYTES: usize = 240;
/// Searches that run at once: each has a thread, and goes on for a while after its caller has gone.
pub(super) const AT_ONCE: usize = od_core::limits::SEARCHES.max();
/// A line longer than this makes the file count as unsearchable: previews are for text.
const HEAP_LIMIT: usize = od_core::limits::SEARCH_LINE.max();
/// Size of a compiled pattern.
const PATTERN_BYTES: usize = od_core::limits::SEARCH_PATTERN.max();

/// A search request.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    /// Text, or a regular expression if `is_regex`.
    pub(crate) query: String,
    /// `query` is a regular expression.
    pub(crate) is_regex: bool,
    /// Upper and lower case differ.
    pub(crate) is_case_sensitive: bool,
    /// Globs that files have to match; none means all.
    pub(crate) globs: Vec<String>,
    /// Matches kept.
    pub(crate) limit: usize,
}

/// One matching line.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Match {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    /// Counted from 1.
    pub(crate) line: u64,
    /// The line, cut around the match if it is long.
    pub(crate) preview: String,
}

/// The result of a search.
#[derive(Debug)]
pub(crate) struct Found {
    /// The first matches by path and line, whatever order the threads met them in.
    pub(crate) matches: Vec<Match>,
    /// All matching lines, kept or not.
    pub(crate) total: u64,
    /// Files that were read.
    pub(crate) files: u64,
    /// Files whose end was not read.
    pub(crate) cut: u64,
}

/// A search that could not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SearchError {
    /// The pattern is no regular expression, or too big a one.
    #[error("the query is not a usable regular expression: {0}")]
    Pattern(String),
    /// A glob cannot be read.
    #[error("the glob is not usable: {0}")]
    Glob(String),
    /// The root is not there, or fenced off.
    #[error("the project's directory cannot be searched")]
    Root,
    /// The caller is gone.
    #[error("the search was stopped")]
    Stopped,
}

impl From<SearchError> for ProviderError {
    fn from(error: SearchError) -> Self {
        let message = error.to_string();
        match error {
            SearchError::Pattern(_) => Self::Input { pointer: "/query".to_owned(), message },
            SearchError::Glob(_) => Self::Input { pointer: "/globs".to_owned(), message },
            SearchError::Root => Self::Forbidden { message },
            SearchError::Stopped => Self::Unavailable { message },
        }
    }
}

/// Searches below `root`. Blocks; ends early when `stop` becomes true.
pub(crate) fn search(
    root: &Path,
    fence: &Fence,
    search: &Search,
    secrets: &Scrubber,
    stop: &Arc<AtomicBool>,
) -> Result<Found, SearchError> {
    let matcher = matcher(search)?;
    let fenced = fence.resolve();
    if fenced.encloses(root) {
        return Err(SearchError::Root);
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let handle = rustix::fs::open(root, flags, Mode::empty()).map_err(|_| SearchError::Root)?;
    let collector = Collector {
        matcher,
        limit: search.limit,
        kept: Mutex::new(BTreeSet::new()),
        total: AtomicU64::new(0),
        files: AtomicU64::new(0),
        cut: AtomicU64::new(0),
        secrets,
        stop: Arc::clone(stop),
    };
    let walk = Walk { fenced, globs: globs(&search.globs)?, stop: Arc::clone(stop) };
    let walked = walk.run(handle, || {
        let mut searcher = searcher();
        let collector = &collector;
        move |found: &FoundFile<'_>| {
            if let Some(name) = found.path.to_str() {
                collector.visit_reader(&mut searcher, name, found.file);
            }
        }
    });
    walked.map_err(|_| SearchError::Root)?;
    if stop.load(Ordering::Relaxed) {
        return Err(SearchError::Stopped);
    }
    let kept = collector.kept.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Found {
        matches: kept.into_iter().collect(),
        total: collector.total.into_inner(),
        files: collector.files.into_inner(),
        cut: collector.cut.into_inner(),
    })
}

fn matcher(search: &Search) -> Result<RegexMatcher, SearchError> {
    RegexMatcherBuilder::new()
        .case_insensitive(!search.is_case_sensitive)
        .fixed_strings(!search.is_regex)
        // No pattern reaches over a line's end: otherwise `\s` could, and a match would have no line to be
        // shown with.
        .line_terminator(Some(b'\n'))
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES)
        .build(&search.query)
        .map_err(|err| SearchError::Pattern(err.to_string()))
}

fn searcher() -> Searcher {
    SearcherBuilder::new()
        // As grep does: a file with a NUL byte is no text, and its lines are not for people.
        .binary_detection(BinaryDetection::quit(0))
        // A file that somebody shortens while it is mapped ends the process with SIGBUS; and what is read
        // has to pass the redaction first.
        .memory_map(MmapChoice::never())
        .heap_limit(Some(HEAP_LIMIT))
        .line_number(true)
        .build()
}

/// Globs are anchored at the root, which the walk calls `/`.
fn globs(globs: &[String]) -> Result<Override, SearchError> {
    let mut builder = OverrideBuilder::new("/");
    for glob in globs {
        builder.add(glob).map_err(|err| SearchError::Glob(err.to_string()))?;
    }
    builder.build().map_err(|err| SearchError::Glob(err.to_string()))
}

/// Reads files and keeps the first matches; shared by the threads of one search.
struct Collector<'a> {
    matcher: RegexMatcher,
    limit: usize,
    kept: Mutex<BTreeSet<Match>>,
    total: AtomicU64,
    files: AtomicU64,
    cut: AtomicU64,
    secrets: &'a Scrubber,
    stop: Arc<AtomicBool>,
}

/// A file as far as it is searched: it fails once the search is stopped, and ends at the limit.
struct Bounded<'a, R> {
    inner: R,
    left: u64,
    is_cut: bool,
    stop: &'a AtomicBool,
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("the search was stopped"));
        }
        let room = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        if room == 0 && !buffer.is_empty() {
            // One byte more tells a file that just fits from one that is cut.
            self.is_cut |= self.inner.read(&mut [0])? > 0;
            return Ok(0);
        }
        let read = self.inner.read(&mut buffer[..room])?;
        self.left -= read as u64;
        Ok(read)
    }
}

impl Collector<'_> {
    fn visit_reader(&self, searcher: &mut Searcher, name: &str, file: impl Read) {
        self.files.fetch_add(1, Ordering::Relaxed);
        let mut found = Vec::new();
        let mut count = 0;
        let mut bounded =
            Bounded { inner: file, left: SEARCH_FILE.allowed, is_cut: false, stop: &self.stop };
        // A file that turns out to be binary, or whose lines never end, gives what it gave so far.
        let _ = searcher.search_reader(
            &self.matcher,
            Redacted::new(&mut bounded, HEAP_LIMIT, self.secrets),
            Lossy(|line, text| {
                let text = text.trim_end_matches(['\r', '\n']);
                // Only text that the searcher has decoded itself can still hold something to hide.
                // Its line is no match at all: else a query could guess a secret letter by letter.
                if redact_line(text, self.secrets) == text {
                    count += 1;
                    if found.len() < self.limit {
                        found.push((line, preview(text, &self.matcher)));
                    }
                }
                Ok(!self.stop.load(Ordering::Relaxed))
            }),
        );
        self.cut.fetch_add(u64::from(bounded.is_cut), Ordering::Relaxed);
        if count > 0 {
            self.keep(name, count, found);
        }
    }

    fn keep(&self, path: &str, count: u64, previews: Vec<(u64, String)>) {
        self.total.fetch_add(count, Ordering::Relaxed);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for (line, preview) in previews {
            // The first by path and line are kept, not the first that a thread met: the same search of the
            // same files gives the same answer.
            let full = kept.len() >= self.limit;
            if full
                && kept.last().is_some_and(|last| (last.path.as_str(), last.line) < (path, line))
            {
                break;
            }
            kept.insert(Match { path: path.to_owned(), line, preview });
            if full {
                kept.pop_last();
            }
        }
    }
}

/// Cuts a line to a readable size around its match.
fn preview(line: &str, matcher: &RegexMatcher) -> String {
    use grep_matcher::Matcher as _;
    let text = line.trim_start();
    if text.len() <= PREVIEW_BYTES {
        return printable(text);
    }
    let at = matcher.find(text.as_bytes()).ok().flatten().map_or(0, |found| found.start());
    let start = floor(text, at.saturating_sub(PREVIEW_BYTES / 4));
    let end = floor(text, (start + PREVIEW_BYTES).min(text.len()));
    let before = if start > 0 { "…" } else { "" };
    let after = if end < text.len() { "…" } else { "" };
    format!("{before}{}{after}", printable(&text[start..end]))
}

/// Drops control characters, which have no place in a preview and NUL none in stored JSON.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\t' { ' ' } else { c }).collect()
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Endless text; the search is stopped while its third piece is read.
    struct Endless<'a> {
        reads: u64,
        stop: &'a AtomicBool,
    }

    impl Read for Endless<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.reads += 1;
            assert!(self.reads < 10_000, "it is read without end");
            self.stop.store(self.reads >= 3, Ordering::Relaxed);
            buffer.fill(b'\n');
            Ok(buffer.len())
        }
    }

    fn collector<'a>(query: &str, secrets: &'a Scrubber, stop: &Arc<AtomicBool>) -> Collector<'a> {
        let search = Search {
            query: query.to_owned(),
            is_regex: true,
            is_case_sensitive: true,
            globs: Vec::new(),
            limit: 5,
        };
        Collector {
            matcher: matcher(&search).unwrap(),
            limit: 5,
            kept: Mutex::default(),
            total: AtomicU64::new(0),
            files: AtomicU64::new(0),
            cut: AtomicU64::new(0),
            secrets,
            stop: Arc::clone(stop),
        }
    }

    fn no_secrets() -> Scrubber {
        Scrubber::new([""; 0])
    }

    #[test]
    fn a_search_stops_in_the_middle_of_a_file() {
        for query in ["nothing", ""] {
            let stop = Arc::new(AtomicBool::new(false));
            let mut endless = Endless { reads: 0, stop: &stop };
            collector(query, &no_secrets(), &stop).visit_reader(
                &mut searcher(),
                "a.txt",
                &mut endless,
            );
            assert_eq!(endless.reads, 3, "`{query}`");
        }
    }

    #[test]
    fn the_lines_of_one_piece_are_not_gone_through_once_it_is_stopped() {
        let stop = Arc::new(AtomicBool::new(false));
        let secrets = no_secrets();
        let collector = collector("", &secrets, &stop);
        let mut endless = Endless { reads: 2, stop: &stop };
        collector.visit_reader(&mut searcher(), "a.txt", &mut endless);
        assert_eq!(collector.total.into_inner(), 1);
    }

    #[test]
    fn a_file_is_read_up_to_its_limit_and_the_cut_is_told() {
        let stop = Arc::new(AtomicBool::new(false));
        let secrets = no_secrets();
        for (over, cut) in [(0, 0), (1, 1)] {
            let collector = collector("nothing", &secrets, &stop);
            let file = io::repeat(b'\n').take(SEARCH_FILE.allowed + over);
            collector.visit_reader(&mut searcher(), "a.txt", file);
            assert_eq!(collector.cut.into_inner(), cut);
        }
    }
}
