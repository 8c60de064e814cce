//! `od mcp live-artifacts` and `od mcp config`

use std::io::IsTerminal;

use od_core::error::{ErrorCode, nearest_name};
use od_mcp::launch::{Agent, Launch};
use serde_json::json;

use crate::output::{Answer, Exit, Refusal, Sink, Text};

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
            let refusal = Refusal::new(ErrorCode::BadRequest, error.to_string())
                .suggesting("an MCP client starts this program and speaks first");
            sink.finish(Err(refusal))
        }
    }
}

/// Prints how an agent launches the server; writes to no configuration.
pub(crate) fn config(name: &str, sink: Sink) -> Result<Answer, Refusal> {
    let Some(agent) = Agent::from_name(name) else {
        let known = Agent::ALL.map(Agent::as_str);
        let message = format!("no launch descriptor for `{name}`");
        let suggestion = match nearest_name(name, known) {
            Some(near) => format!("did you mean `--agent {near}`?"),
            None => format!("use one of {}", known.join(", ")),
        };
        return Err(Refusal::new(ErrorCode::BadRequest, message).suggesting(suggestion));
    };
    let program = std::env::current_exe().map_err(|error| {
        Refusal::new(ErrorCode::Internal, format!("this program does not know its path: {error}"))
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
    fn every_agent_has_a_descriptor_and_another_name_gets_the_nearest() {
        let sink = Sink::of_process(true);
        let config = |name| config(name, sink);
        for agent in Agent::ALL {
            let answer = config(agent.as_str()).unwrap();
            assert_eq!(answer.json["agent"], agent.as_str());
        }
        let refused = config("cluade").unwrap_err();
        assert_eq!(refused.failure.suggestion, "did you mean `--agent claude`?");
        assert!(config("emacs").unwrap_err().failure.suggestion.contains("opencode"));
    }
}
