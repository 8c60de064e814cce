//! The faults of a schedule, repaired: paces of other languages in our words, times of the clock as
//! they are.

use serde_json::json;

use super::change::Change;
use super::names;
use crate::error::Issue;
use crate::json::Value;
use crate::schedule::Interval;

const SCHEDULE: &str = "/input/document/refresh";

/// Puts a field that says when to refresh where it belongs; `None` if it says no such thing, or if
/// there is no source that a schedule could refresh.
pub(super) fn misplaced(
    body: &Value,
    parent: &str,
    key: &str,
    at: &str,
    value: &Value,
) -> Option<Vec<Change>> {
    let name = names::fold(key);
    let here = parent == SCHEDULE;
    if here && matches!(name.as_str(), "timezone" | "tz" | "zone") {
        return Some(vec![Change::Rename { at: at.to_owned(), to: "timeZone".to_owned() }]);
    }
    let has_source = ["sourceJson", "sources"]
        .iter()
        .any(|source| body.pointer(&format!("/input/document/{source}")).is_some());
    if !here && (!has_source || !says_when(&name) || body.pointer(SCHEDULE).is_some()) {
        return None;
    }
    if let (Value::Object(_), false) = (value, here) {
        return Some(vec![Change::Move { from: at.to_owned(), to: SCHEDULE.to_owned() }]);
    }
    let (field, text) = said(value, &name)?;
    let place = format!("{SCHEDULE}/{field}");
    if body.pointer(&place).is_some() {
        return None;
    }
    Some(vec![
        Change::Remove { at: at.to_owned() },
        Change::Write { at: place, value: json!(text) },
    ])
}

/// Returns whether a field is called after when a page is refreshed.
pub(super) fn says_when(name: &str) -> bool {
    matches!(
        name,
        "schedule"
            | "refreshschedule"
            | "refreshinterval"
            | "autorefresh"
            | "interval"
            | "cron"
            | "crontab"
            | "pollinterval"
            | "refreshintervalseconds"
            | "refreshintervalminutes"
            | "refreshevery"
            | "refreshrate"
            | "refreshfrequency"
            | "frequency"
    )
}

/// Rewrites what is wrong inside a schedule, or a schedule that is no object.
pub(super) fn mend(issue: &Issue, at: &str, key: &str, value: Option<&Value>) -> Vec<Change> {
    let Some(value) = value else { return Vec::new() };
    let write = |at: String, value: Value| vec![Change::Write { at, value }];
    let fix = issue.fix.as_deref().unwrap_or_default();
    match (issue.code.as_str(), key) {
        (_, "refresh") if at == SCHEDULE => match said(value, "refresh") {
            Some((field, text)) => write(at.to_owned(), json!({ field: text })),
            None if value.is_boolean() => vec![Change::Remove { at: at.to_owned() }],
            None => Vec::new(),
        },
        ("conflict", "cron") => vec![Change::Remove { at: format!("{SCHEDULE}/every") }],
        ("conflict", "timeZone") => vec![Change::Remove { at: at.to_owned() }],
        ("too_often", "every") => write(at.to_owned(), json!(fix)),
        ("malformed" | "wrong_type", "every" | "maxAge") => match said(value, key) {
            Some(("cron", text)) => vec![
                Change::Remove { at: at.to_owned() },
                Change::Write { at: format!("{SCHEDULE}/cron"), value: json!(text) },
            ],
            Some((_, text)) => write(at.to_owned(), json!(text)),
            None => Vec::new(),
        },
        ("malformed", "cron") => match said(value, key) {
            Some(("every", text)) => vec![
                Change::Remove { at: at.to_owned() },
                Change::Write { at: format!("{SCHEDULE}/every"), value: json!(text) },
            ],
            Some(_) | None => Vec::new(),
        },
        ("malformed", "timeZone") if !fix.is_empty() && !fix.contains(' ') => {
            write(at.to_owned(), json!(fix))
        }
        _ => Vec::new(),
    }
}

/// Reads a pace or times of the clock, and returns the field that holds it with its value.
fn said(value: &Value, name: &str) -> Option<(&'static str, String)> {
    match value {
        Value::Number(number) => Some(("every", pace(number.as_u64()?, name))),
        Value::String(text) => {
            let text = text.trim();
            if is_cron(text) {
                return Some(("cron", text.to_owned()));
            }
            if let Ok(number) = text.parse() {
                return Some(("every", pace(number, name)));
            }
            let lower = text.to_ascii_lowercase();
            let word = lower.trim_start_matches(['@', ' ']).trim_start_matches("every").trim();
            let named = match word {
                "hourly" | "hour" => "1h",
                "daily" | "day" | "nightly" | "midnight" => "1d",
                "weekly" | "week" => "7d",
                "monthly" | "month" => "30d",
                "minute" | "minutely" => "1m",
                _ => return Some(("every", interval(text)?)),
            };
            Some(("every", named.to_owned()))
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn interval(text: &str) -> Option<String> {
    match text.parse::<Interval>() {
        Ok(interval) => Some(interval.to_string()),
        Err(fault) => fault.fix,
    }
}

/// Writes a bare number as a pace: the name says its unit, else its size does.
fn pace(number: u64, name: &str) -> String {
    let name = name.to_ascii_lowercase();
    let ms = match number {
        _ if name.contains("hour") => number.saturating_mul(3_600_000),
        _ if name.contains("min") => number.saturating_mul(60_000),
        _ if name.contains("sec") => number.saturating_mul(1_000),
        _ if name.ends_with("ms") => number,
        // A page is rarely refreshed once a week: large numbers are thousandths.
        600_000.. => number,
        120.. => number.saturating_mul(1_000),
        _ => number.saturating_mul(60_000),
    };
    Interval::from_ms(ms).to_string()
}

fn is_cron(text: &str) -> bool {
    let fields: Vec<&str> = text.split_whitespace().collect();
    let is_field = |field: &&str| {
        field.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"*/,-?#".contains(&byte))
    };
    matches!(fields.len(), 5 | 6)
        && fields.iter().all(is_field)
        && text.contains(['*', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_read_in_every_unit() {
        for (value, name, meant) in [
            (json!("1 hour"), "every", Some(("every", "1h"))),
            (json!("hourly"), "every", Some(("every", "1h"))),
            (json!("@daily"), "every", Some(("every", "1d"))),
            (json!("every 15 minutes"), "every", Some(("every", "15m"))),
            (json!(3600), "every", Some(("every", "1h"))),
            (json!("300"), "interval", Some(("every", "5m"))),
            (json!(15), "every", Some(("every", "15m"))),
            (json!(3_600_000), "interval", Some(("every", "1h"))),
            (json!(90), "refreshintervalseconds", Some(("every", "2m"))),
            (json!("0 9 * * 1-5"), "every", Some(("cron", "0 9 * * 1-5"))),
            (json!("when it changes"), "every", None),
            (json!(true), "every", None),
        ] {
            let said = said(&value, name);
            assert_eq!(said.as_ref().map(|(f, t)| (*f, t.as_str())), meant, "{value} {name}");
        }
    }
}
