//! Searching a project beside ripgrep: same files, same query, in turns.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use od_core::credential::Scrubber;
use od_ports::connector_provider::ToolCall;
use serde_json::json;

use crate::measure;
use crate::row::{Row, Target};
use crate::world::{Outcome, World, told};

const FILES: usize = 20_000;

/// Measures one search of many files.
pub(crate) fn measure() -> Outcome<Vec<Row>> {
    let world = World::make()?;
    write_files(&world.folder())?;
    let (mut ours, mut theirs) = (Ok(0), Ok(0));
    let pair = measure::in_turns(9, || ours = search(&world), || theirs = ripgrep(&world.folder()));
    let (ours, theirs) = (ours?, theirs?);
    if ours != theirs {
        return Err(format!("the search finds {ours} lines, ripgrep {theirs}"));
    }
    Ok(vec![Row::against_peer(
        format!("search of {FILES} files, {ours} lines found"),
        &pair,
        "rg",
        Target::AtMost(2.0),
    )])
}

fn write_files(root: &Path) -> Outcome<()> {
    for number in 0..FILES {
        let folder = root.join(format!("d{}/e{}", number % 50, number % 7));
        fs::create_dir_all(&folder).map_err(told)?;
        let needle = if number % 100 == 0 { "the needle is here" } else { "nothing" };
        let text = format!("line one of {number}\n{needle}\n").repeat(40);
        fs::write(folder.join(format!("f{number}.txt")), text).map_err(told)?;
    }
    Ok(())
}

fn search(world: &World) -> Outcome<u64> {
    let tool = "project_files.search";
    let call = ToolCall {
        project: world.project.clone(),
        tool: tool.parse().map_err(|_| format!("{tool} is no name of a tool"))?,
        input: [("query".to_owned(), json!("needle"))].into_iter().collect(),
        secret: None,
        scrubber: Arc::new(Scrubber::new([""; 0])),
    };
    let connectors = &world.app.ports.connectors;
    let connector = connectors.first().ok_or("there is no connector")?;
    let found = world.run(connector.execute(call)).map_err(told)?;
    found
        .output
        .to_value()
        .get("count")
        .and_then(serde_json::Value::as_u64)
        .ok_or("no count".to_owned())
}

fn ripgrep(root: &Path) -> Outcome<u64> {
    let output = Command::new("rg")
        .args(["--line-number", "--ignore-case", "--fixed-strings", "needle"])
        .arg(root)
        .output()
        .map_err(|error| format!("rg: {error}; install ripgrep"))?;
    Ok(output.stdout.iter().filter(|byte| **byte == b'\n').count() as u64)
}
