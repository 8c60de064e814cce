//! Exporting: artifacts with their history as one signed file.

use std::sync::Arc;

use od_core::artifact::{ArtifactState, Health};
use od_core::bundle::{
    BundledProject, PackRefused, Packed, PackedRevision, SignerKey, UnsignedBundle,
};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, Digest, ProjectId};
use od_core::json::pretty_bytes;
use od_core::ledger::{LogRecord, kept_commits};
use od_ports::access::signer_keys::SignersError;
use od_ports::store::{KeptRevision, StoreError, Stored};

use crate::artifacts::{self, Address, FindError, ListArtifacts, ListError};
use crate::projects::{self, ReadProjectError};
use crate::{App, Caller, PersonOnly, failure};

/// Makes a bundle of artifacts as they are now, signed with the person's key.
pub async fn export(
    app: &App,
    caller: &Caller,
    scope: BundleScope,
) -> Result<ExportedBundle, ExportBundleError> {
    caller.require_person()?;
    let (name, project, members) = match scope {
        BundleScope::Artifact(address) => {
            let stored = artifacts::get(app, caller, address).await?;
            (stored.summary.heading.slug.to_string(), None, vec![stored])
        }
        BundleScope::Project(id) => {
            let found = projects::get(app, caller, id.clone()).await?;
            let project = BundledProject { id: found.id.clone(), name: found.name };
            (id.to_string(), Some(project), members(app, caller, found.id).await?)
        }
    };
    let mut gathered = Vec::new();
    for stored in members {
        gathered.push(gather(app, &stored).await?);
    }
    let artifacts = gathered.len();
    let size = gathered.iter().map(|(state, ..)| state.work_size()).sum();
    let pack = || {
        let packed = gathered.iter_mut().map(|(state, edited, records, revisions)| Packed {
            state,
            edited: *edited,
            records: std::mem::take(records),
            revisions: std::mem::take(revisions),
        });
        UnsignedBundle::new(packed.collect(), project)
    };
    let unsigned = app.cpu.run(size, pack).await?;
    let (signer, signature) = app.ports.signers.sign(&unsigned.message())?;
    let bytes = unsigned.signed(&signer, &signature);
    Ok(ExportedBundle { name: format!("{name}.odb"), bytes, signer, artifacts })
}

type Gathered = (Arc<ArtifactState>, bool, Vec<LogRecord>, Vec<PackedRevision>);

async fn members(
    app: &App,
    caller: &Caller,
    project: ProjectId,
) -> Result<Vec<Arc<Stored>>, ExportBundleError> {
    let listed =
        artifacts::list(app, caller, ListArtifacts { project: Some(project.clone()) }).await?;
    let mut ids: Vec<ArtifactId> = listed.iter().map(|line| line.id.clone()).collect();
    // By id, not by the time of the last change: the same artifacts make the same bundle.
    ids.sort_unstable();
    let mut members = Vec::new();
    for artifact in ids {
        let address = Address { project: Some(project.clone()), artifact };
        members.push(artifacts::get(app, caller, address).await?);
    }
    Ok(members)
}

async fn gather(app: &App, stored: &Stored) -> Result<Gathered, ExportBundleError> {
    let (project, artifact) = (&stored.project, &stored.id);
    let state = stored.state.as_ref().filter(|_| stored.health.is_healthy());
    let Some(state) = state else {
        let (artifact, health) = (artifact.clone(), stored.health);
        return Err(ExportBundleError::NotHealthy { artifact, health });
    };
    let timeline = app.ports.revisions.timeline(project, artifact).await?;
    let history = app.ports.refresh_log.history(project, artifact).await?;
    let mut revisions = Vec::new();
    for commit in kept_commits(&timeline.commits) {
        let kept = app.ports.revisions.revision(project, artifact, commit.revision).await?;
        revisions.extend(contents(&kept));
    }
    let records = history.records.iter().cloned().map(LogRecord::Refresh);
    let records = records.chain(timeline.commits.into_iter().map(LogRecord::Commit)).collect();
    Ok((Arc::clone(state), !stored.drift.is_empty(), records, revisions))
}

/// Returns the bytes of a revision; none if this version would write other ones than its commit names.
fn contents(kept: &KeptRevision) -> Option<PackedRevision> {
    let digests = &kept.commit.digests;
    // Strings, times and JSON only: writing them cannot fail.
    let provenance = serde_json::to_value(&kept.provenance).unwrap_or_default();
    let contents = [
        kept.template_html.as_bytes().to_vec(),
        pretty_bytes(kept.data.value()),
        pretty_bytes(&provenance),
        kept.source.to_bytes(),
    ];
    let same = contents.iter().zip(digests.objects());
    let is_same = same.into_iter().all(|(bytes, digest)| Digest::of_bytes(bytes) == *digest);
    is_same.then_some(PackedRevision { revision: kept.commit.revision, contents })
}

/// The artifacts that go into a bundle.
#[derive(Clone, Debug)]
pub enum BundleScope {
    /// One artifact.
    Artifact(Address),
    /// Every artifact of a project.
    Project(ProjectId),
}

/// A bundle that was made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ExportedBundle {
    /// A name for the file.
    pub name: String,
    /// The file.
    pub bytes: Vec<u8>,
    /// The person's key.
    pub signer: SignerKey,
    /// How many artifacts are in it.
    pub artifacts: usize,
}

/// Why there is no bundle.
#[derive(Debug, thiserror::Error)]
pub enum ExportBundleError {
    /// Only a person signs.
    #[error(transparent)]
    Person(#[from] PersonOnly),
    /// There is no such artifact.
    #[error(transparent)]
    Find(#[from] FindError),
    /// There is no such project.
    #[error(transparent)]
    Project(#[from] ReadProjectError),
    /// The artifacts of the project cannot be listed.
    #[error(transparent)]
    List(#[from] ListError),
    /// An artifact is damaged: nobody can vouch for it.
    #[error("artifact `{artifact}` is damaged")]
    NotHealthy {
        /// The artifact.
        artifact: ArtifactId,
        /// The damage.
        health: Health,
    },
    /// The artifacts cannot be put together.
    #[error(transparent)]
    Refused(#[from] PackRefused),
    /// The key cannot be used.
    #[error(transparent)]
    Signers(#[from] SignersError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ExportBundleError> for Failure {
    fn from(err: ExportBundleError) -> Self {
        let message = err.to_string();
        match err {
            ExportBundleError::Person(err) => err.into(),
            ExportBundleError::Find(err) => err.into(),
            ExportBundleError::Project(err) => err.into(),
            ExportBundleError::List(err) => err.into(),
            ExportBundleError::NotHealthy { artifact, health } => {
                failure::not_healthy(&artifact, health)
            }
            ExportBundleError::Refused(PackRefused::Page { .. }) => {
                Self::new(ErrorCode::TemplateBindingInvalid, message)
                    .suggest("change the template or the data so that they fit each other")
            }
            ExportBundleError::Refused(PackRefused::TooLarge { .. }) => {
                Self::new(ErrorCode::OutputTooLarge, message)
                    .suggest("export the artifacts one by one")
            }
            ExportBundleError::Signers(err) => failure::signers(&err),
            ExportBundleError::Store(err) => failure::store(err),
        }
    }
}
