//! A source that is about to be saved, tried once: nobody should learn at the first refresh that a
//! mapping names nothing, or that a file is not there.

use od_core::artifact::{Source, SourceRef};
use od_core::error::{ErrorCode, Failure, Issue, nearest_name};
use od_core::ids::ProjectId;
use od_core::json::Value;
use od_core::refresh::unresolved;
use od_ports::connector_provider::{ConnectorAccess, ProviderError};

use crate::App;
use crate::connectors::execute::ExecuteError;
use crate::connectors::{Payer, access_of, source_call, take};

/// The files of a project among which a name is looked for.
const FILES_MAX: usize = 2_000;

/// The outcome of trying sources.
#[derive(Debug, Default)]
pub(super) struct Rehearsal {
    /// Mappings that name nothing where the output has what was meant.
    pub(super) issues: Vec<Issue>,
    /// Reads that fail today and may succeed tomorrow.
    pub(super) warnings: Vec<Issue>,
}

/// Tries every source that writes to the data itself; what only queries read is tried with them.
pub(super) async fn rehearse(
    app: &App,
    project: &ProjectId,
    sources: &[SourceRef<'_>],
) -> Rehearsal {
    let mut all = Rehearsal::default();
    for source in sources.iter().filter(|source| !source.is_table) {
        let one = rehearse_one(app, project, &source.pointer(), source.source).await;
        all.issues.extend(one.issues);
        all.warnings.extend(one.warnings);
    }
    all
}

/// Runs a source of this machine as a refresh would, and compares its mapping with the output. What
/// another machine answers is not asked for: that costs a call, and takes as long as it takes.
pub(super) async fn rehearse_one(
    app: &App,
    project: &ProjectId,
    pointer: &str,
    source: &Source,
) -> Rehearsal {
    let place = format!("/input/document{pointer}");
    let payer = Payer::Project(project.clone());
    let Ok(call) = source_call(app, project, payer, source) else { return Rehearsal::default() };
    if access_of(app, &call.connector) != Some(ConnectorAccess::Local) {
        return Rehearsal::default();
    }
    match take(app, call).await {
        Ok(taken) => {
            let mapping = source.output_mapping.as_ref();
            let faults = unresolved(&taken.intake, mapping);
            let mut rehearsal = Rehearsal::default();
            for fault in faults {
                let at = format!("{place}/outputMapping/dataPaths/{}/from", fault.entry);
                let code = ErrorCode::OutputMappingUnresolved.as_str();
                let issue = Issue::new(at, code, fault.error.to_string());
                match fault.meant {
                    Some(meant) => {
                        rehearsal.issues.push(issue.fix(format!("write `\"{meant}\"`")));
                    }
                    // Nothing like it is there today: it may be tomorrow.
                    None => rehearsal
                        .warnings
                        .push(issue.fix(
                            "map from a path that the output has: a refresh fails until then",
                        )),
                }
            }
            rehearsal
        }
        Err(err) => Rehearsal {
            issues: Vec::new(),
            warnings: failed(app, project, &place, source, err).await,
        },
    }
}

/// Remarks that a source cannot be read today, with the file that was probably meant.
async fn failed(
    app: &App,
    project: &ProjectId,
    place: &str,
    source: &Source,
    err: ExecuteError,
) -> Vec<Issue> {
    // Too many calls say nothing about the source.
    if matches!(err, ExecuteError::OverLimit(_)) {
        return Vec::new();
    }
    let is_missing =
        matches!(&err, ExecuteError::Provider { fault: ProviderError::Missing { .. }, .. });
    let given = ["path", "file", "name"]
        .iter()
        .find_map(|field| Some((field, source.input.object().get(*field)?.as_str()?)));
    let near = match given.filter(|_| is_missing) {
        Some((field, path)) => nearest_file(app, project, path).await.map(|near| (field, near)),
        None => None,
    };
    let failure = Failure::from(err);
    let message = format!("a refresh would fail today: {}", failure.message);
    let (at, fix) = match near {
        Some((field, near)) => {
            (format!("{place}/input/{field}"), format!("write `{}`", Value::from(near)))
        }
        None => (format!("{place}/input"), failure.suggestion),
    };
    vec![Issue::new(at, "source_not_readable", message).fix(fix)]
}

/// Returns the file of a project that a path was probably meant for.
pub(crate) async fn nearest_file(app: &App, project: &ProjectId, path: &str) -> Option<String> {
    let listing = app.ports.files.list(project, FILES_MAX).await.ok()?;
    let paths: Vec<&str> = listing.files.iter().map(|file| file.path.as_str()).collect();
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let same: Vec<&&str> = paths.iter().filter(|known| name(known) == name(path)).collect();
    if let [only] = same[..] {
        return Some((*only).to_owned());
    }
    nearest_name(path, paths.iter().copied()).map(str::to_owned)
}
