//! Copying artifacts from one store to another, with their history.

use std::collections::HashMap;

use od_core::artifact::Artifact;
use od_core::ids::{ArtifactId, Digest, ProjectId};
use od_core::ledger::{CommitRecord, LogRecord, kept_commits};
use od_ports::Ports;
use od_ports::project_registry::{Project, ProjectError};
use od_ports::store::{Archive, StoreError, StoreTransfer};

/// Copies every artifact that the other store has not, and checks what it has afterwards. Running it again
/// goes on where it was interrupted. The trash stays where it is.
///
/// # Errors
///
/// Fails if a store or a registry cannot be used. What is wrong with one artifact is reported instead, and
/// keeps the others from nothing.
pub async fn copy(
    from: &Ports,
    to: &Ports,
    taker: Option<&dyn StoreTransfer>,
) -> Result<CopyReport, CopyError> {
    let mut report = CopyReport::default();
    for project in from.projects.list().await? {
        let is_there = to.projects.get(&project.id).await?.is_some();
        if !is_there && taker.is_some() {
            // Which folder holds its files is known to each machine by itself, and stays there.
            let shared = Project { root: None, allow_schedules: false, ..project.clone() };
            to.projects.create(shared).await?;
        }
        for line in from.artifacts.list(&project.id).await?.iter() {
            let copied = copy_one(from, to, taker, is_there, &project.id, &line.id);
            match copied.await? {
                Outcome::Copied => report.copied.push(line.id.clone()),
                Outcome::AlreadyThere => report.unchanged.push(line.id.clone()),
                Outcome::LeftOut(reason) => report.left_out.push((line.id.clone(), reason)),
            }
        }
    }
    Ok(report)
}

/// The artifacts of one copy.
#[derive(Clone, Debug, Default)]
pub struct CopyReport {
    /// Those that were copied; of a dry run, those that would be.
    pub copied: Vec<ArtifactId>,
    /// Those that were there already, the same.
    pub unchanged: Vec<ArtifactId>,
    /// Those that were not copied, and why.
    pub left_out: Vec<(ArtifactId, String)>,
}

/// Why nothing more was copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// A registry of projects failed.
    #[error(transparent)]
    Registry(#[from] ProjectError),
    /// A store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<CopyError> for od_core::error::Failure {
    fn from(err: CopyError) -> Self {
        match err {
            CopyError::Registry(err) => crate::failure::registry(err),
            CopyError::Store(err) => crate::failure::store(err),
        }
    }
}

enum Outcome {
    Copied,
    AlreadyThere,
    LeftOut(String),
}

async fn copy_one(
    from: &Ports,
    to: &Ports,
    taker: Option<&dyn StoreTransfer>,
    is_project_there: bool,
    project: &ProjectId,
    id: &ArtifactId,
) -> Result<Outcome, StoreError> {
    let archive = match gather(from, project, id).await? {
        Ok(archive) => archive,
        Err(reason) => return Ok(Outcome::LeftOut(reason)),
    };
    let present = if is_project_there || taker.is_some() {
        match to.artifacts.load(project, id).await {
            Err(StoreError::NotFound { .. }) => None,
            other => Some(other?),
        }
    } else {
        None
    };
    if let Some(present) = present {
        let is_same =
            present.artifact().is_some_and(|there| is_same(there, &archive.state.artifact));
        return Ok(if is_same {
            Outcome::AlreadyThere
        } else {
            Outcome::LeftOut("another state of it is there already".to_owned())
        });
    }
    let Some(taker) = taker else { return Ok(Outcome::Copied) };
    if !archive.earlier.is_empty() && !taker.takes_earlier() {
        return Ok(Outcome::LeftOut(
            "its oldest records are gone, and files need the whole chain".to_owned(),
        ));
    }
    let (expected, commits) = (archive.state.artifact.clone(), commits_of(&archive));
    taker.adopt(archive).await?;
    let found = to.artifacts.load(project, id).await?;
    let inspection = to.maintenance.inspect(project, id).await?;
    let timeline = to.revisions.timeline(project, id).await?;
    let is_whole = found.health.is_healthy()
        && found.artifact().is_some_and(|there| is_same(there, &expected))
        && inspection.log_fault.is_none()
        && inspection.revision_faults.is_empty()
        && timeline.commits.len() == commits;
    Ok(if is_whole {
        Outcome::Copied
    } else {
        Outcome::LeftOut("it was copied and does not read back as it was".to_owned())
    })
}

fn is_same(one: &Artifact, other: &Artifact) -> bool {
    one.revision == other.revision && one.digests == other.digests
}

fn commits_of(archive: &Archive) -> usize {
    let chained =
        archive.records.iter().filter(|record| matches!(record, LogRecord::Commit(_))).count();
    archive.earlier.len() + chained
}

/// Reads everything there is of an artifact; says why it cannot be copied if it cannot.
async fn gather(
    from: &Ports,
    project: &ProjectId,
    id: &ArtifactId,
) -> Result<Result<Archive, String>, StoreError> {
    let stored = from.artifacts.load(project, id).await?;
    let Some(state) = stored.state.as_deref().filter(|_| stored.health.is_healthy()) else {
        return Ok(Err("it is damaged: `od artifacts repair` first".to_owned()));
    };
    if !stored.drift.is_empty() {
        return Ok(Err("it was edited by hand: its next change takes that over".to_owned()));
    }
    let history = from.refresh_log.history(project, id).await?;
    let timeline = from.revisions.timeline(project, id).await?;
    let refreshes = history.records.iter().cloned().map(LogRecord::Refresh);
    let commits = timeline.commits.iter().cloned().map(LogRecord::Commit);
    let Some((earlier, records)) = in_order(refreshes.chain(commits)) else {
        return Ok(Err("its history does not form one chain".to_owned()));
    };
    let mut revisions = Vec::new();
    for commit in kept_commits(&timeline.commits) {
        match from.revisions.revision(project, id, commit.revision).await {
            Err(StoreError::RevisionDamaged { revision, .. }) => {
                return Ok(Err(format!("its revision {revision} is damaged")));
            }
            other => revisions.push(other?),
        }
    }
    let last_refresh = timeline.commits.iter().find_map(|commit| commit.refresh_id.clone());
    Ok(Ok(Archive { state: state.clone(), last_refresh, earlier, records, revisions }))
}

/// Puts records into the order of their chain, the oldest first; commits from before its beginning, whose
/// neighbours were rotated away, come apart. None if there are two ends.
fn in_order(
    records: impl Iterator<Item = LogRecord>,
) -> Option<(Vec<CommitRecord>, Vec<LogRecord>)> {
    let mut by_digest: HashMap<Digest, LogRecord> = HashMap::new();
    for record in records {
        let line = record.clone().to_line_after(record.prev().cloned());
        by_digest.insert(Digest::of_bytes(&line), record);
    }
    // The end is the newest commit's or a record after it: nobody names it as the one before.
    let named: std::collections::HashSet<&Digest> =
        by_digest.values().filter_map(LogRecord::prev).collect();
    let ends: Vec<Digest> =
        by_digest.keys().filter(|digest| !named.contains(digest)).cloned().collect();
    let chains = ends.into_iter().map(|end| {
        let mut chain = Vec::new();
        let mut next = Some(end);
        while let Some(record) = next.as_ref().and_then(|digest| by_digest.get(digest)) {
            chain.push(record.clone());
            next = record.prev().cloned();
        }
        chain.reverse();
        chain
    });
    let mut chains: Vec<Vec<LogRecord>> = chains.collect();
    let newest = |chain: &Vec<LogRecord>| {
        chain.iter().filter_map(|record| commit_of(record).map(|commit| commit.revision)).max()
    };
    chains.sort_by_key(newest);
    let present = chains.pop()?;
    let mut earlier: Vec<CommitRecord> =
        chains.iter().flatten().filter_map(commit_of).cloned().collect();
    earlier.sort_by_key(|commit| commit.revision);
    // Two ends that overlap are two histories.
    let oldest = present.iter().filter_map(commit_of).map(|commit| commit.revision).min();
    let is_one = earlier.last().is_none_or(|last| Some(last.revision) < oldest);
    is_one.then_some((earlier, present))
}

const fn commit_of(record: &LogRecord) -> Option<&CommitRecord> {
    match record {
        LogRecord::Commit(commit) => Some(commit),
        LogRecord::Refresh(_) => None,
    }
}
