//! GitHub's answers in our own field names.
//!
//! Only named fields are read. `body`, a name that no stored document may carry, becomes `notes`.

use od_core::connector::Clip;
use od_core::credential::Scrubber;
use od_core::json::Value;
use serde::Deserialize;
use serde_json::json;

/// Bytes of free text kept of one entry: enough to read, few enough for a hundred of them.
const NOTES_BYTES_MAX: usize = 1200;
/// Bytes of a text before it is cut: GitHub's own longest has 65,536 characters.
const TEXT_BYTES_MAX: usize = 256 * 1024;
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
struct Named {
    title: String,
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
    pub(crate) fn to_json(&self, secrets: &Scrubber) -> Value {
        json!({
            "name": clean(&self.full_name, secrets),
            "url": self.html_url,
            "description": self.description.as_deref().map(|text| clean(text, secrets)),
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
    pub(crate) fn to_json(&self, secrets: &Scrubber) -> Value {
        let name = self.name.as_deref().filter(|name| !name.is_empty()).unwrap_or(&self.tag_name);
        json!({
            "name": clean(name, secrets),
            "tag": clean(&self.tag_name, secrets),
            "publishedAt": self.published_at,
            "author": self.author.as_ref().map(|user| user.login.as_str()),
            "prerelease": self.prerelease,
            "draft": self.draft,
            "url": self.html_url,
            "assets": self.assets.len(),
            "downloads": self.assets.iter().map(|asset| asset.download_count).sum::<u64>(),
            "notes": self.body.as_deref().map(|text| clean(text, secrets)),
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
    assignee: Option<User>,
    milestone: Option<Named>,
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
    pub(crate) fn to_json(&self, secrets: &Scrubber) -> Value {
        let labels: Vec<&str> =
            self.labels.iter().take(LABELS_MAX).map(|label| label.name.as_str()).collect();
        json!({
            "number": self.number,
            "title": clean(&self.title, secrets),
            "state": self.state,
            "author": self.user.as_ref().map(|user| user.login.as_str()),
            "assignee": self.assignee.as_ref().map(|user| user.login.as_str()),
            "milestone": self.milestone.as_ref().map(|named| clean(&named.title, secrets)),
            "labels": labels,
            "comments": self.comments,
            "createdAt": self.created_at,
            "updatedAt": self.updated_at,
            "closedAt": self.closed_at,
            "url": self.html_url,
            "notes": self.body.as_deref().map(|text| clean(text, secrets)),
        })
    }

    /// Returns a pull request in our words.
    pub(crate) fn to_pull_request_json(&self, secrets: &Scrubber) -> Value {
        let mut value = self.to_json(secrets);
        if let Some(map) = value.as_object_mut() {
            map.shift_remove("comments");
            map.insert("draft".to_owned(), self.draft.into());
            map.insert("mergedAt".to_owned(), self.merged_at.clone().into());
        }
        value
    }
}

/// Drops NUL, which no stored document may hold, and what is longer than any text of GitHub.
pub(super) fn clean(text: &str, secrets: &Scrubber) -> String {
    if text.len() <= TEXT_BYTES_MAX {
        return text.replace('\0', "");
    }
    let mut text = secrets.scrub_text(text).unwrap_or_else(|| text.to_owned());
    let most = text.len().min(TEXT_BYTES_MAX);
    text.truncate((0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0));
    text.replace('\0', "")
}

/// The texts that are cut, of a repository and of entries, once secrets were taken out of them.
pub(crate) const CLIPS: &[Clip] = &[
    Clip { path: "/repository/name", bytes_max: TITLE_BYTES_MAX },
    Clip { path: "/repository/description", bytes_max: NOTES_BYTES_MAX },
    Clip { path: "/items/*/author", bytes_max: TITLE_BYTES_MAX },
    Clip { path: "/items/*/branch", bytes_max: TITLE_BYTES_MAX },
    Clip { path: "/items/*/milestone", bytes_max: TITLE_BYTES_MAX },
    Clip { path: "/items/*/name", bytes_max: TITLE_BYTES_MAX },
    Clip { path: "/items/*/tag", bytes_max: TITLE_BYTES_MAX },
    Clip { path: "/items/*/title", bytes_max: TITLE_BYTES_MAX },
    Clip { path: "/items/*/notes", bytes_max: NOTES_BYTES_MAX },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_field_of_ours_is_called_body() {
        let release: Release = serde_json::from_value(json!({
            "tag_name": "v1", "html_url": "https://example.com", "body": "text", "author": null,
        }))
        .unwrap();
        let value = release.to_json(&Scrubber::new([""; 0]));
        assert_eq!(value["notes"], "text");
        assert_eq!(value["name"], "v1");
        assert!(value.get("body").is_none());
    }
}
