//! The catalogue entry of the `github` connector.

use od_core::connector::{Category, Tool};
use od_core::json::Value;
use od_ports::connector_provider::{CatalogEntry, ConnectorAccess};
use serde_json::json;

use crate::catalog::{connector_id, read_only, tool_name};

pub(crate) const REPO_SUMMARY: &str = "github.public_repo_summary";
pub(crate) const LIST_RELEASES: &str = "github.list_releases";
pub(crate) const LIST_ISSUES: &str = "github.list_issues";
pub(crate) const LIST_PULL_REQUESTS: &str = "github.list_pull_requests";
/// The account of a connection without a token.
pub(crate) const ANONYMOUS: &str = "public";
/// Entries listed if the caller does not say.
pub(crate) const ENTRIES_DEFAULT: u64 = 20;
/// Entries listed at most.
pub(crate) const ENTRIES_MAX: u64 = 100;

/// Describes the connector.
pub(crate) fn entry() -> CatalogEntry {
    let names = [REPO_SUMMARY, LIST_RELEASES, LIST_ISSUES, LIST_PULL_REQUESTS];
    CatalogEntry {
        id: connector_id("github"),
        name: "GitHub",
        provider: "github",
        category: Category::Code,
        description: "Repositories, releases, issues and pull requests. Public ones need no token.",
        access: ConnectorAccess::OptionalSecret,
        anonymous_label: Some(ANONYMOUS),
        tools: tools(),
        allowed_tool_names: names.map(tool_name).to_vec(),
        featured_tool_names: vec![tool_name(REPO_SUMMARY), tool_name(LIST_RELEASES)],
    }
}

fn tools() -> Vec<Tool> {
    let reason = "GET requests only";
    // What a fine-grained token has to grant for a private repository; a public one needs none.
    let needs = |mut tool: Tool, permission: &str| {
        tool.scopes = vec![permission.to_owned()];
        tool
    };
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
