//! The activity of a repository, in our own field names: commits, workflow runs, milestones, contributors,
//! lines by week.

use od_core::credential::Scrubber;
use od_core::ids::Timestamp;
use od_core::json::Value;
use serde::Deserialize;
use serde_json::json;

use super::shape::{User, clean};

/// An entry of a list, as a row of ours.
pub(crate) trait Row {
    /// Returns the entry in our words.
    fn row(&self, secrets: &Scrubber) -> Value;
}

#[derive(Debug, Deserialize)]
struct Signature {
    name: Option<String>,
    date: Option<String>,
}

#[derive(Debug, Deserialize)]
struct CommitFacts {
    author: Option<Signature>,
    #[serde(default)]
    message: String,
}

/// An entry of `GET /repos/{owner}/{repo}/commits`
#[derive(Debug, Deserialize)]
pub(crate) struct Commit {
    sha: String,
    html_url: String,
    commit: CommitFacts,
    author: Option<User>,
}

impl Row for Commit {
    fn row(&self, secrets: &Scrubber) -> Value {
        let signature = self.commit.author.as_ref();
        let login = self.author.as_ref().map(|user| user.login.as_str());
        let name = login.or_else(|| signature.and_then(|signature| signature.name.as_deref()));
        let message = clean(&self.commit.message, secrets);
        json!({
            "commit": self.sha,
            "short": self.sha.get(..7),
            "author": name.map(|name| clean(name, secrets)),
            "time": signature.and_then(|signature| signature.date.as_deref()),
            "title": message.lines().next().unwrap_or_default(),
            "url": self.html_url,
        })
    }
}

/// An entry of `GET /repos/{owner}/{repo}/actions/runs`
#[derive(Debug, Deserialize)]
pub(crate) struct WorkflowRun {
    run_number: u64,
    name: Option<String>,
    display_title: Option<String>,
    head_branch: Option<String>,
    event: Option<String>,
    status: Option<String>,
    conclusion: Option<String>,
    run_attempt: Option<u64>,
    actor: Option<User>,
    created_at: Option<String>,
    run_started_at: Option<String>,
    updated_at: Option<String>,
    html_url: String,
}

impl Row for WorkflowRun {
    fn row(&self, secrets: &Scrubber) -> Value {
        let words = |text: &Option<String>| text.as_deref().map(|text| clean(text, secrets));
        json!({
            "number": self.run_number,
            "name": words(&self.name),
            "title": words(&self.display_title),
            "branch": words(&self.head_branch),
            "event": self.event,
            "status": self.status,
            "conclusion": self.conclusion,
            "attempt": self.run_attempt,
            "author": self.actor.as_ref().map(|user| user.login.as_str()),
            "createdAt": self.created_at,
            "startedAt": self.run_started_at,
            "updatedAt": self.updated_at,
            "url": self.html_url,
        })
    }
}

/// A page of workflow runs, which GitHub wraps.
#[derive(Debug, Deserialize)]
pub(crate) struct WorkflowRuns<T> {
    /// The runs.
    pub(crate) workflow_runs: Vec<T>,
}

/// An entry of `GET /repos/{owner}/{repo}/milestones`
#[derive(Debug, Deserialize)]
pub(crate) struct Milestone {
    number: u64,
    title: String,
    state: String,
    #[serde(default)]
    open_issues: u64,
    #[serde(default)]
    closed_issues: u64,
    due_on: Option<String>,
    created_at: Option<String>,
    closed_at: Option<String>,
    html_url: String,
}

impl Row for Milestone {
    fn row(&self, secrets: &Scrubber) -> Value {
        json!({
            "number": self.number,
            "title": clean(&self.title, secrets),
            "state": self.state,
            "openIssues": self.open_issues,
            "closedIssues": self.closed_issues,
            "dueOn": self.due_on,
            "createdAt": self.created_at,
            "closedAt": self.closed_at,
            "url": self.html_url,
        })
    }
}

/// An entry of `GET /repos/{owner}/{repo}/contributors`
#[derive(Debug, Deserialize)]
pub(crate) struct Contributor {
    login: Option<String>,
    name: Option<String>,
    #[serde(default)]
    contributions: u64,
    html_url: Option<String>,
}

impl Row for Contributor {
    fn row(&self, secrets: &Scrubber) -> Value {
        let name = self.login.as_deref().or(self.name.as_deref());
        json!({
            "author": name.map(|name| clean(name, secrets)),
            "commits": self.contributions,
            "url": self.html_url,
        })
    }
}

/// An entry of `GET /repos/{owner}/{repo}/stats/code_frequency`: a week, lines added, lines removed.
#[derive(Debug, Deserialize)]
pub(crate) struct Week(i64, i64, i64);

impl Row for Week {
    fn row(&self, _: &Scrubber) -> Value {
        let start = Timestamp::from_unix_ms(self.0.saturating_mul(1000)).to_string();
        json!({
            "week": start.get(..10),
            "additions": self.1,
            // GitHub counts them below zero.
            "deletions": self.2.saturating_abs(),
        })
    }
}
