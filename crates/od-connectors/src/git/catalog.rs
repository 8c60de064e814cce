//! The tools of the `git` connector.

use od_core::connector::{LocalTool, Tool};
use od_core::json::Value;
use od_core::limits::GIT_LOG;
use serde_json::json;

use super::history::WORDS_MAX;
use crate::catalog::read_only;

const REASON: &str = "runs git commands that only read";

/// Describes the tools; a summary lists at most so many commits and tags.
pub(super) fn tools(entries_max: u64) -> Vec<Tool> {
    vec![summary(entries_max), log(), file_history(), blame_summary(), code_search()]
}

fn summary(entries_max: u64) -> Tool {
    let entries = |what: &str| {
        json!({
            "type": "integer", "minimum": 0, "maximum": entries_max,
            "description": format!("Newest {what} to report; 10 if left out."),
        })
    };
    read_only(
        LocalTool::GitSummary.as_str(),
        "Read repository summary",
        "Branch, upstream, ahead and behind, status, recent commits, diff stat and tags of the \
         repository at the project's root; only isRepository: false where there is none.",
        schema(json!({ "commits": entries("commits"), "tags": entries("tags") }), json!([])),
        REASON,
    )
}

fn log() -> Tool {
    let at = |what: &str| {
        json!({
            "type": "string", "maxLength": 40,
            "description": format!("Only commits {what} this day or time, as 2026-05-01."),
        })
    };
    read_only(
        LocalTool::GitLog.as_str(),
        "Read the commit log",
        "Commits of the project's repository, newest first, with author, time, subject, files, insertions and deletions.",
        schema(
            json!({
                "range": range(), "path": path("Only commits that changed this file or folder."),
                "author": {
                    "type": "string", "minLength": 1, "maxLength": 100,
                    "description": "Only commits whose author's name or address holds this text.",
                },
                "since": at("after"), "until": at("before"), "limit": limit(),
            }),
            json!([]),
        ),
        REASON,
    )
}

fn file_history() -> Tool {
    read_only(
        LocalTool::GitFileHistory.as_str(),
        "Read the history of a file",
        "Commits that changed one file, through its former names, newest first.",
        schema(
            json!({ "path": path("The file."), "range": range(), "limit": limit() }),
            json!(["path"]),
        ),
        REASON,
    )
}

fn blame_summary() -> Tool {
    read_only(
        LocalTool::GitBlameSummary.as_str(),
        "Read the authors of a file",
        "The lines of one committed file counted by author, with the oldest and newest time.",
        schema(json!({ "path": path("The file.") }), json!(["path"])),
        REASON,
    )
}

fn code_search() -> Tool {
    read_only(
        LocalTool::GitCodeSearch.as_str(),
        "Search committed code for words",
        "Counts the lines that hold words such as TODO, by file and word, in the newest commit.",
        schema(
            json!({
                "words": {
                    "type": "array", "minItems": 1, "maxItems": WORDS_MAX,
                    "items": { "type": "string", "minLength": 1, "maxLength": 64 },
                    "description": "The words; TODO, FIXME and HACK if left out.",
                },
                "path": path("Only below this folder, or in this file."),
            }),
            json!([]),
        ),
        REASON,
    )
}

fn path(what: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 260, "description": what })
}

fn range() -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": 200,
        "description": "A branch, tag or commit, or two as `v1.0..main`; HEAD if left out.",
    })
}

fn limit() -> Value {
    json!({
        "type": "integer", "minimum": 1, "maximum": GIT_LOG.allowed,
        "description": "Commits to list; 100 if left out.",
    })
}

fn schema(properties: Value, required: Value) -> Value {
    let mut schema = json!({ "type": "object", "additionalProperties": false });
    schema["properties"] = properties;
    // As it was before there were others: what is pinned stays pinned.
    if required != json!([]) {
        schema["required"] = required;
    }
    schema
}
