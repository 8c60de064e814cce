//! Making a bundle: the same artifacts and the same key give the same bytes.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::manifest::{
    BundleKind, BundledArtifact, BundledProject, FORMAT, MANIFEST, Manifest, ManifestArtifact,
    ManifestEntry, SIGNATURE, VERSION,
};
use super::signer::{BundleSignature, SignerKey, signed_bytes};
use super::tar;
use crate::artifact::{ArtifactState, PageRefused, render_stored};
use crate::ids::{Digest, Revision};
use crate::json;
use crate::ledger::LogRecord;
use crate::limits::{BUNDLE_BYTES, BUNDLE_ENTRIES};

/// One artifact that goes into a bundle.
#[derive(Debug)]
pub struct Packed<'a> {
    /// The state.
    pub state: &'a ArtifactState,
    /// Whether it was edited by hand since its last commit.
    pub edited: bool,
    /// The records of its log, in any order.
    pub records: Vec<LogRecord>,
    /// The revisions whose contents are kept.
    pub revisions: Vec<PackedRevision>,
}

/// The contents of one revision, as its commit names them.
#[derive(Debug)]
pub struct PackedRevision {
    /// The revision.
    pub revision: Revision,
    /// Template, data, provenance and source.
    pub contents: [Vec<u8>; 4],
}

/// A bundle that lacks its signature.
#[derive(Debug)]
pub struct UnsignedBundle {
    manifest: Vec<u8>,
    entries: BTreeMap<String, Vec<u8>>,
}

/// The reasons why there is no bundle.
#[derive(Debug, thiserror::Error)]
pub enum PackRefused {
    /// A template does not fit its data.
    #[error("the template of `{artifact}` does not fit the data: {refused}")]
    Page {
        /// The title of the artifact.
        artifact: String,
        /// The fault.
        refused: PageRefused,
    },
    /// The bundle would be larger than a reader accepts.
    #[error("the bundle would have {bytes} bytes in {entries} entries, more than a reader accepts")]
    TooLarge {
        /// The bytes.
        bytes: u64,
        /// The entries.
        entries: usize,
    },
}

impl UnsignedBundle {
    /// Puts artifacts together; with a project, as a bundle of it.
    ///
    /// # Errors
    ///
    /// Fails when a page cannot be drawn, and when the bundle would be too large.
    pub fn new(
        artifacts: Vec<Packed<'_>>,
        project: Option<BundledProject>,
    ) -> Result<Self, PackRefused> {
        let mut entries = BTreeMap::new();
        let mut listed = Vec::new();
        for (at, artifact) in artifacts.into_iter().enumerate() {
            listed.push(add(&mut entries, format!("artifacts/{}", at + 1), artifact)?);
        }
        let bytes: u64 =
            entries.values().map(|bytes| bytes.len().next_multiple_of(512) as u64 + 512).sum();
        let entry = |(path, bytes): (&String, &Vec<u8>)| ManifestEntry {
            path: path.clone(),
            bytes: bytes.len() as u64,
            digest: Digest::of_bytes(bytes),
        };
        let kind = if project.is_some() { BundleKind::Project } else { BundleKind::Artifact };
        let manifest = Manifest {
            format: FORMAT.to_owned(),
            version: VERSION,
            kind,
            project,
            artifacts: listed,
            entries: entries.iter().map(entry).collect(),
        };
        // Strings and integers only: writing them cannot fail.
        let manifest = json::canonical_bytes(&serde_json::to_value(manifest).unwrap_or_default());
        // The manifest, the signature, their headers and the end marks.
        let bytes = bytes + manifest.len() as u64 + 8 * 512;
        if bytes > BUNDLE_BYTES.allowed || !BUNDLE_ENTRIES.allows(entries.len() + 2) {
            return Err(PackRefused::TooLarge { bytes, entries: entries.len() });
        }
        Ok(Self { manifest, entries })
    }

    /// Returns the bytes to sign.
    #[must_use]
    pub fn message(&self) -> Vec<u8> {
        signed_bytes(&self.manifest)
    }

    /// Returns the file, with the signature of its message.
    #[must_use]
    pub fn signed(self, signer: &SignerKey, signature: &BundleSignature) -> Vec<u8> {
        let signature = signature_bytes(signer, signature);
        let mut archive = Vec::new();
        tar::append(&mut archive, MANIFEST, &self.manifest);
        tar::append(&mut archive, SIGNATURE, &signature);
        for (path, bytes) in &self.entries {
            tar::append(&mut archive, path, bytes);
        }
        tar::finish(&mut archive);
        archive
    }
}

/// Returns the bytes of `signature.json`.
pub(super) fn signature_bytes(signer: &SignerKey, signature: &BundleSignature) -> Vec<u8> {
    json::canonical_bytes(&serde_json::json!({
        "algorithm": "ed25519", "publicKey": signer, "signature": signature,
    }))
}

fn add(
    entries: &mut BTreeMap<String, Vec<u8>>,
    folder: String,
    artifact: Packed<'_>,
) -> Result<ManifestArtifact, PackRefused> {
    let Packed { state, edited, records, revisions } = artifact;
    let lines = unbroken(records, state.artifact.revision);
    let told: HashSet<Revision> = lines.iter().filter_map(|line| revision_of(line)).collect();
    // What no record of the chain names nobody could check.
    let revisions: Vec<PackedRevision> =
        revisions.into_iter().filter(|kept| told.contains(&kept.revision)).collect();
    let mut numbers: Vec<Revision> = revisions.iter().map(|kept| kept.revision).collect();
    numbers.sort_unstable();
    let heading = state.artifact.heading.clone();
    let title = heading.title.clone();
    let page =
        render_stored(&state.template_html, state.data.value(), &state.page_settings(), None)
            .map_err(|refused| PackRefused::Page { artifact: title.clone(), refused })?;
    // Strings, times and JSON only: writing them cannot fail.
    let provenance = serde_json::to_value(&state.provenance).unwrap_or_default();
    let mut log = lines.join(&b'\n');
    if !log.is_empty() {
        log.push(b'\n');
    }
    let files = [
        (
            "artifact.json",
            BundledArtifact::new(heading, state.artifact.document.clone()).to_bytes(),
        ),
        ("template.html", state.template_html.as_bytes().to_vec()),
        ("data.json", json::pretty_bytes(state.data.value())),
        ("provenance.json", json::pretty_bytes(&provenance)),
        ("index.html", page),
        ("log.jsonl", log),
    ];
    let mut plain = HashSet::new();
    for (name, bytes) in files {
        plain.insert(Digest::of_bytes(&bytes));
        entries.insert(format!("{folder}/{name}"), bytes);
    }
    for bytes in revisions.into_iter().flat_map(|kept| kept.contents) {
        let digest = Digest::of_bytes(&bytes);
        // What the newest revision has stands in its files already.
        if !plain.contains(&digest) {
            entries.insert(format!("objects/{}", digest.hex_digits()), bytes);
        }
    }
    Ok(ManifestArtifact {
        folder,
        id: state.artifact.id.clone(),
        title,
        revision: state.artifact.revision,
        as_of: state.provenance.generated_at,
        edited,
        revisions: numbers,
    })
}

fn revision_of(line: &[u8]) -> Option<Revision> {
    Some(LogRecord::parse(line).ok()?.into_commit()?.revision)
}

/// Returns the lines of the log around the commit of a revision, oldest first, as far as each names
/// the one before it: what a rotation has dropped leaves a gap that nobody can check across.
fn unbroken(records: Vec<LogRecord>, revision: Revision) -> Vec<Vec<u8>> {
    let mut lines: HashMap<Digest, (Option<Digest>, Vec<u8>)> = HashMap::new();
    let mut after: HashMap<Digest, Digest> = HashMap::new();
    let mut newest = None;
    for record in records {
        let prev = record.prev().cloned();
        let is_newest = matches!(&record, LogRecord::Commit(commit) if commit.revision == revision);
        let line = record.to_line_after(prev.clone());
        let digest = Digest::of_bytes(&line);
        if is_newest {
            newest = Some(digest.clone());
        }
        if let Some(prev) = &prev {
            after.insert(prev.clone(), digest.clone());
        }
        lines.insert(digest, (prev, line));
    }
    let Some(newest) = newest else { return Vec::new() };
    let mut last = newest;
    while let Some(next) = after.remove(&last) {
        last = next;
    }
    let mut chain = Vec::new();
    let mut at = Some(last);
    while let Some((prev, line)) = at.and_then(|digest| lines.remove(&digest)) {
        chain.push(line);
        at = prev;
    }
    chain.reverse();
    chain
}
