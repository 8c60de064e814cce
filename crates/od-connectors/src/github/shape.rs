//! GitHub's answers in our own field names.
//!
//! Only named fields are read. `body`, a name that no stored document may carry, becomes `notes`.

use od_core::json::Value;
use serde::Deserialize;
use serde_json::json;

/// Bytes of free text kept of one entry: enough to read, few enough for a hundred of them.
const NOTES_BYTES_MAX: usize = 1200;
/// Bytes of a title or name.
const TITLE_BYTES_MAX: usize = 300;
/// Labels kept of one entry.
const LABELS_MAX: usize = 10;

/// A user, of whom only the name matters.
#[derive(Debug, Deserialize)]
pub(crate) struct User {
    /// The name to sign in with.
    pub(crate) login: String,
}

#[derive(Debug, Deserialize)]
struct License {
    spdx_id: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Label {
    name: String,
}

#[derive(Debug, Deserialize)]
struct Asset {
    #[serde(default)]
    download_count: u64,
}

/// `GET /repos/{owner}/{repo}`
#[derive(Debug, Deserialize)]
pub(crate) struct Repository {
    full_name: String,
    html_url: String,
    description: Option<String>,
    homepage: Option<String>,
    language: Option<String>,
    license: Option<License>,
    #[serde(default)]
    topics: Vec<String>,
    default_branch: Option<String>,
    #[serde(default)]
    stargazers_count: u64,
    #[serde(default)]
    forks_count: u64,
    #[serde(default)]
    subscribers_count: u64,
    #[serde(default)]
    open_issues_count: u64,
    #[serde(default)]
    archived: bool,
    created_at: Option<String>,
    pushed_at: Option<String>,
}

impl Repository {
    /// Returns the repository in our words.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "name": clip(&self.full_name, TITLE_BYTES_MAX),
            "url": self.html_url,
            "description": self.description.as_deref().map(|text| clip(text, NOTES_BYTES_MAX)),
            "homepage": self.homepage.as_deref().filter(|text| !text.is_empty()),
            "language": self.language,
            "license": self.license.as_ref().and_then(|license| license.spdx_id.as_deref()),
            "topics": self.topics.iter().take(20).collect::<Vec<_>>(),
            "defaultBranch": self.default_branch,
            "stars": self.stargazers_count,
            "forks": self.forks_count,
            "watchers": self.subscribers_count,
            "openIssues": self.open_issues_count,
            "archived": self.archived,
            "createdAt": self.created_at,
            "pushedAt": self.pushed_at,
        })
    }
}

/// An entry of `GET /repos/{owner}/{repo}/releases`
#[derive(Debug, Deserialize)]
pub(crate) struct Release {
    tag_name: String,
    name: Option<String>,
    html_url: String,
    #[serde(default)]
    prerelease: bool,
    #[serde(default)]
    draft: bool,
    published_at: Option<String>,
    author: Option<User>,
    body: Option<String>,
    #[serde(default)]
    assets: Vec<Asset>,
}

impl Release {
    /// Returns the release in our words.
    pub(crate) fn to_json(&self) -> Value {
        let name = self.name.as_deref().filter(|name| !name.is_empty()).unwrap_or(&self.tag_name);
        json!({
            "name": clip(name, TITLE_BYTES_MAX),
            "tag": clip(&self.tag_name, TITLE_BYTES_MAX),
            "publishedAt": self.published_at,
            "author": self.author.as_ref().map(|user| user.login.as_str()),
            "prerelease": self.prerelease,
            "draft": self.draft,
            "url": self.html_url,
            "assets": self.assets.len(),
            "downloads": self.assets.iter().map(|asset| asset.download_count).sum::<u64>(),
            "notes": self.body.as_deref().map(|text| clip(text, NOTES_BYTES_MAX)),
        })
    }
}

/// An entry of `GET /repos/{owner}/{repo}/issues` or `…/pulls`
#[derive(Debug, Deserialize)]
pub(crate) struct Issue {
    number: u64,
    title: String,
    html_url: String,
    state: String,
    user: Option<User>,
    #[serde(default)]
    labels: Vec<Label>,
    #[serde(default)]
    comments: Option<u64>,
    #[serde(default)]
    draft: Option<bool>,
    created_at: Option<String>,
    updated_at: Option<String>,
    closed_at: Option<String>,
    #[serde(default)]
    merged_at: Option<String>,
    body: Option<String>,
    /// Present in the list of issues when the entry is a pull request.
    pull_request: Option<serde::de::IgnoredAny>,
}

impl Issue {
    /// Returns whether this is an issue proper: GitHub lists pull requests among them.
    pub(crate) const fn is_issue(&self) -> bool {
        self.pull_request.is_none()
    }

    /// Returns an issue in our words.
    pub(crate) fn to_json(&self) -> Value {
        let labels: Vec<&str> =
            self.labels.iter().take(LABELS_MAX).map(|label| label.name.as_str()).collect();
        json!({
            "number": self.number,
            "title": clip(&self.title, TITLE_BYTES_MAX),
            "state": self.state,
            "author": self.user.as_ref().map(|user| user.login.as_str()),
            "labels": labels,
            "comments": self.comments,
            "createdAt": self.created_at,
            "updatedAt": self.updated_at,
            "closedAt": self.closed_at,
            "url": self.html_url,
            "notes": self.body.as_deref().map(|text| clip(text, NOTES_BYTES_MAX)),
        })
    }

    /// Returns a pull request in our words.
    pub(crate) fn to_pull_request_json(&self) -> Value {
        let mut value = self.to_json();
        if let Some(map) = value.as_object_mut() {
            map.shift_remove("comments");
            map.insert("draft".to_owned(), self.draft.into());
            map.insert("mergedAt".to_owned(), self.merged_at.clone().into());
        }
        value
    }
}

/// Cuts text at a character, and drops NUL, which no stored document may hold.
fn clip(text: &str, bytes_max: usize) -> String {
    let mut end = text.len().min(bytes_max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut kept = text[..end].replace('\0', "");
    if end < text.len() {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_field_of_ours_is_called_body() {
        let release: Release = serde_json::from_value(json!({
            "tag_name": "v1", "html_url": "https://example.com", "body": "text", "author": null,
        }))
        .unwrap();
        let value = release.to_json();
        assert_eq!(value["notes"], "text");
        assert_eq!(value["name"], "v1");
        assert!(value.get("body").is_none());
    }

    #[test]
    fn long_text_is_cut_at_a_character() {
        let cut = clip(&"ü".repeat(1000), 301);
        assert_eq!(cut, format!("{}…", "ü".repeat(150)));
    }
}
