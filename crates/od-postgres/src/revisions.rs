//! Earlier states: the timeline, and the contents of the revisions that are kept.

use std::sync::Arc;

use async_trait::async_trait;
use od_core::ids::{ArtifactId, Digest, ProjectId, RefreshId, Revision};
use od_core::json::BoundedObject;
use od_core::ledger::{CommitRecord, Part, RevisionDigests, kept_commits};
use od_ports::store::{
    KeptRevision, RevisionFault, RevisionStore, Snapshot, SnapshotSummary, StoreError, Timeline,
};
use tokio_postgres::types::Type;

use crate::content::{BLOB_BYTES_MAX, Loaded, blob};
use crate::fault::Fault;
use crate::log::{self, Reader, WholeLog};
use crate::pool::Param;
use crate::store::PgStore;

impl PgStore {
    /// Reads an artifact and every record of it.
    pub(crate) async fn whole_log(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<(Arc<Loaded>, WholeLog), StoreError> {
        let mut is_again = false;
        loop {
            let (loaded, _) = self.load_fresh(project, artifact).await?;
            let whole = log::read_whole(Reader::Pool(&self.shared.pool), &loaded.row).await?;
            // Retention may have gone by between the row and its records; real damage is found again.
            if is_again || whole.log.fault(&loaded.row).is_none() {
                return Ok((loaded, whole));
            }
            is_again = true;
        }
    }

    /// Reads the commits of an artifact, newest first, and its key.
    async fn commits(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<(i64, Timeline), StoreError> {
        let (loaded, whole) = self.whole_log(project, artifact).await?;
        let broken = whole.log.fault(&loaded.row);
        let commits = whole.commits.into_iter().rev().collect();
        Ok((loaded.row.key, Timeline { commits, broken }))
    }

    async fn read_commit(
        &self,
        key: i64,
        artifact: &ArtifactId,
        commit: CommitRecord,
    ) -> Result<KeptRevision, StoreError> {
        let revision = commit.revision;
        let damaged =
            |part| StoreError::RevisionDamaged { artifact: artifact.clone(), revision, part };
        let mut contents = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
        for (bytes, (part, digest)) in contents.iter_mut().zip(kept_parts(&commit.digests)) {
            let found = blob(Reader::Pool(&self.shared.pool), key, digest).await?;
            let found = found.filter(|found| Digest::of_bytes(found) == *digest);
            *bytes = found.ok_or_else(|| damaged(part))?;
        }
        let [template, data, provenance, source] = contents;
        let template = String::from_utf8(template).map_err(|_| damaged(Part::Template))?;
        Ok(KeptRevision {
            template_html: template.into(),
            data: BoundedObject::parse(&data).map_err(|_| damaged(Part::Data))?,
            provenance: serde_json::from_slice(&provenance)
                .map_err(|_| damaged(Part::Provenance))?,
            source: serde_json::from_slice(&source).map_err(|_| damaged(Part::Source))?,
            commit,
        })
    }

    /// Reads every kept revision back; returns how many there are, and what of them is damaged.
    pub(crate) async fn inspect_revisions(
        &self,
        key: i64,
        newest_first: &[CommitRecord],
    ) -> Result<(usize, Vec<RevisionFault>), StoreError> {
        // Digested by the server: nothing of it has to be sent.
        let sql = format!(
            "SELECT digest FROM od.blob WHERE artifact = $1 AND CASE WHEN octet_length(bytes) \
             <= {BLOB_BYTES_MAX} THEN 'sha256:' || encode(sha256(bytes), 'hex') = digest ELSE false END"
        );
        let mut sound = std::collections::HashSet::new();
        for row in self.shared.pool.rows(&sql, &[(&key, Type::INT8)]).await? {
            let digest: String = row.try_get(0).map_err(|err| Fault::of_row(&err))?;
            sound.insert(digest);
        }
        let (mut count, mut faults) = (0, Vec::new());
        for commit in kept_commits(newest_first) {
            count += 1;
            for (part, digest) in kept_parts(&commit.digests) {
                if !sound.contains(digest.as_str()) {
                    let (revision, object) = (commit.revision, digest.clone());
                    faults.push(RevisionFault { revision, part, object });
                }
            }
        }
        Ok((count, faults))
    }

    async fn sizes(&self, key: i64) -> Result<std::collections::HashMap<String, u64>, StoreError> {
        let sql = "SELECT digest, octet_length(bytes)::int8 FROM od.blob WHERE artifact = $1";
        let params: [Param<'_>; 1] = [(&key, Type::INT8)];
        let mut sizes = std::collections::HashMap::new();
        for row in self.shared.pool.rows(sql, &params).await? {
            let fault = |err: tokio_postgres::Error| Fault::of_row(&err);
            let bytes: i64 = row.try_get(1).map_err(fault)?;
            sizes.insert(row.try_get(0).map_err(fault)?, u64::try_from(bytes).unwrap_or(0));
        }
        Ok(sizes)
    }
}

/// Returns the parts whose contents are kept, each with its digest.
fn kept_parts(digests: &RevisionDigests) -> [(Part, &Digest); 4] {
    [
        (Part::Template, &digests.template),
        (Part::Data, &digests.data),
        (Part::Provenance, &digests.provenance),
        (Part::Source, &digests.source),
    ]
}

#[async_trait]
impl RevisionStore for PgStore {
    async fn timeline(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Timeline, StoreError> {
        Ok(self.commits(project, artifact).await?.1)
    }

    async fn revision(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        revision: Revision,
    ) -> Result<KeptRevision, StoreError> {
        let (key, timeline) = self.commits(project, artifact).await?;
        let commit = kept_commits(&timeline.commits).find(|commit| commit.revision == revision);
        let missing = || StoreError::RevisionNotFound { artifact: artifact.clone(), revision };
        self.read_commit(key, artifact, commit.ok_or_else(missing)?.clone()).await
    }

    async fn snapshots(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Vec<SnapshotSummary>, StoreError> {
        let (key, timeline) = self.commits(project, artifact).await?;
        let sizes = self.sizes(key).await?;
        let summary = |commit: &CommitRecord| {
            Some(SnapshotSummary {
                refresh_id: commit.refresh_id.clone()?,
                generated_at: commit.at,
                data_digest: commit.digests.data_content.clone(),
                bytes: sizes.get(commit.digests.data.as_str()).copied().unwrap_or(0),
            })
        };
        Ok(kept_commits(&timeline.commits).filter_map(summary).collect())
    }

    async fn snapshot(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        refresh: &RefreshId,
    ) -> Result<Snapshot, StoreError> {
        let (key, timeline) = self.commits(project, artifact).await?;
        let commit = kept_commits(&timeline.commits)
            .find(|commit| commit.refresh_id.as_ref() == Some(refresh));
        let missing = || StoreError::SnapshotNotFound {
            artifact: artifact.clone(),
            refresh: refresh.clone(),
        };
        let kept = self.read_commit(key, artifact, commit.ok_or_else(missing)?.clone()).await?;
        Ok(Snapshot {
            refresh_id: refresh.clone(),
            revision: Some(kept.commit.revision),
            data: kept.data,
            provenance: kept.provenance,
        })
    }
}
