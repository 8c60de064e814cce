//! Conditions: `path`, `!path`, `path op literal`.

use std::cmp::Ordering;
use std::fmt;

use serde_json::Value;

use super::path::{Path, PathFault};

/// A parsed condition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Condition {
    pub(crate) subject: Subject,
    /// The subject as written.
    pub(crate) text: Box<str>,
    pub(crate) test: Test,
}

/// The left side of a condition, or the value that a binding shows.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Subject {
    Path(Path),
    /// A row variable of the innermost repeat.
    Variable(Variable),
}

/// The variables of a repeat's row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Variable {
    /// `@index`: the position from 0.
    Index,
    /// `@number`: the position from 1.
    Number,
    /// `@first`: whether it is the first row.
    First,
    /// `@last`: whether it is the last row.
    Last,
}

impl Variable {
    pub(crate) const ALL: [Self; 4] = [Self::Index, Self::Number, Self::First, Self::Last];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Index => "@index",
            Self::Number => "@number",
            Self::First => "@first",
            Self::Last => "@last",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|variable| variable.as_str() == text)
    }

    /// Returns the variable's value in a row.
    pub(crate) fn value(self, position: usize, length: usize) -> Value {
        match self {
            Self::Index => Value::from(position),
            Self::Number => Value::from(position + 1),
            Self::First => Value::Bool(position == 0),
            Self::Last => Value::Bool(position + 1 == length),
        }
    }
}

/// The question that a condition asks about its subject.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test {
    /// It is there and neither null, false, 0, nor empty.
    True,
    /// The opposite.
    False,
    /// It compares so with the literal.
    Compare(Comparison, Literal),
}

/// The comparisons.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// Longer signs first, so that `<=` is not read as `<`.
    const SIGNS: [(&'static str, Self); 6] = [
        ("==", Self::Equal),
        ("!=", Self::NotEqual),
        ("<=", Self::LessOrEqual),
        (">=", Self::GreaterOrEqual),
        ("<", Self::Less),
        (">", Self::Greater),
    ];

    /// Returns whether only numbers and texts have such an order.
    const fn orders(self) -> bool {
        match self {
            Self::Equal | Self::NotEqual => false,
            Self::Less | Self::LessOrEqual | Self::Greater | Self::GreaterOrEqual => true,
        }
    }

    const fn accepts(self, ordering: Ordering) -> bool {
        match self {
            Self::Equal => ordering.is_eq(),
            Self::NotEqual => ordering.is_ne(),
            Self::Less => ordering.is_lt(),
            Self::LessOrEqual => ordering.is_le(),
            Self::Greater => ordering.is_gt(),
            Self::GreaterOrEqual => ordering.is_ge(),
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = Self::SIGNS.iter().find(|(_, comparison)| comparison == self);
        formatter.write_str(sign.map_or("", |(sign, _)| sign))
    }
}

/// The right side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    Null,
    Bool(bool),
    Number(f64),
    Text(Box<str>),
}

/// The reasons why a text is no condition.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum ConditionFault {
    /// There is nothing in it.
    Empty,
    /// `&&`, `||`, `and`, `or`.
    Joined,
    /// `? :`.
    Ternary,
    /// `+ - * / %` or a call.
    Arithmetic,
    /// `=` or `===` or `!==`: the sign that was meant.
    Sign(&'static str, &'static str),
    /// The left side is no path.
    Subject(PathFault, Box<str>),
    /// A row variable outside every repeat.
    NoRow(Box<str>),
    /// The right side is neither number, text in quotes, `true`, `false` nor `null`.
    Literal(Box<str>),
    /// An order of something other than numbers and texts.
    Order(Comparison, Box<str>),
}

/// Parses a condition whose character references are decoded.
pub(crate) fn parse(text: &str, aliases: &[Box<str>]) -> Result<Condition, ConditionFault> {
    let text = text.trim_ascii();
    if text.is_empty() {
        return Err(ConditionFault::Empty);
    }
    let (left, comparison, right) = split(text);
    if let Some(fault) = other_language(left, right) {
        return Err(fault);
    }
    let Some(comparison) = comparison else {
        let (test, path) = match left.strip_prefix('!') {
            Some(path) => (Test::False, path.trim_ascii_start()),
            None => (Test::True, left),
        };
        return Ok(Condition { subject: subject(path, aliases)?, text: path.into(), test });
    };
    if right.starts_with('=') {
        return Err(match comparison {
            Comparison::NotEqual => ConditionFault::Sign("!==", "!="),
            Comparison::Equal
            | Comparison::Less
            | Comparison::LessOrEqual
            | Comparison::Greater
            | Comparison::GreaterOrEqual => ConditionFault::Sign("===", "=="),
        });
    }
    let (subject, text) = (subject(left, aliases)?, left.into());
    let literal = literal(right).ok_or_else(|| ConditionFault::Literal(right.into()))?;
    if comparison.orders() && matches!(literal, Literal::Null | Literal::Bool(_)) {
        return Err(ConditionFault::Order(comparison, right.into()));
    }
    Ok(Condition { subject, text, test: Test::Compare(comparison, literal) })
}

/// Parses a path or a row variable.
pub(crate) fn subject(text: &str, aliases: &[Box<str>]) -> Result<Subject, ConditionFault> {
    if let Some(variable) = Variable::parse(text) {
        return if aliases.is_empty() {
            Err(ConditionFault::NoRow(text.into()))
        } else {
            Ok(Subject::Variable(variable))
        };
    }
    match Path::parse(text, aliases) {
        Ok(path) => Ok(Subject::Path(path)),
        Err(fault) => Err(ConditionFault::Subject(fault, text.into())),
    }
}

/// Splits at the first sign outside quotes.
fn split(text: &str) -> (&str, Option<Comparison>, &str) {
    let outside = outside_quotes(text);
    for (at, _) in outside {
        let rest = &text[at..];
        let sign = Comparison::SIGNS.iter().find(|(sign, _)| rest.starts_with(sign));
        if let Some((sign, comparison)) = sign {
            let right = rest[sign.len()..].trim_ascii();
            return (text[..at].trim_ascii(), Some(*comparison), right);
        }
    }
    (text, None, "")
}

/// Returns the characters that stand outside quotes, with their places.
fn outside_quotes(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut quote = None;
    text.char_indices().filter(move |(_, mark)| match quote {
        Some(open) if open == *mark => {
            quote = None;
            false
        }
        Some(_) => false,
        None if matches!(mark, '\'' | '"') => {
            quote = Some(*mark);
            false
        }
        None => true,
    })
}

/// Finds what conditions of other languages have and these do not.
fn other_language(left: &str, right: &str) -> Option<ConditionFault> {
    for part in [left, right] {
        let bare: String = outside_quotes(part).map(|(_, mark)| mark).collect();
        let has_word = |word: &str| bare.split_ascii_whitespace().any(|other| other == word);
        if bare.contains("&&") || bare.contains("||") || has_word("and") || has_word("or") {
            return Some(ConditionFault::Joined);
        }
        if bare.contains('?') {
            return Some(ConditionFault::Ternary);
        }
        // A sign right behind `e` or at the beginning belongs to a number; `-` is part of keys.
        let is_number = part.parse::<f64>().is_ok();
        if !is_number && bare.contains(['+', '*', '/', '%', '(']) {
            return Some(ConditionFault::Arithmetic);
        }
        if bare.split('=').count() == 2 && part == left {
            return Some(ConditionFault::Sign("=", "=="));
        }
    }
    None
}

/// Parses a literal: a JSON number, a text in quotes, `true`, `false`, `null`.
fn literal(text: &str) -> Option<Literal> {
    match text {
        "null" => return Some(Literal::Null),
        "true" => return Some(Literal::Bool(true)),
        "false" => return Some(Literal::Bool(false)),
        _ => {}
    }
    for quote in ['\'', '"'] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return (!inner.contains(quote)).then(|| Literal::Text(inner.into()));
        }
    }
    // As JSON reads it, so that `0x10`, `inf` and `1_000` are none.
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Number(number)) => number.as_f64().map(Literal::Number),
        Ok(_) | Err(_) => None,
    }
}

/// An order that was asked of values that have none.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct NoOrder;

impl Test {
    /// Applies the test to a value; a missing one is `None`.
    pub(crate) fn apply(&self, value: Option<&Value>) -> Result<bool, NoOrder> {
        match self {
            Self::True => Ok(is_true(value)),
            Self::False => Ok(!is_true(value)),
            Self::Compare(comparison, literal) => compare(*comparison, value, literal),
        }
    }
}

/// Returns whether a value counts as true: not missing, null, false, 0, or empty.
pub(crate) fn is_true(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Bool(value)) => *value,
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::Object(map)) => !map.is_empty(),
    }
}

fn compare(
    comparison: Comparison,
    value: Option<&Value>,
    literal: &Literal,
) -> Result<bool, NoOrder> {
    let ordering = match (value, literal) {
        (None | Some(Value::Null), Literal::Null) => Some(Ordering::Equal),
        (Some(Value::Bool(value)), Literal::Bool(literal)) if value == literal => {
            Some(Ordering::Equal)
        }
        (Some(Value::Number(number)), Literal::Number(literal)) => {
            number.as_f64().and_then(|number| number.partial_cmp(literal))
        }
        // By code points, which is also the order of dates as RFC 3339 writes them.
        (Some(Value::String(text)), Literal::Text(literal)) => Some(text.as_str().cmp(literal)),
        (_, _) => None,
    };
    match ordering {
        Some(ordering) => Ok(comparison.accepts(ordering)),
        None if comparison.orders() => Err(NoOrder),
        None => Ok(comparison == Comparison::NotEqual),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn holds(condition: &str, value: &Value, expected: bool) {
        let data = json!({ "v": value });
        let condition = parse(condition, &[]).unwrap();
        let Subject::Path(path) = &condition.subject else { panic!("{condition:?}") };
        assert_eq!(condition.test.apply(path.resolve(&data, &[])), Ok(expected), "{condition:?}");
    }

    #[test]
    fn empty_values_and_zero_are_false() {
        for value in
            [json!(null), json!(false), json!(0), json!(-0.0), json!(""), json!([]), json!({})]
        {
            holds("data.v", &value, false);
            holds("!data.v", &value, true);
        }
        for value in [json!(true), json!(1), json!("0"), json!([0]), json!({ "a": null })] {
            holds("data.v", &value, true);
            holds("! data.v", &value, false);
        }
        holds("data.gone", &json!(1), false);
    }

    #[test]
    fn values_compare_with_literals_of_their_type() {
        holds("data.v == 'failed'", &json!("failed"), true);
        holds("data.v=='a == b'", &json!("a == b"), true);
        holds("data.v != \"x\"", &json!("y"), true);
        holds("data.v >= 0.9", &json!(0.9), true);
        holds("data.v < 1e3", &json!(999.5), true);
        holds("data.v > -1", &json!(0), true);
        holds("data.v == 1", &json!("1"), false);
        holds("data.v != 1", &json!(null), true);
        holds("data.gone == null", &json!(1), true);
        holds("data.v == true", &json!(true), true);
        holds("data.v != true", &json!(false), true);
        holds("data.v > '2026-01-01'", &json!("2026-11-17"), true);
    }

    #[test]
    fn only_numbers_and_texts_have_an_order() {
        let condition = parse("data.v < 1", &[]).unwrap();
        for value in [json!(null), json!("0"), json!(true), json!([]), json!({})] {
            assert_eq!(condition.test.apply(Some(&value)), Err(NoOrder), "{value}");
        }
        assert_eq!(condition.test.apply(None), Err(NoOrder));
        assert!(matches!(parse("data.v < null", &[]), Err(ConditionFault::Order(..))));
        assert!(matches!(parse("data.v >= true", &[]), Err(ConditionFault::Order(..))));
    }

    #[test]
    fn other_languages_are_recognised() {
        let fault = |text: &str| parse(text, &["row".into()]).unwrap_err();
        assert_eq!(fault(""), ConditionFault::Empty);
        for joined in ["data.a && data.b", "data.a or data.b", "data.a == 1 || data.b == 2"] {
            assert_eq!(fault(joined), ConditionFault::Joined, "{joined}");
        }
        assert_eq!(fault("data.a ? 1 : 2"), ConditionFault::Ternary);
        for text in ["data.a + 1 > 2", "data.rows.length() > 0", "data.a % 2 == 0"] {
            assert_eq!(fault(text), ConditionFault::Arithmetic, "{text}");
        }
        assert_eq!(fault("data.a === 1"), ConditionFault::Sign("===", "=="));
        assert_eq!(fault("data.a !== 1"), ConditionFault::Sign("!==", "!="));
        assert_eq!(fault("data.a = 1"), ConditionFault::Sign("=", "=="));
        for right in ["data.a == data.b", "data.a == failed", "data.a == 0x1", "data.a == 'x"] {
            assert!(matches!(fault(right), ConditionFault::Literal(_)), "{right}");
        }
        assert!(matches!(fault("x == 1"), ConditionFault::Subject(PathFault::Root, _)));
        assert_eq!(parse("@first", &[]), Err(ConditionFault::NoRow("@first".into())));
        assert!(parse("@index >= 3", &["row".into()]).is_ok());
        assert!(parse("row.a-b == -1.5e-3", &["row".into()]).is_ok());
        assert!(parse("data.v == 'a && b ? c'", &[]).is_ok());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in "\\PC{0,60}") {
            let _ = parse(&text, &["row".into()]);
        }
    }
}
