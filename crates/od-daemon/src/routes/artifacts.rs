//! Artifacts, for the person.

use hyper::body::Incoming;
use od_app::Mode;
use od_app::artifacts::{
    self, CreateArtifact, DeleteArtifact, ListTrash, PageOfList, Reading, UpdateArtifact,
};
use od_core::artifact::ListQuery;
use od_core::error::{ErrorCode, Failure, Issue};
use od_ports::store::Stored;
use od_wire::Empty;
use od_wire::artifact::{self as wire, DeletedAnswer};
use od_wire::route::QueryName;

use crate::exchange::Exchange;
use crate::http::reply::Reply;
use crate::views;

/// Lists a page of the summaries of one project, or of all, newest first; or of what is in the trash.
pub(crate) async fn all(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let (app, query) = (&exchange.daemon.app, &exchange.query);
    let project = query.get(QueryName::ProjectId)?;
    let (rows, cursor) = (exchange.page_limit()?, query.get(QueryName::Cursor)?);
    if query.get(QueryName::Trash)?.unwrap_or(false) {
        if let Some(name) =
            [QueryName::Query, QueryName::Show].into_iter().find(|name| query.text(*name).is_some())
        {
            let message =
                format!("`{}` is for the artifacts in use, not for the trash", name.as_str());
            return Err(Failure::new(ErrorCode::BadRequest, message)
                .suggest(format!("leave `{}` or `trash` out", name.as_str())));
        }
        let request = ListTrash { project };
        let page = artifacts::trash_page(app, &exchange.person(), request, cursor, rows).await?;
        return Ok(Reply::json(&views::trash(page)));
    }
    let show = query.get(QueryName::Show)?.unwrap_or_default();
    let query = ListQuery { query: query.get(QueryName::Query)?, show, cursor };
    let request = PageOfList { project, query, rows };
    let page = artifacts::page(app, &exchange.person(), request).await?;
    Ok(Reply::json(&views::lines(&page, app.ports.clock.now())))
}

/// Creates an artifact.
pub(crate) async fn create(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let project = exchange.query.required(QueryName::ProjectId)?;
    let body = exchange.document(body).await?;
    let request = CreateArtifact { project, body, reading: Reading::Now };
    let created =
        artifacts::create(&exchange.daemon.app, &exchange.person(), request, Mode::Commit).await?;
    detail(exchange, &created.stored, created.warnings)
}

/// Shows one artifact.
pub(crate) async fn show(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let found =
        artifacts::get(&exchange.daemon.app, &exchange.person(), exchange.address()?).await?;
    detail(exchange, &found, Vec::new())
}

/// Changes one artifact.
pub(crate) async fn update(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let address = exchange.address()?;
    let body = exchange.document(body).await?;
    let request = UpdateArtifact { target: address.into(), body, reading: Reading::Now };
    let mode = Mode::of_dry_run(exchange.query.get(QueryName::DryRun)?.unwrap_or(false));
    let updated =
        artifacts::update(&exchange.daemon.app, &exchange.person(), request, mode).await?;
    detail(exchange, &updated.stored, updated.warnings)
}

/// Moves one artifact to the trash.
pub(crate) async fn delete(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let address = exchange.address()?;
    let wire::DeleteArtifact { if_revision } = exchange.body(body).await?;
    let request = DeleteArtifact { address, if_revision };
    let trashed =
        artifacts::delete(&exchange.daemon.app, &exchange.person(), request, Mode::Commit).await?;
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
    let restored = artifacts::restore(&exchange.daemon.app, &exchange.person(), address).await?;
    detail(exchange, &restored, Vec::new())
}

fn detail(
    exchange: &Exchange<'_>,
    stored: &Stored,
    warnings: Vec<Issue>,
) -> Result<Reply, Failure> {
    let daemon = &exchange.daemon;
    let now = daemon.app.ports.clock.now();
    Ok(Reply::json(&views::detail(&daemon.urls.console, stored, warnings, now)?))
}
