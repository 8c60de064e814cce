//! Writes answers: data to stdout, the rest to stderr.

use std::io::{self, BufRead, IsTerminal, Write};

use serde_json::Value;

use super::answer::{Answer, CommandError};
use super::escape::escape_json;
use super::exit::Exit;
use super::text::Text;

/// The two streams of the program, with the form and colour of each.
#[derive(Clone, Copy, Debug)]
pub struct Sink {
    /// Whether stdout is to be one JSON document.
    pub json: bool,
    /// Whether people's text on stdout has colour.
    pub colour_out: bool,
    /// Whether people's text on stderr has colour.
    pub colour_err: bool,
    /// Whether someone may be watching stderr.
    pub live: bool,
}

impl Sink {
    /// Returns the sink for this process: colour on a terminal only, and never against `NO_COLOR`.
    #[must_use]
    pub fn of_process(json: bool) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let live = io::stderr().is_terminal();
        Self {
            json,
            colour_out: wanted && io::stdout().is_terminal(),
            colour_err: wanted && live,
            live,
        }
    }

    /// Writes a verb's answer or error, and returns the exit code.
    #[must_use]
    pub fn finish(self, outcome: Result<Answer, CommandError>) -> Exit {
        match outcome {
            Ok(answer) if answer.is_written => answer.exit,
            Ok(answer) => {
                let text = if self.json {
                    pretty(&answer.document())
                } else {
                    answer.text.render(self.colour_out)
                };
                write_text(io::stdout().lock(), &text, answer.exit)
            }
            Err(refusal) => {
                let text = if self.json {
                    pretty(&refusal.document())
                } else {
                    refusal.text().render(self.colour_err)
                };
                write_text(io::stderr().lock(), &text, refusal.exit)
            }
        }
    }

    /// Writes one compact or indented JSON document of a tool to stdout.
    #[must_use]
    pub fn document(document: &Value, indented: bool, exit: Exit) -> Exit {
        let text = if indented { pretty(document) } else { line(document) };
        write_text(io::stdout().lock(), &text, exit)
    }

    /// Writes a tool's refusal to stderr, stdout staying empty.
    #[must_use]
    pub fn refusal_document(refusal: &CommandError, indented: bool) -> Exit {
        let document = refusal.document();
        let text = if indented { pretty(&document) } else { line(&document) };
        write_text(io::stderr().lock(), &text, refusal.exit)
    }

    /// Tells a person something beside the answer.
    pub fn remark(self, words: &str) {
        if !self.json {
            // Nobody listens: then it is not said.
            let _exit = write_text(io::stderr().lock(), &format!("od: {words}\n"), Exit::Ok);
        }
    }

    /// Writes an answer to stdout at once, for verbs that go on running.
    pub fn announce(self, answer: &Answer) {
        let text = if self.json {
            pretty(&answer.document())
        } else {
            answer.text.render(self.colour_out)
        };
        // A reader that went away does not end a daemon.
        let _exit = write_text(io::stdout().lock(), &text, Exit::Ok);
    }
}

fn pretty(document: &Value) -> String {
    let text = serde_json::to_string_pretty(document).unwrap_or_default();
    format!("{}\n", escape_json(&text))
}

fn line(document: &Value) -> String {
    format!("{}\n", escape_json(&document.to_string()))
}

/// Writes the text and returns the exit code.
///
/// A reader that closed the pipe has seen what it wanted; any other fault of the stream changes the
/// code.
fn write_text(mut stream: impl Write, text: &str, exit: Exit) -> Exit {
    match stream.write_all(text.as_bytes()).and_then(|()| stream.flush()) {
        Ok(()) => exit,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => exit,
        Err(_) => Exit::Usage,
    }
}

/// Shows a plan and asks the person at the terminal for a yes; `None` where nobody can be asked.
#[must_use]
pub fn ask(plan: &Text, question: &str) -> Option<bool> {
    // Both: the question goes to stderr, so that stdout holds nothing but the answer.
    let (stdin, mut stderr) = (io::stdin(), io::stderr());
    if !stdin.is_terminal() || !stderr.is_terminal() {
        return None;
    }
    let mut line = String::new();
    let answered = write!(stderr, "{}{question} [y/N] ", plan.render(false))
        .and_then(|()| stderr.flush())
        .and_then(|()| stdin.lock().read_line(&mut line));
    Some(answered.is_ok() && matches!(line.trim(), "y" | "Y" | "yes"))
}
