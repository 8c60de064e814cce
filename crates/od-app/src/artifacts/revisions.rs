//! The timeline of an artifact, one revision of it, and two of them compared.

use od_core::diff::{RevisionDiff, Side, diff_revisions};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, Revision};
use od_core::ledger::{CommitRecord, RevisionName, kept_commits};
use od_ports::store::{KeptRevision, StoreError, Timeline};

use super::read::{Address, FindError, find};
use crate::{App, Caller, failure};

/// Returns a page of the commits of an artifact, newest first.
pub async fn revisions(
    app: &App,
    caller: &Caller,
    request: ListRevisions,
) -> Result<RevisionPage, FindError> {
    let ListRevisions { address, before, limit } = request;
    let project = find(app, caller, &address).await?;
    let Timeline { commits, .. } =
        app.ports.revisions.timeline(&project, &address.artifact).await?;
    let kept: Vec<Revision> = kept_commits(&commits).map(|commit| commit.revision).collect();
    let is_older = |commit: &CommitRecord| before.is_none_or(|before| commit.revision < before);
    let mut older = commits.into_iter().filter(is_older).peekable();
    let mut lines = Vec::new();
    while lines.len() < limit
        && let Some(commit) = older.next()
    {
        let is_kept = kept.contains(&commit.revision);
        lines.push(TimelineEntry { commit, is_kept });
    }
    let next = older.peek().and(lines.last()).map(|last| last.commit.revision);
    Ok(RevisionPage { lines, next })
}

/// Returns one revision as it was committed.
pub async fn revision(
    app: &App,
    caller: &Caller,
    address: Address,
    revision: Revision,
) -> Result<KeptRevision, FindError> {
    let project = find(app, caller, &address).await?;
    Ok(app.ports.revisions.revision(&project, &address.artifact, revision).await?)
}

/// Compares two revisions, each named by number, word or date.
pub async fn compare(
    app: &App,
    caller: &Caller,
    request: CompareRevisions,
) -> Result<Comparison, CompareError> {
    let CompareRevisions { address, from, to } = request;
    let project = find(app, caller, &address).await?;
    let store = &app.ports.revisions;
    let Timeline { commits, .. } = store.timeline(&project, &address.artifact).await?;
    let kept: Vec<&CommitRecord> = kept_commits(&commits).collect();
    let now = app.ports.clock.now();
    let number = |name: RevisionName| {
        let found = name.find(&kept, now).map(|commit| commit.revision);
        found.ok_or_else(|| CompareError::NoRevision {
            artifact: address.artifact.clone(),
            name,
            oldest: kept.last().map(|commit| commit.revision),
        })
    };
    let (from, to) = (number(from)?, number(to)?);
    let from = store.revision(&project, &address.artifact, from).await?;
    let to = store.revision(&project, &address.artifact, to).await?;
    let diff = diff_revisions(side(&from), side(&to));
    Ok(Comparison { from: from.commit, to: to.commit, diff })
}

fn side(revision: &KeptRevision) -> Side<'_> {
    Side {
        template_html: &revision.template_html,
        data: revision.data.value(),
        source: &revision.source,
    }
}

/// The revisions to list.
#[derive(Clone, Debug)]
pub struct ListRevisions {
    /// The artifact.
    pub address: Address,
    /// Only those before this one.
    pub before: Option<Revision>,
    /// At most so many.
    pub limit: usize,
}

/// A page of the timeline.
#[derive(Clone, Debug)]
pub struct RevisionPage {
    /// The commits, newest first.
    pub lines: Vec<TimelineEntry>,
    /// The revision that the next page begins before; none on the last page.
    pub next: Option<Revision>,
}

/// One commit of the timeline.
#[derive(Clone, Debug)]
pub struct TimelineEntry {
    /// The commit.
    pub commit: CommitRecord,
    /// Whether its contents are kept.
    pub is_kept: bool,
}

/// The revisions to compare.
#[derive(Clone, Debug)]
pub struct CompareRevisions {
    /// The artifact.
    pub address: Address,
    /// The revision before.
    pub from: RevisionName,
    /// The revision afterwards.
    pub to: RevisionName,
}

/// Two revisions, compared.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The commit before.
    pub from: CommitRecord,
    /// The commit afterwards.
    pub to: CommitRecord,
    /// The difference.
    pub diff: RevisionDiff,
}

/// Why revisions were not compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// There is no such artifact.
    #[error(transparent)]
    Find(#[from] FindError),
    /// No revision that is kept goes by that name.
    #[error("artifact `{artifact}` has no revision `{name}` that is kept")]
    NoRevision {
        /// The artifact.
        artifact: ArtifactId,
        /// The name.
        name: RevisionName,
        /// The oldest revision that is kept.
        oldest: Option<Revision>,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<CompareError> for Failure {
    fn from(err: CompareError) -> Self {
        let message = err.to_string();
        match err {
            CompareError::Find(err) => err.into(),
            CompareError::NoRevision { oldest, .. } => {
                let suggestion = match oldest {
                    Some(oldest) => format!("the oldest that is kept is {oldest}, also `first`"),
                    None => "its history begins with its next change".to_owned(),
                };
                Self::new(ErrorCode::NotFound, message).suggest(suggestion)
            }
            CompareError::Store(err) => failure::store(err),
        }
    }
}
