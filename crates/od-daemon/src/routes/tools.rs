//! The agent's door: the project is the token's, the answers are compact.

use hyper::body::Incoming;
use od_app::artifacts::{
    self, Address, CreateArtifact, CreatedArtifact, DeleteArtifact, PageOfList, Reading, Target,
    UpdateArtifact,
};
use od_app::connectors::execute::ExecuteTool;
use od_app::connectors::{self, Payer};
use od_app::preview::{self, PageRequest};
use od_app::refresh::cancel::CancelRefresh;
use od_app::refresh::run::{Cause, RunRefresh};
use od_app::{Caller, Mode, refresh as refreshing};
use od_core::artifact::{ListQuery, PageRows};
use od_core::connector::{ExecuteRequest, Purpose};
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::ids::{MappingPath, ProjectId, RunId};
use od_core::json::{BoundedJson, BoundedObject, Map, Message, Value};
use od_core::token::Variant;
use od_ports::store::Stored;
use od_wire::artifact::{
    ToolArtifactAnswer, ToolArtifactsAnswer, ToolDelete, ToolDeletedAnswer, ToolReadAnswer,
    ToolRefreshedAnswer, ToolValidAnswer,
};
use od_wire::connector::{ConnectorsAnswer, ExecuteAnswer};
use od_wire::refresh::{CancelAnswer, ToolRefresh};
use od_wire::route::{Include, QueryName};
use serde::de::DeserializeOwned;

use crate::auth::Identity;
use crate::exchange::Exchange;
use crate::http::json_body::Fields;
use crate::http::reply::Reply;
use crate::views;

/// Creates an artifact.
pub(crate) async fn create(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let (agent, dry_run) = Agent::changing(exchange)?;
    let body = agent.document(exchange, body).await?;
    let request = CreateArtifact { project: agent.project, body, reading: reading(exchange)? };
    let app = &exchange.daemon.app;
    let mode = Mode::of_dry_run(dry_run);
    let CreatedArtifact { stored, replayed, warnings, first_values, refresh_would_fail } =
        artifacts::create(app, &agent.caller, request, mode).await?;
    let answer = changed(exchange, &stored, warnings, first_values)?;
    Ok(Reply::json(&ToolArtifactAnswer { replayed, dry_run, refresh_would_fail, ..answer }))
}

/// Changes an artifact.
pub(crate) async fn update(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let (agent, dry_run) = Agent::changing(exchange)?;
    let body = agent.document(exchange, body).await?;
    let target = Target::InBody(agent.project);
    let request = UpdateArtifact { target, body, reading: reading(exchange)? };
    let app = &exchange.daemon.app;
    let mode = Mode::of_dry_run(dry_run);
    let updated = artifacts::update(app, &agent.caller, request, mode).await?;
    let refresh_would_fail = updated.refresh_would_fail;
    let answer = changed(exchange, &updated.stored, updated.warnings, updated.first_values)?;
    Ok(Reply::json(&ToolArtifactAnswer { dry_run, refresh_would_fail, ..answer }))
}

/// Lists the project's artifacts.
pub(crate) async fn list(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let agent = Agent::of(exchange)?;
    let limit: Option<PageRows> = exchange.query.get(QueryName::Limit)?;
    let query = ListQuery {
        query: exchange.query.get(QueryName::Query)?,
        cursor: exchange.query.get(QueryName::Cursor)?,
        ..ListQuery::default()
    };
    let console_base_url = exchange.daemon.urls.console.pages(&agent.project);
    let app = &exchange.daemon.app;
    let rows = limit.unwrap_or(PageRows::AGENT).get();
    let request = PageOfList { project: Some(agent.project), query, rows };
    let page = artifacts::page(app, &agent.caller, request).await?;
    let page = page.compact(app.ports.clock.now());
    Ok(Reply::json(&ToolArtifactsAnswer {
        console_base_url,
        total: page.total,
        artifacts: page.rows,
        next_cursor: page.next.map(|cursor| cursor.to_string()),
    }))
}

/// Outlines an artifact and its data.
pub(crate) async fn get(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let agent = Agent::of(exchange)?;
    let path: Option<MappingPath> = exchange.query.get(QueryName::DataPath)?;
    let include: Option<Include> = exchange.query.get(QueryName::Include)?;
    let address = Address { project: Some(agent.project.clone()), artifact: exchange.artifact()? };
    let app = &exchange.daemon.app;
    let (stored, view) = artifacts::outline(app, &agent.caller, address, path.as_ref()).await?;
    let state = stored.state.as_deref();
    let template = state.map(|state| state.template_html.to_string());
    let (template_html, page_html) = match include {
        Some(Include::Template) => (template, None),
        Some(Include::Page) => {
            let request = PageRequest {
                project: Some(agent.project),
                artifact: stored.id.clone(),
                variant: Variant::Rendered,
                snapshot: None,
                revision: None,
            };
            let page = preview::page(app, request).await?;
            (None, Some(String::from_utf8_lossy(&page.bytes).into_owned()))
        }
        None => (None, None),
    };
    let document = state.and_then(|state| state.artifact.document.as_ref());
    Ok(Reply::json(&ToolReadAnswer {
        artifact: views::compact(&exchange.daemon.urls.console, &stored.summary),
        format: state.and_then(|state| Some(state.artifact.document.as_ref()?.format)),
        // Stored sources and queries are bounded JSON: writing them cannot fail.
        source_json: document
            .and_then(|document| serde_json::to_value(document.source_json.as_ref()?).ok())
            .and_then(|source| BoundedObject::check(source).ok()),
        sources: document.and_then(|document| listed(&document.sources)),
        queries: document.and_then(|document| listed(&document.queries)),
        stale: stored.summary.stale.clone(),
        outline: view.outline,
        // It is a part of data that was checked when it was stored.
        value: view.value.and_then(|value| BoundedJson::check(value).ok()),
        template_html,
        page_html,
    }))
}

/// Writes a list of what is stored; nothing if it is empty.
fn listed<T: serde::Serialize>(stored: &[T]) -> Option<BoundedJson> {
    let list = serde_json::to_value(stored).ok().filter(|_| !stored.is_empty())?;
    BoundedJson::check(list).ok()
}

/// Moves an artifact of the agent's own run to the trash.
pub(crate) async fn delete(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let (agent, dry_run) = Agent::changing(exchange)?;
    let ToolDelete { artifact_id, if_revision } = agent.body(exchange, body).await?;
    let address = Address { project: Some(agent.project), artifact: artifact_id };
    let request = DeleteArtifact { address, if_revision };
    let (app, mode) = (&exchange.daemon.app, Mode::of_dry_run(dry_run));
    let trashed = artifacts::delete(app, &agent.caller, request, mode).await?;
    Ok(Reply::json(&ToolDeletedAnswer {
        artifact_id: trashed.artifact_id,
        restorable_until: trashed.expires_at,
        dry_run,
    }))
}

/// Cancels a refresh that the agent's own run started.
pub(crate) async fn cancel(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let agent = Agent::of(exchange)?;
    let ToolRefresh { artifact_id } = agent.body(exchange, body).await?;
    let request = CancelRefresh { project: agent.project, artifact: artifact_id };
    let cancelled = refreshing::cancel(&exchange.daemon.app, &agent.caller, request).await?;
    Ok(Reply::json(&CancelAnswer { refresh_id: cancelled.refresh, status: cancelled.status }))
}

/// Refreshes an artifact.
pub(crate) async fn refresh(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let (agent, dry_run) = Agent::changing(exchange)?;
    let ToolRefresh { artifact_id } = agent.body(exchange, body).await?;
    let request = RunRefresh {
        caller: agent.caller,
        project: agent.project,
        artifact: artifact_id,
        accept_drift: false,
        cause: Cause::Asked,
    };
    let app = &exchange.daemon.app;
    let refreshed = refreshing::run(app, request, Mode::of_dry_run(dry_run)).await?;
    Ok(Reply::json(&ToolRefreshedAnswer {
        artifact: views::compact(&exchange.daemon.urls.console, &refreshed.stored.summary),
        refresh: views::refresh(&refreshed),
        dry_run,
    }))
}

/// Says everything create would say; everything update would say if the body names an artifact.
pub(crate) async fn validate(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let agent = Agent::of(exchange)?;
    let body = agent.document(exchange, body).await?;
    if body.value().get("artifactId").is_some() {
        let target = Target::InBody(agent.project);
        let request = UpdateArtifact { target, body, reading: reading(exchange)? };
        let app = &exchange.daemon.app;
        let updated = artifacts::update(app, &agent.caller, request, Mode::DryRun).await?;
        let answer = valid(updated.first_values, updated.warnings);
        let refresh_would_fail = updated.refresh_would_fail;
        return Ok(Reply::json(&ToolValidAnswer { refresh_would_fail, ..answer }));
    }
    let request = CreateArtifact { project: agent.project, body, reading: reading(exchange)? };
    let checked = artifacts::validate(&exchange.daemon.app, &agent.caller, request).await?;
    let answer = valid(checked.first_values, checked.decision.warnings);
    let refresh_would_fail = checked.refresh_would_fail;
    Ok(Reply::json(&ToolValidAnswer { refresh_would_fail, ..answer }))
}

/// Lists connected connectors with the tools that may run.
pub(crate) async fn connectors(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let agent = Agent::of(exchange)?;
    let connectors = connectors::list(&exchange.daemon.app, &agent.caller).await?;
    Ok(Reply::json(&ConnectorsAnswer { connectors }))
}

/// Executes a tool of a connector.
pub(crate) async fn execute(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let agent = Agent::of(exchange)?;
    let body = agent.message(exchange, body, ErrorCode::BadRequest).await?;
    let read = ExecuteRequest::parse(body.value());
    let request = match read {
        Ok(request) if body.is_sound() => request,
        read => {
            let issues = body.report(read.err().unwrap_or_default());
            let app = &exchange.daemon.app;
            return Err(connectors::refuse_request(app, &agent.project, body.value(), issues).await);
        }
    };
    let project = agent.project.clone();
    let request = ExecuteTool {
        project: agent.project,
        connector: request.connector_id,
        tool: request.tool_name.to_string(),
        input: request.input,
        purpose: preview_only(request.purpose)?,
        payer: Payer::Run(agent.run),
        expected: None,
        mapping: None,
    };
    let app = &exchange.daemon.app;
    let executed = match connectors::execute(app, request).await {
        Ok(executed) => executed,
        Err(err) => return Err(connectors::refuse_call(app, &project, body.value(), err).await),
    };
    let metadata = BoundedObject::check(Value::Object(executed.metadata)).ok();
    Ok(Reply::json(&ExecuteAnswer {
        ok: true,
        connector_id: executed.connector_id,
        account_label: executed.account_label,
        tool_name: executed.tool_name,
        safety: executed.safety,
        output: executed.output,
        truncated: executed.truncated,
        redactions: executed.redactions.bounded(),
        output_summary: executed.output_summary,
        provider_execution_id: executed.provider_execution_id,
        metadata: metadata.filter(|metadata| !metadata.object().is_empty()),
    }))
}

fn preview_only(purpose: Purpose) -> Result<Purpose, Failure> {
    match purpose {
        Purpose::AgentPreview => Ok(purpose),
        Purpose::ArtifactRefresh => Err(Failure::new(
            ErrorCode::Forbidden,
            "an agent executes tools as `agent_preview` only",
        )
        .suggest("leave `purpose` out")),
    }
}

fn valid(first_values: Map, warnings: Vec<Issue>) -> ToolValidAnswer {
    let first_values = bounded(first_values);
    ToolValidAnswer { valid: true, first_values, refresh_would_fail: false, warnings }
}

/// Values of a page are parts of data that was checked, and a few of them.
fn bounded(first_values: Map) -> BoundedObject {
    BoundedObject::check(Value::Object(first_values)).unwrap_or_default()
}

/// Returns whether the query asks for sources to be left alone.
fn reading(exchange: &Exchange<'_>) -> Result<Reading, Failure> {
    Ok(Reading::of_offline(exchange.query.get(QueryName::Offline)?.unwrap_or(false)))
}

fn changed(
    exchange: &Exchange<'_>,
    stored: &Stored,
    warnings: Vec<Issue>,
    first_values: Map,
) -> Result<ToolArtifactAnswer, Failure> {
    let Some(artifact) = stored.artifact() else {
        return Err(Failure::new(ErrorCode::LiveArtifactStorageFailed, "the artifact is gone")
            .suggest("list the artifacts of the project"));
    };
    Ok(ToolArtifactAnswer {
        artifact: views::compact(&exchange.daemon.urls.console, &stored.summary),
        data_digest: artifact.digests.data.content.clone(),
        replayed: false,
        dry_run: false,
        first_values: bounded(first_values),
        refresh_would_fail: false,
        warnings,
    })
}

/// The agent behind a request.
struct Agent {
    caller: Caller,
    run: RunId,
    project: ProjectId,
}

impl Agent {
    /// Returns the agent; what the query says about project or run has to agree with its token.
    fn of(exchange: &Exchange<'_>) -> Result<Self, Failure> {
        let Identity::Agent(caller @ Caller::Agent { run, project, .. }) = &exchange.identity
        else {
            return Err(Failure::new(ErrorCode::ToolTokenMissing, "no agent is asking")
                .suggest("start the agent with `od run -- …`; it sets OD_TOOL_TOKEN"));
        };
        let (run, project) = (run.clone(), project.clone());
        let agent = Self { caller: caller.clone(), run, project };
        let query = &exchange.query;
        agent.agree(query.text(QueryName::ProjectId), query.text(QueryName::RunId))?;
        Ok(agent)
    }

    /// As [`Self::of`], where the query may also ask for a change to be tried only.
    fn changing(exchange: &Exchange<'_>) -> Result<(Self, bool), Failure> {
        let dry_run = exchange.query.get(QueryName::DryRun)?.unwrap_or(false);
        Ok((Self::of(exchange)?, dry_run))
    }

    /// Reads the body as a type of the wire; what it says about project or run has to agree with the
    /// token.
    async fn body<T: DeserializeOwned>(
        &self,
        exchange: &Exchange<'_>,
        body: Incoming,
    ) -> Result<T, Failure> {
        let mut fields = Fields::parse::<T>(&exchange.bytes(body).await?, &["projectId", "runId"])?;
        let (project, run) = (fields.take_text("projectId")?, fields.take_text("runId")?);
        self.agree(project.as_deref(), run.as_deref())?;
        fields.read()
    }

    /// Reads the body for a use case that checks it itself.
    async fn document(&self, exchange: &Exchange<'_>, body: Incoming) -> Result<Message, Failure> {
        self.message(exchange, body, ErrorCode::LiveArtifactInvalid).await
    }

    /// Reads the body as an object, refused with `code` if it is none; what it says about project or
    /// run has to agree with the token, and is taken out.
    async fn message(
        &self,
        exchange: &Exchange<'_>,
        body: Incoming,
        code: ErrorCode,
    ) -> Result<Message, Failure> {
        let mut message = exchange.message(body, code).await?;
        let mut take = |name: &str| {
            // What is no text cannot be the token's: it is shown as it came.
            let value = message.object_mut().and_then(|body| body.remove(name))?;
            Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        };
        let (project, run) = (take("projectId"), take("runId"));
        self.agree(project.as_deref(), run.as_deref())?;
        Ok(message)
    }

    fn agree(&self, project: Option<&str>, run: Option<&str>) -> Result<(), Failure> {
        let denied = |message: &str, key: &str, supplied: &str| {
            let shown: String = supplied.chars().take(128).collect();
            Err(Failure::new(ErrorCode::Forbidden, message)
                .suggest("leave it out: the token says which project and run it is")
                .detail(key, shown))
        };
        match (project, run) {
            (Some(supplied), _) if supplied != self.project.as_str() => {
                denied("the token is for another project", "suppliedProjectId", supplied)
            }
            (_, Some(supplied)) if supplied != self.run.as_str() => {
                denied("the token is for another run", "suppliedRunId", supplied)
            }
            (_, _) => Ok(()),
        }
    }
}
