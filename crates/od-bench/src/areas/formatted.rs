//! `html_template_v2` beside minijinja with the same formats as filters, and a page of charts.

use std::fmt::Write as _;
use std::hint::black_box;

use od_core::template::{Grammar, Template};
use serde_json::{Value, json};

use super::template::{broken, in_turns, jinja_value, per_call, render};
use crate::row::{Row, Target};

const ROWS: usize = 500;
const CHART_POINTS: usize = 500;

/// Measures formats and charts.
pub(crate) fn measure() -> Vec<Row> {
    vec![formatted_page(), chart_page()]
}

fn formatted_page() -> Row {
    let name = "500 rows × 10 bindings, half of them formatted";
    let data = rows(ROWS);
    let Ok((template, _)) = Template::compile_as(&ours(), Grammar::V2) else { return broken(name) };
    let Ok(environment) = peer() else { return broken(name) };
    let Ok(page) = environment.get_template("page.html") else { return broken(name) };
    let context = jinja_value(&data);
    let mut out = Vec::with_capacity(1 << 20);
    let mut peer_out = Vec::with_capacity(1 << 20);
    let pair = in_turns(
        301,
        || render(&template, &data, &mut out),
        || {
            peer_out.clear();
            let written = page.render_captured_to(black_box(context.clone()), &mut peer_out);
            let _ = black_box(written.is_ok());
        },
    );
    Row {
        what: format!("render {name}"),
        measured: format!("{:.1?}, {} KiB of HTML", pair.subject, out.len() / 1024),
        against: format!("minijinja with the same filters {:.1?}", pair.peer),
        figure: pair.peer.as_secs_f64() / pair.subject.as_secs_f64(),
        unit: "x",
        target: Target::AtLeast(3.0),
    }
}

fn chart_page() -> Row {
    let name = "a page of six charts of 500 points";
    let Ok((template, _)) = Template::compile_as(&charts(), Grammar::V2) else {
        return broken(name);
    };
    let data = points(CHART_POINTS);
    let mut out = Vec::with_capacity(1 << 20);
    let time = per_call(1, || render(&template, &data, &mut out));
    Row::alone(
        format!("render {name}"),
        format!("{time:.1?}, {} KiB of HTML", out.len() / 1024),
        (time.as_secs_f64() * 1e3, "ms"),
        Target::AtMost(1.0),
    )
}

/// A table row of ten cells: five texts, and five values with a format each.
const CELLS: [(&str, &str, &str); 10] = [
    ("name", "", ""),
    ("owner", "", ""),
    ("region", "", ""),
    ("status", "", ""),
    ("note", "", ""),
    ("requests", " | number:0", " | number"),
    ("share", " | percent:1", " | percent"),
    ("cost", " | currency:EUR:2", " | euro"),
    ("size", " | compact:1", " | compact"),
    ("updated", " | date:medium", " | date"),
];

/// The template of the formatted table.
pub(crate) fn ours() -> String {
    let mut cells = String::new();
    for (key, format, _) in CELLS {
        let _ = write!(cells, "<td class=\"cell\">{{{{row.{key}{format}}}}}</td>");
    }
    format!("<table><tbody><tr data-od-repeat=\"row in data.rows\">{cells}</tr></tbody></table>")
}

/// The same page for minijinja, with filters that write the same text.
fn peer() -> Result<minijinja::Environment<'static>, minijinja::Error> {
    let mut cells = String::new();
    for (key, _, filter) in CELLS {
        let _ = write!(cells, "<td class=\"cell\">{{{{row.{key}{filter}}}}}</td>");
    }
    let page = format!(
        "<table><tbody>{{% for row in rows %}}<tr>{cells}</tr>{{% endfor %}}</tbody></table>"
    );
    let mut environment = minijinja::Environment::new();
    environment.add_filter("number", |value: f64| grouped(value, 0));
    environment.add_filter("percent", |value: f64| format!("{:.1}%", value * 100.0));
    environment.add_filter("euro", |value: f64| format!("€{}", grouped(value, 2)));
    environment.add_filter("compact", |value: f64| match value {
        value if value >= 1e6 => format!("{}M", tenths(value / 1e6)),
        value if value >= 1e3 => format!("{}K", tenths(value / 1e3)),
        value => tenths(value),
    });
    environment.add_filter("date", |text: &str| match text.parse::<jiff::Timestamp>() {
        Ok(time) => time.strftime("%b %-d, %Y").to_string(),
        Err(_) => String::new(),
    });
    environment.add_template_owned("page.html", page)?;
    Ok(environment)
}

/// Writes a number with at most one digit behind the point.
fn tenths(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Writes a number with a comma between every three digits.
fn grouped(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    let whole = text.split('.').next().unwrap_or_default().len();
    let mut out = String::with_capacity(text.len() + whole / 3);
    for (at, character) in text.chars().enumerate() {
        if at > 0 && at < whole && (whole - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(character);
    }
    out
}

/// Rows for the formatted table: numbers with a few digits, as sources write them, of which none lies
/// half way between two roundings.
pub(crate) fn rows(count: usize) -> Value {
    let rows: Vec<Value> = (0..count)
        .map(|row| {
            let number = row as f64;
            json!({
                "name": format!("Service number {row}"),
                "owner": "Platform & tools",
                "region": "eu-central",
                "status": if row % 7 == 0 { "degraded" } else { "ok" },
                "note": "as the source gave it",
                "requests": row * 10_013,
                "share": (number * 20.0 + 3.0) / 1e4,
                "cost": (number * 101_337.0 + 12.0) / 1e2,
                "size": (number * 99_170.0 + 10_231.0) / 1e1,
                "updated": format!("2026-{:02}-{:02}T08:{:02}:07Z", row % 12 + 1, row % 28 + 1, row % 60),
            })
        })
        .collect();
    json!({ "rows": rows })
}

/// Six charts, one of each kind that takes a list, over one list.
pub(crate) fn charts() -> String {
    ["spark", "line", "area", "bar", "stacked-bar", "line"]
        .into_iter()
        .enumerate()
        .map(|(at, kind)| {
            let second = if kind == "stacked-bar" || at == 5 { " d.errors" } else { "" };
            let labels = if second.is_empty() { "" } else { " data-od-labels=\"Visits, Errors\"" };
            format!(
                "<figure data-od-chart=\"{kind}\" data-od-repeat=\"d in data.days\" data-od-x=\"d.day\" \
                 data-od-y=\"d.visits{second}\" data-od-title=\"Visits {at}\"{labels}></figure>"
            )
        })
        .collect()
}

/// A list of days with two numbers each.
pub(crate) fn points(count: usize) -> Value {
    let start = jiff::civil::date(2025, 1, 1);
    let days: Vec<Value> = (0..count)
        .map(|day| {
            let date =
                start.saturating_add(jiff::Span::new().days(i64::try_from(day).unwrap_or(0)));
            json!({
                "day": date.to_string(),
                "visits": (day * 7_919) % 10_007,
                "errors": ((day * 31) % 97) as f64 / 4.0,
            })
        })
        .collect();
    json!({ "days": days })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minijinja_writes_the_same_page() {
        let data = rows(ROWS);
        let (template, _) = Template::compile_as(&ours(), Grammar::V2).unwrap();
        let mut page = Vec::new();
        template.render(&data, &mut page).unwrap();
        let environment = peer().unwrap();
        let peer = environment.get_template("page.html").unwrap();
        let peer = peer.render(jinja_value(&data)).unwrap();
        let page = String::from_utf8(page).unwrap();
        for (ours, theirs) in page.split("<tr>").zip(peer.split("<tr>")) {
            assert_eq!(ours, theirs);
        }
        assert_eq!(page.len(), peer.len());
    }

    #[test]
    fn the_page_of_charts_has_six() {
        let (template, _) = Template::compile_as(&charts(), Grammar::V2).unwrap();
        let mut page = Vec::new();
        template.render(&points(CHART_POINTS), &mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        assert_eq!(page.matches("<figure").count(), 6);
    }
}
