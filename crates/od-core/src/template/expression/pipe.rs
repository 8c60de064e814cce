//! The formats behind a binding's path: `| format:arguments | or:'text'`.

use std::borrow::Cow;

use crate::error::nearest_name;
use crate::format::currency::Currency;
use crate::format::date::{DateStyle, UnixUnit};
use crate::format::elapsed::DurationUnit;
use crate::format::value::Format;

/// The most digits behind the point.
const DIGITS_MAX: u8 = 20;

/// The format of a binding and the text in place of nothing.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Pipes {
    pub(crate) format: Option<Format>,
    pub(crate) or: Option<Box<str>>,
}

/// Something behind `|` that is neither a format nor `or`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct PipeFault {
    pub(crate) kind: PipeFaultKind,
    pub(crate) message: String,
    /// What to write behind `|` instead; empty to leave it out.
    pub(crate) instead: Cow<'static, str>,
    /// More to know, behind the fix.
    pub(crate) advice: &'static str,
}

/// The kinds of faults, by their codes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum PipeFaultKind {
    Unknown,
    Arguments,
}

/// Every format with a line that uses it.
pub(crate) const FORMATS: [(&str, &str); 17] = [
    ("number", "number:0"),
    ("percent", "percent:1"),
    ("currency", "currency:EUR:2"),
    ("compact", "compact:1"),
    ("bytes", "bytes"),
    ("duration", "duration:ms"),
    ("date", "date:medium"),
    ("time", "time"),
    ("datetime", "datetime:medium"),
    ("since", "since"),
    ("delta", "delta:1"),
    ("plural", "plural:'issue':'issues'"),
    ("count", "count"),
    ("upper", "upper"),
    ("lower", "lower"),
    ("title", "title"),
    ("truncate", "truncate:40"),
];

/// Words of other languages for the same thing.
#[rustfmt::skip]
const SYNONYMS: [(&str, &str); 62] = [
    ("round", "number:0"), ("int", "number:0"), ("floor", "number:0"), ("ceil", "number:0"), ("float", "number:2"), ("tofixed", "number:2"),
    ("fixed", "number:2"), ("decimal", "number:2"), ("intcomma", "number:0"), ("localize", "number"), ("tolocalestring", "number"), ("number_format", "number:2"),
    ("format", "number:2"), ("floatformat", "number:1"), ("commas", "number:0"), ("numeral", "number:0"),
    ("percentage", "percent:1"), ("pct", "percent:1"), ("money", "currency:EUR:2"), ("usd", "currency:USD:2"), ("dollars", "currency:USD:2"), ("euro", "currency:EUR:2"),
    ("price", "currency:EUR:2"), ("cur", "currency:EUR:2"), ("abbreviate", "compact:1"), ("short", "compact:1"), ("shorten", "truncate:40"), ("humanize", "compact:1"), ("kilo", "compact:1"),
    ("filesizeformat", "bytes"), ("filesize", "bytes"), ("size", "count"), ("length", "count"), ("len", "count"),
    ("formatdate", "date:medium"), ("dateformat", "date:medium"), ("strftime", "date:medium"), ("moment", "date:medium"), ("isodate", "date:medium"), ("day", "date:day"), ("month", "date:month"), ("todate", "date:medium"),
    ("formattime", "time"), ("timestamp", "datetime:medium"), ("ago", "since"), ("timeago", "since"), ("timesince", "since"), ("relative", "since"), ("fromnow", "since"), ("relativetime", "since"),
    ("signed", "delta:1"), ("change", "delta:1"), ("diff", "delta:1"), ("pluralize", "plural:'issue':'issues'"), ("uppercase", "upper"), ("upcase", "upper"), ("lowercase", "lower"), ("downcase", "lower"),
    ("capitalize", "title"), ("titlecase", "title"), ("ellipsis", "truncate:40"), ("slice", "truncate:40"),
];

/// Filters that choose or order rows, which is a query's job.
const ROW_FILTERS: [&str; 16] = [
    "sort", "sortby", "sort_by", "orderby", "order_by", "reverse", "filter", "where", "select",
    "reject", "map", "group", "groupby", "limit", "first", "last",
];

/// Filters that switch escaping off or on.
const ESCAPES: [&str; 9] =
    ["safe", "raw", "html", "escape", "e", "h", "json", "tojson", "striptags"];

/// Splits a binding into its value and what stands behind the first `|`.
pub(crate) fn split(text: &str) -> (&str, Option<&str>) {
    match outside_quotes(text, '|') {
        Some(at) => (text[..at].trim_ascii(), Some(&text[at + 1..])),
        None => (text, None),
    }
}

/// Finds a mark outside quotes.
fn outside_quotes(text: &str, wanted: char) -> Option<usize> {
    let mut quote = None;
    for (at, mark) in text.char_indices() {
        match quote {
            Some(open) if open == mark => quote = None,
            Some(_) => {}
            None if matches!(mark, '\'' | '"') => quote = Some(mark),
            None if mark == wanted => return Some(at),
            None => {}
        }
    }
    None
}

/// Parses what stands behind the first `|`.
pub(crate) fn parse(text: &str) -> Result<Pipes, PipeFault> {
    let mut pipes = Pipes::default();
    let mut rest = Some(text);
    while let Some(text) = rest {
        let (pipe, behind) = split(text);
        rest = behind;
        let (name, arguments) = call(pipe.trim_ascii())?;
        if name == "or" {
            let [Argument::Text(or)] = &*arguments else {
                return Err(arguments_fault("or", "one text in quotes", "or:'–'"));
            };
            if pipes.or.replace((*or).into()).is_some() {
                return Err(arguments_fault("or", "to stand once", ""));
            }
            continue;
        }
        let format = match (name, &*arguments) {
            ("default" | "coalesce" | "fallback", [Argument::Text(text)])
                if !text.contains('\'') =>
            {
                return Err(PipeFault {
                    kind: PipeFaultKind::Unknown,
                    message: format!("`{name}` is written or:'text'"),
                    instead: format!("or:'{text}'").into(),
                    advice: "",
                });
            }
            _ => format(name, &arguments)?,
        };
        if pipes.format.replace(format).is_some() {
            return Err(PipeFault {
                kind: PipeFaultKind::Arguments,
                message: format!("`{name}` is a second format"),
                instead: "".into(),
                advice: "one format and one `or` a binding",
            });
        }
    }
    Ok(pipes)
}

/// Writes a binding again with what was probably meant in place of what cannot be read.
pub(crate) fn repair(value: &str, piped: &str) -> String {
    let mut good = String::new();
    let mut rest = Some(piped);
    while let Some(text) = rest {
        let (pipe, behind) = split(text);
        rest = behind;
        let mut add = |pipe: &str| {
            let bar = if good.is_empty() { "" } else { " | " };
            let longer = format!("{good}{bar}{}", pipe.trim_ascii());
            let fits = parse(&longer);
            if fits.is_ok() {
                good = longer;
            }
            fits
        };
        if let Err(fault) = add(pipe)
            && !fault.instead.is_empty()
        {
            let _ = add(&fault.instead);
        }
    }
    if good.is_empty() { value.to_owned() } else { format!("{value} | {good}") }
}

/// An argument: a word, or a text in quotes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Argument<'t> {
    Word(&'t str),
    Text(&'t str),
}

/// Splits `name:argument:argument`.
fn call(pipe: &str) -> Result<(&str, Vec<Argument<'_>>), PipeFault> {
    let is_name = |mark: char| mark.is_ascii_alphanumeric() || matches!(mark, '_' | '-');
    let end = pipe.find(|mark| !is_name(mark)).unwrap_or(pipe.len());
    let (name, mut rest) = pipe.split_at(end);
    let mut arguments = Vec::new();
    rest = rest.trim_ascii_start();
    if name.is_empty() || !(rest.is_empty() || rest.starts_with(':')) {
        return Err(unknown(name, rest));
    }
    while let Some(text) = rest.strip_prefix(':') {
        let text = text.trim_ascii_start();
        let (argument, behind) = argument(text).ok_or_else(|| unknown(name, rest))?;
        arguments.push(argument);
        rest = behind.trim_ascii_start();
    }
    if rest.is_empty() { Ok((name, arguments)) } else { Err(unknown(name, rest)) }
}

fn argument(text: &str) -> Option<(Argument<'_>, &str)> {
    for quote in ['\'', '"'] {
        if let Some(inner) = text.strip_prefix(quote) {
            let end = inner.find(quote)?;
            return Some((Argument::Text(&inner[..end]), &inner[end + 1..]));
        }
    }
    let end = text.find([':', ' ', '\t', '\n']).unwrap_or(text.len());
    let (word, behind) = text.split_at(end);
    (!word.is_empty()).then_some((Argument::Word(word), behind))
}

/// Returns the line that does what a word of another language means.
pub(crate) fn meant(word: &str) -> Option<&'static str> {
    let folded = word.to_ascii_lowercase();
    let known = FORMATS.iter().chain(&SYNONYMS).find(|(other, _)| *other == folded);
    known.map(|(_, line)| *line)
}

/// Describes a format that is none.
fn unknown(name: &str, rest: &str) -> PipeFault {
    let folded = name.to_ascii_lowercase().replace('-', "");
    let fault = |message: String, instead: Cow<'static, str>, advice: &'static str| PipeFault {
        kind: PipeFaultKind::Unknown,
        message,
        instead,
        advice,
    };
    let shown: String = rest.chars().take(40).collect();
    if let Some((known, line)) = FORMATS.iter().find(|(known, _)| *known == folded) {
        // `date("Y-m-d")` and the like.
        let message =
            format!("`{name}{shown}`: arguments stand behind colons, and {known} has its own");
        return fault(message, (*line).into(), "");
    }
    if folded == "or" || folded == "default" || folded == "coalesce" || folded == "fallback" {
        return fault(format!("`{name}{shown}` is written or:'text'"), "or:'–'".into(), "");
    }
    if ROW_FILTERS.contains(&&*folded) {
        let advice =
            "sorting and filtering are a query's: ORDER BY, WHERE, LIMIT in document.queries";
        return fault(format!("`{name}` chooses or orders rows"), "".into(), advice);
    }
    if ESCAPES.contains(&&*folded) {
        return fault(format!("`{name}`: every value is escaped"), "".into(), "");
    }
    if let Some((_, line)) = SYNONYMS.iter().find(|(other, _)| *other == folded) {
        return fault(format!("there is no format `{name}`"), (*line).into(), "");
    }
    let near = nearest_name(&folded, FORMATS.iter().map(|(known, _)| *known));
    let line = near.and_then(|near| FORMATS.iter().find(|(known, _)| *known == near));
    let message = if name.is_empty() {
        "there is no format behind |".to_owned()
    } else {
        format!("there is no format `{name}`")
    };
    fault(message, line.map_or("", |(_, line)| line).into(), "")
}

fn arguments_fault(name: &str, wants: &str, instead: &'static str) -> PipeFault {
    PipeFault {
        kind: PipeFaultKind::Arguments,
        message: format!("`{name}` wants {wants}"),
        instead: instead.into(),
        advice: "",
    }
}

/// Builds a format from its name and arguments.
fn format(name: &str, arguments: &[Argument<'_>]) -> Result<Format, PipeFault> {
    let Some((_, line)) = FORMATS.iter().find(|(known, _)| *known == name) else {
        return Err(unknown(name, ""));
    };
    let wrong = |wants: &str| arguments_fault(name, wants, line);
    let digits_only = || match arguments {
        [] => Ok(None),
        [argument] => digits(*argument).map(Some).ok_or_else(|| wrong("a number of digits")),
        [_, _, ..] => Err(wrong("at most a number of digits")),
    };
    Ok(match name {
        "number" => Format::Number { digits: digits_only()? },
        "percent" => Format::Percent { digits: digits_only()?.unwrap_or(0) },
        "compact" => Format::Compact { digits: digits_only()? },
        "bytes" => Format::Bytes { digits: digits_only()?.unwrap_or(1) },
        "currency" => currency(arguments)?,
        "duration" => match arguments {
            [Argument::Word(word)] => Format::Duration {
                unit: of_words(word, &DurationUnit::WORDS)
                    .ok_or_else(|| wrong("the unit of the number: ms, s, min, h or d"))?,
            },
            _ => return Err(wrong("the unit of the number: ms, s, min, h or d")),
        },
        "date" | "time" | "datetime" | "since" => moment(name, arguments)?,
        "delta" => delta(arguments)?,
        "plural" => match arguments {
            [Argument::Text(one), Argument::Text(other)] => {
                Format::Plural { one: (*one).into(), other: (*other).into() }
            }
            _ => return Err(wrong("two texts in quotes, the singular and the plural")),
        },
        "truncate" => match arguments {
            [argument] => Format::Truncate {
                chars: count(*argument)
                    .ok_or_else(|| wrong("a number of characters from 1 to 1000"))?,
            },
            _ => return Err(wrong("a number of characters from 1 to 1000")),
        },
        _ if !arguments.is_empty() => return Err(wrong("no arguments")),
        "count" => Format::Count,
        "upper" => Format::Upper,
        "lower" => Format::Lower,
        _ => Format::Title,
    })
}

fn of_words<T: Copy>(word: &str, words: &[(&str, T)]) -> Option<T> {
    words.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)
}

fn digits(argument: Argument<'_>) -> Option<u8> {
    let Argument::Word(word) = argument else { return None };
    word.parse().ok().filter(|digits| *digits <= DIGITS_MAX && !word.starts_with('+'))
}

fn count(argument: Argument<'_>) -> Option<u16> {
    let Argument::Word(word) = argument else { return None };
    word.parse().ok().filter(|count| (1..=1000).contains(count) && !word.starts_with('+'))
}

fn currency(arguments: &[Argument<'_>]) -> Result<Format, PipeFault> {
    let wrong = |wants: String, instead: Cow<'static, str>| PipeFault {
        kind: PipeFaultKind::Arguments,
        message: format!("`currency` wants {wants}"),
        instead,
        advice: "",
    };
    let (code, digits_argument) = match arguments {
        [Argument::Word(code) | Argument::Text(code)] => (*code, None),
        [Argument::Word(code) | Argument::Text(code), digits] => (*code, Some(*digits)),
        _ => return Err(wrong("a code of ISO 4217".to_owned(), "currency:EUR:2".into())),
    };
    let Some(currency) = Currency::parse(code) else {
        let near = match code {
            "$" => Some("USD"),
            "€" => Some("EUR"),
            "£" => Some("GBP"),
            "¥" => Some("JPY"),
            _ => nearest_name(code, Currency::codes()),
        };
        let instead = format!("currency:{}", near.unwrap_or("EUR")).into();
        return Err(wrong(format!("a code of ISO 4217, which `{code}` is not"), instead));
    };
    let digits = match digits_argument {
        None => None,
        Some(argument) => match digits(argument) {
            Some(digits) => Some(digits),
            None => {
                let instead = format!("currency:{}", currency.code()).into();
                return Err(wrong("a number of digits behind the code".to_owned(), instead));
            }
        },
    };
    Ok(Format::Currency { currency, digits })
}

fn moment(name: &str, arguments: &[Argument<'_>]) -> Result<Format, PipeFault> {
    let (mut style, mut unit, mut seconds) = (None, None, false);
    for argument in arguments {
        let (Argument::Word(word) | Argument::Text(word)) = argument;
        let known_style = of_words(word, &DateStyle::WORDS);
        match (*word, name) {
            ("s", _) if unit.is_none() => unit = Some(UnixUnit::Seconds),
            ("ms", _) if unit.is_none() => unit = Some(UnixUnit::Milliseconds),
            ("seconds", "time") if !seconds => seconds = true,
            (_, "date" | "datetime") if style.is_none() && known_style.is_some() => {
                style = known_style;
            }
            _ => return Err(moment_fault(name, word)),
        }
    }
    let style = style.unwrap_or(DateStyle::Medium);
    Ok(match name {
        "date" => Format::Date { style, unit },
        "time" => Format::Time { seconds, unit },
        "datetime" => Format::DateTime { style, unit },
        _ => Format::Since { unit },
    })
}

fn moment_fault(name: &str, word: &str) -> PipeFault {
    let (wants, instead) = match name {
        "date" => (
            "short, medium, long, full, day, month or weekday, and s or ms behind numbers",
            "date:medium",
        ),
        "time" => ("seconds, or s or ms behind numbers", "time"),
        "datetime" => {
            ("short, medium, long or full, and s or ms behind numbers", "datetime:medium")
        }
        _ => ("nothing but s or ms behind numbers", "since"),
    };
    let message = format!("`{name}` wants {wants}, not `{word}`");
    let is_pattern =
        word.contains('%') || word.contains(['-', '/', '.', ' ']) || word.contains("YY");
    let advice = if is_pattern { "the locale writes the date; there are no patterns" } else { "" };
    PipeFault { kind: PipeFaultKind::Arguments, message, instead: instead.into(), advice }
}

fn delta(arguments: &[Argument<'_>]) -> Result<Format, PipeFault> {
    let mut format = (None, false);
    for argument in arguments {
        match (*argument, digits(*argument)) {
            (Argument::Word("percent"), _) if !format.1 => format.1 = true,
            (_, Some(digits)) if format.0.is_none() => format.0 = Some(digits),
            _ => {
                return Err(arguments_fault("delta", "a number of digits, and percent", "delta:1"));
            }
        }
    }
    Ok(Format::Delta { digits: format.0, percent: format.1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_a_format_of_its_name() {
        for (name, line) in FORMATS {
            assert!(line.starts_with(name));
            let pipes = parse(line).unwrap();
            assert!(pipes.format.is_some() && pipes.or.is_none(), "{line}");
        }
        for (word, line) in SYNONYMS {
            assert!(parse(line).is_ok(), "{word}: {line}");
            assert!(!FORMATS.iter().any(|(name, _)| *name == word), "{word} is a format");
        }
    }

    #[test]
    fn a_format_and_an_or_stand_in_either_order() {
        let one = parse("delta:1 | or:'–'").unwrap();
        assert_eq!(one, parse(" or : \"–\" | delta : 1 ").unwrap());
        assert_eq!(one.or.as_deref(), Some("–"));
        assert_eq!(parse("or:'a | b: c'").unwrap().or.as_deref(), Some("a | b: c"));
        assert_eq!(parse("date:long:ms"), parse("date:ms:long"));
        assert_eq!(split("data.x | or:'|'"), ("data.x", Some(" or:'|'")));
    }

    #[test]
    fn a_repaired_binding_keeps_what_was_right() {
        assert_eq!(repair("data.x", "money | or:'–'"), "data.x | currency:EUR:2 | or:'–'");
        assert_eq!(repair("data.x", "safe"), "data.x");
        assert_eq!(repair("data.x", "number:1 | upper | or:'a'"), "data.x | number:1 | or:'a'");
    }

    #[track_caller]
    fn refused(text: &str, instead: &str) {
        let fault = parse(text).unwrap_err();
        assert_eq!(fault.instead, instead, "{text}: {}", fault.message);
        assert!(fault.instead.is_empty() || parse(&fault.instead).is_ok(), "{text}");
    }

    #[test]
    fn what_was_meant_is_offered() {
        refused("money", "currency:EUR:2");
        refused("uppercase", "upper");
        refused("numbr", "number:0");
        refused("default:'x'", "or:'x'");
        refused("date:'%Y-%m-%d'", "date:medium");
        refused("date(\"Y-m-d\")", "date:medium");
        refused("date:YYYY-MM-DD", "date:medium");
        refused("currency:$", "currency:USD");
        refused("currency:eur", "currency:EUR");
        refused("currency", "currency:EUR:2");
        refused("number:x", "number:0");
        refused("number:21", "number:0");
        refused("number:-1", "number:0");
        refused("duration", "duration:ms");
        refused("plural:'a'", "plural:'issue':'issues'");
        refused("truncate:0", "truncate:40");
        refused("sort", "");
        refused("where:'x'", "");
        refused("safe", "");
        refused("number:1 | upper", "");
        refused("or:'a' | or:'b'", "");
        refused("or:x", "or:'–'");
        refused("", "");
        refused("upper:1", "upper");
        refused("or:'x", "or:'–'");
        refused("time:long", "time");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_parsed_or_refused_with_something_that_is_parsed(text in "\\PC{0,50}|[a-z:|' ]{0,30}") {
            if let Err(fault) = parse(&text) {
                proptest::prop_assert!(fault.instead.is_empty() || parse(&fault.instead).is_ok());
                let repaired = repair("data.x", &text);
                let (_, piped) = split(&repaired);
                proptest::prop_assert!(piped.is_none_or(|piped| parse(piped).is_ok()));
            }
        }
    }
}
