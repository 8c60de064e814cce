//! `od mcp live-artifacts` and `od mcp config`

use std::io::IsTerminal;

use od_core::error::ErrorCode;
use od_mcp::launch::{Agent, Launch};
use serde_json::json;

use crate::output::{Answer, CommandError, Exit, Sink, Text};

/// Serves the agent's tools on stdin and stdout until stdin closes.
///
/// Without a token or an address it still serves: each call then says what to do.
pub(crate) fn serve(sink: Sink) -> Exit {
    if std::io::stdin().is_terminal() {
        sink.remark(
            "this speaks MCP on stdin and stdout; `od mcp config --agent NAME` says how an agent starts it",
        );
    }
    let client = super::tools::client().map_err(|refusal| *refusal.failure);
    match od_mcp::serve_stdio(od_mcp::Door::new(client)) {
        Ok(()) => Exit::Ok,
        Err(error) => {
            let refusal = CommandError::new(ErrorCode::BadRequest, error.to_string())
                .suggest("an MCP client starts this program and speaks first");
            sink.finish(Err(refusal))
        }
    }
}

/// Prints how an agent launches the server; writes to no configuration.
pub(crate) fn config(agent: Agent, sink: Sink) -> Result<Answer, CommandError> {
    let program = std::env::current_exe().map_err(|error| {
        CommandError::new(
            ErrorCode::Internal,
            format!("this program does not know its path: {error}"),
        )
    })?;
    let launch = Launch::in_a_run(&program.to_string_lossy());
    let text = launch.text(agent);
    sink.remark(&format!("put this into {}; it holds no secret", agent.place()));
    let json = json!({
        "agent": agent.as_str(),
        "place": agent.place(),
        "descriptor": launch.descriptor(agent),
        "text": text,
    });
    Ok(Answer::new(json, Text::new().block(&text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_has_a_descriptor() {
        let sink = Sink::of_process(true);
        for agent in Agent::ALL {
            let answer = config(agent, sink).unwrap();
            assert_eq!(answer.json["agent"], agent.as_str());
        }
    }
}
