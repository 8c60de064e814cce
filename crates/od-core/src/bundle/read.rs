//! Reading a bundle: nothing of it is believed before its signature and its digests hold.

use std::collections::{BTreeMap, HashSet};

use super::manifest::{
    BundleFault, BundledArtifact, FORMAT, MANIFEST, Manifest, ManifestArtifact, SIGNATURE, VERSION,
};
use super::pack::signature_bytes;
use super::signer::{BundleSignature, SignerKey};
use super::tar;
use crate::artifact::{PageSettings, Provenance, render_stored};
use crate::ids::{Digest, Revision};
use crate::json::{self, Value};
use crate::ledger::{CommitRecord, LogRecord};

/// A bundle whose signature holds and whose entries are those of its manifest.
#[derive(Debug)]
pub struct Bundle<'b> {
    /// The manifest.
    pub manifest: Manifest,
    /// The key that signed it.
    pub signer: SignerKey,
    entries: BTreeMap<&'b str, &'b [u8]>,
}

/// One thing in a bundle that does not follow from the rest of it.
#[derive(Clone, Debug, Eq, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BundleFinding {
    /// The entry.
    pub path: String,
    /// The fault.
    pub problem: String,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SignatureFile {
    #[expect(dead_code, reason = "compared as bytes")]
    algorithm: String,
    public_key: SignerKey,
    signature: BundleSignature,
}

impl<'b> Bundle<'b> {
    /// Reads a file: archive, manifest, signature, and the digest of every entry.
    ///
    /// # Errors
    ///
    /// Fails with the first thing that does not hold.
    pub fn read(bytes: &'b [u8]) -> Result<Self, BundleFault> {
        let archive = tar::read(bytes)?;
        let mut entries = archive.into_iter();
        let no_manifest =
            || BundleFault::Manifest { reason: "it is not the first entry".to_owned() };
        let first =
            entries.next().filter(|entry| entry.name == MANIFEST).ok_or_else(no_manifest)?;
        let second = entries.next().filter(|entry| entry.name == SIGNATURE);
        let second =
            second.ok_or(BundleFault::Signature { reason: "it is not the second entry" })?;
        // The version before the signature: a later one may be signed in another way.
        let manifest = read_manifest(first.bytes)?;
        let signer = check_signature(first.bytes, second.bytes)?;
        let mut listed = manifest.entries.iter();
        let mut found = BTreeMap::new();
        for entry in entries {
            let fault = |problem| BundleFault::Entry { path: entry.name.to_owned(), problem };
            let expected = listed.next().filter(|listed| listed.path == entry.name);
            let expected =
                expected.ok_or_else(|| fault("is not the entry that the manifest lists"))?;
            if expected.digest != Digest::of_bytes(entry.bytes) {
                return Err(fault("has another digest than the manifest says"));
            }
            if found.insert(entry.name, entry.bytes).is_some() {
                return Err(fault("is there twice"));
            }
        }
        match listed.next() {
            Some(missing) => {
                Err(BundleFault::Entry { path: missing.path.clone(), problem: "is missing" })
            }
            None => Ok(Self { manifest, signer, entries: found }),
        }
    }

    /// Checks what digests alone do not show: each log is a chain, the contents of each revision are
    /// there, and each page is the page of its template and data, byte for byte.
    #[must_use]
    pub fn examine(&self) -> Vec<BundleFinding> {
        let mut findings = Vec::new();
        let mut used: HashSet<String> = HashSet::new();
        let digests: BTreeMap<&Digest, &str> = self
            .manifest
            .entries
            .iter()
            .map(|entry| (&entry.digest, entry.path.as_str()))
            .collect();
        for artifact in &self.manifest.artifacts {
            used.extend(FILES.iter().map(|file| artifact.path(file)));
            findings.extend(self.examine_page(artifact).err());
            match self.examine_log(artifact) {
                Ok(commits) => {
                    findings.extend(check_revisions(artifact, &commits, &digests, &mut used));
                }
                Err(finding) => findings.push(finding),
            }
        }
        let stray = self.entries.keys().filter(|path| !used.contains(**path));
        findings.extend(stray.map(|path| finding(path, "nothing in the bundle refers to it")));
        findings
    }

    /// Returns the create request that an artifact comes to: its design, its data and where that came
    /// from, and nothing that was granted to it elsewhere.
    ///
    /// # Errors
    ///
    /// Fails if one of its files is not what its name says.
    pub fn create_body(&self, artifact: &ManifestArtifact) -> Result<Value, BundleFinding> {
        let design = self.design(artifact)?;
        let provenance = self.provenance(artifact)?;
        let mut input = serde_json::to_value(&design).unwrap_or_default();
        let document = input.get_mut("document").and_then(Value::as_object_mut);
        if let Some(document) = document {
            document.insert("dataJson".to_owned(), self.data(artifact)?);
        }
        let mut origin = serde_json::json!({
            "generatedAt": provenance.generated_at, "sources": provenance.sources,
        });
        if let Some(notes) = provenance.notes {
            origin["notes"] = notes.into();
        }
        Ok(serde_json::json!({
            "input": input, "templateHtml": self.text(artifact, "template.html")?,
            "provenanceJson": origin,
        }))
    }

    fn design(&self, artifact: &ManifestArtifact) -> Result<BundledArtifact, BundleFinding> {
        let BundledArtifact { heading, document } = self.json(artifact, "artifact.json")?;
        Ok(BundledArtifact::new(heading, document))
    }

    fn data(&self, artifact: &ManifestArtifact) -> Result<Value, BundleFinding> {
        self.json(artifact, "data.json")
    }

    fn provenance(&self, artifact: &ManifestArtifact) -> Result<Provenance, BundleFinding> {
        self.json(artifact, "provenance.json")
    }

    fn examine_page(&self, artifact: &ManifestArtifact) -> Result<(), BundleFinding> {
        let design = self.design(artifact)?;
        let provenance = self.provenance(artifact)?;
        if provenance.generated_at != artifact.as_of {
            let path = artifact.path("provenance.json");
            return Err(finding(&path, "its date is not the one in the manifest"));
        }
        let settings = PageSettings::new(design.document.as_ref(), provenance.generated_at);
        let (template, data) = (self.text(artifact, "template.html")?, self.data(artifact)?);
        let page = render_stored(template, &data, &settings, None).map_err(|refused| {
            finding(&artifact.path("template.html"), &format!("it makes no page: {refused}"))
        })?;
        let path = artifact.path("index.html");
        if self.bytes(&path)? == page {
            Ok(())
        } else {
            Err(finding(&path, "it is not the page of template and data"))
        }
    }

    /// Follows the chain of a log and returns its commits, oldest first.
    fn examine_log(&self, artifact: &ManifestArtifact) -> Result<Vec<CommitRecord>, BundleFinding> {
        let path = artifact.path("log.jsonl");
        let bytes = self.bytes(&path)?;
        let mut commits: Vec<CommitRecord> = Vec::new();
        let mut before: Option<Digest> = None;
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        for (at, line) in lines.enumerate() {
            let fault = |problem: &str| finding(&path, &format!("line {}: {problem}", at + 1));
            let record = LogRecord::parse(line).map_err(|_| fault("it is no record"))?;
            if at > 0 && record.prev() != before.as_ref() {
                return Err(fault("it does not continue the line before it"));
            }
            before = Some(Digest::of_bytes(line));
            commits.extend(record.into_commit());
        }
        let Some(last) = commits.last() else { return Err(finding(&path, "it has no commit")) };
        if last.revision != artifact.revision {
            return Err(finding(&path, "its last commit is not the revision of the manifest"));
        }
        if !artifact.edited {
            let files = [
                ("template.html", &last.digests.template),
                ("data.json", &last.digests.data),
                ("provenance.json", &last.digests.provenance),
            ];
            for (file, expected) in files {
                let path = artifact.path(file);
                if Digest::of_bytes(self.bytes(&path)?) != *expected {
                    return Err(finding(&path, "it is not what the last commit wrote"));
                }
            }
        }
        Ok(commits)
    }

    fn bytes(&self, path: &str) -> Result<&'b [u8], BundleFinding> {
        self.entries.get(path).copied().ok_or_else(|| finding(path, "it is missing"))
    }

    fn text(&self, artifact: &ManifestArtifact, file: &str) -> Result<&'b str, BundleFinding> {
        let path = artifact.path(file);
        let text = std::str::from_utf8(self.bytes(&path)?);
        text.map_err(|_| finding(&path, "it is not UTF-8"))
    }

    fn json<T: serde::de::DeserializeOwned>(
        &self,
        artifact: &ManifestArtifact,
        file: &str,
    ) -> Result<T, BundleFinding> {
        let path = artifact.path(file);
        let value = serde_json::from_slice(self.bytes(&path)?);
        value.map_err(|_| finding(&path, "it is not what its name says"))
    }
}

/// The files of each artifact.
const FILES: [&str; 6] =
    ["artifact.json", "template.html", "data.json", "provenance.json", "index.html", "log.jsonl"];

fn check_revisions(
    artifact: &ManifestArtifact,
    commits: &[CommitRecord],
    digests: &BTreeMap<&Digest, &str>,
    used: &mut HashSet<String>,
) -> Vec<BundleFinding> {
    let log = artifact.path("log.jsonl");
    let mut findings = Vec::new();
    for revision in &artifact.revisions {
        let missing = |revision: &Revision, what: &str| {
            finding(&log, &format!("revision {revision}: {what}"))
        };
        let Some(commit) = commits.iter().find(|commit| commit.revision == *revision) else {
            findings.push(missing(revision, "it has no record"));
            continue;
        };
        for digest in commit.digests.objects() {
            match digests.get(digest) {
                Some(path) => {
                    used.insert((*path).to_owned());
                }
                None => findings.push(missing(revision, "some of its contents are missing")),
            }
        }
    }
    findings
}

fn read_manifest(bytes: &[u8]) -> Result<Manifest, BundleFault> {
    #[derive(serde::Deserialize)]
    struct Version {
        format: String,
        version: u32,
    }
    let unreadable = |reason: &str| BundleFault::Manifest { reason: reason.to_owned() };
    let value: Value = serde_json::from_slice(bytes).map_err(|_| unreadable("it is not JSON"))?;
    if json::canonical_bytes(&value) != bytes {
        return Err(unreadable("it is not in canonical form (RFC 8785)"));
    }
    let version: Version = serde_json::from_value(value.clone())
        .map_err(|_| unreadable("it names neither format nor version"))?;
    if version.format != FORMAT {
        return Err(unreadable("its format is not `od-bundle`"));
    }
    if version.version != VERSION {
        return Err(BundleFault::Version { version: version.version });
    }
    serde_json::from_value(value).map_err(|err| unreadable(&err.to_string()))
}

fn check_signature(manifest: &[u8], file: &[u8]) -> Result<SignerKey, BundleFault> {
    let fault = |reason| BundleFault::Signature { reason };
    let read: SignatureFile =
        serde_json::from_slice(file).map_err(|_| fault("it is not a signature file"))?;
    if signature_bytes(&read.public_key, &read.signature) != file {
        return Err(fault("it is not in canonical form"));
    }
    if !read.public_key.has_signed(manifest, &read.signature) {
        return Err(fault("the manifest is not what was signed"));
    }
    Ok(read.public_key)
}

fn finding(path: &str, problem: &str) -> BundleFinding {
    BundleFinding { path: path.to_owned(), problem: problem.to_owned() }
}
