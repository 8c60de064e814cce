//! GitHub's REST interface: one resource or a bounded number of pages.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use od_core::json::Map;
use od_ports::access::credential_vault::Secret;
use od_ports::connector_provider::ProviderError;
use od_ports::system::Clock;
use serde::de::DeserializeOwned;
use url::Url;

use super::activity::WorkflowRuns;
use super::cache::{Cache, Cached, Key};
use crate::http::{Fetcher, HostOverride, Origin, Redirects, Reply, Request, secret_header};

/// Bytes of one answer. A page of releases with long notes is well below it.
const BODY_BYTES_MAX: usize = od_core::limits::GITHUB_ANSWER.max();
/// Entries GitHub gives on one page at most.
const PAGE_ENTRIES_MAX: usize = 100;
/// Pages read for one call, however many entries were asked for.
pub(crate) const PAGES_MAX: usize = od_core::limits::GITHUB_PAGES.max();
/// The longest wait that is passed on as advice.
const WAIT_MS_MAX: u64 = od_core::limits::GITHUB_WAIT.allowed;
/// The wait advised when the answer names none, as GitHub documents it.
const WAIT_MS_DEFAULT: u64 = 60 * 1000;

/// The path and query of a resource: checked words of ours, and numbers.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    /// Path segments below the base.
    pub(crate) path: Vec<String>,
    /// Query parameters.
    pub(crate) query: Vec<(&'static str, String)>,
    /// The form of its pages, if it is a list.
    pub(crate) pages: Pages,
    /// The name used in errors.
    pub(crate) label: String,
}

/// The form of a list's pages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Pages {
    /// Arrays.
    Plain,
    /// Arrays in an object, as those of workflow runs.
    Wrapped,
}

/// Counts what one tool call did, for its record.
#[derive(Debug, Default)]
pub(crate) struct CallStats {
    requests: u64,
    unchanged: u64,
    remaining: Option<u64>,
    /// The provider's name for the last request.
    pub(crate) execution_id: Option<String>,
}

impl CallStats {
    /// Returns the counts as metadata.
    pub(crate) fn into_metadata(self) -> Map {
        let mut map = Map::new();
        map.insert("requests".to_owned(), self.requests.into());
        map.insert("notModified".to_owned(), self.unchanged.into());
        if let Some(remaining) = self.remaining {
            map.insert("rateLimitRemaining".to_owned(), remaining.into());
        }
        map
    }
}

/// Entries of a list, and whether there were more.
#[derive(Debug)]
pub(crate) struct Listing<T> {
    /// At most as many as asked for.
    pub(crate) entries: Vec<T>,
    /// The service has more.
    pub(crate) is_cut: bool,
}

/// Talks to one GitHub.
#[derive(Debug)]
pub(crate) struct Api {
    base: Url,
    fetcher: Fetcher,
    clock: Arc<dyn Clock>,
    cache: Mutex<Cache>,
    hasher: RandomState,
}

impl Api {
    /// Makes a client of the service at `base`.
    pub(crate) fn new(
        base: Url,
        origin: Origin,
        overrides: Vec<HostOverride>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            base,
            fetcher: Fetcher::new(origin, overrides),
            clock,
            cache: Mutex::new(Cache::default()),
            hasher: RandomState::new(),
        }
    }

    /// Gets one resource.
    pub(crate) async fn one<T: DeserializeOwned>(
        &self,
        resource: &Resource,
        secret: Option<&Secret>,
        stats: &mut CallStats,
    ) -> Result<T, ProviderError> {
        let body = self.fetch(resource, secret, stats).await?;
        parse(&body)
    }

    /// Gets entries page by page, until there are enough kept ones, no more, or enough pages.
    pub(crate) async fn list<T: DeserializeOwned>(
        &self,
        resource: &Resource,
        limit: usize,
        keep: impl Fn(&T) -> bool,
        secret: Option<&Secret>,
        stats: &mut CallStats,
    ) -> Result<Listing<T>, ProviderError> {
        let per_page = limit.clamp(1, PAGE_ENTRIES_MAX);
        let mut entries = Vec::new();
        for page in 1..=PAGES_MAX {
            let mut resource = resource.clone();
            resource.query.push(("per_page", per_page.to_string()));
            resource.query.push(("page", page.to_string()));
            let body = self.fetch(&resource, secret, stats).await?;
            let batch: Vec<T> = match resource.pages {
                Pages::Plain => parse(&body)?,
                Pages::Wrapped => parse::<WorkflowRuns<T>>(&body)?.workflow_runs,
            };
            let is_last = batch.len() < per_page;
            entries.extend(batch.into_iter().filter(&keep));
            // Only a short page proves that it was the last: as many entries as asked for may be all or not.
            if entries.len() > limit || (entries.len() == limit && !is_last) {
                entries.truncate(limit);
                return Ok(Listing { entries, is_cut: true });
            }
            if is_last {
                return Ok(Listing { entries, is_cut: false });
            }
        }
        Ok(Listing { entries, is_cut: true })
    }

    async fn fetch(
        &self,
        resource: &Resource,
        secret: Option<&Secret>,
        stats: &mut CallStats,
    ) -> Result<Arc<[u8]>, ProviderError> {
        let url = self.locate(resource)?;
        // Keyed anew in every process: neither the secret nor a hash that could be looked up stands in the cache.
        let viewer = self.hasher.hash_one(secret.map(Secret::expose));
        let key = Key { url: url.to_string(), viewer };
        let known = self.cache.lock().unwrap_or_else(PoisonError::into_inner).get(&key);
        let headers = [(
            HeaderName::from_static("x-github-api-version"),
            HeaderValue::from_static("2022-11-28"),
        )];
        let bearer = secret
            .map(|secret| secret_header(AUTHORIZATION, format!("Bearer {}", secret.expose())))
            .transpose()?;
        stats.requests += 1;
        let request = Request {
            url,
            accept: "application/vnd.github+json",
            headers: &headers,
            secret: bearer,
            redirects: Redirects::Public,
            etag: known.as_ref().map(|cached| &cached.etag),
            body_bytes_max: BODY_BYTES_MAX,
        };
        let reply = self.fetcher.get(request).await?;
        stats.remaining = reply.number("x-ratelimit-remaining");
        stats.execution_id = execution_id(&reply);
        match (reply.status, known) {
            (StatusCode::OK, _) => {
                let etag = reply.etag().cloned();
                let body: Arc<[u8]> = reply.body.into();
                if let Some(etag) = etag {
                    let cached = Cached { etag, body: Arc::clone(&body) };
                    self.cache.lock().unwrap_or_else(PoisonError::into_inner).put(key, cached);
                }
                Ok(body)
            }
            (StatusCode::NOT_MODIFIED, Some(cached)) => {
                stats.unchanged += 1;
                Ok(cached.body)
            }
            (status, _) => Err(self.status_fault(status, &reply, resource, secret.is_some())),
        }
    }

    fn locate(&self, resource: &Resource) -> Result<Url, ProviderError> {
        let mut url = self.base.clone();
        {
            let mut segments =
                url.path_segments_mut().map_err(|()| ProviderError::Unavailable {
                    message: "the configured base URL cannot have paths".to_owned(),
                })?;
            // As segments, not as text: a slash in a name is encoded, and dots lead nowhere.
            segments.pop_if_empty().extend(&resource.path);
        }
        if !resource.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&resource.query);
        }
        Ok(url)
    }

    fn status_fault(
        &self,
        status: StatusCode,
        reply: &Reply,
        resource: &Resource,
        has_secret: bool,
    ) -> ProviderError {
        match status.as_u16() {
            401 => ProviderError::CredentialRefused,
            403 | 429 => match self.wait_ms(status, reply) {
                Some(after_ms) => ProviderError::RateLimited { after_ms },
                None => ProviderError::Forbidden {
                    message: format!("GitHub does not give access to {}", resource.label),
                },
            },
            // GitHub answers 404 for a private repository to whoever may not see it: the two cannot be told apart.
            404 | 410 | 451 => {
                let hint = if has_secret { "" } else { "; a private one needs a token" };
                ProviderError::Missing {
                    message: format!("GitHub has no {}, or hides it{hint}", resource.label),
                }
            }
            202 => ProviderError::Unavailable {
                message: format!(
                    "GitHub is still counting for {}; try again in a minute",
                    resource.label
                ),
            },
            422 => ProviderError::Forbidden {
                message: format!(
                    "GitHub does not count this for {}: it is too large",
                    resource.label
                ),
            },
            code => ProviderError::Unavailable {
                message: format!("GitHub answered with status {code}"),
            },
        }
    }

    /// Reads from the headers how long to wait, or `None` if it is not about the rate.
    fn wait_ms(&self, status: StatusCode, reply: &Reply) -> Option<u64> {
        let wait = if let Some(seconds) = reply.number("retry-after") {
            seconds.saturating_mul(1000)
        } else if reply.number("x-ratelimit-remaining") == Some(0) {
            let now = u64::try_from(self.clock.now().unix_ms()).unwrap_or(0);
            reply
                .number("x-ratelimit-reset")
                .map_or(WAIT_MS_DEFAULT, |at| at.saturating_mul(1000).saturating_sub(now))
        } else if status == StatusCode::TOO_MANY_REQUESTS {
            WAIT_MS_DEFAULT
        } else {
            return None;
        };
        // Never zero, which a client would take for "at once", nor the days that a wrong clock would make of it.
        Some(wait.clamp(1000, WAIT_MS_MAX))
    }
}

/// Accepts the provider's request id only in the form GitHub gives it: hex digits and colons.
fn execution_id(reply: &Reply) -> Option<String> {
    let text = reply.headers.get("x-github-request-id")?.to_str().ok()?;
    let is_plain = text.len() <= 64 && text.bytes().all(|b| b.is_ascii_hexdigit() || b == b':');
    (is_plain && !text.is_empty()).then(|| text.to_owned())
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ProviderError> {
    // The parser's message can quote the body, so it is not passed on.
    serde_json::from_slice(body).map_err(|err| ProviderError::Malformed {
        message: format!(
            "GitHub's answer is not of the documented shape (line {}, column {})",
            err.line(),
            err.column()
        ),
    })
}
