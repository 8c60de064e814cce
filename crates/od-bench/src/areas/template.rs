//! Templates: `html_template_v1` beside minijinja and handlebars: same page, same data, escaping on, compiled once.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Duration;

use od_core::template::Template;
use od_oracle::adversary::FAMILIES;
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

use crate::measure::{self, Pair};
use crate::row::{Row, Target};

const ROWS: usize = 500;
const COLUMNS: usize = 10;
/// Short readings, many of them: a busy machine interrupts only some.
const READINGS: usize = 301;

/// One page in three languages.
struct Page {
    ours: String,
    minijinja: String,
    handlebars: String,
    data: Value,
}

/// Measures rendering and compiling.
pub(crate) fn measure() -> Vec<Row> {
    let mut rows = vec![small_page(), medium_page(), large_page(), escapes_only()];
    rows.extend(compile());
    rows.push(hostile());
    rows.extend(super::formatted::measure());
    rows
}

fn large_page() -> Row {
    let page = table(ROWS, COLUMNS, 36);
    let Some(peers) = Peers::new(&page) else { return broken("500 rows × 10 columns") };
    let Ok((template, _)) = Template::compile(&page.ours) else {
        return broken("500 rows × 10 columns");
    };
    let mut out = Vec::with_capacity(1 << 20);
    let (ours, peer, name) = peers.race(300, || render(&template, &page.data, &mut out));
    let bytes = out.len();
    let speed = gigabytes_per_second(bytes, ours);
    Row {
        what: format!(
            "render 500 rows × 10 columns, {} KiB of data, {} KiB of HTML",
            page.data.to_string().len() / 1024,
            bytes / 1024
        ),
        measured: format!("{ours:.1?}, {speed:.2} GB/s of output"),
        against: format!("{name} {peer:.1?}"),
        figure: peer.as_secs_f64() / ours.as_secs_f64(),
        unit: "x",
        target: Target::AtLeast(3.0),
    }
}

/// A page of many cards, each with values of its own: 52 KiB, 380 bindings.
fn medium_page() -> Row {
    const CARDS: usize = 95;
    let mut ours = String::new();
    for card in 0..CARDS {
        let _ = writeln!(
            ours,
            "<section class=\"card card-wide rounded shadow\" id=\"card-{card}\" title=\"{{{{data.cards.{card}.hint}}}}\">\
             <h2 class=\"card-title\">{{{{data.cards.{card}.title}}}}</h2>\
             <p class=\"card-note\">The figures of the last week, as the source gave them when it was read last. \
             They are shown as they came and compared with the week before; nothing is rounded on the way.</p>\
             <p class=\"card-value\"><strong>{{{{data.cards.{card}.value}}}}</strong> <span class=\"card-unit\">requests</span>\
             <span class=\"card-delta\">{{{{data.cards.{card}.delta}}}}</span></p></section>"
        );
    }
    let cards: Vec<Value> = (0..CARDS)
        .map(|card| json!({ "title": format!("Service <{card}>"), "hint": "R&D's own", "value": card * 1_013, "delta": "+3 %" }))
        .collect();
    let page = Page {
        minijinja: ours
            .replace("{{data.cards.", "{{cards[")
            .replace(".title}}", "].title}}")
            .replace(".hint}}", "].hint}}")
            .replace(".value}}", "].value}}")
            .replace(".delta}}", "].delta}}"),
        handlebars: ours.replace("{{data.cards.", "{{cards."),
        data: json!({ "cards": cards }),
        ours,
    };
    let name = "a page of 95 cards";
    let Some(peers) = Peers::new(&page) else { return broken(name) };
    let Ok((template, _)) = Template::compile(&page.ours) else { return broken(name) };
    let mut out = Vec::with_capacity(1 << 17);
    let (ours, peer, peer_name) = peers.race(301, || render(&template, &page.data, &mut out));
    Row {
        what: format!(
            "render {} KiB of template with {} bindings",
            page.ours.len() / 1024,
            template.bindings().len()
        ),
        measured: format!(
            "{ours:.1?}, {:.2} GB/s of output",
            gigabytes_per_second(out.len(), ours)
        ),
        against: format!("{peer_name} {peer:.1?}"),
        figure: peer.as_secs_f64() / ours.as_secs_f64(),
        unit: "x",
        target: Target::AtLeast(3.0),
    }
}

/// The slowest of the hostile templates, at the largest size there may be.
fn hostile() -> Row {
    const BYTES: usize = 1 << 20;
    let slowest = FAMILIES
        .iter()
        .map(|family| {
            let html = family.template(BYTES);
            let mut once = || drop(black_box(Template::compile(black_box(&html))));
            let mut readings: Vec<Duration> = (0..3).map(|_| run_time(&mut once)).collect();
            (measure::median(&mut readings), family.name)
        })
        .max()
        .unwrap_or_default();
    Row::alone(
        format!("slowest of {} hostile families to compile, 1 MiB", FAMILIES.len()),
        format!("{:.1?} ({})", slowest.0, slowest.1),
        (slowest.0.as_secs_f64() * 1e3, "ms"),
        Target::AtMost(200.0),
    )
}

fn small_page() -> Row {
    let page = table(10, 3, 12);
    let head: String = "<p class=\"note\">This page is filled from data.json.</p>\n".repeat(30);
    let html = format!("{head}{}", page.ours);
    let Ok((template, _)) = Template::compile(&html) else { return broken("a small page") };
    let mut out = Vec::with_capacity(16 << 10);
    let time = per_call(100, || render(&template, &page.data, &mut out));
    Row::alone(
        format!("render {} bytes of template, ten rows", html.len()),
        format!("{time:.2?}, {} bytes of page", out.len()),
        (time.as_secs_f64() * 1e6, "µs"),
        Target::AtMost(3.0),
    )
}

fn escapes_only() -> Row {
    let Ok((template, _)) = Template::compile("<p>{{data.t}}</p>") else {
        return broken("escapes only");
    };
    let data = json!({ "t": "<&>\"'\r".repeat(2_730) });
    let mut out = Vec::with_capacity(1 << 17);
    let time = per_call(1, || render(&template, &data, &mut out));
    Row::alone(
        "render 16 KiB where every character is escaped".to_owned(),
        format!("{time:.1?}"),
        (gigabytes_per_second(out.len(), time), "GB/s"),
        Target::None,
    )
}

fn compile() -> Vec<Row> {
    let page = table(ROWS, COLUMNS, 36);
    let bound = page.ours.repeat(64);
    let mut dashboard = String::from(
        "<!doctype html><html lang=\"en\"><head><title>{{data.title}}</title></head><body>\n",
    );
    for card in 0..400 {
        let _ = writeln!(
            dashboard,
            "<section class=\"card\" id=\"c{card}\"><h2>{{{{data.cards.{card}.title}}}}</h2><p>Figures of the last week, as the source gave them.</p>\
             <svg viewBox=\"0 0 24 24\" aria-hidden=\"true\"><path d=\"M5 12h14M12 5l7 7-7 7\" fill=\"none\" stroke=\"currentColor\"/></svg>\
             <a href=\"https://example.com/cards/{card}\" style=\"--share: {{{{data.cards.{card}.share}}}}\">{{{{data.cards.{card}.value}}}}</a></section>"
        );
    }
    [("tables", bound), ("a dashboard with SVG", dashboard)]
        .into_iter()
        .map(|(name, html)| {
            let time = per_call(1, || drop(black_box(Template::compile(black_box(&html)))));
            Row::alone(
                format!("compile {name}, {} KiB", html.len() / 1024),
                format!("{time:.1?}"),
                (html.len() as f64 / 1e6 / time.as_secs_f64(), "MB/s"),
                Target::AtLeast(40.0),
            )
        })
        .collect()
}

pub(super) fn render(template: &Template, data: &Value, out: &mut Vec<u8>) {
    out.clear();
    let _ = black_box(template.render(black_box(data), out));
}

/// The page in the two other languages, compiled, with their data ready.
struct Peers {
    minijinja: minijinja::Environment<'static>,
    context: minijinja::Value,
    handlebars: handlebars::Handlebars<'static>,
    wrapped: handlebars::Context,
}

impl Peers {
    fn new(page: &Page) -> Option<Self> {
        let mut minijinja = minijinja::Environment::new();
        minijinja.add_template_owned("page.html", page.minijinja.clone()).ok()?;
        let mut handlebars = handlebars::Handlebars::new();
        handlebars.register_template_string("page", &page.handlebars).ok()?;
        let context = jinja_value(&page.data);
        let wrapped = handlebars::Context::wraps(&page.data).ok()?;
        Some(Self { minijinja, context, handlebars, wrapped })
    }

    /// Returns our time and that of the faster peer, measured in turns.
    fn race(&self, rounds: usize, mut ours: impl FnMut()) -> (Duration, Duration, &'static str) {
        let template = self.minijinja.get_template("page.html").ok();
        let mut out = Vec::with_capacity(1 << 20);
        let jinja = || {
            out.clear();
            if let Some(template) = &template {
                let _ = black_box(
                    template.render_captured_to(black_box(self.context.clone()), &mut out).is_ok(),
                );
            }
        };
        let against_jinja = in_turns(rounds, &mut ours, jinja);
        let mut bars_out = Vec::with_capacity(1 << 20);
        let bars = || {
            bars_out.clear();
            let _ = black_box(self.handlebars.render_with_context_to_write(
                "page",
                black_box(&self.wrapped),
                &mut bars_out,
            ));
        };
        let against_bars = in_turns(rounds, &mut ours, bars);
        let subject = against_jinja.subject.min(against_bars.subject);
        if against_jinja.peer < against_bars.peer {
            (subject, against_jinja.peer, "minijinja")
        } else {
            (subject, against_bars.peer, "handlebars")
        }
    }
}

pub(super) fn jinja_value(value: &Value) -> minijinja::Value {
    match value {
        Value::Null => minijinja::Value::from(()),
        Value::Bool(value) => (*value).into(),
        Value::Number(value) => value.as_f64().unwrap_or_default().into(),
        Value::String(value) => value.as_str().into(),
        Value::Array(items) => items.iter().map(jinja_value).collect(),
        Value::Object(map) => minijinja::Value::from_pairs(
            map.iter().map(|(key, value)| (key.as_str(), jinja_value(value))),
        ),
    }
}

/// Builds a table page; every value has `length` characters, some of which are escaped.
fn table(rows: usize, columns: usize, length: usize) -> Page {
    let keys: Vec<String> = (0..columns).map(|column| format!("column_{column}")).collect();
    let cells = |open: &str, close: &str| -> String {
        keys.iter().map(|key| format!("<td class=\"px-4 py-2 text-sm text-slate-700 border-b whitespace-nowrap\">{open}row.{key}{close}</td>")).collect()
    };
    let frame = |row: String| {
        format!(
            "<h1>Report</h1><table class=\"report\"><thead><tr><th>Name</th></tr></thead><tbody>{row}</tbody></table>\n"
        )
    };
    let bound = cells("{{", "}}");
    let bars = cells("{{this.", "}}").replace("this.row.", "this.");
    let value = |row: usize, column: usize| {
        let text = format!(
            "R&D {row}-{column} <b> ordinary words about a release of some library, long enough for any column"
        );
        text.chars().take(length).collect::<String>()
    };
    let row = |row: usize| -> Value {
        let map: serde_json::Map<String, Value> = keys
            .iter()
            .enumerate()
            .map(|(column, key)| (key.clone(), value(row, column).into()))
            .collect();
        map.into()
    };
    Page {
        ours: frame(format!("<tr data-od-repeat=\"row in data.rows\">{bound}</tr>")),
        minijinja: frame(format!("{{% for row in rows %}}<tr>{bound}</tr>{{% endfor %}}")),
        handlebars: frame(format!("{{{{#each rows}}}}<tr>{bars}</tr>{{{{/each}}}}")),
        data: json!({ "rows": (0..rows).map(row).collect::<Vec<_>>() }),
    }
}

/// Runs both in turns and returns the medians of the time that this thread ran: a busy machine
/// stretches the clock, but not this.
pub(super) fn in_turns(rounds: usize, mut subject: impl FnMut(), mut peer: impl FnMut()) -> Pair {
    let (mut subjects, mut peers) = (Vec::with_capacity(rounds), Vec::with_capacity(rounds));
    for _ in 0..rounds {
        subjects.push(run_time(&mut subject));
        peers.push(run_time(&mut peer));
    }
    Pair { subject: measure::median(&mut subjects), peer: measure::median(&mut peers) }
}

pub(super) fn per_call(calls: u32, mut work: impl FnMut()) -> Duration {
    let mut batch = || (0..calls).for_each(|_| work());
    let mut readings: Vec<Duration> = (0..READINGS).map(|_| run_time(&mut batch) / calls).collect();
    measure::median(&mut readings)
}

fn run_time(work: &mut impl FnMut()) -> Duration {
    let started = thread_time();
    work();
    thread_time().saturating_sub(started)
}

fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

fn gigabytes_per_second(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / 1e9 / time.as_secs_f64()
}

pub(super) fn broken(what: &str) -> Row {
    Row::alone(
        format!("{what}: a template does not compile"),
        String::new(),
        (0.0, "x"),
        Target::AtLeast(1.0),
    )
}
