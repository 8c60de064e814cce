//! `od artifacts refresh`, `restore`: through the daemon if one runs, so that consoles hear of it.

use od_app::Caller;
use od_app::artifacts::Address;
use od_app::refresh::run::RunRefresh;
use od_core::error::ErrorCode;
use od_core::ids::ArtifactId;
use od_wire::route::Operation;
use serde_json::{Value, json};

use super::artifacts_read::{document, find};
use crate::args::OneArtifact;
use crate::daemon_process;
use crate::local;
use crate::output::{Answer, Refusal, Sink, Style, Text, with_progress};
use crate::settings::Settings;

/// Runs an artifact's source again.
pub(crate) async fn refresh(
    settings: &Settings,
    asked: &OneArtifact,
    sink: Sink,
) -> Result<Answer, Refusal> {
    let (app, address) = find(settings, asked).await?;
    if asked.dry_run {
        return refresh_plan(&app, address).await;
    }
    let what = format!("refreshing {}", asked.artifact);
    let json = match daemon_process::running(settings).await {
        Some(daemon) => {
            let client = daemon_process::person(settings, &daemon)?;
            let call = client.call(Operation::RefreshArtifact).parameter(&address.artifact);
            with_progress(sink, &what, call.json(&json!({}))?.send_value()).await?
        }
        None => with_progress(sink, &what, refresh_here(&app, address)).await?,
    };
    Ok(refreshed(json))
}

async fn refresh_here(app: &od_app::App, address: Address) -> Result<Value, Refusal> {
    let Address { project, artifact } = address;
    let project = project.ok_or_else(|| no_project(&artifact))?;
    let request = RunRefresh { caller: Caller::Person, project, artifact, accept_drift: false };
    let done = od_app::refresh::run(app, request).await.map_err(|error| local::failed(&error))?;
    let mut json = document(&done.stored, done.stored.summary.refreshable);
    json["refresh"] = json!({
        "id": done.refresh,
        "status": "succeeded",
        "refreshedSourceCount": od_app::refresh::run::Refreshed::SOURCE_COUNT,
        "changed": done.changes.count > 0,
        "changes": done.changes,
    });
    Ok(json)
}

fn refreshed(json: Value) -> Answer {
    let refresh = &json["refresh"];
    let id = refresh["id"].as_str().unwrap_or_default();
    let title = json["artifact"]["title"].as_str().unwrap_or_default();
    let paths: Vec<&str> = refresh["changes"]["paths"]
        .as_array()
        .map(|paths| paths.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let mut text = Text::new();
    text = if refresh["changed"] == true {
        let count = &refresh["changes"]["count"];
        text.pieces(&[
            (Style::Good, "refreshed "),
            (Style::Bold, title),
            (Style::Plain, &format!(": {count} changed ({id})")),
        ])
        .line(&format!("  {}", paths.join(" ")))
    } else {
        text.pieces(&[
            (Style::Good, "refreshed "),
            (Style::Bold, title),
            (Style::Plain, &format!(": nothing changed at the source ({id})")),
        ])
    };
    Answer::new(json, text)
}

/// Checks what a refresh would check before it runs the source.
async fn refresh_plan(app: &od_app::App, address: Address) -> Result<Answer, Refusal> {
    let detail = od_app::artifacts::get(app, &Caller::Person, address.clone())
        .await
        .map_err(|error| local::failed(&error))?;
    let source = detail.stored.artifact().and_then(|artifact| artifact.source().cloned());
    let (Some(source), true) = (source, detail.refreshable) else {
        let message = format!("artifact `{}` cannot be refreshed", address.artifact);
        return Err(Refusal::new(ErrorCode::LiveArtifactRefreshUnavailable, message)
            .suggesting("`od artifacts show` says whether it has a source and is permitted"));
    };
    od_app::connectors::check_source(app, &detail.stored.project, &source)
        .await
        .map_err(|error| local::failed(&error))?;
    let tool = source.tool_name.map(|name| name.to_string());
    let json = json!({
        "dryRun": true,
        "artifactId": address.artifact,
        "source": { "type": source.kind, "toolName": tool, "input": source.input },
    });
    let text = Text::new().line(&format!(
        "Would run {} with {}. Nothing was changed.",
        tool.unwrap_or_else(|| source.kind.to_string()),
        source.input.value()
    ));
    Ok(Answer::new(json, text))
}

/// Brings an artifact back from the trash.
pub(crate) async fn restore(settings: &Settings, asked: &OneArtifact) -> Result<Answer, Refusal> {
    let Some(app) = local::open_existing(settings)? else {
        return Err(local::nothing_stored(&settings.data_dir));
    };
    let artifact: ArtifactId = asked.artifact.parse().map_err(|_| {
        Refusal::new(ErrorCode::LiveArtifactNotFound, format!("`{}` is not an id", asked.artifact))
            .suggesting("name the artifact by its id, as the console and the history show it")
    })?;
    let project = local::project(&app, settings, asked.project.as_deref()).await?;
    let project = if asked.project.is_some() { project.map(|project| project.id) } else { None };
    if asked.dry_run {
        return restore_plan(&app, &artifact).await;
    }
    let json = match daemon_process::running(settings).await {
        Some(daemon) => {
            let client = daemon_process::person(settings, &daemon)?;
            let call = client.call(Operation::RestoreArtifact).parameter(&artifact);
            let call = call.maybe_query("projectId", project.as_ref());
            call.json(&json!({}))?.send_value().await?
        }
        None => {
            let address = Address { project, artifact: artifact.clone() };
            let detail = od_app::artifacts::restore(&app, &Caller::Person, address)
                .await
                .map_err(|error| local::failed(&error))?;
            document(&detail.stored, detail.refreshable)
        }
    };
    Ok(Answer::new(json, Text::new().line(&format!("{artifact} is back."))))
}

async fn restore_plan(app: &od_app::App, artifact: &ArtifactId) -> Result<Answer, Refusal> {
    for project in local::projects(app).await? {
        let trash = app.ports.artifacts.trash(&project.id).await;
        let Ok(trash) = trash else { continue };
        if let Some(found) = trash.iter().find(|line| line.artifact_id == *artifact) {
            let text = Text::new().line(&format!(
                "Would bring {artifact} back into {}; it was deleted at {}.",
                project.id, found.deleted_at
            ));
            let json = json!({ "dryRun": true, "artifactId": artifact, "projectId": project.id });
            return Ok(Answer::new(json, text));
        }
    }
    let message = format!("no artifact `{artifact}` in the trash");
    Err(Refusal::new(ErrorCode::LiveArtifactNotFound, message)
        .suggesting("deleted artifacts are kept for 7 days; this one is not among them"))
}

fn no_project(artifact: &ArtifactId) -> Refusal {
    Refusal::new(ErrorCode::LiveArtifactNotFound, format!("no artifact `{artifact}`"))
        .suggesting("`od artifacts list` shows them all")
}
