//! `od artifacts import`, `od projects export`, `od verify`: bundles, without a daemon.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use od_app::bundles::{self, BundleScope, ExportedBundle, ImportBundle, ImportedBundle};
use od_app::{Caller, Mode};
use od_core::bundle::{Bundle, BundleFault, BundleFinding, Manifest, SignerKey, Standing};
use od_core::error::ErrorCode;
use od_core::limits::BUNDLE_BYTES;
use od_fs::FileSignerKeys;
use od_ports::access::signer_keys::SignerKeys as _;
use serde_json::{Value, json};

use super::keys;
use crate::args::{ExportProject, ImportArtifacts};
use crate::local;
use crate::output::{Answer, CommandError, Exit, Style, Text, counted};
use crate::settings::Settings;
use crate::verbs::new_file;

/// What a bundle contains, in a sentence for whoever is about to make one.
pub(crate) const CONTAINS: &str = "template, data, provenance, page, the kept revisions and the audit log, signed with your key; no permission, no secret";

/// Takes in the artifacts of a bundle as new ones.
pub(crate) async fn import(
    settings: &Settings,
    args: &ImportArtifacts,
) -> Result<Answer, CommandError> {
    let bytes = read(settings, &args.file)?;
    let app = local::open(settings)?;
    let project = local::project(&app, settings, args.project.as_deref()).await?;
    let project = project.ok_or_else(|| local::no_project(&settings.directory))?;
    let request = ImportBundle { project: project.id.clone(), bytes };
    let mode = Mode::of_dry_run(args.dry_run);
    let imported =
        bundles::import(&app, &Caller::Person, request, mode).await.map_err(local::failed)?;
    let verb = if args.dry_run { "would import" } else { "imported" };
    let mut text = Text::new();
    for artifact in &imported.artifacts {
        let (title, id) = (&artifact.stored.summary.heading.title, &artifact.stored.id);
        let named = if args.dry_run { String::new() } else { format!(" as {id}") };
        text = text.line(&format!("{verb} {title}{named}"));
        for copy in &artifact.copies {
            text = text.styled(Style::Warn, &format!("  the same is already here as {copy}"));
        }
    }
    text =
        text.styled(Style::Dim, &format!("  {}", signed_by(&imported.signer, &imported.standing)));
    if imported.artifacts.iter().any(has_source) {
        let line = "  sources came without permission: allow refreshing in the console, or set it with an update";
        text = text.styled(Style::Dim, line);
    }
    let answer = Answer::new(imported_json(&imported, args.dry_run), text);
    Ok(if args.dry_run { answer.dry() } else { answer })
}

fn has_source(artifact: &bundles::ImportedArtifact) -> bool {
    artifact.stored.artifact().is_some_and(od_core::artifact::Artifact::has_source)
}

fn imported_json(imported: &ImportedBundle, dry_run: bool) -> Value {
    let artifact = |artifact: &bundles::ImportedArtifact| {
        let mut line = json!({
            "title": artifact.stored.summary.heading.title,
            "from": artifact.from,
            "projectId": artifact.stored.project,
        });
        if !artifact.copies.is_empty() {
            line["alreadyHere"] = json!(artifact.copies);
        }
        // The id of a dry run is an example: nobody will find it.
        if !dry_run {
            line["id"] = json!(artifact.stored.id);
        }
        line
    };
    let artifacts: Vec<Value> = imported.artifacts.iter().map(artifact).collect();
    json!({ "imported": artifacts, "signer": imported.signer, "signerIs": imported.standing.word() })
}

/// Makes a bundle of a whole project.
pub(crate) async fn export_project(
    settings: &Settings,
    args: &ExportProject,
) -> Result<Answer, CommandError> {
    let Some(app) = local::open_existing(settings)? else {
        return Err(local::nothing_stored(&settings.data_dir));
    };
    let project = local::project(&app, settings, args.project.as_deref()).await?;
    let project = project.ok_or_else(|| local::no_project(&settings.directory))?;
    let scope = BundleScope::Project(project.id);
    let path = settings.directory.join(&args.bundle);
    if args.dry_run {
        let text = Text::new()
            .line(&format!("would write {}", path.display()))
            .styled(Style::Dim, &format!("  {CONTAINS}"));
        return Ok(Answer::new(json!({ "file": path, "contains": CONTAINS }), text).dry());
    }
    let bundle = bundles::export(&app, &Caller::Person, scope).await.map_err(local::failed)?;
    new_file::write(&path, &bundle.bytes)?;
    let text = Text::new()
        .line(&format!(
            "wrote {} with {}",
            path.display(),
            counted(bundle.artifacts, "live artifact")
        ))
        .styled(Style::Dim, &format!("  {CONTAINS}"))
        .styled(Style::Dim, &format!("  signed by {}", bundle.signer));
    Ok(Answer::new(entry(&path, &bundle), text))
}

/// Describes a bundle that was written.
pub(crate) fn entry(path: &Path, bundle: &ExportedBundle) -> Value {
    json!({
        "file": path.display().to_string(), "format": "bundle", "bytes": bundle.bytes.len(),
        "contains": CONTAINS, "artifacts": bundle.artifacts, "signer": bundle.signer,
    })
}

/// Checks a bundle with nothing but the file: archive, signature, digests, chains, pages.
pub(crate) fn verify(settings: &Settings, file: &Path) -> Result<Answer, CommandError> {
    let bytes = read(settings, file)?;
    let bundle = match Bundle::read(&bytes) {
        Ok(bundle) => bundle,
        Err(fault) => return Ok(refused(&fault)),
    };
    let findings = bundle.examine();
    let keys = FileSignerKeys::in_home(&settings.home);
    let known = keys.known().map_err(|err| keys::signers_error(&err))?;
    let own = keys.own().map_err(|err| keys::signers_error(&err))?;
    let standing = Standing::of(&bundle.signer, own.as_ref(), &known);
    let is_revoked = matches!(standing, Standing::Revoked(_));
    let holds = findings.is_empty() && !is_revoked;
    let mut text = summary(&bundle.manifest);
    let style = if is_revoked { Style::Bad } else { Style::Plain };
    text = text.styled(style, &format!("  {}", signed_by(&bundle.signer, &standing)));
    for BundleFinding { path, problem } in &findings {
        text =
            text.pieces(&[(Style::Bad, "wrong "), (Style::Plain, &format!("{path}: {problem}"))]);
    }
    if holds {
        let checked = "signature, digests, audit chain and pages hold";
        text = text.pieces(&[(Style::Good, "ok "), (Style::Plain, checked)]);
    }
    let json = json!({
        "holds": holds, "kind": bundle.manifest.kind, "artifacts": bundle.manifest.artifacts,
        "signer": bundle.signer, "signerIs": standing.word(), "findings": findings,
        "entriesChecked": bundle.manifest.entries.len(),
    });
    Ok(Answer::new(json, text).ending(if holds { Exit::Ok } else { Exit::Found }))
}

fn refused(fault: &BundleFault) -> Answer {
    let text = Text::new().pieces(&[(Style::Bad, "wrong "), (Style::Plain, &fault.to_string())]);
    let json = json!({ "holds": false, "fault": fault.to_string() });
    Answer::new(json, text).ending(Exit::Found)
}

fn summary(manifest: &Manifest) -> Text {
    let mut text = Text::new();
    if let Some(project) = &manifest.project {
        text = text.line(&format!("project {} ({})", project.name, project.id));
    }
    for artifact in &manifest.artifacts {
        let edited = if artifact.edited { ", edited by hand since" } else { "" };
        let kept = counted(artifact.revisions.len(), "kept revision");
        text = text.line(&format!(
            "{} as of {}, revision {}{edited}, {kept}",
            artifact.title, artifact.as_of, artifact.revision
        ));
    }
    text
}

fn signed_by(signer: &SignerKey, standing: &Standing) -> String {
    let about = match standing {
        Standing::Own => "your own key".to_owned(),
        Standing::Known(known) => {
            let name = known.name.as_deref().map_or_else(String::new, |name| format!("{name}, "));
            format!("{name}trusted here since {}", known.since)
        }
        Standing::New => "not met here before: the first import trusts it".to_owned(),
        Standing::Revoked(_) => "revoked here".to_owned(),
    };
    format!("signed by {signer} ({about})")
}

fn read(settings: &Settings, file: &Path) -> Result<Vec<u8>, CommandError> {
    let path = settings.directory.join(file);
    let unreadable = |err: std::io::Error| {
        CommandError::new(ErrorCode::NotFound, format!("{}: {err}", path.display()))
            .suggest("name a bundle that exists, such as report.odb")
    };
    let mut bytes = Vec::new();
    // One byte more than allowed tells a file that fits from one that was cut.
    File::open(&path)
        .and_then(|file| file.take(BUNDLE_BYTES.allowed + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    Ok(bytes)
}
