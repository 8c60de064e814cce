//! The verb table as JSON, for programs that drive `od`.

use serde_json::{Value, json};

use crate::args::{self, Arity, Flag, GLOBAL_FLAGS, VERBS, Verb};
use crate::output::Exit;

/// Returns every verb, the flags that all of them take, and the exit codes.
pub(super) fn everything() -> Value {
    let exits =
        Exit::ALL.iter().map(|(exit, means)| json!({ "code": exit.code(), "means": means }));
    json!({
        "verbs": VERBS.iter().map(verb).collect::<Vec<_>>(),
        "flags": GLOBAL_FLAGS.iter().map(flag).collect::<Vec<_>>(),
        "exits": exits.collect::<Vec<_>>(),
    })
}

/// Returns one verb.
pub(super) fn verb(verb: &Verb) -> Value {
    let positional = verb.positional.map(|positional| {
        let arity = match positional.arity {
            Arity::One => "one",
            Arity::Two => "two",
            Arity::OneOrTwo => "one or two",
            Arity::Optional => "optional",
            Arity::Many => "many",
            Arity::Rest => "rest",
        };
        let (kind, choices) = (kind(positional.value), positional.value.choices());
        let (name, help) = (positional.name, positional.help);
        json!({ "name": name, "arity": arity, "kind": kind, "choices": choices, "help": help })
    });
    json!({
        "words": verb.words,
        "summary": verb.summary,
        "detail": verb.detail,
        "usage": verb.usage(),
        "argument": positional,
        "flags": verb.flags.iter().map(flag).collect::<Vec<_>>(),
        "examples": verb.examples,
    })
}

fn flag(flag: &Flag) -> Value {
    let value = flag.value.map(
        |(name, value)| json!({ "name": name, "kind": kind(value), "choices": value.choices() }),
    );
    json!({
        "long": flag.long,
        "short": flag.short,
        "value": value,
        "required": flag.required,
        "help": flag.help,
    })
}

fn kind(value: args::Value) -> &'static str {
    match value {
        args::Value::File => "file",
        args::Value::Directory => "directory",
        args::Value::Text => "text",
        args::Value::Number => "number",
        args::Value::Port => "port",
        args::Value::Choice(_) => "choice",
    }
}
