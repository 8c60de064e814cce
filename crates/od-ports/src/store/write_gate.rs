//! The gate in front of every write, and the witness that it was passed.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use od_core::ids::{ArtifactId, ProjectId};

use super::error::StoreError;
use super::stored::Stored;

/// An artifact's commit lock, held. Dropping it lets go.
pub trait CommitLock: fmt::Debug + Send + Sync {
    /// Returns the adapter's own type, so that it can check that the lock is its own.
    fn as_any(&self) -> &dyn Any;
}

/// The commit lock of one healthy artifact, with the state that was read under it.
///
/// Only [`Gate::open`] makes one, and it refuses an artifact that is not healthy. While it lives no
/// other process can commit to the artifact; keep it for a decision, not for a wait on the network.
#[derive(Debug)]
pub struct Gate {
    project: ProjectId,
    artifact: ArtifactId,
    lock: Box<dyn CommitLock>,
    stored: Arc<Stored>,
}

impl Gate {
    /// Makes a gate from a lock that is held and the state read while it was held.
    ///
    /// For adapters. Fails with [`StoreError::NotHealthy`] if the state may not be written.
    pub fn open(
        project: ProjectId,
        artifact: ArtifactId,
        lock: Box<dyn CommitLock>,
        stored: Arc<Stored>,
    ) -> Result<Self, StoreError> {
        if stored.health.is_healthy() {
            Ok(Self { project, artifact, lock, stored })
        } else {
            Err(StoreError::NotHealthy { artifact, health: stored.health })
        }
    }

    /// Returns what is stored, drift included: the state to decide on.
    pub fn stored(&self) -> &Arc<Stored> {
        &self.stored
    }

    /// Returns the proof that the gate is held.
    ///
    /// ```compile_fail
    /// # use od_ports::store::{Gate, WriteWitness};
    /// // A witness cannot outlive its gate.
    /// fn escape(gate: Gate) -> WriteWitness<'static> {
    ///     gate.witness()
    /// }
    /// ```
    pub fn witness(&self) -> WriteWitness<'_> {
        WriteWitness { gate: self }
    }
}

/// Proof that the artifact's commit lock is held and that the artifact is healthy.
///
/// It has no constructor of its own:
///
/// ```compile_fail
/// # use od_ports::store::{Gate, WriteWitness};
/// fn forge(gate: &Gate) -> WriteWitness<'_> {
///     WriteWitness { gate }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WriteWitness<'gate> {
    gate: &'gate Gate,
}

impl<'gate> WriteWitness<'gate> {
    /// Returns the project the artifact is in.
    pub fn project(&self) -> &'gate ProjectId {
        &self.gate.project
    }

    /// Returns the artifact that is locked.
    pub fn artifact(&self) -> &'gate ArtifactId {
        &self.gate.artifact
    }

    /// Returns the lock, for the adapter that made it.
    pub fn lock(&self) -> &'gate dyn CommitLock {
        self.gate.lock.as_ref()
    }

    /// Returns the state that was read under the lock.
    pub fn stored(&self) -> &'gate Arc<Stored> {
        &self.gate.stored
    }
}
