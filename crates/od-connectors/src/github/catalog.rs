//! The catalogue entry of the `github` connector.

use od_core::connector::{Category, Tool};
use od_core::json::Value;
use od_ports::connector_provider::{CatalogEntry, ConnectorAccess};
use serde_json::json;

use crate::catalog::{connector_id, names, read_only, tool_name};

pub(crate) const REPO_SUMMARY: &str = "github.public_repo_summary";
pub(crate) const LIST_RELEASES: &str = "github.list_releases";
pub(crate) const LIST_ISSUES: &str = "github.list_issues";
pub(crate) const LIST_PULL_REQUESTS: &str = "github.list_pull_requests";
pub(crate) const LIST_COMMITS: &str = "github.list_commits";
pub(crate) const LIST_WORKFLOW_RUNS: &str = "github.list_workflow_runs";
pub(crate) const LIST_MILESTONES: &str = "github.list_milestones";
pub(crate) const LIST_CONTRIBUTORS: &str = "github.list_contributors";
pub(crate) const CODE_FREQUENCY: &str = "github.read_code_frequency";
/// The account of a connection without a token.
pub(crate) const ANONYMOUS: &str = "public";
/// Entries listed if the caller does not say.
pub(crate) const ENTRIES_DEFAULT: u64 = 20;
/// Entries listed at most.
pub(crate) const ENTRIES_MAX: u64 = od_core::limits::GITHUB_ENTRIES.allowed;

/// Describes the connector.
pub(crate) fn entry() -> CatalogEntry {
    let tools = tools();
    CatalogEntry {
        id: connector_id("github"),
        name: "GitHub",
        provider: "github",
        category: Category::Code,
        description: "Repositories with releases, issues, pull requests, commits and workflow runs. Public ones need no token.",
        access: ConnectorAccess::OptionalSecret,
        anonymous_label: Some(ANONYMOUS),
        allowed_tool_names: names(&tools.iter().collect::<Vec<_>>()),
        tools,
        featured_tool_names: vec![tool_name(REPO_SUMMARY), tool_name(LIST_RELEASES)],
    }
}

const REASON: &str = "GET requests only";

/// Notes what a fine-grained token has to grant for a private repository; a public one needs none.
fn needs(mut tool: Tool, permission: &str) -> Tool {
    tool.scopes = vec![permission.to_owned()];
    tool
}

/// Lists gave at most 100 entries once: what was pinned then stays pinned.
fn formerly_shorter(mut tool: Tool) -> Tool {
    let mut former = tool.input_schema.clone();
    if let Some(maximum) = former.pointer_mut("/properties/limit/maximum") {
        *maximum = 100.into();
        tool.former_input_schemas = vec![former];
    }
    tool
}

fn tools() -> Vec<Tool> {
    let mut tools: Vec<Tool> = lists().into_iter().map(formerly_shorter).collect();
    tools.extend(activity());
    tools
}

/// Describes the tools that list what happens in a repository.
fn activity() -> Vec<Tool> {
    let tool = |name, title, description, further: &[(&str, Value)], permission| {
        needs(read_only(name, title, description, schema(further), REASON), permission)
    };
    vec![
        tool(
            LIST_COMMITS,
            "List commits",
            "Commits of one repository, newest first, with author, time and title.",
            &[
                ("limit", limit()),
                ("branch", text("A branch, tag or commit; the default branch if left out.")),
                ("path", text("Only commits that changed this file or folder.")),
                ("author", text("Only commits of this user.")),
                ("since", text("Only commits after this time, as 2026-05-01T00:00:00Z.")),
                ("until", text("Only commits before this time.")),
            ],
            "contents:read",
        ),
        tool(
            LIST_WORKFLOW_RUNS,
            "List workflow runs",
            "Workflow runs of one repository, newest first, with status, conclusion, branch and times.",
            &[
                ("limit", limit()),
                ("branch", text("Only runs of this branch.")),
                ("event", text("Only runs of this event, such as push.")),
                ("status", text("Only runs of this status or conclusion, such as failure.")),
            ],
            "actions:read",
        ),
        tool(
            LIST_MILESTONES,
            "List milestones",
            "Milestones of one repository with due dates, open and closed issues.",
            &[("limit", limit()), ("state", state())],
            "issues:read",
        ),
        tool(
            LIST_CONTRIBUTORS,
            "List contributors",
            "Contributors of one repository by number of commits.",
            &[("limit", limit())],
            "metadata:read",
        ),
        tool(
            CODE_FREQUENCY,
            "Read lines by week",
            "Lines added and removed in one repository, by week.",
            &[],
            "metadata:read",
        ),
    ]
}

fn text(what: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 250, "description": what })
}

fn lists() -> Vec<Tool> {
    let reason = REASON;
    vec![
        needs(
            read_only(
                REPO_SUMMARY,
                "Read repository summary",
                "Description, stars, forks, issues, licence and dates of one repository.",
                schema(&[]),
                reason,
            ),
            "metadata:read",
        ),
        needs(
            read_only(
                LIST_RELEASES,
                "List releases",
                "Releases of one repository, newest first, with notes and download counts.",
                schema(&[("limit", limit())]),
                reason,
            ),
            "contents:read",
        ),
        needs(
            read_only(
                LIST_ISSUES,
                "List issues",
                "Issues of one repository, newest first, without pull requests.",
                schema(&[("limit", limit()), ("state", state())]),
                reason,
            ),
            "issues:read",
        ),
        needs(
            read_only(
                LIST_PULL_REQUESTS,
                "List pull requests",
                "Pull requests of one repository, newest first.",
                schema(&[("limit", limit()), ("state", state())]),
                reason,
            ),
            "pull_requests:read",
        ),
    ]
}

fn schema(further: &[(&str, Value)]) -> Value {
    let name = |what: &str| {
        json!({
            "type": "string", "minLength": 1, "maxLength": 100,
            "description": what,
        })
    };
    let mut schema = json!({
        "type": "object",
        "properties": {
            "owner": name("User or organisation: letters, digits, `.`, `_`, `-`."),
            "repo": name("Repository, without its owner."),
        },
        "required": ["owner", "repo"],
        "additionalProperties": false,
    });
    for (key, value) in further {
        schema["properties"][*key] = value.clone();
    }
    schema
}

fn limit() -> Value {
    json!({
        "type": "integer", "minimum": 1, "maximum": ENTRIES_MAX,
        "description": "Entries to list; 20 if left out.",
    })
}

fn state() -> Value {
    json!({
        "type": "string", "enum": ["open", "closed", "all"],
        "description": "Which ones; open if left out.",
    })
}
