//! The timeline of an artifact, for the person.

use hyper::body::Incoming;
use od_app::Mode;
use od_app::artifacts::{
    self, CompareRevisions, Comparison, ListRevisions, RollBack, RollBackTo, TimelineEntry,
};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::Revision;
use od_core::ledger::RevisionName;
use od_ports::store::KeptRevision;
use od_wire::refresh as wire;
use od_wire::revision::{
    CompareAnswer, ComparisonView, RevisionAnswer, RevisionLine, RevisionView, RevisionsAnswer,
};
use od_wire::route::QueryName;

use crate::exchange::Exchange;
use crate::http::reply::Reply;
use crate::views;

/// Lists the commits, newest first.
pub(crate) async fn list(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let request = ListRevisions {
        address: exchange.address()?,
        before: exchange.query.get(QueryName::Cursor)?,
        limit: exchange.page_limit()?,
    };
    let page = artifacts::revisions(&exchange.daemon.app, &exchange.person(), request).await?;
    let line = |TimelineEntry { commit, is_kept }| RevisionLine { commit, kept: is_kept };
    Ok(Reply::json(&RevisionsAnswer {
        revisions: page.lines.into_iter().map(line).collect(),
        next_cursor: page.next.map(|next| next.to_string()),
    }))
}

/// Shows one revision.
pub(crate) async fn show(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let address = exchange.address()?;
    let number = named(exchange)?;
    let app = &exchange.daemon.app;
    let kept = artifacts::revision(app, &exchange.person(), address, number).await?;
    let KeptRevision { commit, template_html, data, provenance, source } = kept;
    // Strings, integers and JSON only: writing them cannot fail.
    let source = serde_json::to_value(source).unwrap_or_default();
    let revision = RevisionView {
        commit,
        template_html: template_html.as_ref().to_owned(),
        data_json: data,
        provenance,
        source,
    };
    Ok(Reply::json(&RevisionAnswer { revision }))
}

/// Makes one revision the current one again.
pub(crate) async fn restore(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let address = exchange.address()?;
    let to = RollBackTo::Revision(named(exchange)?);
    let wire::RollBack { if_revision } = exchange.body(body).await?;
    let request = RollBack { address, to, if_revision };
    let app = &exchange.daemon.app;
    let done = artifacts::roll_back(app, &exchange.person(), request, Mode::Commit).await?;
    Ok(Reply::json(&views::rolled_back(&exchange.daemon.urls.console, done)?))
}

/// Compares two revisions.
pub(crate) async fn compare(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let query = &exchange.query;
    let request = CompareRevisions {
        address: exchange.address()?,
        from: query.get(QueryName::From)?.unwrap_or(RevisionName::Previous),
        to: query.get(QueryName::To)?.unwrap_or(RevisionName::Current),
    };
    let compared = artifacts::compare(&exchange.daemon.app, &exchange.person(), request).await?;
    let Comparison { from, to, diff } = compared;
    Ok(Reply::json(&CompareAnswer { comparison: ComparisonView { from, to, diff } }))
}

fn named(exchange: &Exchange<'_>) -> Result<Revision, Failure> {
    exchange.id(exchange.params.second(), ErrorCode::NotFound, "revision")
}
