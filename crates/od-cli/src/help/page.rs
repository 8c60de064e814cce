//! Help for people at a terminal.

use od_core::error::ErrorCode;
use serde_json::json;

use super::document;
use crate::args::{GLOBAL_FLAGS, UsageError, VERBS, Verb, nearest};
use crate::output::{Answer, CommandError, Exit, Style, Text};

/// The columns of a terminal that nobody has widened.
const WIDTH: usize = 80;
/// The columns before the summaries of the overview.
const MARGIN: usize = 33;

/// Sections of the overview: a title and the verbs or groups below it.
const SECTIONS: &[(&str, &[&str])] = &[
    ("start here", &["demo", "init", "run", "chat", "open", "serve", "stop"]),
    (
        "look after your artifacts",
        &[
            "artifacts",
            "refresh",
            "build",
            "verify",
            "projects",
            "connectors",
            "sources",
            "webhooks",
            "skills",
            "keys",
            "sessions",
            "service",
            "config",
            "store",
            "trust",
            "doctor",
            "report",
        ],
    ),
    ("what agents call", &["tools", "mcp"]),
    ("more", &["help", "completions", "version"]),
];

/// Answers `od help`: the overview, a verb, a group of verbs, or a topic.
pub(crate) fn help(words: &str) -> Result<Answer, CommandError> {
    let page = if words.is_empty() { overview() } else { for_words(words)? };
    let mut json = match VERBS.iter().find(|verb| verb.words == words) {
        Some(verb) => json!({ "verb": document::verb(verb) }),
        None if words.is_empty() => document::everything(),
        None => json!({}),
    };
    json["help"] = page.render(false).into();
    Ok(Answer::new(json, page))
}

/// Answers `od version`.
pub(crate) fn version() -> Answer {
    let version = env!("CARGO_PKG_VERSION");
    Answer::new(json!({ "version": version }), Text::new().line(&format!("od {version}")))
}

/// Returns the first page: what `od` is and every verb.
fn overview() -> Text {
    let mut text = Text::new()
        .pieces(&[
            (Style::Bold, "od"),
            (
                Style::Plain,
                " makes live artifacts: pages that agents design once and you refresh for good",
            ),
        ])
        .gap()
        .pieces(&[(Style::Dim, "usage: "), (Style::Plain, "od VERB … [--json]")]);
    for (title, heads) in SECTIONS {
        text = text.gap().styled(Style::Bold, title);
        for head in *heads {
            for verb in VERBS.iter().filter(|verb| verb.words.split(' ').next() == Some(head)) {
                for (at, line) in wrapped(verb.summary, WIDTH - MARGIN).iter().enumerate() {
                    let words = if at == 0 { verb.words } else { "" };
                    text = text
                        .pieces(&[(Style::Plain, &format!("  {words:<29}  ")), (Style::Dim, line)]);
                }
            }
        }
    }
    text.gap()
        .line("`od help VERB` explains a verb, `od help errors` every error code.")
        .line("On many systems /usr/bin/od is another program (octal dump): call this one by")
        .line("its path, or put it first in PATH.")
}

/// Returns the help for a verb, a group of verbs, or a topic.
///
/// # Errors
///
/// The words name none of them.
fn for_words(words: &str) -> Result<Text, UsageError> {
    if words == "errors" {
        return Ok(errors());
    }
    if let Some(code) = ErrorCode::ALL.iter().find(|code| code.as_str() == words) {
        return Ok(error(*code));
    }
    if let Some(verb) = VERBS.iter().find(|verb| verb.words == words) {
        return Ok(of_verb(verb));
    }
    let group: Vec<&Verb> = VERBS
        .iter()
        .filter(|verb| verb.words.strip_prefix(words).is_some_and(|rest| rest.starts_with(' ')))
        .collect();
    if group.is_empty() {
        let heads = VERBS.iter().filter_map(|verb| verb.words.split(' ').next());
        let known: Vec<&str> =
            VERBS.iter().map(|verb| verb.words).chain(heads).chain(["errors"]).collect();
        let near = nearest(words, &known);
        return Err(UsageError::UnknownVerb { given: words.to_owned(), nearest: near });
    }
    let mut text = Text::new().styled(Style::Bold, &format!("od {words}"));
    for verb in group {
        text = text
            .gap()
            .pieces(&[(Style::Plain, "  "), (Style::Plain, &verb.usage())])
            .pieces(&[(Style::Plain, "      "), (Style::Dim, verb.summary)]);
    }
    Ok(text)
}

fn of_verb(verb: &Verb) -> Text {
    let mut text = Text::new()
        .pieces(&[
            (Style::Bold, &format!("od {}", verb.words)),
            (Style::Plain, ": "),
            (Style::Plain, verb.summary),
        ])
        .gap()
        .pieces(&[(Style::Dim, "usage: "), (Style::Plain, &verb.usage())]);
    if !verb.detail.is_empty() {
        text = text.gap();
        for line in wrapped(verb.detail, WIDTH) {
            text = text.line(&line);
        }
    }
    if let Some(positional) = verb.positional {
        text = text.gap().styled(Style::Bold, "argument");
        text = text.then(entry(positional.name, positional.help));
    }
    text = text.gap().styled(Style::Bold, "flags");
    for flag in verb.flags.iter().chain(GLOBAL_FLAGS) {
        let short = flag.short.map(|short| format!("-{short}, ")).unwrap_or_default();
        text = text.then(entry(&format!("{short}{}", flag.spelled()), flag.help));
    }
    text = text.gap().styled(Style::Bold, "examples");
    for example in verb.examples {
        text = text.line(&format!("  {example}"));
    }
    text
}

fn entry(name: &str, help: &str) -> Text {
    let mut text = Text::new();
    for (at, line) in wrapped(help, WIDTH - 26).iter().enumerate() {
        let left = if at == 0 { name } else { "" };
        text = if at == 0 && left.len() > 22 {
            text.line(&format!("  {left}"))
                .pieces(&[(Style::Plain, &" ".repeat(26)), (Style::Dim, line)])
        } else {
            text.pieces(&[(Style::Plain, &format!("  {left:<22}  ")), (Style::Dim, line)])
        };
    }
    text
}

/// Every exit code and every error code, from the catalogue.
fn errors() -> Text {
    let mut text = Text::new().styled(Style::Bold, "exit codes");
    for (exit, meaning) in Exit::ALL {
        text = text.line(&format!("  {}  {meaning}", exit.code()));
    }
    text = text
        .line("  `od run` ends with the code of the command it started.")
        .gap()
        .styled(Style::Bold, "error codes (exit, HTTP status)");
    for code in ErrorCode::ALL {
        text = text.pieces(&[
            (Style::Plain, &format!("  {:<34}", code.as_str())),
            (Style::Dim, &format!("{}  {}  {}", code.exit_code(), code.http_status(), code.doc())),
        ]);
    }
    text
}

/// One error code, from the catalogue.
fn error(code: ErrorCode) -> Text {
    let mut text = Text::new().styled(Style::Bold, code.as_str());
    for line in wrapped(code.doc(), WIDTH) {
        text = text.line(&line);
    }
    text.line(&format!("exit code {}, HTTP status {}", code.exit_code(), code.http_status()))
}

/// Breaks a paragraph at spaces.
pub(super) fn wrapped(paragraph: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in paragraph.split_whitespace() {
        let last = lines.last_mut().expect("there is always one line");
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= width {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overview_names_every_verb() {
        let page = overview().render(false);
        for verb in VERBS {
            assert!(page.contains(&format!("\n  {} ", verb.words)), "{}", verb.words);
        }
    }

    #[test]
    fn the_overview_fits_a_terminal_of_80_columns() {
        for line in overview().render(false).lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
    }
}
