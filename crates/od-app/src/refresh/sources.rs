//! The sources and queries of one refresh: run, told to the state machine, and kept for the decision.

use od_core::artifact::{Artifact, Document, OnFailure, SourcePin, SourceRef};
use od_core::credential::{RedactedPlace, Redactions};
use od_core::decide::{FailedSource, QueryOutput, SourceOutput};
use od_core::error::Failure;
use od_core::limits::{SHORT_TEXT, cut};
use od_core::refresh::{CompactError, RecordConnector, SourceRan};

use super::fault::RefreshFault;
use super::gather;
use super::run::RunRefresh;
use crate::app::App;
use crate::connectors::execute::{ExecuteTool, Executed, Expected};
use crate::connectors::{Payer, Taken, source_call, take};

/// The sources of a refresh that ended, how many rows each gave, and what the queries made of them.
pub(super) struct Gathering {
    ran: Vec<gather::Ran<RefreshFault>>,
    rows: Vec<Option<u64>>,
    results: Result<Vec<QueryOutput>, gather::QueriesFailed>,
}

/// The outputs of the sources and queries of a refresh.
pub(super) struct Outputs {
    /// The outputs, by the ids of their sources.
    pub(super) taken: Vec<(String, Taken)>,
    /// The sources that failed and keep their values.
    pub(super) failed: Vec<FailedSource>,
    /// The results of the queries, in the order of the document.
    pub(super) results: Vec<QueryOutput>,
}

/// The gathered outputs, as the next steps need them.
pub(super) struct Told {
    /// Every source, for the state machine.
    pub(super) ran: Vec<SourceRan>,
    /// What they gave.
    pub(super) outputs: Outputs,
    /// The failure that ends the refresh, in full.
    pub(super) failure: Option<Failure>,
    /// Why the queries gave nothing. The sources did run: the next step tells it.
    pub(super) query_fault: Option<RefreshFault>,
}

/// Runs every source of an artifact, if tools and accounts are still those they were saved with, and
/// then the queries.
pub(super) async fn gather(
    app: &App,
    request: &RunRefresh,
    artifact: &Artifact,
) -> Result<Gathering, RefreshFault> {
    let sources = artifact.sources();
    let call = |source: &SourceRef<'_>| {
        // It was counted before the refresh began; everything else is checked again.
        let call = saved_call(app, request, artifact, source, Payer::Counted);
        let (id, on_failure) = (source.id.to_owned(), source.on_failure);
        let call: gather::Call<'_, RefreshFault> =
            Box::pin(async move { Ok(take(app, call?).await?) });
        gather::Planned { id, on_failure, call }
    };
    let calls = sources.iter().map(call).collect();
    let mut ran = gather::run_sources(app, calls).await;
    if let Some(measured) = gather::over_intake(ran.iter().flat_map(|ran| &ran.outcome)) {
        return Err(RefreshFault::IntakeTooLarge { measured });
    }
    let mut queried = sources.clone();
    queried.retain(|it| artifact.queries().iter().any(|query| query.sql.mentions(it.id)));
    let tables = gather::tables(&queried, &mut ran);
    let rows = ran.iter().map(|ran| gather::row_count(&tables, &ran.id)).collect();
    let is_over = ran.len() < sources.len()
        || ran.iter().any(|it| it.outcome.is_err() && it.on_failure == OnFailure::Fail)
        || ran.iter().all(|it| it.outcome.is_err());
    let results = match &artifact.document {
        Some(document) if !is_over => {
            let failed = ran.iter().filter(|ran| ran.outcome.is_err());
            let failed: Vec<String> = failed.map(|ran| ran.id.clone()).collect();
            let owner = Some((&request.project, &request.artifact));
            gather::answer(app, owner, document, tables, &failed).await
        }
        Some(_) | None => Ok(Vec::new()),
    };
    Ok(Gathering { ran, rows, results })
}

impl Gathering {
    /// Turns what was gathered into what is told of it. The sources are named where the document does.
    pub(super) fn told(self, document: Option<&Document>) -> Told {
        let Self { ran, rows, results } = self;
        let is_named = document.is_some_and(|document| !document.sources.is_empty());
        let outputs = Outputs { taken: Vec::new(), failed: Vec::new(), results: Vec::new() };
        let mut told =
            Told { ran: Vec::with_capacity(ran.len()), outputs, failure: None, query_fault: None };
        let succeeded = ran.iter().filter(|ran| ran.outcome.is_ok()).count();
        for (gather::Ran { id, at, on_failure, outcome }, rows) in ran.into_iter().zip(rows) {
            let source = if is_named { id.parse().ok() } else { None };
            let outcome = match outcome {
                Ok(taken) => {
                    let connector = connector_metadata(&taken.call);
                    told.outputs.taken.push((id, taken));
                    Ok(Some(connector))
                }
                Err(fault) => {
                    let mut failure = Failure::from(fault);
                    let error = CompactError::of(&failure);
                    if is_named {
                        failure = failure.detail("source", id.as_str());
                    }
                    if on_failure == OnFailure::Fail || succeeded == 0 {
                        told.failure.get_or_insert(failure);
                    }
                    told.outputs.failed.push(FailedSource { id, code: error.code });
                    Err(error)
                }
            };
            told.ran.push(SourceRan { source, at, rows, on_failure, outcome });
        }
        match results {
            Ok(results) => told.outputs.results = results,
            Err(fault) => told.query_fault = Some(fault.into()),
        }
        told
    }
}

impl Outputs {
    /// Returns the outputs as the decision takes them, each with its source and its pin.
    pub(super) fn of_sources<'a>(
        &'a self,
        sources: &[SourceRef<'a>],
        pins: &'a [Option<SourcePin>],
    ) -> Vec<SourceOutput<'a>> {
        let output = |((id, taken), pin): (&'a (String, Taken), &'a Option<SourcePin>)| {
            let source = sources.iter().find(|source| source.id == id.as_str())?;
            Some(SourceOutput {
                source: *source,
                output: &taken.intake,
                account_label: taken.call.account_label.as_deref(),
                pin: pin.as_ref(),
                redactions: &taken.call.redactions,
            })
        };
        self.taken.iter().zip(pins).filter_map(output).collect()
    }

    /// Adds up what was taken out of the outputs; the places of several are named by their sources.
    pub(super) fn redactions(&self) -> Redactions {
        if let [(_, taken)] = self.taken.as_slice() {
            return taken.call.redactions.bounded();
        }
        let mut all = Redactions::default();
        for (id, taken) in &self.taken {
            let Redactions { count, places } = taken.call.redactions.clone();
            all.count += count;
            let named = |place: RedactedPlace| RedactedPlace {
                path: format!("/{id}{}", place.path),
                ..place
            };
            all.places.extend(places.into_iter().map(named));
        }
        all.bounded()
    }
}

/// Builds the call of a source, which has to find tool and account as they were saved.
pub(super) fn saved_call(
    app: &App,
    request: &RunRefresh,
    saved: &Artifact,
    source: &SourceRef<'_>,
    payer: Payer,
) -> Result<ExecuteTool, RefreshFault> {
    let mut call = source_call(app, &request.project, payer, source.source)?;
    if !request.accept_drift {
        let connector = source.source.connector.as_ref();
        let account = connector.and_then(|saved| saved.account_label.clone());
        call.expected = match saved.pin(source.id) {
            Some(pin) => {
                Some(Expected { account_label: pin.account_label.clone(), pin: Some(pin.clone()) })
            }
            None => account.map(|label| Expected { account_label: Some(label), pin: None }),
        };
    }
    Ok(call)
}

/// Returns all that is known of a call but its output.
fn connector_metadata(executed: &Executed) -> RecordConnector {
    RecordConnector {
        connector_id: executed.connector_id.clone(),
        tool_name: executed.tool_name.clone(),
        account_label: executed.account_label.clone().map(|label| cut(label, SHORT_TEXT)),
        safety: Some(executed.safety.clone()),
        output_summary: executed.output_summary.clone(),
        provider_execution_id: executed.provider_execution_id.clone(),
        redactions: executed.redactions.bounded(),
        metadata: RecordConnector::bounded_metadata(&executed.metadata),
    }
}
