//! `.lines`: what a list needs of each settled artifact, beside how its files looked then.
//!
//! Reading a thousand pointers costs more than looking at the files they stand for, so whoever settles
//! an artifact also writes its line here, and a list believes the line while every file is the same by
//! inode, length and change time. Nothing depends on this file: where it is missing, damaged, cut off
//! or behind the times, the artifact itself is read.
//!
//! One line each: a checksum of the rest, the id, and the line as JSON. The last one of an id counts.

use std::collections::HashMap;
use std::io::Write as _;
use std::ops::Range;

use od_core::ids::{ArtifactId, Digest};
use serde::{Deserialize, Serialize};

use super::listed::Listed;
use crate::disk::{Dir, DiskError, FileStat};

const LINES: &str = ".lines";
/// Raise it whenever [`Listed`] gets another field: older lines do not have it.
const VERSION: u32 = 1;
/// Many times what the lines of all artifacts of a large project take. Beyond it, all start anew.
const BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Below this, lines that no longer count are not worth the work of leaving them out.
const BYTES_SPARE: u64 = 1024 * 1024;
/// Enough of a digest to tell a torn line; whoever would forge one could forge the pointer.
const CHECKSUM_CHARS: usize = 16;

/// How a file looked: its inode, length and change time. No two states of a file share all of them,
/// but for those within one tick of the clock: whoever writes a line sees to that.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Look(u64, u64, i64);

impl Look {
    pub(crate) fn of(stat: &FileStat) -> Self {
        Self(stat.inode, stat.bytes, i64::try_from(stat.changed_ns).unwrap_or(i64::MAX))
    }

    pub(crate) const fn changed_ns(self) -> i64 {
        self.2
    }
}

/// What a list needs of an artifact, and how its files looked when this was true.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Line {
    version: u32,
    /// One for each file; `None` if it was not there.
    pub(crate) looks: Vec<Option<Look>>,
    pub(crate) listed: Listed,
}

impl Line {
    pub(crate) const fn new(looks: Vec<Option<Look>>, listed: Listed) -> Self {
        Self { version: VERSION, looks, listed }
    }
}

/// The lines of a project.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    text: String,
    newest: HashMap<ArtifactId, Range<usize>>,
}

impl Lines {
    /// Reads the lines; none, if they cannot be read.
    pub(crate) fn read(live: &Dir) -> Self {
        let bytes = live.read_if_there(LINES, BYTES_MAX).ok().flatten().unwrap_or_default();
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|err| String::from_utf8_lossy(err.as_bytes()).into_owned());
        let mut newest = HashMap::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let range = start..start + line.len();
            start = range.end;
            let id = line.split(' ').nth(1).and_then(|id| id.parse::<ArtifactId>().ok());
            // A line without its end may have been cut off anywhere.
            if let Some(id) = id.filter(|_| line.ends_with('\n')) {
                newest.insert(id, range);
            }
        }
        Self { text, newest }
    }

    /// Returns the line of an artifact if it is whole.
    pub(crate) fn get(&self, id: &ArtifactId) -> Option<Line> {
        let line = self.text.get(self.newest.get(id)?.clone())?.strip_suffix('\n')?;
        let (checksum, rest) = line.split_once(' ')?;
        if !Digest::of_bytes(rest.as_bytes()).hex_digits().starts_with(checksum)
            || checksum.len() != CHECKSUM_CHARS
        {
            return None;
        }
        let (_, json) = rest.split_once(' ')?;
        serde_json::from_str(json).ok().filter(|line: &Line| line.version == VERSION)
    }
}

/// Adds the line of an artifact. The caller holds its commit lock.
pub(crate) fn append(live: &Dir, id: &ArtifactId, line: &Line) -> Result<(), DiskError> {
    let failed = |err| DiskError::new("write a line", err);
    let rest = format!("{id} {}", serde_json::to_string(line).map_err(|err| failed(err.into()))?);
    let digest = Digest::of_bytes(rest.as_bytes());
    let text = format!("{:.CHECKSUM_CHARS$} {rest}\n", digest.hex_digits());
    let mut file = live.append(LINES)?;
    // One call: lines that two processes add at the same time stand one after the other.
    file.write_all(text.as_bytes()).map_err(failed)?;
    if FileStat::of_file(&file)?.bytes > BYTES_MAX { live.remove(LINES) } else { Ok(()) }
}

/// How many bytes of lines a project may have before those that no longer count are left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room(u64);

impl Default for Room {
    fn default() -> Self {
        Self(BYTES_SPARE)
    }
}

impl Room {
    /// Tells whether the lines have outgrown it.
    pub(crate) fn is_full(self, live: &Dir) -> Result<bool, DiskError> {
        Ok(live.stat(LINES)?.is_some_and(|stat| stat.bytes > self.0))
    }
}

/// Leaves out lines that no longer count, and returns the room for those that will be added. What
/// another process adds meanwhile is lost, and only slows the next list.
pub(crate) fn tidy(live: &Dir, ids: &[ArtifactId]) -> Result<Room, DiskError> {
    let lines = Lines::read(live);
    let counting: String =
        ids.iter().filter_map(|id| lines.text.get(lines.newest.get(id)?.clone())).collect();
    let temporary = format!("{LINES}.tmp");
    live.write(&temporary, counting.as_bytes())?;
    live.rename(&temporary, live, LINES)?;
    Ok(Room(BYTES_SPARE.max(2 * counting.len() as u64)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id() -> ArtifactId {
        "la-page-0123456789ab".parse().expect("an id")
    }

    fn line(title: &str) -> Line {
        let listed = json!({
            "schemaVersion": 1,
            "id": id(),
            "projectId": "project-0123456789ab",
            "createdByRunId": "run-0123456789ab",
            "title": title,
            "slug": "a-page",
            "status": "active",
            "pinned": true,
            "preview": { "type": "html", "entry": "index.html" },
            "refreshStatus": "idle",
            "createdAt": "2026-04-30T00:00:00.000Z",
            "updatedAt": "2026-04-30T00:00:01.000Z",
            "lastRefreshedAt": "2026-04-30T00:00:01.000Z",
            "document": {},
            "revision": 3,
            "sourcePin": {
                "connectorId": "github",
                "toolName": "github.list_releases",
                "contractDigest": format!("sha256:{}", "1".repeat(64)),
            },
            "createdByAttempt": {
                "id": "attempt-1",
                "digest": format!("sha256:{}", "2".repeat(64)),
            },
            "store": { "lastRefresh": "refresh-000003" },
        });
        let listed = serde_json::from_value(listed).expect("what a list needs");
        Line::new(vec![Some(Look(1, 2, 3)), None], listed)
    }

    fn text_of(line: Option<Line>) -> Option<String> {
        line.map(|line| serde_json::to_string(&line).expect("a line is JSON"))
    }

    #[test]
    fn the_last_line_of_an_artifact_counts_and_no_damaged_one_does() {
        let home = tempfile::tempdir().expect("a directory");
        let live = Dir::open(home.path()).expect("a directory");
        append(&live, &id(), &line("old")).expect("an append works");
        append(&live, &id(), &line("new")).expect("an append works");
        assert_eq!(text_of(Lines::read(&live).get(&id())), text_of(Some(line("new"))));
        let whole = std::fs::read(home.path().join(LINES)).expect("the lines");
        let start = whole.len() / 2;
        let answers = [text_of(Some(line("old"))), text_of(Some(line("new"))), None];
        for at in start..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            for damaged in [&flipped[..], &whole[..at]] {
                std::fs::write(home.path().join(LINES), damaged).expect("a write");
                let read = text_of(Lines::read(&live).get(&id()));
                assert!(answers.contains(&read), "byte {at}: {read:?}");
                // A flip in the name makes it the line of another artifact, which is not there.
                let is_new = read == answers[1];
                assert!(!is_new, "byte {at} changes nothing");
            }
        }
    }

    #[test]
    fn a_line_has_the_fields_its_version_says() {
        let names = |value: &serde_json::Value| -> Vec<String> {
            value.as_object().expect("an object").keys().cloned().collect()
        };
        let value = serde_json::to_value(line("a page")).expect("a line is JSON");
        let fields = "schemaVersion id projectId createdByRunId title slug status pinned preview \
                      refreshStatus createdAt updatedAt lastRefreshedAt document revision sourcePin \
                      createdByAttempt store";
        assert_eq!(VERSION, 1, "the fields below are those of version 1");
        assert_eq!(names(&value["listed"]), fields.split_whitespace().collect::<Vec<_>>());
    }
}
