//! Verify, repair and recovery of stored artifacts.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use od_core::artifact::{Artifact, ArtifactSummary, Health, ListTally};
use od_core::event::ArtifactAction;
use od_core::ids::{ArtifactId, Digest, ProjectId, Revision};
use od_core::ledger::Part;
use serde::Serialize;

use super::error::StoreError;

/// Maintains artifacts that a crash or a disk has damaged.
///
/// # Contract
///
/// - **Pure reads.** `inspect`, `census`, and `repair` in [`RepairMode::Plan`], write nothing at all.
/// - **Nothing is lost.** What a repair takes from an artifact is kept aside.
/// - **Isolated damage.** One artifact that cannot be recovered keeps nobody from the others.
#[async_trait]
pub trait StoreMaintenance: fmt::Debug + Send + Sync {
    /// Reads everything afresh and derives every digest anew.
    async fn inspect(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Inspection, StoreError>;

    /// Plans a repair of a damaged artifact, and carries it out if asked.
    ///
    /// Nothing is deleted: what the artifact loses is kept aside. A healthy artifact is left alone.
    async fn repair(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        mode: RepairMode,
    ) -> Result<RepairReport, StoreError>;

    /// Finishes what crashed writers left, in every project, and empties old trash. For start-up.
    ///
    /// Returns those for which that did not work: one damaged artifact keeps nobody from the others.
    async fn recover(&self) -> Result<Vec<Unrecovered>, StoreError>;

    /// Returns what is known of these projects from the last time that each was listed. Reads nothing of
    /// them, whatever they hold.
    async fn census(&self, projects: &[ProjectId]) -> Census;

    /// Carries out what acknowledged commits have left to do. Whoever gives up the store's lock calls it
    /// first: behind it nothing of the store changes by itself.
    async fn finish(&self) {}

    /// Returns which store it is, and whether it can be reached now. Asks nobody.
    fn place(&self) -> StorePlace {
        StorePlace::Files
    }

    /// Returns what other processes have changed in a shared store since the last call; nothing of files,
    /// whose changes are found when they are read.
    async fn changes_elsewhere(&self) -> Vec<ChangeElsewhere> {
        Vec::new()
    }
}

/// The place where a store keeps what it is given.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum StorePlace {
    /// The data directory of this machine.
    Files,
    /// A database that other machines use, too.
    Postgres {
        /// Its address, `host:port/database`: never a password.
        address: String,
        /// Whether it answered the last time it was asked.
        reach: Reach,
    },
}

/// Whether a shared store answers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reach {
    /// It answered the last time it was asked.
    Reachable,
    /// It did not: what is in memory is served, and nothing is written.
    Unreachable,
}

/// A change that another process made.
#[derive(Clone, Debug)]
pub struct ChangeElsewhere {
    /// What became of the artifact.
    pub action: ArtifactAction,
    /// The artifact's line, the last one there was of a deleted one.
    pub summary: Arc<ArtifactSummary>,
}

/// The artifacts of some projects, counted as they were last read.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Census {
    /// The counts of every project together.
    pub tally: ListTally,
    /// Projects that were not listed yet: their counts are not whole.
    pub unlisted: usize,
    /// Projects whose list could not be read the last time.
    pub failing: usize,
}

/// One file of the set, with what the pointer says of it.
#[derive(Clone, Debug)]
pub struct InspectedFile {
    /// The file's name.
    pub name: &'static str,
    /// The digest of the content as the pointer has it.
    pub content_expected: Option<Digest>,
    /// The digest of the raw bytes as the pointer has it.
    pub raw_expected: Option<Digest>,
    /// The bytes that are there, if any.
    pub bytes: Option<Arc<[u8]>>,
    /// Digest of those bytes.
    pub raw_found: Option<Digest>,
    /// Digest of their content, if they parse.
    pub content_found: Option<Digest>,
}

/// Everything on disk of one artifact.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// The artifact's health.
    pub health: Health,
    /// The metadata as committed, if the pointer can be read.
    pub artifact: Option<Artifact>,
    /// Template, data, provenance, index, in this order.
    pub files: Vec<InspectedFile>,
    /// Records of the audit log, and whether the chain holds over all of them.
    pub log_records: usize,
    /// The fault of the log, if it has one.
    pub log_fault: Option<String>,
    /// Snapshots, and the ids of those whose files cannot be read.
    pub snapshots: usize,
    /// Ids of snapshots that cannot be read.
    pub snapshot_faults: Vec<String>,
    /// Paths of things that the store did not write and cannot write past.
    pub obstacles: Vec<String>,
    /// Whether a commit is unfinished that nobody is finishing. It is served all the same.
    pub has_unfinished_commit: bool,
    /// Revisions whose contents were read back.
    pub revisions: usize,
    /// Those that cannot be.
    pub revision_faults: Vec<RevisionFault>,
}

/// A revision whose contents cannot be read back.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RevisionFault {
    /// The revision.
    pub revision: Revision,
    /// The content.
    pub part: Part,
    /// Its digest.
    pub object: Digest,
}

/// The mode of a repair: planned only, or carried out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RepairMode {
    /// Only say what would be kept and dropped.
    Plan,
    /// Do it.
    Apply,
}

/// The parts that a repair keeps and drops.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RepairReport {
    /// Parts that stay, or are brought back.
    pub keeps: Vec<String>,
    /// Parts that are lost to the artifact; every dropped byte stays in `aside/`.
    pub drops: Vec<String>,
    /// Whether it was carried out.
    pub applied: bool,
}

/// An artifact for which a crashed writer's work could not be finished. It is served as it is, and its
/// next writer tries again.
#[derive(Debug)]
pub struct Unrecovered {
    /// The project.
    pub project: ProjectId,
    /// Which one, or `None` if the project's own directories are in the way.
    pub artifact: Option<ArtifactId>,
    /// The store's error.
    pub error: StoreError,
}
