//! Parses words into a [`Command`]: pure, no file, environment or clock.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use lexopt::Arg;

use super::command::Command;
use super::matches::Matches;
use super::meant::{choice_meant, flag_meant, meant, verb_words};
use super::table::{GLOBAL_FLAGS, VERBS};
use super::usage_error::{Misuse, UsageError};
use super::verb::{Arity, Flag, Value, Verb};

/// The flags that every verb takes.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Globals {
    /// Whether stdout is to be one JSON document.
    pub json: bool,
    /// The data directory, if it was given.
    pub data_dir: Option<PathBuf>,
}

/// A parsed command line.
#[derive(Clone, Debug, PartialEq)]
pub struct Invocation {
    /// The flags that every verb takes.
    pub globals: Globals,
    /// The command.
    pub command: Command,
}

/// Parses a command line, without the program's own name.
///
/// # Errors
///
/// The first thing that is wrong, with the line that would be right.
pub fn parse<I, T>(args: I) -> Result<Invocation, Misuse>
where
    I: IntoIterator<Item = T>,
    T: Into<OsString>,
{
    let words: Vec<OsString> = args.into_iter().map(Into::into).collect();
    read(words.iter()).map_err(|error| Misuse { error, meant: meant(&words) })
}

/// Reads a command line; the error is the first thing that is wrong.
pub(super) fn read<I, T>(args: I) -> Result<Invocation, UsageError>
where
    I: IntoIterator<Item = T>,
    T: Into<OsString>,
{
    let mut parser = lexopt::Parser::from_args(args);
    let mut globals = Globals::default();
    let verb = match find_verb(&mut parser, &mut globals)? {
        Found::Verb(verb) => verb,
        Found::Command(command) => return Ok(Invocation { globals, command }),
    };
    let mut matches = Matches::default();
    let command = match collect(&mut parser, verb, &mut globals, &mut matches)? {
        Collected::Everything => {
            check_required(verb, &matches)?;
            check_together(verb, &matches)?;
            (verb.build)(matches)
        }
        Collected::HelpFlag => Command::Help(verb.words.to_owned()),
    };
    Ok(Invocation { globals, command })
}

/// Flags that say opposite things.
const OPPOSITES: &[(&str, &str)] = &[("on", "off"), ("project", "all")];

fn check_together(verb: &'static Verb, matches: &Matches) -> Result<(), UsageError> {
    let both = OPPOSITES.iter().find(|(one, other)| matches.has(one) && matches.has(other));
    match both {
        None => Ok(()),
        Some((one, other)) => Err(UsageError::Value {
            problem: format!("`--{one}` and `--{other}` do not go together"),
            verb: Some(verb),
            fix: Some("give one of them".to_owned()),
        }),
    }
}

/// Short flags of the other `od`, which many systems have: whoever types one means that program.
const OCTAL_DUMP_FLAGS: &str = "AjNStvwabcdfilosx";

/// The outcome of reading the first words.
enum Found {
    Verb(&'static Verb),
    /// Help or the version, asked for by a flag.
    Command(Command),
}

/// Reads words until they name a verb, or ask for help.
fn find_verb(parser: &mut lexopt::Parser, globals: &mut Globals) -> Result<Found, UsageError> {
    let mut words = String::new();
    while let Some(arg) = parser.next().map_err(unreadable)? {
        match arg {
            Arg::Long("json") => globals.json = true,
            Arg::Long("data-dir") => {
                globals.data_dir = Some(parser.value().map_err(unreadable)?.into());
            }
            Arg::Short('h') | Arg::Long("help") => return Ok(Found::Command(Command::Help(words))),
            Arg::Short('V') | Arg::Long("version") if words.is_empty() => {
                return Ok(Found::Command(Command::Version));
            }
            // coreutils has an `od` too: whoever types one of its flags meant that one.
            Arg::Short(letter) if words.is_empty() && OCTAL_DUMP_FLAGS.contains(letter) => {
                return Err(UsageError::Value {
                    problem: format!("`-{letter}` is a flag of octal dump, another program `od`"),
                    verb: None,
                    fix: Some(format!("call that one by its path: `/usr/bin/od -{letter} …`")),
                });
            }
            Arg::Short(_) | Arg::Long(_) => {
                let flag = spelled(&arg);
                let at = if words.is_empty() { "od".to_owned() } else { format!("od {words}") };
                return Err(UsageError::Value {
                    problem: format!("`{flag}` stands before the verb is complete"),
                    verb: None,
                    fix: Some(format!("write the verb first: `{at} … {flag}`")),
                });
            }
            Arg::Value(word) => {
                if !words.is_empty() {
                    words.push(' ');
                }
                words.push_str(&word.to_string_lossy());
                if let Some(verb) = VERBS.iter().find(|verb| verb.words == words) {
                    return Ok(Found::Verb(verb));
                }
                if members(&words).is_empty() {
                    return Err(unknown_verb(words));
                }
            }
        }
    }
    match words.is_empty() {
        true => Ok(Found::Command(Command::Help(words))),
        false => Err(UsageError::Incomplete { members: members(&words), group: words }),
    }
}

/// Returns the words that may follow, in table order, each once.
pub(super) fn members(group: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    for verb in VERBS {
        let rest = verb.words.strip_prefix(group).and_then(|rest| rest.strip_prefix(' '));
        if let Some(word) = rest.and_then(|rest| rest.split(' ').next())
            && !found.contains(&word)
        {
            found.push(word);
        }
    }
    found
}

fn unknown_verb(given: String) -> UsageError {
    let (group, word) = given.rsplit_once(' ').unwrap_or(("", &given));
    UsageError::UnknownVerb { nearest: verb_words(group, word), given }
}

/// The outcome of reading a verb's flags and arguments.
enum Collected {
    Everything,
    /// `--help` stands among them, and ends the reading.
    HelpFlag,
}

/// Reads the flags and arguments of a verb.
fn collect(
    parser: &mut lexopt::Parser,
    verb: &'static Verb,
    globals: &mut Globals,
    matches: &mut Matches,
) -> Result<Collected, UsageError> {
    while let Some(arg) = parser.next().map_err(unreadable)? {
        let flag = match &arg {
            Arg::Value(word) => {
                let word = word.clone();
                take_positional(parser, verb, word, matches)?;
                continue;
            }
            Arg::Long(name) => all_flags(verb).find(|flag| flag.long == *name),
            Arg::Short(letter) => all_flags(verb).find(|flag| flag.short == Some(*letter)),
        };
        let Some(flag) = flag else {
            let given = spelled(&arg);
            let nearest = flag_meant(&given, verb);
            return Err(UsageError::UnknownFlag { given, nearest, verb });
        };
        match flag.long {
            "help" => return Ok(Collected::HelpFlag),
            "json" => globals.json = true,
            "data-dir" => globals.data_dir = Some(value_of(parser, flag, verb)?.into()),
            long => {
                // Which of two values counts differs from program to program; here nobody has to know.
                if matches.has(long) {
                    return Err(UsageError::Value {
                        problem: format!("`--{long}` is given twice"),
                        verb: Some(verb),
                        fix: Some("give it once".to_owned()),
                    });
                }
                let value = if flag.value.is_some() {
                    value_of(parser, flag, verb)?
                } else {
                    OsString::new()
                };
                matches.flags.push((long, value));
            }
        }
        // Left alone, the value of `--switch=value` would be read as the next argument.
        if flag.value.is_none()
            && let Some(value) = parser.optional_value()
        {
            return Err(UsageError::Value {
                problem: format!("`--{}` takes no value, got `{}`", flag.long, value.display()),
                verb: Some(verb),
                fix: Some(format!("write `--{}` alone", flag.long)),
            });
        }
    }
    Ok(Collected::Everything)
}

fn all_flags(verb: &'static Verb) -> impl Iterator<Item = &'static Flag> {
    verb.flags.iter().chain(GLOBAL_FLAGS)
}

fn take_positional(
    parser: &mut lexopt::Parser,
    verb: &'static Verb,
    word: OsString,
    matches: &mut Matches,
) -> Result<(), UsageError> {
    let Some(positional) = verb.positional else {
        return Err(UsageError::Unexpected { given: word.to_string_lossy().into_owned(), verb });
    };
    match positional.arity {
        Arity::One | Arity::Optional | Arity::OneOrTwo
            if matches.positionals.len() > usize::from(positional.arity == Arity::OneOrTwo) =>
        {
            return Err(UsageError::Unexpected {
                given: word.to_string_lossy().into_owned(),
                verb,
            });
        }
        Arity::Two if matches.positionals.len() >= 2 => {
            return Err(UsageError::Unexpected {
                given: word.to_string_lossy().into_owned(),
                verb,
            });
        }
        Arity::One | Arity::OneOrTwo | Arity::Two | Arity::Optional | Arity::Many => {
            check_value(positional.name, positional.value, &word, verb)?;
            matches.positionals.push(word);
        }
        // The command of `od run` keeps its own flags, also those that are called as ours are.
        Arity::Rest => {
            matches.positionals.push(word);
            matches.positionals.extend(parser.raw_args().map_err(unreadable)?);
        }
    }
    Ok(())
}

fn value_of(
    parser: &mut lexopt::Parser,
    flag: &'static Flag,
    verb: &'static Verb,
) -> Result<OsString, UsageError> {
    let (name, kind) = flag.value.unwrap_or(("VALUE", Value::Text));
    let missing = || UsageError::Value {
        problem: format!("`--{}` needs a value", flag.long),
        verb: Some(verb),
        fix: Some(format!("write `--{} {name}`", flag.long)),
    };
    let value = parser.value().map_err(|_| missing())?;
    check_value(&format!("--{}", flag.long), kind, &value, verb)?;
    Ok(value)
}

fn check_value(
    name: &str,
    kind: Value,
    word: &OsStr,
    verb: &'static Verb,
) -> Result<(), UsageError> {
    if kind.accepts(word) {
        return Ok(());
    }
    let shown = word.display();
    let meant = choice_meant(&shown.to_string(), kind.choices());
    Err(UsageError::Value {
        problem: format!("`{name}` takes {kind}, got `{shown}`"),
        verb: Some(verb),
        fix: meant.map(|word| format!("did you mean `{word}`?")),
    })
}

fn check_required(verb: &'static Verb, matches: &Matches) -> Result<(), UsageError> {
    let missing = |what: String| Err(UsageError::Missing { what, verb });
    if let Some(flag) = verb.flags.iter().find(|flag| flag.required && !matches.has(flag.long)) {
        return missing(format!("`{}`", flag.spelled()));
    }
    match verb.positional {
        Some(positional) if positional.arity == Arity::Two && matches.positionals.len() < 2 => {
            missing(format!("`{}`", positional.name))
        }
        Some(positional)
            if matches!(positional.arity, Arity::One | Arity::OneOrTwo | Arity::Rest)
                && matches.positionals.is_empty() =>
        {
            let dashes = if positional.arity == Arity::Rest { "-- " } else { "" };
            missing(format!("`{dashes}{}`", positional.name))
        }
        Some(_) | None => Ok(()),
    }
}

fn spelled(arg: &Arg<'_>) -> String {
    match arg {
        Arg::Short(letter) => format!("-{letter}"),
        Arg::Long(name) => format!("--{name}"),
        Arg::Value(word) => word.to_string_lossy().into_owned(),
    }
}

/// Takes the error by value because it stands in `map_err`.
#[expect(clippy::needless_pass_by_value, reason = "the shape that `map_err` calls")]
fn unreadable(error: lexopt::Error) -> UsageError {
    UsageError::Value { problem: error.to_string(), verb: None, fix: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{DataFile, Format, Run, Serve, ToolCommand, ToolUpdate};

    #[track_caller]
    fn understood(line: &str) -> Invocation {
        parse(line.split(' ').filter(|word| !word.is_empty())).unwrap()
    }

    #[track_caller]
    fn check_refused(line: &str, message: &str, suggestion: &str) {
        let error = parse(line.split(' ').filter(|word| !word.is_empty())).unwrap_err();
        assert_eq!(error.to_string(), message, "{line}");
        assert_eq!(error.suggestion().unwrap_or_default(), suggestion, "{line}");
    }

    #[test]
    fn every_verb_has_one_row_with_sound_flags() {
        for (at, row) in VERBS.iter().enumerate() {
            assert!(VERBS[..at].iter().all(|other| other.words != row.words));
            let flags: Vec<_> = all_flags(row).collect();
            for (at, flag) in flags.iter().enumerate() {
                let twice = flags[..at].iter().any(|other| other.long == flag.long);
                assert!(!twice, "{}: --{}", row.words, flag.long);
                assert!(flag.help.ends_with('.'), "{}: --{}", row.words, flag.long);
            }
            assert!(row.summary.ends_with('.') && !row.examples.is_empty(), "{}", row.words);
            let prefix =
                VERBS.iter().any(|other| other.words.starts_with(&format!("{} ", row.words)));
            assert!(!prefix, "`{}` is also a group", row.words);
        }
    }

    #[test]
    fn every_example_of_the_table_is_a_command() {
        for row in VERBS {
            for example in row.examples {
                let words = example.split(" > ").next().unwrap().split(" < ").next().unwrap();
                // What stands between quotes is one word.
                let quoted = words.split('\'').enumerate();
                let words = quoted.flat_map(|(at, part)| match at % 2 {
                    0 => part.split_whitespace().collect(),
                    _ => vec![part],
                });
                let parsed = parse(words.skip(1).collect::<Vec<&str>>());
                assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
            }
        }
    }

    #[test]
    fn every_choice_of_the_table_makes_a_command() {
        for row in VERBS {
            let example = row.examples[0].split(" > ").next().unwrap();
            let words: Vec<&str> = example.split_whitespace().skip(1).collect();
            let given = row.flags.iter().filter_map(|flag| Some((flag, flag.value?.1)));
            for (flag, choice) in
                given.flat_map(|(flag, kind)| kind.choices().iter().map(move |word| (flag, word)))
            {
                let long = format!("--{}", flag.long);
                let mut words = words.clone();
                if let Some(at) = words.iter().position(|word| *word == long) {
                    words.drain(at..=at + 1);
                }
                parse(words.into_iter().chain([long.as_str(), choice])).unwrap();
            }
            for choice in row.positional.map_or(&[][..], |positional| positional.value.choices()) {
                parse(row.words.split(' ').chain([*choice])).unwrap();
            }
        }
    }

    #[test]
    fn the_command_of_a_run_keeps_its_own_flags() {
        let command = |project: Option<&str>| {
            Command::Run(Run {
                agent: None,
                project: project.map(str::to_owned),
                program: "claude".into(),
                arguments: ["-p", "--json", "hi"].map(OsString::from).to_vec(),
                no_skill: false,
                dry_run: false,
            })
        };
        assert_eq!(
            understood("run --project site -- claude -p --json hi").command,
            command(Some("site"))
        );
        let bare = understood("run claude -p --json hi");
        assert_eq!(bare.command, command(None));
        assert!(!bare.globals.json);
    }

    #[test]
    fn flags_stand_before_or_after_and_values_join_with_a_sign() {
        let one = understood(
            "--json tools live-artifacts update --artifact-id=a --input x/a.json --if-revision 3 --format json",
        );
        assert!(one.globals.json);
        assert_eq!(
            one.command,
            Command::Tools(ToolCommand::Update(ToolUpdate {
                artifact_id: "a".to_owned(),
                input: "x/a.json".into(),
                data: DataFile::LeftOut,
                if_revision: Some(3),
                format: Format::Json,
                dry_run: false,
                offline: false,
            }))
        );
        let two = understood("serve --port 0 --data-dir /d --dry-run");
        assert_eq!(two.globals.data_dir, Some("/d".into()));
        assert_eq!(
            two.command,
            Command::Serve(Serve {
                port: Some(0),
                no_code: false,
                log: None,
                store: None,
                dry_run: true
            })
        );
    }

    #[test]
    fn help_is_given_wherever_it_is_asked_for() {
        assert_eq!(understood("").command, Command::Help(String::new()));
        assert_eq!(understood("--help").command, Command::Help(String::new()));
        assert_eq!(understood("artifacts --help").command, Command::Help("artifacts".to_owned()));
        assert_eq!(
            understood("artifacts list -h").command,
            Command::Help("artifacts list".to_owned())
        );
    }

    #[test]
    fn a_wrong_line_says_what_would_be_right() {
        check_refused(
            "artifact list",
            "`od` has no verb `artifact`",
            "did you mean `od artifacts list`?",
        );
        check_refused(
            "artifacts lst",
            "`od` has no verb `artifacts lst`",
            "did you mean `od artifacts list`?",
        );
        check_refused(
            "artifacts",
            "`od artifacts` needs one more word: list, show, refresh, schedule, history, revisions, diff, export, import, check, verify, repair, rollback, delete, restore, open",
            "`od help artifacts` says what each does",
        );
        check_refused("list", "`od` has no verb `list`", "did you mean `od artifacts list`?");
        check_refused(
            "-c FILE",
            "`-c` is a flag of octal dump, another program `od`",
            "call that one by its path: `/usr/bin/od -c …`",
        );
        check_refused("xyzzy", "`od` has no verb `xyzzy`", "`od help` lists every verb");
        check_refused(
            "artifacts list --jsno",
            "`od artifacts list` has no flag `--jsno`",
            "did you mean `od artifacts list --json`?",
        );
        check_refused(
            "artifacts list -x",
            "`od artifacts list` has no flag `-x`",
            "`od help artifacts list` lists its flags",
        );
        check_refused("serve --port 70000", "`--port` takes a port, 0 to 65535, got `70000`", "");
        check_refused("serve --port", "`--port` needs a value", "write `--port N`");
        check_refused(
            "serve --dry-run=yes",
            "`--dry-run` takes no value, got `yes`",
            "write `--dry-run` alone",
        );
        check_refused(
            "tools live-artifacts list --format compcat",
            "`--format` takes one of compact, json, got `compcat`",
            "did you mean `od tools live-artifacts list --format compact`?",
        );
        check_refused(
            "tools live-artifacts create",
            "`od tools live-artifacts create` needs `--input FILE`",
            "`od help tools live-artifacts create` shows an example",
        );
        check_refused("run", "`od run` needs `-- CMD`", "`od help run` shows an example");
        check_refused(
            "artifacts show a b",
            "`od artifacts show` takes no further argument, got `b`",
            "`od help artifacts show` shows an example",
        );
        check_refused(
            "--port 1 serve",
            "`--port` stands before the verb is complete",
            "write the verb first: `od … --port`",
        );
        check_refused("serve --port 1 --port 2", "`--port` is given twice", "give it once");
        check_refused(
            "completions csh",
            "`SHELL` takes one of bash, fish, zsh, got `csh`",
            "did you mean `zsh`?",
        );
    }
}
