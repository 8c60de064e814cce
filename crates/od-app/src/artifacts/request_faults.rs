//! The faults of a request that its reader alone cannot see: of its source and its template.

use std::sync::Arc;

use od_core::artifact::{
    ArtifactState, CreateRequest, Document, DocumentInput, Pins, ReadableParts, Source, SourcePin,
    SourceRef, UpdateRequest, check_page, page_grammar,
};
use od_core::decide::next_design;
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::ids::ProjectId;
use od_core::json::{BoundedObject, Message, Value};
use od_core::repair::{Operation, Proposal, foreign_marks};
use od_core::template::Grammar;

use super::dry_run::{Reading, Tried, dry_run, mapping_faults};
use crate::App;
use crate::connectors::{self, Payer, SourceRefused};

/// Checks everything about sources that a refresh would check, short of running them; returns their
/// pins, and every fault.
pub(super) async fn check_sources(
    app: &App,
    project: &ProjectId,
    sources: &[SourceRef<'_>],
) -> (Pins, Vec<Issue>) {
    let (mut pins, mut found) = (Pins::new(), Vec::new());
    for source in sources {
        match check_source(app, project, &source.pointer(), source.source).await {
            Ok(pin) => {
                pins.insert(source.id.to_owned(), pin);
            }
            Err(issues) => found.extend(issues),
        }
    }
    (pins, found)
}

async fn check_source(
    app: &App,
    project: &ProjectId,
    pointer: &str,
    source: &Source,
) -> Result<SourcePin, Vec<Issue>> {
    let place = format!("/input/document{pointer}");
    connectors::check_source(app, project, source).await.map_err(|refused| issues(refused, &place))
}

/// Returns the code of a request that is refused with these issues: queries that fail have their own.
pub(super) fn refused_code(issues: &[Issue]) -> ErrorCode {
    let query = ErrorCode::QueryFailed;
    if !issues.is_empty() && issues.iter().all(|issue| issue.code == query.as_str()) {
        return query;
    }
    ErrorCode::LiveArtifactInvalid
}

/// Returns the issues of a refused body with fixes that work together: the body is repaired by them
/// and judged again, so that what one fault hides is told beside it.
pub(super) async fn mended(
    app: &App,
    project: &ProjectId,
    operation: Operation,
    before: Option<&ArtifactState>,
    body: &Message,
    issues: Vec<Issue>,
    reading: Reading,
) -> Vec<Issue> {
    let mut proposal = Proposal::new(operation, body.value());
    let of_bytes: Vec<String> =
        body.report(Vec::new()).into_iter().map(|issue| issue.path).collect();
    let mut found = body.report(issues);
    let mut holds = false;
    for _ in 0..Proposal::ROUNDS {
        if !proposal.mend(found, before) {
            break;
        }
        found = faults(app, project, before, operation, proposal.body(), reading).await;
        // What a reader says of a stand-in is no fault of the author.
        found.retain(|issue| !of_bytes.contains(&issue.path));
        holds = found.is_empty();
        if holds {
            break;
        }
    }
    proposal.finish(holds)
}

/// Returns everything that is wrong with a body.
async fn faults(
    app: &App,
    project: &ProjectId,
    before: Option<&ArtifactState>,
    operation: Operation,
    body: &Value,
    reading: Reading,
) -> Vec<Issue> {
    let mut body = body.clone();
    let mut next: Option<Document> = None;
    let refused = match operation {
        Operation::Create => match CreateRequest::parse(&body) {
            Ok(request) => {
                next = request.input.document.as_ref().map(DocumentInput::to_document);
                None
            }
            Err(issues) => Some(issues),
        },
        Operation::Update => {
            // The artifact is known; whether the address or the body names it is the door's.
            if let Some(fields) = body.as_object_mut() {
                fields.remove("artifactId");
            }
            match UpdateRequest::parse(&body) {
                Ok(request) => {
                    let design = before.and_then(|before| next_design(before, &request));
                    next = design.map(|design| design.document);
                    None
                }
                Err(issues) => Some(issues),
            }
        }
        Operation::Execute => None,
    };
    let mut issues = refused.unwrap_or_default();
    issues.extend(further_faults(app, project, before, &body, reading).await);
    // What the faults before hid: the queries are tried once everything else is right.
    if let Some(document) = next.filter(|it| !it.queries.is_empty() && issues.is_empty())
        && reading == Reading::Now
    {
        let payer = Payer::Project(project.clone());
        let artifact = before.map(|before| &before.artifact.id);
        let tried = Tried { document: &document, new: &[], artifact };
        issues.extend(dry_run(app, &payer, project, tried).await.issues);
    }
    issues
}

/// Returns what else is wrong with a body that its reader refused: its source and its template are
/// judged as far as they could be read, so that no fault hides another. What the body leaves as it
/// is comes from the state `before` it.
pub(super) async fn further_faults(
    app: &App,
    project: &ProjectId,
    before: Option<&ArtifactState>,
    body: &Value,
    reading: Reading,
) -> Vec<Issue> {
    let ReadableParts { template_html, data, sources } = ReadableParts::of(body);
    let mut found = Vec::new();
    let known = before.map(|before| before.artifact.sources()).unwrap_or_default();
    for (pointer, source) in &sources {
        if !known.iter().any(|known| known.source.runs_as(source)) {
            match (check_source(app, project, pointer, source).await, reading) {
                (Ok(_), Reading::Now) => {
                    found.extend(mapping_faults(app, project, pointer, source).await);
                }
                (Ok(_), Reading::Offline) => {}
                (Err(issues), _) => found.extend(issues),
            }
        }
    }
    let grammar = page_grammar(body, before);
    match grammar {
        Grammar::V1 => {
            found.extend(template_html.as_deref().map(foreign_marks).unwrap_or_default());
        }
        // The compiler refuses them itself.
        Grammar::V2 => {}
    }
    let kept = |before: &ArtifactState| Arc::clone(&before.template_html);
    let html = template_html.map(Arc::from).or_else(|| before.map(kept));
    let data = match (&data, before) {
        (None, Some(before)) if body.pointer("/input/document/dataJson").is_none() => {
            Some(&before.data)
        }
        (data, _) => data.as_ref(),
    };
    if let Some(html) = html {
        found.extend(check_page(&html, data.map(BoundedObject::value), grammar));
    }
    found
}

/// Turns a refusal into issues of the request: an input's own, or one with the refusal's code.
fn issues(refused: SourceRefused, at: &str) -> Vec<Issue> {
    if let SourceRefused::Call(connectors::execute::ExecuteError::Input { issues, .. }) = refused {
        let place = format!("{at}/input");
        return issues.into_iter().map(|issue| issue.under(&place)).collect();
    }
    if let SourceRefused::Call(connectors::execute::ExecuteError::ConnectorNotFound {
        nearest: Some(near),
        ..
    }) = &refused
    {
        let issue = Issue::new(
            format!("{at}/connector/connectorId"),
            ErrorCode::ConnectorNotFound.as_str(),
            refused.to_string(),
        );
        return vec![issue.fix(format!("write `\"{near}\"`"))];
    }
    if let SourceRefused::Call(connectors::execute::ExecuteError::ToolNotFound {
        nearest: Some(near),
        ..
    }) = &refused
    {
        let issue = Issue::new(
            format!("{at}/connector/toolName"),
            ErrorCode::ConnectorToolNotFound.as_str(),
            refused.to_string(),
        );
        return vec![issue.fix(format!("write `\"{near}\"`"))];
    }
    let failure = Failure::from(refused);
    let issue = Issue::new(at, failure.code.as_str(), failure.message).fix(failure.suggestion);
    vec![issue]
}
