//! `od help`, `od version`, `od completions`.

use serde_json::json;

use crate::args::Shell;
use crate::help;
use crate::output::{Answer, Refusal, Text};

/// Shows the overview, a verb, a group of verbs, or a topic.
pub(crate) fn page(words: &str) -> Result<Answer, Refusal> {
    let page = if words.is_empty() { help::overview() } else { help::for_words(words)? };
    Ok(Answer::new(json!({ "help": page.render(false) }), page))
}

/// Shows the version.
pub(crate) fn version() -> Answer {
    let version = env!("CARGO_PKG_VERSION");
    Answer::new(json!({ "version": version }), Text::new().line(&format!("od {version}")))
}

/// Prints the completion script of a shell.
pub(crate) fn completions(shell: Shell) -> Answer {
    let script = help::completions(shell);
    Answer::new(json!({ "script": script }), Text::new().block(&script))
}
