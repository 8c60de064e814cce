//! The pure workloads whose instructions are counted under valgrind.

use std::hint::black_box;

use od_core::json::{BoundedJson, canonical_bytes};
use od_core::template::{Grammar, Template};
use serde_json::{Value, json};

use crate::areas::formatted;

/// One workload: prepared outside the count, run once inside it.
pub(crate) struct Counted {
    /// The name in the baseline.
    pub(crate) name: &'static str,
    prepare: fn() -> Box<dyn FnOnce()>,
}

/// Every counted workload. A new one is a new line here.
pub(crate) const COUNTED: &[Counted] = &[
    Counted { name: "json: parse 256 KiB of rows", prepare: parse_rows },
    Counted { name: "json: canonical bytes of 256 KiB", prepare: canonicalise },
    Counted { name: "template: compile 52 KiB", prepare: compile },
    Counted { name: "template: render 500 rows", prepare: render },
    Counted { name: "template: render 500 rows, half formatted", prepare: render_formatted },
    Counted { name: "template: render six charts of 500 points", prepare: render_charts },
];

/// Runs one workload by name; returns whether there is one.
pub(crate) fn run(name: &str) -> bool {
    let Some(workload) = COUNTED.iter().find(|workload| workload.name == name) else {
        return false;
    };
    let work = (workload.prepare)();
    collected(work);
    true
}

/// The mark that valgrind looks for: only what runs inside is counted.
#[inline(never)]
fn collected(work: Box<dyn FnOnce()>) {
    work();
    black_box(());
}

fn rows() -> Value {
    let rows: Vec<Value> = (0..500)
        .map(|row| {
            json!({
                "id": row,
                "name": format!("Service number {row}"),
                "owner": "Platform & tools",
                "region": "eu-central",
                "status": if row % 7 == 0 { "degraded" } else { "ok" },
                "latency": f64::from(row) * 1.25,
                "requests": row * 1_013,
                "errors": row % 13,
                "note": "x".repeat(300),
                "updated": "2026-04-30T00:00:00.000Z",
            })
        })
        .collect();
    json!({ "title": "Services", "rows": rows })
}

fn bytes_of(value: &Value) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

/// A page of many cards, each with a binding, in front of one repeated table row.
fn page(cards: usize) -> String {
    let cards: String = (0..cards)
        .map(|card| {
            format!(
                "<section class=\"card card-{card}\"><h2>Card {card}</h2>\
                 <p class=\"value\">{{{{data.rows.{card}.latency}}}}</p></section>\n"
            )
        })
        .collect();
    format!(
        "<!doctype html><html lang=\"en\"><head><title>{{{{data.title}}}}</title></head><body>{cards}\
         <table><tbody><tr data-od-repeat=\"row in data.rows\"><td>{{{{row.id}}}}</td>\
         <td>{{{{row.name}}}}</td><td>{{{{row.owner}}}}</td><td>{{{{row.region}}}}</td>\
         <td>{{{{row.status}}}}</td><td>{{{{row.latency}}}}</td><td>{{{{row.requests}}}}</td>\
         <td>{{{{row.errors}}}}</td><td>{{{{row.note}}}}</td><td>{{{{row.updated}}}}</td></tr>\
         </tbody></table></body></html>"
    )
}

fn parse_rows() -> Box<dyn FnOnce()> {
    let bytes = bytes_of(&rows());
    Box::new(move || drop(black_box(BoundedJson::parse(&bytes))))
}

fn canonicalise() -> Box<dyn FnOnce()> {
    let value = rows();
    Box::new(move || drop(black_box(canonical_bytes(&value))))
}

fn compile() -> Box<dyn FnOnce()> {
    let html = page(380);
    Box::new(move || drop(black_box(Template::compile(&html))))
}

fn render() -> Box<dyn FnOnce()> {
    let template = Template::compile(&page(10));
    let data = rows();
    Box::new(move || {
        if let Ok((template, _)) = &template {
            let mut out = Vec::with_capacity(1 << 20);
            drop(black_box(template.render(&data, &mut out)));
        }
    })
}

fn render_formatted() -> Box<dyn FnOnce()> {
    render_v2(&formatted::ours(), formatted::rows(500))
}

fn render_charts() -> Box<dyn FnOnce()> {
    render_v2(&formatted::charts(), formatted::points(500))
}

fn render_v2(html: &str, data: Value) -> Box<dyn FnOnce()> {
    let template = Template::compile_as(html, Grammar::V2);
    Box::new(move || {
        if let Ok((template, _)) = &template {
            let mut out = Vec::with_capacity(1 << 20);
            drop(black_box(template.render(&data, &mut out)));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_does_its_work() {
        assert!(BoundedJson::parse(&bytes_of(&rows())).is_ok());
        let (template, _) = Template::compile(&page(380)).unwrap();
        let mut out = Vec::new();
        template.render(&rows(), &mut out).unwrap();
        assert!(out.len() > 200 * 1024, "{}", out.len());
        assert!(COUNTED.iter().all(|workload| run(workload.name)));
        assert!(!run("no such workload"));
    }
}
