//! Text search below a project's root: ignore rules, no binary files, bounded previews.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::sinks::Lossy;
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::{DirEntry, WalkBuilder, WalkState};
use rustix::fs::{Mode, OFlags, ResolveFlags};

use super::fence::{Fence, HIDDEN_NAMES, Standing};

/// Bytes of one line kept as preview.
const PREVIEW_BYTES: usize = 240;
/// A line longer than this makes the file count as unsearchable: previews are for text.
const HEAP_LIMIT: usize = 8 * 1024 * 1024;
/// Threads that walk and search.
const THREADS_MAX: usize = 4;
/// Size of a compiled pattern.
const PATTERN_BYTES: usize = 1024 * 1024;

/// What to look for.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    /// Text, or a regular expression if `is_regex`.
    pub(crate) query: String,
    /// Whether `query` is a regular expression.
    pub(crate) is_regex: bool,
    /// Whether case matters.
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

/// What was found.
#[derive(Debug)]
pub(crate) struct Found {
    /// The first matches by path and line, whatever order the threads met them in.
    pub(crate) matches: Vec<Match>,
    /// All matching lines, kept or not.
    pub(crate) total: u64,
    /// Files that were read.
    pub(crate) files: u64,
}

/// Why nothing could be searched.
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
    /// Whoever asked is no longer there.
    #[error("the search was stopped")]
    Stopped,
}

/// Searches below `root`. Blocks; ends early when `stop` becomes true.
pub(crate) fn search(
    root: &Path,
    fence: &Fence,
    search: &Search,
    stop: &Arc<AtomicBool>,
) -> Result<Found, SearchError> {
    let matcher = matcher(search)?;
    let standing = Arc::new(fence.look_up());
    if standing.encloses(root) {
        return Err(SearchError::Root);
    }
    let handle = open_root(root)?;
    let collector = Collector {
        root: root.to_path_buf(),
        handle,
        standing: Arc::clone(&standing),
        matcher,
        limit: search.limit,
        kept: Mutex::new(BTreeSet::new()),
        total: AtomicU64::new(0),
        files: AtomicU64::new(0),
    };
    walker(root, standing, globs(root, &search.globs)?).run(|| {
        let mut searcher = searcher();
        let (collector, stop) = (&collector, stop);
        Box::new(move |entry| {
            if stop.load(Ordering::Relaxed) {
                return WalkState::Quit;
            }
            // A directory that cannot be read is one without matches: the rest is still of use.
            if let Ok(entry) = entry {
                collector.visit(&mut searcher, &entry);
            }
            WalkState::Continue
        })
    });
    if stop.load(Ordering::Relaxed) {
        return Err(SearchError::Stopped);
    }
    Ok(collector.finish())
}

fn matcher(search: &Search) -> Result<RegexMatcher, SearchError> {
    RegexMatcherBuilder::new()
        .case_insensitive(!search.is_case_sensitive)
        .fixed_strings(!search.is_regex)
        .line_terminator(Some(b'\n'))
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES)
        .build(&search.query)
        .map_err(|err| SearchError::Pattern(err.to_string()))
}

fn searcher() -> Searcher {
    SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .memory_map(MmapChoice::never())
        .heap_limit(Some(HEAP_LIMIT))
        .line_number(true)
        .build()
}

fn globs(root: &Path, globs: &[String]) -> Result<Override, SearchError> {
    let mut builder = OverrideBuilder::new(root);
    for glob in globs {
        builder.add(glob).map_err(|err| SearchError::Glob(err.to_string()))?;
    }
    builder.build().map_err(|err| SearchError::Glob(err.to_string()))
}

fn walker(root: &Path, standing: Arc<Standing>, globs: Override) -> ignore::WalkParallel {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(THREADS_MAX));
    WalkBuilder::new(root)
        .threads(threads)
        .follow_links(false)
        // Ignore files above the root are not the project's, and the person's own are not either.
        .parents(false)
        .git_global(false)
        .require_git(false)
        .overrides(globs)
        .filter_entry(move |entry| is_open(&standing, entry))
        .build_parallel()
}

/// Decides whether a walk may enter or list an entry.
fn is_open(standing: &Standing, entry: &DirEntry) -> bool {
    if HIDDEN_NAMES.iter().any(|name| entry.file_name() == *name) {
        return false;
    }
    let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
    !is_directory || entry.metadata().is_ok_and(|metadata| !standing.closes(&metadata))
}

fn open_root(root: &Path) -> Result<OwnedFd, SearchError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(root, flags, Mode::empty()).map_err(|_| SearchError::Root)
}

/// Reads files and keeps the first matches; shared by the threads of one search.
struct Collector {
    root: PathBuf,
    handle: OwnedFd,
    standing: Arc<Standing>,
    matcher: RegexMatcher,
    limit: usize,
    kept: Mutex<BTreeSet<Match>>,
    total: AtomicU64,
    files: AtomicU64,
}

impl Collector {
    fn visit(&self, searcher: &mut Searcher, entry: &DirEntry) {
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            return;
        }
        let Ok(relative) = entry.path().strip_prefix(&self.root) else { return };
        let (Some(name), Some(file)) = (relative.to_str(), self.open(relative)) else { return };
        self.files.fetch_add(1, Ordering::Relaxed);
        let mut found = Vec::new();
        let mut count = 0;
        // A file that turns out to be binary, or whose lines never end, gives what it gave so far.
        let _ = searcher.search_file(
            &self.matcher,
            &file,
            Lossy(|line, text| {
                count += 1;
                if found.len() < self.limit {
                    found.push((line, text.to_owned()));
                }
                Ok(true)
            }),
        );
        if count > 0 {
            self.keep(name, count, found);
        }
    }

    /// Opens a file below the root without following any link, and only if it is a plain open file.
    ///
    /// The walk saw a path; what stands there now may be something else, so the handle decides.
    fn open(&self, relative: &Path) -> Option<File> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let handle =
            rustix::fs::openat2(&self.handle, relative, flags, Mode::empty(), resolve).ok()?;
        let file = File::from(handle);
        let metadata = file.metadata().ok()?;
        (metadata.is_file() && !self.standing.closes(&metadata)).then_some(file)
    }

    fn keep(&self, path: &str, count: u64, lines: Vec<(u64, String)>) {
        self.total.fetch_add(count, Ordering::Relaxed);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for (line, text) in lines {
            let full = kept.len() >= self.limit;
            if full
                && kept.last().is_some_and(|last| (last.path.as_str(), last.line) < (path, line))
            {
                break;
            }
            kept.insert(Match {
                path: path.to_owned(),
                line,
                preview: preview(&text, &self.matcher),
            });
            if full {
                kept.pop_last();
            }
        }
    }

    fn finish(self) -> Found {
        let kept = self.kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        Found {
            matches: kept.into_iter().collect(),
            total: self.total.into_inner(),
            files: self.files.into_inner(),
        }
    }
}

/// Cuts a line to a readable size around its match.
fn preview(line: &str, matcher: &RegexMatcher) -> String {
    use grep_matcher::Matcher as _;
    let text = line.trim_end_matches(['\r', '\n']);
    let text = text.trim_start();
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
