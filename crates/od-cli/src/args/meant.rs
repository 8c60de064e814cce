//! The command line that was meant by one that names no command.
//!
//! Models type from what other programs taught them: `--file`, `show`, an id without its flag. Each fault is
//! mended by a general rule and the line is read again; only a line that is then understood is suggested.

use std::ffi::OsString;

use od_core::limits::COMMAND_LINE_MENDED;

use super::parse::read;
use super::table::{GLOBAL_FLAGS, VERBS};
use super::usage_error::{UsageError, nearest};
use super::verb::{Arity, Flag, Value, Verb};

/// The most faults of one line that are mended.
const ROUNDS: usize = 8;

/// Words that stand for each other, the more telling meaning first.
const VERB_MEANINGS: &[&[&str]] = &[
    &["list", "ls", "all", "index", "search", "find"],
    &["show", "get", "view", "read", "cat", "describe", "info", "inspect", "fetch"],
    &["create", "new", "add", "make", "post", "publish"],
    &["update", "edit", "patch", "modify", "change", "put"],
    &["delete", "remove", "rm", "del", "destroy", "trash"],
    &["history", "log", "logs", "timeline"],
    &["diff", "compare", "changes"],
    &["validate", "check", "lint", "test"],
    &["execute", "exec", "run", "call", "invoke"],
    &["serve", "server", "start", "daemon", "up", "listen"],
    &["stop", "kill", "down", "shutdown", "quit"],
    &["rollback", "revert", "undo", "reset"],
    &["restore", "undelete", "recover"],
    &["install", "add", "setup"],
    &["refresh", "reload", "sync", "rerun"],
    &["doctor", "health", "diagnose"],
    &["connect", "login", "auth"],
    &["disconnect", "logout"],
    &["live-artifacts", "artifacts", "artifact"],
    &["live-artifacts", "serve", "server", "start", "stdio", "run"],
];

const FLAG_MEANINGS: &[&[&str]] = &[
    &["artifact-id", "id", "artifact"],
    &["query", "search", "filter", "grep", "q"],
    &["limit", "max", "count", "top", "first", "n"],
    &["format", "output", "out", "o"],
    &["dry-run", "no-op", "noop", "plan", "preview", "simulate", "n"],
    &["connector", "connector-id", "provider", "c"],
    &["tool", "tool-name", "name", "t"],
    &["agent", "client", "target"],
    &["if-revision", "revision", "rev", "expected-revision", "version"],
    &["project", "project-id", "p"],
    &["port", "p"],
    &["dir", "directory", "cwd", "path", "root"],
    &["out", "output", "dest", "destination", "o"],
    &["yes", "force", "assume-yes", "y"],
    &[
        "input",
        "input-file",
        "file",
        "body",
        "args",
        "arguments",
        "params",
        "parameters",
        "data",
        "payload",
        "artifact",
        "artifact-file",
        "artifact-json",
        "path",
        "from",
        "source",
        "spec",
        "f",
        "i",
    ],
];

const VALUE_MEANINGS: &[&[&str]] = &[
    &["compact", "table", "text", "plain", "short", "human", "markdown"],
    &["json", "pretty", "full", "yaml", "raw"],
    &["template", "html", "source"],
    &["page", "preview", "rendered"],
];

/// Returns the line that was meant, if mending its faults leads to a command.
pub(super) fn meant(words: &[OsString]) -> Option<String> {
    let shown = |word: &OsString| word.to_str().filter(|text| is_shown(text)).map(str::to_owned);
    let mut words = words.iter().map(shown).collect::<Option<Vec<String>>>()?;
    let bytes: usize = words.iter().map(String::len).sum();
    if !COMMAND_LINE_MENDED.allows(bytes) {
        return None;
    }
    for _ in 0..ROUNDS {
        match read(words.iter()) {
            Ok(_) => return Some(line(&words)),
            Err(error) => words = mended(&words, &error)?,
        }
    }
    None
}

/// Returns whether a word may stand in a suggestion as it is.
fn is_shown(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(char::is_control)
}

/// Returns the words without the first fault.
fn mended(words: &[String], error: &UsageError) -> Option<Vec<String>> {
    match error {
        UsageError::UnknownVerb { given, .. } => with_verb(words, given),
        UsageError::UnknownFlag { given, verb, .. } => with_flag(words, given, verb),
        UsageError::Value { verb, .. } => with_choice(words, (*verb)?),
        UsageError::Unexpected { given, verb } => with_argument(words, given, verb),
        UsageError::Incomplete { .. } | UsageError::Missing { .. } => None,
    }
}

/// Replaces words that name no verb.
fn with_verb(words: &[String], given: &str) -> Option<Vec<String>> {
    let places = places_of(words, given)?;
    let (group, word) = given.rsplit_once(' ').unwrap_or(("", given));
    let meant = verb_words(group, word)?;
    let mut mended = words.to_vec();
    let first = *places.first()?;
    for place in places.iter().rev() {
        mended.remove(*place);
    }
    mended.splice(first..first, meant.split(' ').map(str::to_owned));
    Some(mended)
}

/// Returns the beginning of a verb that was meant by a word behind a group.
pub(super) fn verb_words(group: &str, word: &str) -> Option<&'static str> {
    let below = || {
        VERBS.iter().filter_map(move |verb| {
            let rest = if group.is_empty() {
                Some(verb.words)
            } else {
                verb.words.strip_prefix(group).and_then(|rest| rest.strip_prefix(' '))
            };
            Some((verb.words, rest?))
        })
    };
    // A noun is right, and what stands before it is missing: `od live-artifacts list`.
    let inner = below().find_map(|(words, rest)| {
        let mut at = words.len() - rest.len();
        for part in rest.split(' ') {
            let end = at + part.len();
            if part == word && end < words.len() {
                return Some(&words[..end]);
            }
            at = end + 1;
        }
        None
    });
    if inner.is_some() {
        return inner;
    }
    let last = |rest: &'static str| rest.rsplit_once(' ').map(|(_, last)| last);
    // The word is right, and its noun is missing: `od list`, `od tools create`.
    if let Some((words, _)) = below().find(|(_, rest)| last(rest) == Some(word)) {
        return Some(words);
    }
    let head = |(words, rest): (&'static str, &'static str)| {
        let next = rest.split(' ').next().unwrap_or(rest);
        (&words[..words.len() - rest.len() + next.len()], next)
    };
    let heads: Vec<(&'static str, &'static str)> = below().map(head).collect();
    let names: Vec<&'static str> = heads.iter().map(|(_, next)| *next).collect();
    let near = by_meaning(word, VERB_MEANINGS, &names).or_else(|| nearest(word, &names));
    if let Some(near) = near {
        return heads.iter().find(|(_, next)| *next == near).map(|(words, _)| *words);
    }
    // `od rm`: neither the word nor its noun.
    let verbs: Vec<&'static str> = below().filter_map(|(_, rest)| last(rest)).collect();
    let near = by_meaning(word, VERB_MEANINGS, &verbs)?;
    below().find(|(_, rest)| last(rest) == Some(near)).map(|(words, _)| words)
}

/// Returns the flag that was meant, by its meaning before its letters.
pub(super) fn flag_meant(given: &str, verb: &'static Verb) -> Option<&'static str> {
    let given = given.trim_start_matches('-').to_ascii_lowercase().replace('_', "-");
    let names: Vec<&'static str> = flags(verb).map(|flag| flag.long).collect();
    by_meaning(&given, FLAG_MEANINGS, &names).or_else(|| nearest(&given, &names))
}

/// Returns the value that was meant, of those that a flag or an argument takes.
pub(super) fn choice_meant(given: &str, choices: &[&'static str]) -> Option<&'static str> {
    by_meaning(&given.to_ascii_lowercase(), VALUE_MEANINGS, choices)
        .or_else(|| nearest(given, choices))
}

fn by_meaning<'a>(given: &str, meanings: &[&[&str]], known: &[&'a str]) -> Option<&'a str> {
    meanings
        .iter()
        .filter(|words| words.contains(&given))
        .find_map(|words| known.iter().find(|name| words.contains(name) && **name != given))
        .copied()
}

/// Replaces a flag that the verb lacks, or takes it away where its value is the verb's argument.
fn with_flag(words: &[String], given: &str, verb: &'static Verb) -> Option<Vec<String>> {
    let joined = format!("{given}=");
    let place = words.iter().position(|word| word == given || word.starts_with(&joined))?;
    let value = words[place].strip_prefix(&joined).map(str::to_owned);
    let mut mended = words.to_vec();
    let name = given.trim_start_matches('-');
    let names_it = ["id", "artifact", "artifact-id", "name", "project-id", "connector", "skill"];
    let takes_one = verb
        .positional
        .is_some_and(|it| matches!(it.arity, Arity::One | Arity::OneOrTwo | Arity::Optional));
    if takes_one && names_it.contains(&name) {
        match value {
            Some(value) => mended[place] = value,
            None => {
                mended.remove(place);
            }
        }
        return Some(mended);
    }
    let meant = flag_meant(given, verb).filter(|long| !has_flag(words, long))?;
    mended[place] = match value {
        Some(value) => format!("--{meant}={value}"),
        None => format!("--{meant}"),
    };
    Some(mended)
}

/// Replaces the words that are none of a closed list.
fn with_choice(words: &[String], verb: &'static Verb) -> Option<Vec<String>> {
    let mut mended = words.to_vec();
    for flag in flags(verb) {
        let choices = flag.value.map_or(&[][..], |(_, kind)| kind.choices());
        let (long, joined) = (format!("--{}", flag.long), format!("--{}=", flag.long));
        for at in 0..mended.len() {
            let is_behind = at > 0 && mended[at - 1] == long;
            let joined = mended[at].strip_prefix(&joined).map(str::to_owned);
            let given = joined.clone().or_else(|| is_behind.then(|| mended[at].clone()));
            let Some(given) = given.filter(|_| !choices.is_empty()) else { continue };
            if !choices.contains(&given.as_str()) {
                let meant = choice_meant(&given, choices)?;
                mended[at] =
                    if joined.is_some() { format!("{long}={meant}") } else { meant.to_owned() };
            }
        }
    }
    (mended != words).then_some(mended)
}

/// Puts the flag that is missing before an argument that the verb does not take.
fn with_argument(words: &[String], given: &str, verb: &'static Verb) -> Option<Vec<String>> {
    let place = words.iter().rposition(|word| word == given)?;
    let mut mended = words.to_vec();
    // `od refresh ID`: the verb of that name is about something else.
    let of_artifacts = format!("artifacts {}", verb.words);
    let other = VERBS.iter().find(|other| other.words == of_artifacts);
    if verb.positional.is_none() && other.is_some_and(|other| other.positional.is_some()) {
        let first = *places_of(words, verb.words)?.first()?;
        mended.insert(first, "artifacts".to_owned());
        return Some(mended);
    }
    let is_file = |flag: &&Flag| matches!(flag.value, Some((_, Value::File | Value::Directory)));
    let missing = || {
        verb.flags
            .iter()
            .filter(|flag| flag.required && flag.value.is_some() && !has_flag(words, flag.long))
    };
    let looks_like_file = given.contains(['.', '/']) || given == "-";
    let flag = missing().find(|flag| is_file(flag) == looks_like_file)?;
    mended.insert(place, format!("--{}", flag.long));
    Some(mended)
}

fn flags(verb: &'static Verb) -> impl Iterator<Item = &'static Flag> {
    verb.flags.iter().chain(GLOBAL_FLAGS)
}

fn has_flag(words: &[String], long: &str) -> bool {
    words.iter().any(|word| {
        let name = word.strip_prefix("--").map(|rest| rest.split('=').next().unwrap_or(rest));
        name == Some(long)
    })
}

/// Returns where the words of a verb stand, between the flags that may come before it.
fn places_of(words: &[String], verb: &str) -> Option<Vec<usize>> {
    let mut places = Vec::new();
    let mut wanted = verb.split(' ').peekable();
    let mut at = 0;
    while wanted.peek().is_some() {
        match words.get(at)?.as_str() {
            "--json" => {}
            "--data-dir" => at += 1,
            word if word.starts_with("--data-dir=") => {}
            word => {
                if wanted.next() != Some(word) {
                    return None;
                }
                places.push(at);
            }
        }
        at += 1;
    }
    Some(places)
}

fn line(words: &[String]) -> String {
    let mut line = "od".to_owned();
    for word in words {
        line.push(' ');
        line.push_str(&shell_word(word));
    }
    line
}

fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+~=:,@%".contains(c);
    if word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::parse;

    #[derive(serde::Deserialize)]
    struct Case {
        typed: String,
        meant: String,
    }

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    /// Follows a suggestion as an agent does: types what stands between the backticks.
    fn followed(typed: &str) -> Result<String, String> {
        match parse(words(typed)) {
            Ok(_) => Ok(typed.to_owned()),
            Err(error) => {
                let said = error.suggestion().unwrap_or_default();
                let line = said.split('`').nth(1).and_then(|line| line.strip_prefix("od "));
                line.map(str::to_owned).ok_or_else(|| format!("{error} | {said}"))
            }
        }
    }

    #[test]
    fn command_lines_as_models_type_them_end_well_in_one_retry() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/agent-inputs/command.json");
        let cases: Vec<Case> =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let mut good = 0;
        for Case { typed, meant } in &cases {
            let wanted = parse(words(meant)).unwrap();
            match followed(typed).map(|line| parse(words(&line))) {
                Ok(Ok(got)) if got == wanted => good += 1,
                other => eprintln!("-- {typed}: {other:?}"),
            }
        }
        eprintln!("{good} of {} command lines", cases.len());
        assert!(cases.len() >= 80, "{} cases", cases.len());
        assert!(good * 100 >= cases.len() * 97, "{good} of {}", cases.len());
    }

    #[test]
    fn what_a_suggestion_repeats_is_quoted_for_a_shell_and_bounded() {
        let typed = ["tools", "live-artifacts", "create", "--file", "a b'c.json"];
        let said = parse(typed).unwrap_err().suggestion().unwrap();
        assert_eq!(said, r"did you mean `od tools live-artifacts create --input 'a b'\''c.json'`?");
        for word in ["a\u{1b}[31m.json".to_owned(), "x".repeat(10_000)] {
            let said = parse(["tools", "live-artifacts", "create", "--file", &word]).unwrap_err();
            assert_eq!(said.suggestion().unwrap(), "did you mean `--input`?");
        }
    }

    #[test]
    fn a_line_that_cannot_be_mended_whole_still_names_the_nearest_word() {
        let said = parse(words("tools live-artifacts update --file a.json")).unwrap_err();
        assert_eq!(said.suggestion().unwrap(), "did you mean `--input`?");
        assert!(parse(words("xyzzy plugh")).unwrap_err().suggestion().unwrap().contains("od help"));
    }
}
