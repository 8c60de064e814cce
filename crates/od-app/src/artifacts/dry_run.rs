//! A dry run of what is about to be saved: every source is read once, for its mapping and for the
//! queries. Nobody should learn at the first refresh that a mapping names nothing, that a file is
//! not there, or that a query can only fail.

use std::time::Duration;

use od_core::artifact::{Document, OnFailure, Source, SourceRef};
use od_core::decide::{self, Decision, Gathered, QueryOutput, SourceOutput};
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::ids::{ArtifactId, ProjectId};
use od_core::intake::RowsFault;
use od_core::json::{Map, Value};
use od_core::limits::{SHORT_TEXT, SOURCE_TIMEOUT, cut};
use od_core::ownership::{first_values, name_columns};
use od_core::query::QueryFaultKind;
use od_core::refresh::unresolved;
use od_ports::connector_provider::ConnectorAccess;

use super::source_remarks::{MAY_SUCCEED, comma_columns, not_read, redacted};
use crate::connectors::execute::ExecuteError;
use crate::connectors::{Payer, SourceRefused, Taken, access_of, source_call, take};
use crate::refresh::RefreshFault;
use crate::refresh::gather::{self, Call, Planned, QueriesFailed, QueryRefused, Ran};
use crate::{App, Caller};

/// Whether sources are read before what names them is saved.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Reading {
    /// Each is read once.
    #[default]
    Now,
    /// None is: the author works offline, or knows better.
    Offline,
}

impl Reading {
    /// Returns how an author who may be offline is served.
    #[must_use]
    pub const fn of_offline(is_offline: bool) -> Self {
        if is_offline { Self::Offline } else { Self::Now }
    }
}

/// The sources and queries to try.
pub(super) struct Tried<'d> {
    /// The whole document.
    pub(super) document: &'d Document,
    /// The sources that are new: those before them had their dry run.
    pub(super) new: &'d [SourceRef<'d>],
    /// The artifact whose history queries may read.
    pub(super) artifact: Option<&'d ArtifactId>,
}

/// The outcome of a dry run.
#[derive(Default)]
pub(super) struct DryRun {
    /// Mappings that name nothing where the output has what was meant, and queries that fail.
    pub(super) issues: Vec<Issue>,
    /// Whatever fails today and may succeed tomorrow.
    pub(super) warnings: Vec<Issue>,
    /// Whether a refresh would fail today by what was tried so far.
    refresh_fails: bool,
    taken: Vec<(String, Taken)>,
    results: Vec<QueryOutput>,
}

/// The page as a refresh would leave it now.
#[derive(Debug, Default)]
pub(super) struct Outlook {
    /// What the page shows first.
    pub(super) first_values: Map,
    /// Whether a refresh would fail today.
    pub(super) refresh_would_fail: bool,
}

/// Why a source gave nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotRead {
    #[error(transparent)]
    Source(#[from] SourceRefused),
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    #[error(transparent)]
    Rows(#[from] RowsFault),
}

impl From<NotRead> for Failure {
    fn from(err: NotRead) -> Self {
        match err {
            NotRead::Source(err) => err.into(),
            NotRead::Execute(err) => err.into(),
            NotRead::Rows(err) => RefreshFault::from(err).into(),
        }
    }
}

/// Reads the sources and runs the queries on what they give. Nothing is stored.
///
/// What another machine answers is asked for only where queries need it: that costs a call, and takes
/// as long as it takes.
pub(super) async fn dry_run(
    app: &App,
    payer: &Payer,
    project: &ProjectId,
    tried: Tried<'_>,
) -> DryRun {
    let Tried { document, new, artifact } = tried;
    let has_queries = !document.queries.is_empty();
    let is_new = |source: &SourceRef<'_>| new.iter().any(|new| new.id == source.id);
    let mut sources = document.all_sources();
    // With queries all of them: one may have meant a source that it does not name.
    sources.retain(|it| has_queries || is_new(it) && is_local(app, project, it.source));
    let mut ran = read(app, project, payer, &sources).await;
    let mut dry = DryRun::default();
    for source in sources.iter().filter(|source| is_new(source) && !source.is_table) {
        if let Some(Ok(taken)) = ran.iter().find(|it| it.id == source.id).map(|it| &it.outcome) {
            let has_fault = dry.judge_mapping(&source.pointer(), source.source, taken);
            dry.refresh_fails |= has_fault && source.on_failure == OnFailure::Fail;
        }
    }
    if has_queries {
        dry.judge_queries(app, artifact.map(|artifact| (project, artifact)), document, &mut ran)
            .await;
    }
    for Ran { id, outcome, .. } in ran {
        let Some(source) = sources.iter().find(|source| source.id == id) else { continue };
        match outcome {
            Ok(taken) => {
                dry.warnings.extend(redacted(source, &taken));
                dry.warnings.extend(comma_columns(source, &taken));
                dry.taken.push((id, taken));
            }
            Err(fault) => {
                let remark = not_read(app, project, source, fault).await;
                dry.refresh_fails |= remark.is_some() && source.on_failure == OnFailure::Fail;
                dry.warnings.extend(remark);
            }
        }
    }
    dry
}

/// Returns who pays for the calls of a dry run.
pub(super) fn payer_of(caller: &Caller, project: &ProjectId) -> Payer {
    match caller.run() {
        Some(run) => Payer::Run(run.clone()),
        None => Payer::Project(project.clone()),
    }
}

/// Reads one source of a request that is refused already, and returns what is wrong with its mapping.
pub(super) async fn mapping_faults(
    app: &App,
    project: &ProjectId,
    pointer: &str,
    source: &Source,
) -> Vec<Issue> {
    let mut dry = DryRun::default();
    if is_local(app, project, source)
        && let Ok(call) = source_call(app, project, Payer::Project(project.clone()), source)
        && let Ok(taken) = take(app, call).await
    {
        dry.judge_mapping(pointer, source, &taken);
    }
    dry.issues
}

impl DryRun {
    /// Says what a refresh of the decided state would bring now: the first values of its page, or
    /// remarks on why it would fail.
    pub(super) fn outlook(mut self, app: &App, decision: &mut Decision) -> Outlook {
        let (first_values, remarks) = self.first_values(app, decision);
        let refresh_would_fail = self.refresh_fails || !remarks.is_empty();
        decision.warnings.append(&mut self.warnings);
        decision.warnings.extend(remarks);
        Outlook { first_values, refresh_would_fail }
    }

    fn first_values(&self, app: &App, decision: &mut Decision) -> (Map, Vec<Issue>) {
        let state = &decision.state;
        let sources = state.artifact.sources();
        let output = |(id, taken): &'_ (String, Taken)| {
            let source = sources.iter().find(|source| source.id == id.as_str())?;
            Some((*source, taken.clone()))
        };
        let taken: Vec<(SourceRef<'_>, Taken)> = self.taken.iter().filter_map(output).collect();
        // A remark was made on what fails: it would be the same again.
        let is_told = self.warnings.iter().any(|it| !MAY_SUCCEED.contains(&it.code.as_str()));
        if taken.is_empty() || is_told || !self.issues.is_empty() {
            return (first_values(state), Vec::new());
        }
        let outputs: Vec<SourceOutput<'_>> = taken
            .iter()
            .map(|(source, taken)| SourceOutput {
                source: *source,
                output: &taken.intake,
                account_label: taken.call.account_label.as_deref(),
                pin: None,
                redactions: &taken.call.redactions,
            })
            .collect();
        let gathered = Gathered { outputs: &outputs, results: &self.results, failed: &[] };
        match decide::refresh(state, gathered, app.ports.clock.now()) {
            Ok(Some(after)) => {
                name_columns(&mut decision.warnings, &after.state);
                (first_values(&after.state), Vec::new())
            }
            Ok(None) => (first_values(state), Vec::new()),
            Err(refused) => {
                let mut issues = refused.issues();
                let suggestion = Failure::from(RefreshFault::from(refused)).suggestion;
                for issue in &mut issues {
                    issue.message = format!("a refresh would fail today: {}", issue.message);
                    issue.fix.get_or_insert_with(|| suggestion.clone());
                    if issue.path.starts_with("/document") {
                        issue.path.insert_str(0, "/input");
                    }
                }
                (first_values(state), issues)
            }
        }
    }

    /// Compares a mapping with an output; returns whether there is something wrong with it.
    fn judge_mapping(&mut self, pointer: &str, source: &Source, taken: &Taken) -> bool {
        let faults = unresolved(&taken.intake, source.output_mapping.as_ref());
        let has_fault = !faults.is_empty();
        for fault in faults {
            let entry = fault.entry;
            let at = format!("/input/document{pointer}/outputMapping/dataPaths/{entry}/from");
            let code = ErrorCode::OutputMappingUnresolved.as_str();
            let issue = Issue::new(at, code, fault.error.to_string());
            match fault.meant {
                Some(meant) => self.issues.push(issue.fix(format!("write `\"{meant}\"`"))),
                // Nothing like it is there today: it may be tomorrow.
                None => self.warnings.push(
                    issue.fix("map from a path that the output has: a refresh fails until then"),
                ),
            }
        }
        has_fault
    }

    /// Runs the queries. A source that gives nothing now may do so later: its queries are not judged.
    async fn judge_queries(
        &mut self,
        app: &App,
        owner: Option<(&ProjectId, &ArtifactId)>,
        document: &Document,
        ran: &mut [Ran<NotRead>],
    ) {
        let sources = document.all_sources();
        let tables = gather::tables(&sources, ran);
        let is_read = |id: &str| ran.iter().any(|ran| ran.id == id && ran.outcome.is_ok());
        let failed = sources.iter().filter(|source| !is_read(source.id));
        let failed: Vec<String> = failed.map(|source| source.id.to_owned()).collect();
        match gather::each(app, owner, document, tables, &failed).await {
            Ok(answers) => {
                for answer in answers {
                    match answer {
                        Ok(result) => self.results.push(result.unwrap_or(QueryOutput::Kept)),
                        Err(refused) => self.issues.push(query_issue(document, &refused)),
                    }
                }
            }
            Err(fault) => self.issues.push(queries_issue(&fault)),
        }
    }
}

/// Returns whether a source reads this machine.
fn is_local(app: &App, project: &ProjectId, source: &Source) -> bool {
    source_call(app, project, Payer::Project(project.clone()), source)
        .is_ok_and(|call| access_of(app, &call.connector) == Some(ConnectorAccess::Local))
}

/// Reads sources beside each other, each for itself: what one gives says nothing of the others.
async fn read(
    app: &App,
    project: &ProjectId,
    payer: &Payer,
    sources: &[SourceRef<'_>],
) -> Vec<Ran<NotRead>> {
    let call = |source: &SourceRef<'_>| {
        let call = source_call(app, project, payer.clone(), source.source);
        let call: Call<'_, NotRead> = Box::pin(async move { Ok(take(app, call?).await?) });
        Planned { id: source.id.to_owned(), on_failure: OnFailure::Keep, call }
    };
    let calls = sources.iter().map(call).collect();
    let deadline = app.ports.clock.sleep(Duration::from_millis(SOURCE_TIMEOUT.allowed));
    tokio::select! {
        biased;
        ran = gather::run_sources(app, calls) => ran,
        () = deadline => Vec::new(),
    }
}

fn query_issue(document: &Document, refused: &QueryRefused) -> Issue {
    let at = format!("/input/document/queries/{}/sql", refused.index);
    let sql = &document.queries[refused.index].sql;
    let issue = Issue::new(at, ErrorCode::QueryFailed.as_str(), refused.to_string())
        .got(sql.as_str())
        .want(cut(refused.known(), SHORT_TEXT));
    let mended = refused.fault.mended(sql).or_else(|| table_of_file(document, refused));
    match (mended, &refused.fault.nearest) {
        // The text of a fix ends at its first backtick.
        (Some(sql), _) if !sql.contains('`') => issue.fix(format!("write `{}`", Value::from(sql))),
        (_, Some(near)) => issue.fix(format!("did you mean `{near}`?")),
        (_, None) => issue.fix("change the query so that it fits these tables and columns"),
    }
}

/// Finds the table that a query names by its file, or the only one there is.
fn table_of_file(document: &Document, refused: &QueryRefused) -> Option<String> {
    if refused.fault.kind != QueryFaultKind::UnknownTable {
        return None;
    }
    let unknown = refused.fault.message.split('`').nth(1)?;
    let sources = document.all_sources();
    let file_of = |source: &SourceRef<'_>| {
        let input = source.source.input.object();
        let path = ["path", "file", "name"].iter().find_map(|field| input.get(*field)?.as_str())?;
        let name = path.rsplit('/').next().unwrap_or(path);
        Some(name.split('.').next().unwrap_or(name).to_owned())
    };
    let of_file = |source: &&SourceRef<'_>| {
        file_of(source).is_some_and(|name| name.eq_ignore_ascii_case(unknown))
    };
    let meant = match sources.as_slice() {
        [only] => Some(only),
        several => several.iter().find(of_file),
    };
    document.queries[refused.index].sql.renamed(unknown, meant?.id)
}

fn queries_issue(fault: &QueriesFailed) -> Issue {
    let code = ErrorCode::QueryFailed.as_str();
    Issue::new("/input/document/queries", code, fault.to_string())
}
