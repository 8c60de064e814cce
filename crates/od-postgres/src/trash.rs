//! The trash: rows with a time of deletion.

use std::sync::Arc;

use async_trait::async_trait;
use od_core::ids::{ArtifactId, ProjectId, Revision, Timestamp};
use od_core::ledger::{check_revision, trash_expires_at};
use od_ports::store::{ArtifactStore, StoreError, Stored, Trash, Trashed};
use tokio_postgres::types::Type;

use crate::fault::{Fault, busy};
use crate::pool::Param;
use crate::row::{ArtifactRow, COLUMNS, TABLES};
use crate::store::PgStore;
use crate::write::{Probe, Transaction};

/// Ends a refresh that runs, too: it would come back to another time.
const DELETE: &str = "WITH l AS (DELETE FROM od.lease WHERE artifact = $1) \
    UPDATE od.artifact SET deleted_at = $2 WHERE key = $1";
const RESTORE: &str = "UPDATE od.artifact SET deleted_at = NULL WHERE key = $1";

#[async_trait]
impl Trash for PgStore {
    async fn delete(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        if_revision: Option<Revision>,
    ) -> Result<Trashed, StoreError> {
        let (transaction, loaded) = self.lock(project, artifact).await?;
        if let (Some(expected), Some(actual)) = (if_revision, loaded.stored.revision()) {
            check_revision(expected, actual)
                .map_err(|conflict| StoreError::revision_conflict(artifact, conflict))?;
        }
        let (key, now) = (loaded.row.key, self.clock.now());
        let deleted_at = now.unix_ms();
        let params: [Param<'_>; 2] = [(&key, Type::INT8), (&deleted_at, Type::INT8)];
        transaction.rows(DELETE, &params).await?;
        let committed = transaction.commit(key).await?;
        let probe = Probe::Trash { key, deleted_at: Some(deleted_at) };
        self.shared.note_own(self.shared.settle(committed, probe).await?);
        Ok(trashed(&loaded.row, now))
    }

    async fn restore(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Arc<Stored>, StoreError> {
        let transaction = Transaction::begin(&self.shared.pool).await?;
        let (project_id, id) = (project.as_str(), artifact.as_str());
        let params: [Param<'_>; 2] = [(&project_id, Type::TEXT), (&id, Type::TEXT)];
        let last = "SELECT key FROM od.artifact WHERE project = $1 AND id = $2 \
            AND deleted_at IS NOT NULL ORDER BY deleted_at DESC, key DESC LIMIT 1 FOR UPDATE";
        let found = transaction.rows(last, &params).await.map_err(|fault| busy(fault, artifact))?;
        let Some(key) = found.first().and_then(|row| row.try_get::<_, i64>(0).ok()) else {
            return Err(StoreError::NotInTrash {
                project: project.clone(),
                artifact: artifact.clone(),
            });
        };
        match transaction.rows(RESTORE, &[(&key, Type::INT8)]).await {
            Err(Fault::Taken) => return Err(StoreError::Exists { artifact: artifact.clone() }),
            other => other?,
        };
        let committed = transaction.commit(key).await?;
        let probe = Probe::Trash { key, deleted_at: None };
        self.shared.note_own(self.shared.settle(committed, probe).await?);
        ArtifactStore::load(self, project, artifact).await
    }

    async fn list(&self, project: &ProjectId) -> Result<Vec<Trashed>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM {TABLES} WHERE a.project = $1 AND a.deleted_at IS NOT NULL \
             ORDER BY a.deleted_at DESC, a.key DESC"
        );
        let id = project.as_str();
        let mut found = Vec::new();
        for row in self.shared.pool.rows(&sql, &[(&id, Type::TEXT)]).await? {
            let Some(row) = ArtifactRow::read(&row)? else { continue };
            let deleted_at = Timestamp::from_unix_ms(row.deleted_at.unwrap_or_default());
            found.push(trashed(&row, deleted_at));
        }
        Ok(found)
    }
}

fn trashed(row: &ArtifactRow, deleted_at: Timestamp) -> Trashed {
    Trashed {
        artifact_id: row.id.clone(),
        title: row.pointer.as_ref().ok().map(|artifact| artifact.heading.title.clone()),
        deleted_at,
        expires_at: trash_expires_at(deleted_at),
    }
}
