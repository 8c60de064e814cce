//! A static site of the artifacts of a project, or of all.

use std::collections::BTreeMap;
use std::io;

use od_core::artifact::{ArtifactSummary, Status};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, Digest, ProjectId};
use od_core::site::{
    SiteFile, SiteLine, artifact_files, changes_of, page_names, site_list, site_pages,
};
use od_ports::store::StoreError;

use crate::artifacts::{self, Address, FindError, ListArtifacts, ListError};
use crate::projects::{self, ReadProjectError};
use crate::refresh::run::{Cause, RunRefresh};
use crate::{App, Caller, Mode, failure, refresh};

/// Makes every file of a site and hands each to `keep`, one artifact at a time.
///
/// The files follow from what is stored and from nothing else: no time of the build is in them.
pub async fn build(
    app: &App,
    caller: &Caller,
    request: BuildSite,
    keep: &mut (dyn FnMut(SiteFile) -> io::Result<()> + Send),
) -> Result<BuiltSite, BuildError> {
    let BuildSite { project, refresh, max_age_ms } = request;
    let (name, id) = match &project {
        Some(id) => {
            let found = projects::get(app, caller, id.clone()).await?;
            (found.name, found.id.to_string())
        }
        None => ("Live artifacts".to_owned(), "all".to_owned()),
    };
    let mut built = BuiltSite::default();
    if refresh == Refreshing::First {
        built.problems = refresh_all(app, caller, project.clone()).await?;
    }
    let listed = artifacts::list(app, caller, ListArtifacts { project }).await?;
    let mut shown: Vec<&ArtifactSummary> = listed
        .iter()
        .map(AsRef::as_ref)
        .filter(|line| line.heading.status != Status::Archived)
        .collect();
    shown.sort_by(|one, other| one.id.cmp(&other.id));
    let names = page_names(shown.iter().copied());
    let (mut lines, mut changes, mut digests) = (Vec::new(), Vec::new(), BTreeMap::new());
    let mut put = |file: SiteFile, digests: &mut BTreeMap<String, Digest>| {
        digests.insert(file.path.clone(), Digest::of_bytes(&file.bytes));
        keep(file)
    };
    let now = app.ports.clock.now();
    for summary in shown {
        let problem = |told: String| SiteProblem {
            artifact: Some(summary.id.clone()),
            title: summary.heading.title.clone(),
            told,
        };
        let address =
            Address { project: Some(summary.project_id.clone()), artifact: summary.id.clone() };
        let stored = artifacts::get(app, caller, address).await?;
        let Some(state) = stored.state.as_deref().filter(|_| stored.health.is_healthy()) else {
            built.problems.push(problem("it is damaged, and left out".to_owned()));
            continue;
        };
        let file = names.get(&summary.id).cloned().unwrap_or_default();
        match artifact_files(&file, state) {
            Ok(files) => files.into_iter().try_for_each(|file| put(file, &mut digests))?,
            Err(refused) => {
                built.problems.push(problem(format!("it is left out: {refused}")));
                continue;
            }
        }
        let line = SiteLine::new(file, state, max_age_ms);
        if line.is_stale(now) {
            built.problems.push(problem(format!("its data is of {} and stale", line.as_of)));
        }
        built.problems.extend(line.faults.iter().map(|fault| problem(fault.clone())));
        let timeline = app.ports.revisions.timeline(&summary.project_id, &summary.id).await?;
        changes.extend(changes_of(&line, &timeline.commits));
        lines.push(line);
    }
    built.pages = lines.len();
    if lines.is_empty() {
        let told = "there is no page to publish".to_owned();
        built.problems.push(SiteProblem { artifact: None, title: name.clone(), told });
    }
    for file in site_pages(&name, &id, lines, changes) {
        put(file, &mut digests)?;
    }
    keep(site_list(&digests))?;
    built.files = digests.into_keys().collect();
    Ok(built)
}

/// Refreshes what may be; returns what was not, and why.
async fn refresh_all(
    app: &App,
    caller: &Caller,
    project: Option<ProjectId>,
) -> Result<Vec<SiteProblem>, BuildError> {
    let mut problems = Vec::new();
    for line in artifacts::list(app, caller, ListArtifacts { project }).await?.iter() {
        if line.refreshable {
            problems.extend(refresh_one(app, caller, line).await);
        } else if let Some(told) = withheld(line) {
            let (artifact, title) = (Some(line.id.clone()), line.heading.title.clone());
            problems.push(SiteProblem { artifact, title, told });
        }
    }
    Ok(problems)
}

/// Says why an artifact that has a source may not be refreshed, unless that is told anyway.
fn withheld(line: &ArtifactSummary) -> Option<String> {
    let is_shown = line.heading.status != Status::Archived && line.health.is_healthy();
    line.source_label.as_ref().filter(|_| is_shown)?;
    Some(match line.granted_elsewhere {
        true => "not refreshed: not allowed here (`od trust`)".to_owned(),
        false => "not refreshed: nobody has allowed it to be refreshed".to_owned(),
    })
}

async fn refresh_one(app: &App, caller: &Caller, line: &ArtifactSummary) -> Option<SiteProblem> {
    let request = RunRefresh {
        caller: caller.clone(),
        project: line.project_id.clone(),
        artifact: line.id.clone(),
        accept_drift: false,
        cause: Cause::Asked,
    };
    let failed = Failure::from(refresh::run(app, request, Mode::Commit).await.err()?);
    let told = format!("it was not refreshed: {}", failed.message);
    Some(SiteProblem { artifact: Some(line.id.clone()), title: line.heading.title.clone(), told })
}

/// The site to make.
#[derive(Clone, Debug)]
pub struct BuildSite {
    /// The project; all of them if absent.
    pub project: Option<ProjectId>,
    /// Whether sources are read first.
    pub refresh: Refreshing,
    /// The age at which data of a source is stale, in the place of what each artifact says.
    pub max_age_ms: Option<u64>,
}

/// Whether artifacts are refreshed before a site is built.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Refreshing {
    /// Those that may be are, first.
    First,
    /// None is.
    Not,
}

/// A site that was made.
#[derive(Clone, Debug, Default)]
pub struct BuiltSite {
    /// How many artifacts have a page.
    pub pages: usize,
    /// The paths of all files but the list of them.
    pub files: Vec<String>,
    /// Everything that should not be published as it is.
    pub problems: Vec<SiteProblem>,
}

/// Something about an artifact, or about the site, that should not be published as it is.
#[derive(Clone, Debug, Eq, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteProblem {
    /// The artifact; none if it is about the whole site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactId>,
    /// What a person calls it.
    pub title: String,
    /// The problem.
    pub told: String,
}

/// Why there is no site.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// There is no such project.
    #[error(transparent)]
    Project(#[from] ReadProjectError),
    /// The artifacts cannot be listed.
    #[error(transparent)]
    List(#[from] ListError),
    /// An artifact went away meanwhile.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file could not be written.
    #[error("a file of the site cannot be written: {0}")]
    Write(#[from] io::Error),
}

impl From<BuildError> for Failure {
    fn from(err: BuildError) -> Self {
        let message = err.to_string();
        match err {
            BuildError::Project(err) => err.into(),
            BuildError::List(err) => err.into(),
            BuildError::Find(err) => err.into(),
            BuildError::Store(err) => failure::store(err),
            BuildError::Write(_) => Self::new(ErrorCode::BadRequest, message)
                .suggest("name a folder that may be written to, with room on its disk"),
        }
    }
}
