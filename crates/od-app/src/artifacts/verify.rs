//! Check an artifact against its own digests.

use std::collections::BTreeMap;

use od_core::artifact::{Health, PageRefused, PageSettings, Provenance, render_stored};
use od_core::ids::{ArtifactId, Digest, Timestamp};
use od_core::json::Value;
use od_ports::store::{InspectedFile, Inspection, RevisionFault};
use serde::Serialize;

use super::read::{Address, FindError, find};
use crate::{App, Caller};

/// One thing that is not as it was committed.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The file, or `refreshes.jsonl`, or `snapshots/<id>`.
    pub file: String,
    /// The difference.
    pub problem: String,
}

/// The findings of a check.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VerifyReport {
    /// The artifact.
    pub artifact_id: ArtifactId,
    /// The artifact's health.
    pub health: Health,
    /// Whether everything is as it was committed.
    pub ok: bool,
    /// The differences.
    pub findings: Vec<Finding>,
    /// Files whose digests were derived anew.
    pub files_checked: usize,
    /// Records of the audit log whose chain was followed.
    pub records_checked: usize,
    /// Snapshots that were read.
    pub snapshots_checked: usize,
    /// Revisions whose contents were read back.
    pub revisions_checked: usize,
}

/// Derives every digest anew, renders the page again and compares.
pub async fn verify(
    app: &App,
    caller: &Caller,
    address: Address,
) -> Result<VerifyReport, FindError> {
    let project = find(app, caller, &address).await?;
    let inspection = app.ports.maintenance.inspect(&project, &address.artifact).await?;
    let mut findings = Vec::new();
    for file in &inspection.files {
        findings.extend(check_file(file));
    }
    findings.extend(check_page(&inspection));
    if inspection.artifact.is_none() {
        findings.push(finding("artifact.json", "it cannot be read as it was committed"));
    }
    findings.extend(inspection.log_fault.as_deref().map(|fault| finding("refreshes.jsonl", fault)));
    for id in &inspection.snapshot_faults {
        findings.push(finding(&format!("snapshots/{id}"), "it cannot be read"));
    }
    for path in &inspection.obstacles {
        findings.push(finding(path, "od did not write it, and cannot write the artifact past it"));
    }
    if inspection.has_unfinished_commit {
        let problem =
            "a commit is served and could not be finished, so nothing more can be written";
        findings.push(finding("pending", problem));
    }
    findings.extend(damaged_objects(&inspection.revision_faults));
    Ok(VerifyReport {
        artifact_id: address.artifact,
        health: inspection.health,
        ok: findings.is_empty() && inspection.health.is_healthy(),
        findings,
        files_checked: inspection.files.iter().filter(|file| file.bytes.is_some()).count(),
        records_checked: inspection.log_records,
        snapshots_checked: inspection.snapshots,
        revisions_checked: inspection.revisions,
    })
}

/// Returns one finding for each content, with the revisions that name it.
fn damaged_objects(faults: &[RevisionFault]) -> Vec<Finding> {
    let mut named: BTreeMap<&Digest, Vec<&RevisionFault>> = BTreeMap::new();
    for fault in faults {
        named.entry(&fault.object).or_default().push(fault);
    }
    let finding_of = |(object, faults): (&Digest, Vec<&RevisionFault>)| {
        let mut revisions: Vec<_> = faults.iter().map(|fault| fault.revision).collect();
        revisions.sort_unstable();
        let revisions: Vec<String> = revisions.iter().map(ToString::to_string).collect();
        let part = faults.first().map_or("content", |fault| fault.part.as_str());
        let problem =
            format!("the {part} of revision {} cannot be read back", revisions.join(", "));
        finding(&format!("objects/{}", object.hex_digits()), &problem)
    };
    named.into_iter().map(finding_of).collect()
}

fn finding(file: &str, problem: &str) -> Finding {
    Finding { file: file.to_owned(), problem: problem.to_owned() }
}

fn check_file(file: &InspectedFile) -> Option<Finding> {
    if file.bytes.is_none() {
        return Some(finding(file.name, "it is missing or cannot be read"));
    }
    if file.content_expected.is_some() && file.content_found != file.content_expected {
        return Some(finding(file.name, "its content is not what was committed"));
    }
    if file.raw_expected.is_some() && file.raw_found != file.raw_expected {
        return Some(finding(file.name, "its bytes differ, its content does not"));
    }
    None
}

/// Renders the page from template and data as they are, and compares it with the stored one.
fn check_page(inspection: &Inspection) -> Option<Finding> {
    let bytes = |name: &str| {
        let file = inspection.files.iter().find(|file| file.name == name)?;
        file.bytes.clone()
    };
    let template = bytes("template.html")?;
    let data: Value = serde_json::from_slice(&bytes("data.json")?).ok()?;
    let Ok(html) = std::str::from_utf8(&template) else {
        return Some(finding("template.html", "it is not UTF-8"));
    };
    let provenance: Option<Provenance> =
        bytes("provenance.json").and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let data_of = provenance.map_or(Timestamp::from_unix_ms(0), |it| it.generated_at);
    let document = inspection.artifact.as_ref().and_then(|artifact| artifact.document.as_ref());
    let page = match render_stored(html, &data, &PageSettings::new(document, data_of), None) {
        Ok(page) => page,
        Err(PageRefused::Template(_) | PageRefused::NewerFormat { .. }) => {
            return Some(finding("template.html", "it does not compile"));
        }
        Err(refused @ PageRefused::Data(_)) => {
            return Some(finding("template.html", &format!("it does not render: {refused}")));
        }
    };
    let stored = inspection.files.iter().find(|file| file.name == "index.html")?;
    let same = stored.raw_found.as_ref() == Some(&Digest::of_bytes(&page));
    (!same).then(|| finding("index.html", "it is not the page of template and data"))
}
