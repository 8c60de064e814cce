//! Previews: for API clients on the API port, for browsers by ticket on the preview port.

use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderValue};
use od_app::preview::{self, Media, PageRequest};
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::token::{Claims, PreviewClaims, Variant};
use od_wire::route::QueryName;
use od_wire::session::{TicketAnswer, TicketRequest};

use crate::daemon::Daemon;
use crate::exchange::Exchange;
use crate::http::query::Query;
use crate::http::reply::{Policy, Reply, matches_etag};

/// The time a ticket opens its page.
const TICKET_LIFETIME_MS: u64 = od_core::limits::PREVIEW_TICKET_LIFETIME.allowed;

/// Serves a page to an API client.
pub(crate) async fn show(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let query = &exchange.query;
    let request = PageRequest {
        project: query.get(QueryName::ProjectId)?,
        artifact: exchange.artifact()?,
        variant: variant(query)?,
        snapshot: query.get(QueryName::Snapshot)?,
        revision: query.get(QueryName::Revision)?,
    };
    let validator = exchange.head.headers.get(header::IF_NONE_MATCH);
    page(exchange.daemon, request, validator).await
}

/// Makes a URL that opens a page in a browser. The page has to be there.
pub(crate) async fn ticket(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let TicketRequest { variant, snapshot, revision } = exchange.body(body).await?;
    let app = &exchange.daemon.app;
    let address = exchange.address()?;
    let project = exchange.locate(&address).await?;
    let artifact = address.artifact;
    let variant = variant.unwrap_or(Variant::Rendered);
    let request = PageRequest {
        project: Some(project.clone()),
        artifact: artifact.clone(),
        variant,
        snapshot: snapshot.clone(),
        revision,
    };
    preview::page(app, request).await?;
    let issued_at = app.ports.clock.now();
    let expires_at = issued_at.plus_ms(TICKET_LIFETIME_MS);
    let claims = Claims::Preview(PreviewClaims {
        project_id: project,
        artifact_id: artifact,
        variant,
        snapshot,
        revision,
        issued_at,
        expires_at,
    });
    let ticket = exchange.daemon.sign(&claims)?;
    let url = format!("{}/preview/{ticket}", exchange.daemon.urls.preview);
    Ok(Reply::json(&TicketAnswer { url, expires_at }))
}

/// Serves the page of a ticket.
pub(crate) async fn by_ticket(
    daemon: &Daemon,
    claims: &PreviewClaims,
    if_none_match: Option<&HeaderValue>,
) -> Result<Reply, Failure> {
    let request = PageRequest {
        project: Some(claims.project_id.clone()),
        artifact: claims.artifact_id.clone(),
        variant: claims.variant,
        snapshot: claims.snapshot.clone(),
        revision: claims.revision,
    };
    page(daemon, request, if_none_match).await
}

async fn page(
    daemon: &Daemon,
    request: PageRequest,
    if_none_match: Option<&HeaderValue>,
) -> Result<Reply, Failure> {
    let page = preview::page(&daemon.app, request).await?;
    let etag = HeaderValue::from_str(&page.etag)
        .map_err(|_| Failure::new(ErrorCode::Internal, "the page has no usable validator"))?;
    if matches_etag(if_none_match, &etag) {
        return Ok(Reply::NotModified { etag, policy: Policy::Preview });
    }
    let content_type = match page.media {
        Media::Html => "text/html; charset=utf-8",
        Media::Text => "text/plain; charset=utf-8",
    };
    Ok(Reply::Preview { body: Bytes::from_owner(page.bytes), etag, content_type })
}

fn variant(query: &Query) -> Result<Variant, Failure> {
    let Some(word) = query.text(QueryName::Variant) else { return Ok(Variant::Rendered) };
    Variant::from_word(word).ok_or_else(|| {
        let words: Vec<&str> = Variant::ALL.iter().map(|variant| variant.as_str()).collect();
        let issue = Issue::new("/variant", "unknown_word", "there is no such variant")
            .got(word)
            .want(words.join(", "));
        Failure::validation(ErrorCode::BadRequest, &[issue])
    })
}
