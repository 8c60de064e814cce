//! The `github` connector as a provider.

use std::net::SocketAddr;
use std::sync::Arc;

use async_trait::async_trait;
use od_core::json::{Map, Value};
use od_ports::access::credential_vault::Secret;
use od_ports::connector_provider::{
    CatalogEntry, ConnectorProvider, ProviderError, RawOutput, ToolCall,
};
use od_ports::system::Clock;
use serde::de::DeserializeOwned;
use serde_json::json;
use url::Url;

use super::activity::{Commit, Contributor, Milestone, Row, Week, WorkflowRun};
use super::api::{Api, CallStats, Listing, Pages, Resource};
use super::catalog::{
    self, CODE_FREQUENCY, ENTRIES_DEFAULT, ENTRIES_MAX, LIST_COMMITS, LIST_CONTRIBUTORS,
    LIST_ISSUES, LIST_MILESTONES, LIST_PULL_REQUESTS, LIST_RELEASES, LIST_WORKFLOW_RUNS,
    REPO_SUMMARY,
};
use super::shape::{CLIPS, Issue, Release, Repository, User};
use crate::http::{HostOverride, Origin};

/// Ten years.
const WEEKS_MAX: usize = 520;

/// The address of a GitHub service.
#[derive(Clone, Debug)]
pub struct GitHubConfig {
    base: Url,
    origin: Origin,
    overrides: Vec<HostOverride>,
}

/// A base URL that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("`{url}` is not an http or https URL with a host, free of credentials")]
pub struct BaseUrlError {
    url: String,
}

impl GitHubConfig {
    /// The public service.
    pub const DEFAULT_BASE_URL: &'static str = "https://api.github.com";

    /// Takes another base, such as an enterprise installation or a test server.
    ///
    /// The base may be at a private address, because someone said so; nothing it redirects to may.
    pub fn new(base_url: &str) -> Result<Self, BaseUrlError> {
        let fault = || BaseUrlError { url: base_url.to_owned() };
        let base = Url::parse(base_url).map_err(|_| fault())?;
        let origin = Origin::of(&base).ok_or_else(fault)?;
        if !base.username().is_empty() || base.password().is_some() {
            // Not the address itself: the password that it holds would stand in the message.
            return Err(BaseUrlError { url: "…".to_owned() });
        }
        Ok(Self { base, origin, overrides: Vec::new() })
    }

    /// Says where a host is, whatever the name service says.
    #[must_use]
    pub fn with_host_at(mut self, host: &str, address: SocketAddr) -> Self {
        self.overrides.push(HostOverride { host: host.to_owned(), address });
        self
    }
}

/// Reads repositories from GitHub.
#[derive(Debug)]
pub struct GitHub {
    api: Api,
}

impl GitHub {
    /// Makes the connector. No request is made until a tool is called.
    pub fn new(config: GitHubConfig, clock: Arc<dyn Clock>) -> Self {
        let GitHubConfig { base, origin, overrides } = config;
        Self { api: Api::new(base, origin, overrides, clock) }
    }

    async fn summary(
        &self,
        call: &ToolCall,
        stats: &mut CallStats,
    ) -> Result<Value, ProviderError> {
        let resource = repository(&call.input, None)?;
        let found: Repository = self.api.one(&resource, call.secret.as_ref(), stats).await?;
        Ok(json!({ "repository": found.to_json(&call.scrubber) }))
    }

    async fn releases(
        &self,
        call: &ToolCall,
        stats: &mut CallStats,
    ) -> Result<Value, ProviderError> {
        let resource = repository(&call.input, Some("releases"))?;
        let listing: Listing<Release> = self
            .api
            .list(&resource, limit(&call.input), |_| true, call.secret.as_ref(), stats)
            .await?;
        Ok(items(&listing, |release| release.to_json(&call.scrubber)))
    }

    /// Lists what is below a repository; `filters` are names of inputs and of GitHub's parameters.
    async fn rows<T: DeserializeOwned + Row>(
        &self,
        call: &ToolCall,
        below: &'static str,
        filters: &[(&str, &'static str)],
        stats: &mut CallStats,
    ) -> Result<Value, ProviderError> {
        let mut resource = repository(&call.input, Some(below))?;
        if below == "actions/runs" {
            resource.pages = Pages::Wrapped;
        }
        for (input, parameter) in filters {
            if let Some(text) = call.input.get(*input).and_then(Value::as_str) {
                resource.query.push((parameter, text.to_owned()));
            }
        }
        let listing: Listing<T> = self
            .api
            .list(&resource, limit(&call.input), |_| true, call.secret.as_ref(), stats)
            .await?;
        Ok(items(&listing, |entry| entry.row(&call.scrubber)))
    }

    async fn code_frequency(
        &self,
        call: &ToolCall,
        stats: &mut CallStats,
    ) -> Result<Value, ProviderError> {
        let resource = repository(&call.input, Some("stats/code_frequency"))?;
        let weeks: Vec<Week> = self.api.one(&resource, call.secret.as_ref(), stats).await?;
        let entries = weeks.into_iter().rev().take(WEEKS_MAX).collect();
        Ok(items(&Listing { entries, is_cut: false }, |week| week.row(&call.scrubber)))
    }

    async fn issues(
        &self,
        call: &ToolCall,
        kind: &'static str,
        stats: &mut CallStats,
    ) -> Result<Value, ProviderError> {
        let mut resource = repository(&call.input, Some(kind))?;
        let state = call.input.get("state").and_then(Value::as_str).unwrap_or("open");
        resource.query.push(("state", state.to_owned()));
        // GitHub lists pull requests among the issues.
        let is_issues = kind == "issues";
        let listing: Listing<Issue> = self
            .api
            .list(
                &resource,
                limit(&call.input),
                |entry: &Issue| !is_issues || entry.is_issue(),
                call.secret.as_ref(),
                stats,
            )
            .await?;
        let shape = if is_issues { Issue::to_json } else { Issue::to_pull_request_json };
        Ok(items(&listing, |entry| shape(entry, &call.scrubber)))
    }
}

#[async_trait]
impl ConnectorProvider for GitHub {
    fn catalog(&self) -> CatalogEntry {
        catalog::entry()
    }

    async fn identify(&self, secret: &Secret) -> Result<String, ProviderError> {
        let resource = Resource {
            path: vec!["user".to_owned()],
            query: Vec::new(),
            pages: Pages::Plain,
            label: "user for this token".to_owned(),
        };
        let user: User = self.api.one(&resource, Some(secret), &mut CallStats::default()).await?;
        // It becomes the label of the account, in lists and in stored pins; what no user of GitHub can be
        // called is not taken over.
        if is_name(&user.login) {
            Ok(user.login)
        } else {
            Err(ProviderError::Malformed { message: "GitHub gave no usable user name".to_owned() })
        }
    }

    async fn execute(&self, call: ToolCall) -> Result<RawOutput, ProviderError> {
        let mut stats = CallStats::default();
        let value = match call.tool.as_str() {
            REPO_SUMMARY => self.summary(&call, &mut stats).await?,
            LIST_RELEASES => self.releases(&call, &mut stats).await?,
            LIST_ISSUES => self.issues(&call, "issues", &mut stats).await?,
            LIST_PULL_REQUESTS => self.issues(&call, "pulls", &mut stats).await?,
            LIST_COMMITS => {
                let filters = [
                    ("branch", "sha"),
                    ("path", "path"),
                    ("author", "author"),
                    ("since", "since"),
                    ("until", "until"),
                ];
                self.rows::<Commit>(&call, "commits", &filters, &mut stats).await?
            }
            LIST_WORKFLOW_RUNS => {
                let filters = [("branch", "branch"), ("event", "event"), ("status", "status")];
                self.rows::<WorkflowRun>(&call, "actions/runs", &filters, &mut stats).await?
            }
            LIST_MILESTONES => {
                self.rows::<Milestone>(&call, "milestones", &[("state", "state")], &mut stats)
                    .await?
            }
            LIST_CONTRIBUTORS => {
                self.rows::<Contributor>(&call, "contributors", &[], &mut stats).await?
            }
            CODE_FREQUENCY => self.code_frequency(&call, &mut stats).await?,
            _ => return Err(ProviderError::UnknownTool { tool: call.tool }),
        };
        let summary = value.get("count").map(|count| format!("{count} entries"));
        let execution_id = stats.execution_id.take();
        let metadata = stats.into_metadata();
        let output = RawOutput::of(&value)?;
        Ok(RawOutput { summary, execution_id, metadata, clips: CLIPS, ..output })
    }
}

fn items<T>(listing: &Listing<T>, shape: impl Fn(&T) -> Value) -> Value {
    let items: Vec<Value> = listing.entries.iter().map(shape).collect();
    json!({ "count": items.len(), "truncated": listing.is_cut, "items": items })
}

/// Builds the address of a repository, or of something below it, from checked names.
fn repository(input: &Map, below: Option<&'static str>) -> Result<Resource, ProviderError> {
    let (owner, repo) = (name(input, "owner")?, name(input, "repo")?);
    let mut path = vec!["repos".to_owned(), owner.to_owned(), repo.to_owned()];
    path.extend(below.into_iter().flat_map(|below| below.split('/')).map(str::to_owned));
    let label = format!("repository {owner}/{repo}");
    Ok(Resource { path, query: Vec::new(), pages: Pages::Plain, label })
}

fn name<'a>(input: &'a Map, key: &str) -> Result<&'a str, ProviderError> {
    let text = input.get(key).and_then(Value::as_str).unwrap_or_default();
    if is_name(text) {
        Ok(text)
    } else {
        Err(ProviderError::Input {
            pointer: format!("/{key}"),
            message: format!("`{key}` is a name of letters, digits, `.`, `_` and `-`"),
        })
    }
}

/// A name that stays one path segment.
fn is_name(text: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    (1..=100).contains(&text.len()) && text.bytes().all(is_plain) && text != "." && text != ".."
}

fn limit(input: &Map) -> usize {
    let wanted = input.get("limit").and_then(Value::as_u64).unwrap_or(ENTRIES_DEFAULT);
    usize::try_from(wanted.clamp(1, ENTRIES_MAX)).unwrap_or(1)
}
