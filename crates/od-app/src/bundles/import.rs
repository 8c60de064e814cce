//! Importing: the artifacts of a bundle as new ones, with nothing that was granted to them elsewhere.

use std::sync::Arc;

use od_core::artifact::{CreateRequest, Digests, Pins};
use od_core::bundle::{Bundle, BundleFault, BundleFinding, KnownSigner, SignerKey, Standing};
use od_core::decide::{self, CreateContext, Decision};
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::event::ArtifactAction;
use od_core::ids::{ArtifactId, ProjectId, Revision};
use od_core::ledger::CommitKind;
use od_ports::access::signer_keys::SignersError;
use od_ports::store::{StoreError, Stored};
use od_ports::system::EntropyError;

use crate::artifacts::preview;
use crate::projects::{self, ReadProjectError};
use crate::{App, Caller, Mode, PersonOnly, failure};

/// Makes the artifacts of a bundle, all of them or none that breaks a rule.
///
/// Each goes through the rules of create and gets a new id. Its sources are not asked and not pinned:
/// they may not run before a person allows it here.
pub async fn import(
    app: &App,
    caller: &Caller,
    request: ImportBundle,
    mode: Mode,
) -> Result<ImportedBundle, ImportError> {
    caller.require_person()?;
    let ImportBundle { project, bytes } = request;
    projects::get(app, caller, project.clone()).await?;
    let size = bytes.len();
    let bundle = app.cpu.run(size, || read(&bytes)).await?;
    let signers = &app.ports.signers;
    let standing = Standing::of(&bundle.signer, signers.own()?.as_ref(), &signers.known()?);
    if let Standing::Revoked(signer) = &standing {
        return Err(ImportError::Revoked { signer: signer.clone() });
    }
    let mut decided = Vec::new();
    for artifact in &bundle.manifest.artifacts {
        let title = artifact.title.clone();
        let body = bundle
            .create_body(artifact)
            .map_err(|found| ImportError::Unsound { findings: vec![found] })?;
        let invalid = |issues| ImportError::Invalid { title: title.clone(), issues };
        let request = CreateRequest::parse(&body).map_err(invalid)?;
        let context = context(app, caller, &project, &request)?;
        let decision = decide::create(request, context).map_err(invalid)?;
        decided.push((artifact.id.clone(), decision));
    }
    let mut known = Vec::new();
    for (_, decision) in &decided {
        known.push(copies(app, &project, decision).await?);
    }
    // Everything is decided before the first is written: a bundle with a bad artifact leaves nothing.
    let mut artifacts = Vec::new();
    for ((from, decision), copies) in decided.into_iter().zip(known) {
        let mut kept = keep(app, caller, from, decision, mode).await?;
        kept.copies = copies;
        artifacts.push(kept);
    }
    if mode == Mode::Commit && standing == Standing::New {
        let since = app.ports.clock.now();
        let key = bundle.signer.clone();
        signers.remember(KnownSigner { key, name: None, since, revoked_at: None })?;
    }
    Ok(ImportedBundle { signer: bundle.signer, standing, artifacts })
}

/// Reads a bundle and refuses it with everything in it that does not hold.
fn read(bytes: &[u8]) -> Result<Bundle<'_>, ImportError> {
    let bundle = Bundle::read(bytes)?;
    let findings = bundle.examine();
    if findings.is_empty() { Ok(bundle) } else { Err(ImportError::Unsound { findings }) }
}

/// Returns the artifacts of the project that have the title, the page and the data of one that comes.
async fn copies(
    app: &App,
    project: &ProjectId,
    decision: &Decision,
) -> Result<Vec<ArtifactId>, StoreError> {
    let coming = &decision.state.artifact;
    let digests = Digests::of(&decision.state, b"");
    let mut copies = Vec::new();
    for line in app.ports.artifacts.list(project).await?.iter() {
        if line.heading.title != coming.heading.title {
            continue;
        }
        let stored = app.ports.artifacts.load(project, &line.id).await?;
        let is_copy = stored.artifact().is_some_and(|here| {
            let (here, coming) = (&here.digests, &digests);
            here.template == coming.template && here.data.content == coming.data.content
        });
        if is_copy {
            copies.push(line.id.clone());
        }
    }
    Ok(copies)
}

async fn keep(
    app: &App,
    caller: &Caller,
    from: ArtifactId,
    decision: Decision,
    mode: Mode,
) -> Result<ImportedArtifact, ImportError> {
    let warnings = decision.warnings.clone();
    let stored = match mode {
        Mode::DryRun => preview(decision, Revision::first()),
        Mode::Commit => {
            let note = caller.note(CommitKind::Create);
            let created = app.ports.artifacts.create(decision, note).await?;
            app.publish(None, ArtifactAction::Created, created.stored());
            Arc::clone(created.stored())
        }
    };
    Ok(ImportedArtifact { from, stored, warnings, copies: Vec::new() })
}

fn context(
    app: &App,
    caller: &Caller,
    project: &ProjectId,
    request: &CreateRequest,
) -> Result<CreateContext, EntropyError> {
    let mut entropy = [0; 6];
    app.ports.entropy.fill(&mut entropy)?;
    Ok(CreateContext {
        id: ArtifactId::generate(&request.input.heading.slug, entropy),
        project_id: project.clone(),
        run_id: None,
        author: caller.author(),
        at: app.ports.clock.now(),
        pins: Pins::new(),
        attempt: None,
    })
}

/// A bundle to take in.
#[derive(Clone, Debug)]
pub struct ImportBundle {
    /// The project that its artifacts go to.
    pub project: ProjectId,
    /// The file.
    pub bytes: Vec<u8>,
}

/// The artifacts that were made.
#[derive(Clone, Debug)]
pub struct ImportedBundle {
    /// The key that signed the bundle.
    pub signer: SignerKey,
    /// What was known of it before.
    pub standing: Standing,
    /// The artifacts, in the order of the bundle.
    pub artifacts: Vec<ImportedArtifact>,
}

/// One artifact that was made.
#[derive(Clone, Debug)]
pub struct ImportedArtifact {
    /// The artifact's id where the bundle was made.
    pub from: ArtifactId,
    /// The artifact here; the id that a dry run shows is an example.
    pub stored: Arc<Stored>,
    /// Remarks.
    pub warnings: Vec<Issue>,
    /// The artifacts of the project that had the same title, page and data before.
    pub copies: Vec<ArtifactId>,
}

/// Why nothing was made.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Only a person takes in what others made.
    #[error(transparent)]
    Person(#[from] PersonOnly),
    /// There is no such project.
    #[error(transparent)]
    Project(#[from] ReadProjectError),
    /// The file is no bundle that can be believed.
    #[error("the bundle was refused: {0}")]
    Fault(#[from] BundleFault),
    /// The bundle does not hold together.
    #[error("the bundle was refused: {}", told(.findings))]
    Unsound {
        /// Everything that does not hold.
        findings: Vec<BundleFinding>,
    },
    /// The person here does not trust its signer any more.
    #[error("the bundle is signed by {}, which was revoked here", signer.key)]
    Revoked {
        /// The signer.
        signer: KnownSigner,
    },
    /// An artifact breaks the rules of create.
    #[error("`{title}` breaks {} rules", issues.len())]
    Invalid {
        /// The title of the artifact.
        title: String,
        /// Every fault.
        issues: Vec<Issue>,
    },
    /// There were no random bytes for an id.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
    /// The signers cannot be read or written.
    #[error(transparent)]
    Signers(#[from] SignersError),
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn told(findings: &[BundleFinding]) -> String {
    let told: Vec<String> =
        findings.iter().take(3).map(|found| format!("{}: {}", found.path, found.problem)).collect();
    told.join("; ")
}

impl From<ImportError> for Failure {
    fn from(err: ImportError) -> Self {
        let message = err.to_string();
        match err {
            ImportError::Person(err) => err.into(),
            ImportError::Project(err) => err.into(),
            ImportError::Fault(_) | ImportError::Unsound { .. } => {
                Self::new(ErrorCode::BundleInvalid, message)
                    .suggest("ask for the file again; `od verify FILE` says what does not hold")
            }
            ImportError::Revoked { signer } => Self::new(ErrorCode::Forbidden, message).suggest(
                format!("ask its sender to sign it with another key than {}", signer.key.short()),
            ),
            ImportError::Invalid { issues, .. } => {
                Self::validation(ErrorCode::LiveArtifactInvalid, &issues)
            }
            ImportError::Entropy(err) => Self::new(ErrorCode::Internal, err.to_string()),
            ImportError::Signers(err) => failure::signers(&err),
            ImportError::Store(err) => failure::store(err),
        }
    }
}
