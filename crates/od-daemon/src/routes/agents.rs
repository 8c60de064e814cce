//! Agents and the sessions with them, for the person.

use hyper::body::Incoming;
use od_app::agent_sessions::{
    self, AnswerQuestion, Driver, OpenSession, OpenedSession, PromptSession,
};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::AgentSessionId;
use od_wire::Empty;
use od_wire::agent::{
    AgentSessionAnswer, AgentSessionsAnswer, AgentTranscriptAnswer, AgentsAnswer, AnswerPermission,
    OpenAgentSession, PromptAgent,
};
use od_wire::route::QueryName;
use std::sync::Arc;

use crate::exchange::Exchange;
use crate::http::reply::Reply;

/// Lists the agents.
pub(crate) async fn agents(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let agents = agent_sessions::agents(&exchange.daemon.app).await;
    Ok(Reply::json(&AgentsAnswer { agents }))
}

/// Lists sessions.
pub(crate) async fn list(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let project = exchange.query.get(QueryName::ProjectId)?;
    let listed = agent_sessions::list(&exchange.daemon.app, &exchange.person(), project).await;
    Ok(Reply::json(&AgentSessionsAnswer { sessions: listed? }))
}

/// Opens one.
pub(crate) async fn open(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let OpenAgentSession { project_id: project, agent, prompt } = exchange.body(body).await?;
    let request = OpenSession { project, agent, prompt, tools_url: tools_url(exchange) };
    let app = &exchange.daemon.app;
    let (session, driver) = agent_sessions::open(app, &exchange.person(), request).await?;
    drive(exchange, driver);
    Ok(Reply::json(&AgentSessionAnswer { session }))
}

/// Shows one with its stream.
pub(crate) async fn show(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let session = named(exchange)?;
    let found = agent_sessions::get(&exchange.daemon.app, &exchange.person(), &session).await;
    let OpenedSession { session, entries } = found?;
    Ok(Reply::json(&AgentTranscriptAnswer { session, entries }))
}

/// Hands a prompt over.
pub(crate) async fn prompt(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let session = named(exchange)?;
    let PromptAgent { text } = exchange.body(body).await?;
    let request = PromptSession { session, text, tools_url: tools_url(exchange) };
    let app = &exchange.daemon.app;
    let prompted = agent_sessions::prompt(app, &exchange.person(), request).await?;
    if let Some(driver) = prompted.driver {
        drive(exchange, driver);
    }
    Ok(Reply::json(&AgentSessionAnswer { session: prompted.session }))
}

/// Stops the agent.
pub(crate) async fn cancel(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    exchange.body::<Empty>(body).await?;
    let session = named(exchange)?;
    let stopped = agent_sessions::cancel(&exchange.daemon.app, &exchange.person(), session).await;
    Ok(Reply::json(&AgentSessionAnswer { session: stopped? }))
}

/// Closes a session.
pub(crate) async fn close(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    exchange.body::<Empty>(body).await?;
    let session = named(exchange)?;
    let closed = agent_sessions::close(&exchange.daemon.app, &exchange.person(), session).await;
    Ok(Reply::json(&AgentSessionAnswer { session: closed? }))
}

/// Answers a question.
pub(crate) async fn answer(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let session = named(exchange)?;
    let question = exchange.id(exchange.params.second(), ErrorCode::NotFound, "question")?;
    let AnswerPermission { choice } = exchange.body(body).await?;
    let request = AnswerQuestion { session, question, choice };
    let answered = agent_sessions::answer(&exchange.daemon.app, &exchange.person(), request).await;
    Ok(Reply::json(&AgentSessionAnswer { session: answered? }))
}

fn named(exchange: &Exchange<'_>) -> Result<AgentSessionId, Failure> {
    exchange.id(exchange.params.first(), ErrorCode::NotFound, "chat")
}

fn tools_url(exchange: &Exchange<'_>) -> String {
    format!("{}/mcp", exchange.daemon.urls.api)
}

/// Keeps a session going; a shutdown waits until its agent is gone.
fn drive(exchange: &Exchange<'_>, driver: Driver) {
    let app = Arc::clone(&exchange.daemon.app);
    let begun = exchange.daemon.in_flight.begin();
    tokio::spawn(async move {
        let _begun = begun;
        driver.run(&app).await;
    });
}
