//! Creates that are tried again: what an earlier run of an attempt made.

use od_core::artifact::Attempt;
use od_core::ids::{ArtifactId, ProjectId};
use od_core::ledger::{EarlierAttempt, Maker, find_earlier};
use od_ports::store::StoreError;
use tokio_postgres::types::Type;

use crate::log::Reader;
use crate::pool::Param;
use crate::row::{ArtifactRow, COLUMNS, TABLES};
use crate::store::PgStore;

impl PgStore {
    /// Finds what an earlier run of an attempt made.
    pub(crate) async fn earlier(
        &self,
        reader: Reader<'_>,
        project: &ProjectId,
        attempt: &Attempt,
    ) -> Result<Option<ArtifactId>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE a.project = $1 AND a.attempt = $2");
        let (id, named) = (project.as_str(), attempt.id.as_str());
        let params: [Param<'_>; 2] = [(&id, Type::TEXT), (&named, Type::TEXT)];
        let mut rows = Vec::new();
        for row in reader.rows(&sql, &params).await? {
            rows.extend(ArtifactRow::read(&row)?);
        }
        let (trashed, present): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|row| row.deleted_at.is_some());
        let made = present.iter().map(|row| {
            let maker = match &row.pointer {
                Ok(_) => Maker::known(row.attempt().cloned()),
                Err(_) => Maker::Unreadable,
            };
            (&row.id, maker)
        });
        let in_trash =
            || Ok::<_, StoreError>(trashed.iter().map(|row| (&row.id, attempt.id.clone())));
        let attempt_id = attempt.id.clone();
        match find_earlier(attempt, made, in_trash)? {
            EarlierAttempt::Nothing => Ok(None),
            EarlierAttempt::SameRequest(id) => Ok(Some(id.clone())),
            EarlierAttempt::OtherRequest(id) => {
                Err(StoreError::AttemptConflict { attempt: attempt_id, artifact: id.clone() })
            }
            EarlierAttempt::Trashed(id) => {
                Err(StoreError::AttemptTrashed { attempt: attempt_id, artifact: id.clone() })
            }
            EarlierAttempt::Unreadable(id) => {
                let health = present.iter().find(|row| row.id == *id).map(ArtifactRow::health);
                let health = health.unwrap_or(od_core::artifact::Health::HEALTHY);
                Err(StoreError::NotHealthy { artifact: id.clone(), health })
            }
        }
    }
}
