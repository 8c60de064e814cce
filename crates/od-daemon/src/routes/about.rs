//! The daemon about itself: its health, and the description of its API.

use std::sync::LazyLock;

use hyper::StatusCode;
use hyper::body::Bytes;
use od_core::artifact::{HealthState, SchemaVersion};
use od_core::error::Failure;
use od_ports::store::StorePlace;
use od_wire::health::{ArtifactCounts, HealthReport, StoreKind, StoreState};

use crate::exchange::Exchange;
use crate::http::reply::Reply;

/// Reports versions, the state of the store, and how long the daemon has been up.
pub(crate) async fn health(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let daemon = exchange.daemon;
    let found = od_app::health::report(&daemon.app).await;
    let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let of = |state| count(found.tally.in_health(state));
    let artifacts = ArtifactCounts {
        total: count(found.tally.total()),
        healthy: of(HealthState::Healthy),
        corrupt_tail: of(HealthState::CorruptTail),
        corrupt_head: of(HealthState::CorruptHead),
        unknown_version: of(HealthState::UnknownVersion),
        unread: count(found.tally.unread),
    };
    let store = match found.store {
        od_app::health::StoreState::Ok => StoreState::Ok,
        od_app::health::StoreState::Reading => StoreState::Reading,
        od_app::health::StoreState::Degraded => StoreState::Degraded,
        od_app::health::StoreState::Unreachable => StoreState::Unreachable,
        od_app::health::StoreState::Failing => StoreState::Failing,
    };
    let store_kind = match found.place {
        StorePlace::Files => StoreKind::Files,
        StorePlace::Postgres { .. } => StoreKind::Postgres,
    };
    Ok(Reply::json(&HealthReport {
        service: "od".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        schema_version: SchemaVersion::NEWEST.into(),
        store,
        store_kind,
        artifacts,
        started_at: daemon.started_at,
        uptime_ms: u64::try_from(daemon.started.elapsed().as_millis()).unwrap_or(u64::MAX),
    }))
}

static OPENAPI: LazyLock<Bytes> = LazyLock::new(|| text(&od_wire::schema::openapi()));
static TOOLS: LazyLock<Bytes> = LazyLock::new(|| text(&od_wire::schema::tool_schema()));

/// The whole API as an OpenAPI document.
pub(crate) fn openapi() -> Reply {
    Reply::Json { status: StatusCode::OK, body: OPENAPI.clone(), header: None }
}

/// The agent's door with the schemas of its bodies.
pub(crate) fn tools() -> Reply {
    Reply::Json { status: StatusCode::OK, body: TOOLS.clone(), header: None }
}

fn text(value: &serde_json::Value) -> Bytes {
    Bytes::from(value.to_string())
}
