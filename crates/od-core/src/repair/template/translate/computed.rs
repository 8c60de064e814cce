//! Values that other languages compute where they show them: the formats and branches that do the same.

use std::ops::Range;

use super::Translator;
use crate::template::Grammar;

impl Translator<'_, '_> {
    /// Writes a value that is rounded, scaled or made readable with the format of the second grammar that
    /// does so; `false` if it is nothing of that kind.
    pub(super) fn computed(&mut self, text: &str, span: &Range<usize>) -> bool {
        let Some((subject, format)) = formatted(text) else { return false };
        let Some(path) = self.path(subject, span) else {
            self.keep_formats(span, &format!(" | {format}"));
            return true;
        };
        let source = self.outline.source;
        // `{{x * 100}}%`: the format writes the sign.
        let is_percent = format.starts_with("percent") && source[span.end..].starts_with('%');
        let end = span.end + usize::from(is_percent);
        self.edit(span.start..end, format!("{{{{{path} | {format}}}}}"));
        true
    }

    /// Writes a choice between two texts as two elements; `false` if it is none that a page can make.
    pub(super) fn choice(&mut self, text: &str, span: &Range<usize>) -> bool {
        let Some((condition, yes, no)) = chosen(text) else { return false };
        let is_second = self.grammar == Grammar::V2;
        let Some(holds) = self.condition(condition, false, span) else { return false };
        let fails = match is_second {
            true => Some("data-od-else".to_owned()),
            false => self.condition(condition, true, span),
        };
        let Some(fails) = fails else { return false };
        let show = |text: &str, attribute: &str| match text {
            "" => String::new(),
            text => format!("<span {attribute}>{text}</span>"),
        };
        let fails = if is_second && yes.is_empty() { String::new() } else { fails };
        if fails.is_empty() {
            return false;
        }
        self.edit(span.clone(), format!("{}{}", show(yes, &holds), show(no, &fails)));
        true
    }
}

/// Reads `c ? 'a' : 'b'` and `'a' if c else 'b'`; the texts without their quotation marks.
fn chosen(text: &str) -> Option<(&str, &str, &str)> {
    let text = text.trim();
    if let Some((condition, choice)) = text.split_once(" ? ")
        && let Some((yes, no)) = choice.split_once(" : ")
    {
        return Some((condition.trim(), literal(yes)?, literal(no)?));
    }
    let (yes, rest) = text.split_once(" if ")?;
    let (condition, no) = rest.split_once(" else ")?;
    Some((condition.trim(), literal(yes)?, literal(no)?))
}

/// Reads a text in quotation marks that holds nothing but text.
fn literal(text: &str) -> Option<&str> {
    let text = text.trim();
    let quote = text.chars().next().filter(|mark| matches!(mark, '\'' | '"' | '`'))?;
    let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
    (!inner.contains([quote, '<', '{', '$'])).then_some(inner)
}

/// Returns the value that an expression formats, and the format of ours.
fn formatted(text: &str) -> Option<(&str, String)> {
    let text = text.trim();
    // `"%.1f"|format(x)`, `"%.1f" % x`, `'{:.1f}'.format(x)`.
    if let Some(quote) = text.chars().next().filter(|mark| matches!(mark, '"' | '\'')) {
        let (pattern, rest) = text[1..].split_once(quote)?;
        let rest = rest.trim_start().trim_start_matches(['|', '.', '%']).trim_start();
        let subject = rest.strip_prefix("format").unwrap_or(rest).trim();
        let subject = subject.trim_start_matches('(').trim_end_matches(')').trim();
        let pattern = pattern.trim_matches(['{', '}', ':', '%', ',']);
        let digits = pattern.trim_start_matches('.').trim_end_matches(['f', 'd', '%', 's']);
        let is_percent = text[1..].split_once(quote)?.0.ends_with("%}");
        let digits = if digits.is_empty() { "0" } else { digits };
        let is_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
        let format = if is_percent { "percent" } else { "number" };
        return (is_digits && is_path(subject)).then(|| (subject, format!("{format}:{digits}")));
    }
    // `(x * 100)|round(1)`, `(x * 100).toFixed(1)`, `Math.round(x * 100)`.
    let bare = text.strip_prefix("Math.round(").unwrap_or(text);
    if let Some((subject, rest)) = bare.split_once('*') {
        let rest = rest.trim_start().strip_prefix("100")?;
        if rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return None;
        }
        let digits: String = rest.chars().filter(char::is_ascii_digit).take(1).collect();
        let subject = subject.trim().trim_start_matches('(').trim();
        let digits = if digits.is_empty() { "0".to_owned() } else { digits };
        return is_path(subject).then(|| (subject, format!("percent:{digits}")));
    }
    // `new Intl.NumberFormat('en-US').format(x)`, `new Date(x).toLocaleDateString()`.
    if let Some(rest) = text.strip_prefix("new ").or(Some(text).filter(|it| it.starts_with("Intl")))
    {
        let call = match rest.starts_with("Intl.") {
            true => rest.rsplit_once(".format(")?.1,
            false => rest.strip_prefix("Date(")?,
        };
        let subject = call.split(')').next()?.trim();
        let format = match rest {
            _ if rest.starts_with("Intl.DateTimeFormat") => "date",
            _ if rest.starts_with("Intl.") && rest.contains("percent") => "percent",
            _ if rest.starts_with("Intl.") => "number",
            _ if rest.contains("toLocaleTimeString") => "time",
            _ if rest.contains("toLocaleString") => "datetime",
            _ => "date",
        };
        return is_path(subject).then(|| (subject, format.to_owned()));
    }
    let (subject, _) = text.split_once(".toLocaleString(")?;
    is_path(subject).then(|| (subject, "number".to_owned()))
}

fn is_path(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || "._[]?".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_other_languages_compute_has_a_format() {
        let check = |text: &str, subject: &str, format: &str| {
            assert_eq!(formatted(text), Some((subject, format.to_owned())), "{text}");
        };
        check("(data.rate * 100)|round(1)", "data.rate", "percent:1");
        check("(row.rate * 100).toFixed(2)", "row.rate", "percent:2");
        check("Math.round(data.rate * 100)", "data.rate", "percent:0");
        check("\"%.1f\"|format(data.hours)", "data.hours", "number:1");
        check("'{:.2f}'.format(data.hours)", "data.hours", "number:2");
        check("new Date(data.at).toLocaleDateString('en-US')", "data.at", "date");
        check("new Intl.NumberFormat('en-US').format(data.n)", "data.n", "number");
        check("data.n.toLocaleString()", "data.n", "number");
        assert_eq!(formatted("data.a * 3"), None);
        assert_eq!(formatted("data.a"), None);
    }

    #[test]
    fn a_choice_of_two_texts_is_read_in_either_order() {
        let wanted = Some(("t.state === 'open'", "waiting", "settled"));
        assert_eq!(chosen("t.state === 'open' ? 'waiting' : 'settled'"), wanted);
        assert_eq!(chosen("'waiting' if t.state === 'open' else 'settled'"), wanted);
        assert_eq!(chosen("data.a ? data.b : 'x'"), None);
    }
}
