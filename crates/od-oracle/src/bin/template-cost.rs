//! Compiles one hostile template, or renders a table, for instruction counts: `template-cost FAMILY
//! BYTES`, `template-cost file PATH`, `template-cost render ROWS`; `template-cost list` names the
//! families.

use std::process::ExitCode;

use od_core::template::Template;
use od_oracle::adversary::FAMILIES;

#[expect(clippy::print_stdout, reason = "the answer is what was asked for")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.as_slice() == ["list"] {
        FAMILIES.iter().for_each(|family| println!("{}", family.name));
        return ExitCode::SUCCESS;
    }
    let [name, bytes] = arguments.as_slice() else { return ExitCode::from(2) };
    if let ("render", Ok(rows)) = (name.as_str(), bytes.parse()) {
        println!("rendered {} bytes", render_table(rows));
        return ExitCode::SUCCESS;
    }
    if name == "file" {
        let html = std::fs::read_to_string(bytes).unwrap_or_default();
        println!("{} bytes: {}", html.len(), Template::compile(&html).is_ok());
        return ExitCode::SUCCESS;
    }
    let family = FAMILIES.iter().find(|family| family.name == *name);
    let (Some(family), Ok(bytes)) = (family, bytes.parse::<usize>()) else {
        return ExitCode::from(2);
    };
    let html = family.template(bytes);
    let answer = match Template::compile_as(&html, family.grammar) {
        Ok((template, _)) => format!("accepted, {} bindings", template.bindings().len()),
        Err(issues) => format!("refused, {} issues", issues.len()),
    };
    println!("{name} {} bytes: {answer}", html.len());
    ExitCode::SUCCESS
}

fn render_table(rows: usize) -> usize {
    let cells: String = (0..10).map(|at| format!("<td class=\"px-4 py-2 text-sm text-slate-700 border-b whitespace-nowrap\">{{{{r.column_{at}}}}}</td>")).collect();
    let html = format!(
        "<h1>Report</h1><table><tbody><tr data-od-repeat=\"r in data.rows\">{cells}</tr></tbody></table>"
    );
    let row = |row: usize| -> serde_json::Value {
        (0..10)
            .map(|at| {
                (
                    format!("column_{at}"),
                    format!("R&D {row}-{at} <b> ordinary words about it").into(),
                )
            })
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let data = serde_json::json!({ "rows": (0..rows).map(row).collect::<Vec<_>>() });
    let mut page = Vec::with_capacity(1 << 20);
    let rendered = Template::compile(&html)
        .ok()
        .and_then(|(template, _)| template.render(&data, &mut page).ok());
    rendered.map_or(0, |report| report.bytes)
}
