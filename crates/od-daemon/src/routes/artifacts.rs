//! Artifacts, for the person.

use hyper::body::Incoming;
use od_app::Caller;
use od_app::artifacts::{
    self, Address, CreateArtifact, DeleteArtifact, ListArtifacts, UpdateArtifact,
};
use od_core::error::{ErrorCode, Failure, Issue};
use od_wire::artifact::{ArtifactsAnswer, DeletedAnswer};

use super::views;
use crate::exchange::Exchange;
use crate::http::reply::Reply;

/// Lists the summaries of one project, or of all, newest first.
pub(crate) async fn all(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let query = exchange.query(&["projectId"])?;
    let app = &exchange.daemon.app;
    let projects = match query.get("projectId")? {
        Some(project) => vec![project],
        None => od_app::projects::list(app, &Caller::Person)
            .await
            .map_err(|error| Failure::from(&error))?
            .into_iter()
            .map(|project| project.id)
            .collect(),
    };
    let mut found = Vec::new();
    for project in projects {
        let listed = artifacts::list(app, &Caller::Person, ListArtifacts { project })
            .await
            .map_err(|error| Failure::from(&error))?;
        found.extend(listed.iter().map(|summary| summary.as_ref().clone()));
    }
    found.sort_by_key(|summary| std::cmp::Reverse(summary.updated_at));
    Ok(Reply::json(&ArtifactsAnswer { artifacts: found }))
}

/// Creates an artifact.
pub(crate) async fn create(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let query = exchange.query(&["projectId"])?;
    let Some(project) = query.get("projectId")? else { return Err(no_project()) };
    let body = exchange.document(body).await?;
    let request = CreateArtifact { project, body };
    let created = artifacts::create(&exchange.daemon.app, &Caller::Person, request)
        .await
        .map_err(|error| Failure::from(&error))?;
    Ok(Reply::json(&views::detail(&exchange.daemon.urls, &created.detail, created.warnings)?))
}

/// Shows one artifact.
pub(crate) async fn show(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let detail = artifacts::get(&exchange.daemon.app, &Caller::Person, address(exchange)?)
        .await
        .map_err(|error| Failure::from(&error))?;
    Ok(Reply::json(&views::detail(&exchange.daemon.urls, &detail, Vec::new())?))
}

/// Changes one artifact.
pub(crate) async fn update(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let address = address(exchange)?;
    let body = exchange.document(body).await?;
    let request = UpdateArtifact { target: address.into(), body };
    let updated = artifacts::update(&exchange.daemon.app, &Caller::Person, request)
        .await
        .map_err(|error| Failure::from(&error))?;
    Ok(Reply::json(&views::detail(&exchange.daemon.urls, &updated.detail, updated.warnings)?))
}

/// Moves one artifact to the trash.
pub(crate) async fn delete(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let address = address(exchange)?;
    let mut fields = exchange.fields(body, &["ifRevision"]).await?;
    let request = DeleteArtifact { address, if_revision: fields.optional("ifRevision")? };
    let trashed = artifacts::delete(&exchange.daemon.app, &Caller::Person, request)
        .await
        .map_err(|error| Failure::from(&error))?;
    Ok(Reply::json(&DeletedAnswer {
        deleted: true,
        artifact_id: trashed.artifact_id,
        restorable_until: trashed.expires_at,
    }))
}

/// Brings one artifact back.
pub(crate) async fn restore(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let address = address(exchange)?;
    exchange.fields(body, &[]).await?;
    let detail = artifacts::restore(&exchange.daemon.app, &Caller::Person, address)
        .await
        .map_err(|error| Failure::from(&error))?;
    Ok(Reply::json(&views::detail(&exchange.daemon.urls, &detail, Vec::new())?))
}

fn address(exchange: &Exchange<'_>) -> Result<Address, Failure> {
    let query = exchange.query(&["projectId"])?;
    Ok(Address { project: query.get("projectId")?, artifact: exchange.artifact()? })
}

fn no_project() -> Failure {
    let issue = Issue::new("/projectId", "required", "`projectId` is missing from the query")
        .fix("add `?projectId=<project>`");
    Failure::validation(ErrorCode::BadRequest, &[issue])
}
