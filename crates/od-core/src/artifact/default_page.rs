//! The default page of an artifact whose author gave no template: chosen by the shape of the data.

use std::fmt::Write as _;

use crate::json::{Map, Value};
use crate::template::is_key;

/// Light and dark, on paper, from 320 pixels up.
const STYLE: &str = "\
:root{color-scheme:light dark;--page:light-dark(#f6f7f9,#0f1216);--card:light-dark(#fff,#181d24);--ink:light-dark(#1c2430,#e6eaf0);\
--quiet:light-dark(#566072,#a3adbb);--line:light-dark(#e1e5eb,#2a313b)}\
*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,sans-serif}\
main{max-width:72rem;margin:0 auto;padding:clamp(1rem,4vw,2.5rem)}h1{font-size:clamp(1.4rem,4vw,1.9rem);line-height:1.2;margin:0 0 1.25rem;overflow-wrap:anywhere}\
h2{font-size:1.1rem;margin:2rem 0 .75rem;overflow-wrap:anywhere}h3{font-size:1rem;margin:1.25rem 0 .5rem}\
.cards{display:grid;gap:.75rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,11rem),1fr));margin:0}\
.cards div,.panel{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1rem 1.1rem}\
.cards dt{color:var(--quiet);font-size:.875rem}.cards dd{margin:.15rem 0 0;font-size:1.6rem;line-height:1.2;font-weight:650;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}\
.facts{display:grid;grid-template-columns:minmax(6rem,max-content) 1fr;gap:.35rem 1.25rem;margin:1rem 0 0}\
.facts dt{color:var(--quiet)}.facts dd{margin:0;overflow-wrap:anywhere}\
.panel{margin:0 0 .75rem}.scroll{overflow-x:auto;padding:0}table{border-collapse:collapse;width:100%}\
th,td{padding:.5rem 1rem;text-align:left;border-top:1px solid var(--line);vertical-align:top}thead th{border-top:0;color:var(--quiet);font-size:.8125rem;font-weight:600}\
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}.d{white-space:nowrap}\
@media print{body{background:none}main{padding:0}.cards div,.panel{break-inside:avoid}.scroll{overflow:visible}}";

/// Columns of a table; wide rows would not be read anyway.
const COLUMNS_MAX: usize = 12;
/// Series of a chart; more lines would not be told apart.
const SERIES_MAX: usize = 3;
/// The fewest points that are a series over time.
const POINTS_MIN: usize = 3;
/// Values, lists and tables on one page.
const PARTS_MAX: usize = 400;
/// The longest path that is bound, in bytes.
const PATH_MAX: usize = 400;

/// Returns a template of `html_template_v2` for some data: numbers as cards with the format that their
/// names and values suggest, other values as a list, a table for each list of objects, with a chart
/// where its rows are a series over time.
///
/// Keys that no binding can name are left out.
#[must_use]
pub fn default_template(title: &str, data: &Map) -> String {
    let title = as_text(title);
    let mut page = Page { html: String::new(), parts: 0 };
    page.object("data", data, 2);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n\
         {}</main>\n</body>\n</html>\n",
        page.html
    )
}

/// The ways to show a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum CellFormat {
    /// A number with its format.
    Number(&'static str),
    /// A day or a time with its format.
    Moment(&'static str),
    /// As it is.
    Plain,
}

impl CellFormat {
    const fn pipe(self) -> &'static str {
        match self {
            Self::Number(format) | Self::Moment(format) => format,
            Self::Plain => "",
        }
    }

    /// Returns the class of a cell.
    const fn class(self) -> &'static str {
        match self {
            Self::Number(_) => " class=\"n\"",
            Self::Moment(_) => " class=\"d\"",
            Self::Plain => "",
        }
    }

    fn binding(self, path: &str) -> String {
        match self.pipe() {
            "" => format!("{{{{{path} | or:'–'}}}}"),
            format => format!("{{{{{path} | {format} | or:'–'}}}}"),
        }
    }
}

/// Guesses how the values of a key are shown, from its name and all of them.
fn format_of<'v>(key: &str, values: impl Iterator<Item = &'v Value> + Clone) -> CellFormat {
    let mut present = values.filter(|value| !value.is_null());
    let Some(first) = present.clone().next() else { return CellFormat::Plain };
    if first.is_string() {
        let texts = present.clone().map(|value| value.as_str().unwrap_or_default());
        let is_moment = |text: &str| crate::format::date::Moment::parse(text).is_some();
        if !texts.clone().all(is_moment) {
            return CellFormat::Plain;
        }
        let only_days = texts.clone().all(|text| text.len() == 10);
        return CellFormat::Moment(if only_days { "date:medium" } else { "datetime:medium" });
    }
    if !present.all(Value::is_number) {
        return CellFormat::Plain;
    }
    number_format(&words(key).to_ascii_lowercase())
}

/// Guesses the format of numbers from their name.
fn number_format(name: &str) -> CellFormat {
    let has = |word: &str| name.split(' ').any(|part| part == word);
    let format = match () {
        () if has("id") || has("year") || has("port") || has("code") || has("zip") => {
            return CellFormat::Plain;
        }
        () if has("ms") || has("millis") || has("milliseconds") => "duration:ms",
        () if has("seconds") || has("secs") => "duration:s",
        () if has("bytes") => "bytes",
        () if has("usd") => "currency:USD",
        () if has("eur") => "currency:EUR",
        () if has("gbp") => "currency:GBP",
        () if has("delta") || has("change") || has("diff") => "delta",
        () => "number",
    };
    CellFormat::Number(format)
}

impl CellFormat {
    /// Replaces a plain number by a share where its name and all its values say so.
    fn or_share<'v>(self, key: &str, mut values: impl Iterator<Item = &'v Value>) -> Self {
        const NAMES: [&str; 10] = [
            "rate",
            "ratio",
            "share",
            "coverage",
            "uptime",
            "utilization",
            "usage",
            "load",
            "conversion",
            "probability",
        ];
        let name = words(key).to_ascii_lowercase();
        let is_named = name.split(' ').any(|part| NAMES.contains(&part));
        let in_unit = |value: &Value| {
            value.is_null() || value.as_f64().is_some_and(|number| (0.0..=1.0).contains(&number))
        };
        if self == Self::Number("number") && is_named && values.all(in_unit) {
            return Self::Number("percent:1");
        }
        self
    }
}

fn cell_format<'v>(key: &str, values: impl Iterator<Item = &'v Value> + Clone) -> CellFormat {
    format_of(key, values.clone()).or_share(key, values)
}

struct Page {
    html: String,
    parts: usize,
}

impl Page {
    /// Shows an object: its numbers, its other values, then what is inside it. Data is at most 8
    /// levels deep.
    fn object(&mut self, path: &str, object: &Map, level: usize) {
        let formats: Vec<(&str, CellFormat)> = bindable(object)
            .filter(|(_, value)| is_scalar(value))
            .map(|(key, value)| (key, cell_format(key, std::iter::once(value))))
            .collect();
        let is_number = |format: CellFormat| matches!(format, CellFormat::Number(_));
        self.values(path, "cards", formats.iter().filter(|(_, format)| is_number(*format)));
        self.values(path, "facts", formats.iter().filter(|(_, format)| !is_number(*format)));
        for (key, value) in bindable(object) {
            match value {
                Value::Object(inner) if !inner.is_empty() => {
                    self.section(path, key, level, |page, path| {
                        page.object(path, inner, level + 1);
                    });
                }
                Value::Array(rows) if !rows.is_empty() => {
                    self.section(path, key, level, |page, path| page.list(path, key, rows));
                }
                Value::Object(_)
                | Value::Array(_)
                | Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_) => {}
            }
        }
    }

    fn values<'k>(
        &mut self,
        path: &str,
        class: &str,
        values: impl Iterator<Item = &'k (&'k str, CellFormat)>,
    ) {
        let mut is_listing = false;
        let (before, behind) = if class == "cards" { ("<div>", "</div>") } else { ("", "") };
        for (key, format) in values {
            let Some(path) = self.part(path, key) else { continue };
            if !is_listing {
                self.line(&format!("<dl class=\"{class}\">"));
                is_listing = true;
            }
            let (name, value) = (words(key), format.binding(&path));
            self.line(&format!("{before}<dt>{name}</dt><dd>{value}</dd>{behind}"));
        }
        if is_listing {
            self.line("</dl>");
        }
    }

    fn section(
        &mut self,
        path: &str,
        key: &str,
        level: usize,
        inside: impl FnOnce(&mut Self, &str),
    ) {
        let Some(path) = self.part(path, key) else { return };
        let level = level.min(3);
        self.line(&format!("<section>\n<h{level}>{}</h{level}>", words(key)));
        inside(self, &path);
        self.line("</section>");
    }

    /// Shows a list: values as they are, objects as the rows of a table.
    fn list(&mut self, path: &str, key: &str, rows: &[Value]) {
        if rows.iter().all(is_scalar) {
            let format = cell_format(key, rows.iter());
            if matches!(format, CellFormat::Number(_)) && rows.len() >= POINTS_MIN {
                self.line(&format!(
                    "<div class=\"panel\" data-od-chart=\"spark\" data-od-repeat=\"row in {path}\" data-od-y=\"row\" data-od-title=\"{}\" data-od-height=\"64\"></div>",
                    words(key)
                ));
                return;
            }
            let value = format.binding("row");
            self.line(&format!("<ul>\n<li data-od-repeat=\"row in {path}\">{value}</li>\n</ul>"));
            return;
        }
        let columns = columns(rows);
        if columns.is_empty() || !rows.iter().all(Value::is_object) {
            return;
        }
        self.chart(path, &columns, rows);
        let head: String = columns
            .iter()
            .map(|(name, format)| {
                format!("<th scope=\"col\"{}>{}</th>", format.class(), words(name))
            })
            .collect();
        let cells: String = columns
            .iter()
            .map(|(name, format)| {
                format!("<td{}>{}</td>", format.class(), format.binding(&format!("row.{name}")))
            })
            .collect();
        let (name, span) = (words(key), columns.len());
        self.line(&format!(
            "<div class=\"panel scroll\" role=\"region\" aria-label=\"{name}\" tabindex=\"0\"><table>\n\
             <thead><tr>{head}</tr></thead>\n<tbody>\n\
             <tr data-od-repeat=\"row in {path}\">{cells}</tr>\n\
             <tr data-od-else><td colspan=\"{span}\">–</td></tr>\n</tbody>\n</table></div>"
        ));
    }

    /// Draws the numbers of rows that lead from one time to the next.
    fn chart(&mut self, path: &str, columns: &[(&str, CellFormat)], rows: &[Value]) {
        let is_time = |(name, format): &&(&str, CellFormat)| {
            let text = |row: &Value| row.get(*name).and_then(Value::as_str).map(str::to_owned);
            let times: Option<Vec<String>> = rows.iter().map(text).collect();
            // Texts of one form sort as the times do.
            matches!(format, CellFormat::Moment(_))
                && times.is_some_and(|times| times.windows(2).all(|pair| pair[0] < pair[1]))
        };
        let Some((time, _)) = columns.iter().find(is_time) else { return };
        if rows.len() < POINTS_MIN {
            return;
        }
        let numbers =
            || columns.iter().filter(|(_, format)| matches!(format, CellFormat::Number(_)));
        let Some((_, format)) = numbers().next() else { return };
        // Values of one kind share an axis.
        let drawn: Vec<&str> = numbers()
            .filter(|(_, other)| other == format)
            .map(|(name, _)| *name)
            .take(SERIES_MAX)
            .collect();
        let y: Vec<String> = drawn.iter().map(|name| format!("row.{name}")).collect();
        let labels: Vec<String> = drawn.iter().map(|name| words(name)).collect();
        self.line(&format!(
            "<figure class=\"panel\" data-od-chart=\"line\" data-od-repeat=\"row in {path}\" data-od-x=\"row.{time}\" data-od-y=\"{}\" data-od-labels=\"{}\" data-od-title=\"{}\" data-od-format=\"{}\"></figure>",
            y.join(" "),
            labels.join(", "),
            labels.join(", "),
            format.pipe()
        ));
    }

    /// Returns the path of one more part, if the page has room for it.
    fn part(&mut self, path: &str, key: &str) -> Option<String> {
        let path = format!("{path}.{key}");
        if self.parts >= PARTS_MAX || path.len() > PATH_MAX {
            return None;
        }
        self.parts += 1;
        Some(path)
    }

    fn line(&mut self, line: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.html, "{line}");
    }
}

/// Returns the columns that every row can show, in first-seen order, with the format of their values.
fn columns(rows: &[Value]) -> Vec<(&str, CellFormat)> {
    let mut columns: Vec<(&str, CellFormat)> = Vec::new();
    for (name, _) in rows.iter().filter_map(Value::as_object).flat_map(bindable) {
        let shown = |row: &Value| row.get(name).is_none_or(is_scalar);
        let is_new = !columns.iter().any(|(known, _)| *known == name);
        if columns.len() < COLUMNS_MAX && is_new && rows.iter().all(shown) {
            columns.push((name, cell_format(name, rows.iter().filter_map(|row| row.get(name)))));
        }
    }
    columns
}

/// Writes a key as people do: `p95_ms` and `lastRunAt` as `P95 ms` and `Last run at`.
fn words(key: &str) -> String {
    let mut name = String::with_capacity(key.len() + 4);
    let mut was_lower = false;
    for letter in key.chars() {
        if matches!(letter, '_' | '-') {
            name.push(' ');
        } else if letter.is_ascii_uppercase() && was_lower {
            name.push(' ');
            name.push(letter.to_ascii_lowercase());
        } else {
            name.push(letter);
        }
        was_lower = letter.is_ascii_lowercase() || letter.is_ascii_digit();
    }
    let name = name.trim();
    match name.chars().next() {
        Some(first) => format!("{}{}", first.to_ascii_uppercase(), &name[first.len_utf8()..]),
        None => key.to_owned(),
    }
}

/// Returns the members that a binding can name. Their names stand in a page as they are.
fn bindable(object: &Map) -> impl Iterator<Item = (&str, &Value)> {
    object
        .iter()
        .filter(|(key, _)| is_key(key) && key.len() <= PATH_MAX)
        .map(|(key, value)| (key.as_str(), value))
}

fn is_scalar(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

/// Writes a text so that neither HTML nor the template reads anything into it.
fn as_text(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            // Two of them would begin a binding.
            '{' => html.push_str("&#123;"),
            c => html.push(c),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::template::{Grammar, Template};

    #[track_caller]
    fn page(title: &str, data: &Value) -> String {
        let html = default_template(title, data.as_object().unwrap());
        let (template, _) =
            Template::compile_as(&html, Grammar::V2).unwrap_or_else(|e| panic!("{e:?}\n{html}"));
        let mut page = Vec::new();
        template.render(data, &mut page).unwrap_or_else(|e| panic!("{e}\n{html}"));
        String::from_utf8(page).unwrap()
    }

    #[test]
    fn any_data_has_a_page_that_shows_it() {
        let shown = page(
            "T",
            &json!({
                "total": 3, "<odd key>": "x", "names": ["a", "b"],
                "rows": [{ "n": 1, "deep": {} }, { "n": 2, "m": null }], "nothing": [],
                "mixed": [1, {}],
            }),
        );
        assert!(shown.contains("<dd>3</dd>"));
        assert!(shown.contains("<li>a</li>") && shown.contains("<td class=\"n\">2</td>"));
        assert!(!shown.contains("odd key"));
        assert!(page("T", &json!({})).contains("<body>"));
    }

    #[test]
    fn a_page_without_data_is_one_of_the_first_format_too() {
        assert!(Template::compile(&default_template("T", &Map::new())).is_ok());
    }

    #[test]
    fn formats_are_guessed_from_names_and_values() {
        let data = json!({ "visits": 1_234_567, "conversionRate": 0.0734, "p95_ms": 1234, "costEur": 12.5,
            "size_bytes": 1_500_000, "updatedAt": "2026-11-17T08:05:00Z", "day": "2026-11-17", "year": 2026, "load": 3 });
        let shown = page("T", &data);
        for value in [
            "<dt>Visits</dt><dd>1,234,567</dd>",
            "<dt>Conversion rate</dt><dd>7.3%</dd>",
            "<dt>P95 ms</dt><dd>1.2 sec</dd>",
            "<dt>Cost eur</dt><dd>€12.50</dd>",
            "<dt>Size bytes</dt><dd>1.5 MB</dd>",
            "<dt>Updated at</dt><dd>Nov 17, 2026",
            "<dt>Day</dt><dd>Nov 17, 2026</dd>",
            "<dt>Year</dt><dd>2026</dd>",
            "<dt>Load</dt><dd>3</dd>",
        ] {
            assert!(shown.contains(value), "{value} in {shown}");
        }
    }

    #[test]
    fn rows_over_time_are_drawn_and_others_are_not() {
        let row =
            |day: &str, n: i32| json!({ "day": day, "visits": n, "bots": n / 2, "rate": 0.5 });
        let days =
            json!({ "days": [row("2026-11-01", 4), row("2026-11-02", 6), row("2026-11-03", 5)] });
        let shown = page("T", &days);
        assert!(shown.contains("role=\"img\"") && shown.contains("<title>Visits, Bots</title>"));
        let mixed =
            json!({ "days": [row("2026-11-02", 4), row("2026-11-01", 6), row("2026-11-03", 5)] });
        assert!(!page("T", &mixed).contains("role=\"img\""));
    }

    #[test]
    fn a_list_that_a_refresh_empties_is_shown_as_empty() {
        let data = json!({ "rows": [{ "n": 1 }] });
        let html = default_template("T", data.as_object().unwrap());
        let (template, _) = Template::compile_as(&html, Grammar::V2).unwrap();
        template.render(&json!({ "rows": [] }), &mut Vec::new()).unwrap();
        template.render(&json!({ "rows": null }), &mut Vec::new()).unwrap();
    }

    #[test]
    fn what_is_inside_objects_and_under_every_key_a_binding_allows_is_shown() {
        let data = json!({ "summary": { "count": 3, "by": { "day": [{ "n": 8 }] } },
            "my-key": 4, "_x": 5 });
        let shown = page("T", &data);
        for value in ["<dd>3</dd>", "<td class=\"n\">8</td>", "<dd>4</dd>", "<dd>5</dd>"] {
            assert!(shown.contains(value), "{value} in {shown}");
        }
    }

    #[test]
    fn the_title_is_the_artifacts_and_only_text() {
        let shown = page("A & B <script> {{data.x}} {{", &json!({}));
        assert!(shown.contains("<h1>A &amp; B &lt;script&gt; "), "{shown}");
        assert!(!shown.contains("<script>"));
    }

    #[test]
    fn the_page_of_the_largest_data_is_within_the_limits() {
        let long = "k".repeat(300);
        let many: Map = (0..99).map(|i| (format!("{long}{i}"), json!(i))).collect();
        let data =
            json!({ "a": many, "b": { "c": many, "d": { "e": many } }, "f": many, "g": many });
        assert!(page("T", &data).contains("<dd>98</dd>"));
        let longest = json!({ "k".repeat(16_000): 1, "a": { "k".repeat(16_000): { "b": 1 } } });
        assert!(page("T", &longest).len() < 8_000);
    }
}
