//! Runs of agents.

use hyper::body::Incoming;
use od_app::Caller;
use od_app::runs::{self, StartRun};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::RunId;
use od_ports::agents::run_store::Run;
use od_wire::Empty;
use od_wire::run::{self as wire, RunAnswer, RunView, StartedRun};

use crate::exchange::Exchange;
use crate::http::reply::Reply;

/// Starts a run and hands out the one copy of its token.
pub(crate) async fn start(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let wire::StartRun { project_id, agent } = exchange.body(body).await?;
    let request = StartRun { project: project_id, agent };
    let started = runs::start(&exchange.daemon.app, &Caller::Person, request).await?;
    let run = view(exchange, &started.run);
    Ok(Reply::json(&StartedRun { run, tool_token: started.token }))
}

/// Renews the lease of a run.
pub(crate) async fn renew(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let run = named(exchange, body).await?;
    let moved = runs::renew(&exchange.daemon.app, &Caller::Person, run).await;
    let run = moved?;
    Ok(Reply::json(&RunAnswer { run: view(exchange, &run) }))
}

/// Ends a run; that is durable before the answer.
pub(crate) async fn end(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let run = named(exchange, body).await?;
    let moved = runs::end(&exchange.daemon.app, &Caller::Person, run).await;
    let run = moved?;
    Ok(Reply::json(&RunAnswer { run: view(exchange, &run) }))
}

async fn named(exchange: &Exchange<'_>, body: Incoming) -> Result<RunId, Failure> {
    exchange.body::<Empty>(body).await?;
    exchange.id(exchange.params.first(), ErrorCode::NotFound, "run")
}

fn view(exchange: &Exchange<'_>, run: &Run) -> RunView {
    RunView {
        run_id: run.id.clone(),
        project_id: run.project_id.clone(),
        agent: run.agent.clone(),
        live: run.is_live(exchange.daemon.app.ports.clock.now()),
        lease_expires_at: run.lease_until,
    }
}
