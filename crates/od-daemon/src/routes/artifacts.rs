//! Artifacts, for the person.

use hyper::body::Incoming;
use od_app::artifacts::{self, CreateArtifact, DeleteArtifact, ListArtifacts, UpdateArtifact};
use od_app::{Caller, Mode};
use od_core::error::Failure;
use od_wire::Empty;
use od_wire::artifact::{self as wire, ArtifactsAnswer, DeletedAnswer};
use od_wire::route::QueryName;

use crate::exchange::Exchange;
use crate::http::reply::Reply;
use crate::views;

/// Lists the summaries of one project, or of all, newest first.
pub(crate) async fn all(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let request = ListArtifacts { project: exchange.query.get(QueryName::ProjectId)? };
    let found = artifacts::list(&exchange.daemon.app, &Caller::Person, request).await?;
    let artifacts = found.iter().map(|summary| summary.as_ref().clone()).collect();
    Ok(Reply::json(&ArtifactsAnswer { artifacts }))
}

/// Creates an artifact.
pub(crate) async fn create(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let project = exchange.query.required(QueryName::ProjectId)?;
    let body = exchange.document(body).await?;
    let request = CreateArtifact { project, body };
    let created =
        artifacts::create(&exchange.daemon.app, &Caller::Person, request, Mode::Commit).await?;
    Ok(Reply::json(&views::detail(
        &exchange.daemon.urls.console,
        &created.stored,
        created.warnings,
    )?))
}

/// Shows one artifact.
pub(crate) async fn show(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let detail = artifacts::get(&exchange.daemon.app, &Caller::Person, exchange.address()?).await?;
    Ok(Reply::json(&views::detail(&exchange.daemon.urls.console, &detail, Vec::new())?))
}

/// Changes one artifact.
pub(crate) async fn update(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let address = exchange.address()?;
    let body = exchange.document(body).await?;
    let request = UpdateArtifact { target: address.into(), body };
    let updated =
        artifacts::update(&exchange.daemon.app, &Caller::Person, request, Mode::Commit).await?;
    Ok(Reply::json(&views::detail(
        &exchange.daemon.urls.console,
        &updated.stored,
        updated.warnings,
    )?))
}

/// Moves one artifact to the trash.
pub(crate) async fn delete(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let address = exchange.address()?;
    let wire::DeleteArtifact { if_revision } = exchange.body(body).await?;
    let request = DeleteArtifact { address, if_revision };
    let trashed = artifacts::delete(&exchange.daemon.app, &Caller::Person, request).await?;
    Ok(Reply::json(&DeletedAnswer {
        deleted: true,
        artifact_id: trashed.artifact_id,
        restorable_until: trashed.expires_at,
    }))
}

/// Brings one artifact back.
pub(crate) async fn restore(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let address = exchange.address()?;
    exchange.body::<Empty>(body).await?;
    let detail = artifacts::restore(&exchange.daemon.app, &Caller::Person, address).await?;
    Ok(Reply::json(&views::detail(&exchange.daemon.urls.console, &detail, Vec::new())?))
}
