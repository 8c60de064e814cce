//! The rules as a library: a request becomes an artifact and its page, and the output of a source
//! becomes its next data. No files, no network, no clock: everything comes in as a value.
//!
//! `cargo run -p od-core --example embed`

use std::error::Error;
use std::io::Write;

use od_core::artifact::{ArtifactState, Author, CreateRequest, Pins};
use od_core::credential::Redactions;
use od_core::decide::{self, CreateContext, Decision, Gathered, SourceOutput};
use od_core::error::Issue;
use od_core::ids::{ArtifactId, Timestamp};
use od_core::intake::{Intake, JsonText};
use od_core::json::parse_message;

const REQUEST: &[u8] = br#"{
  "input": {
    "title": "Open <issues>",
    "document": {
      "dataJson": { "title": "Open issues", "rows": [] },
      "sourceJson": {
        "type": "local_file",
        "input": { "path": "issues.json" },
        "outputMapping": {
          "dataPaths": [{ "from": "$.items", "to": "rows" }],
          "transform": "identity"
        },
        "refreshPermission": "manual_refresh_granted_for_read_only"
      }
    }
  },
  "templateHtml": "<!doctype html><title>{{data.title}}</title><ul><li data-od-repeat=\"row in data.rows\">{{row.name}}: {{row.count}}</li></ul>"
}"#;

/// What the source gave: in a daemon, the file `issues.json`.
const OUTPUT: &[u8] = br#"{ "items": [{ "name": "search <b>", "count": 3 }] }"#;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let first = create(Timestamp::from_unix_ms(1_777_000_000_000))?;
    let state = &first.state;
    writeln!(out, "{} by {:?}", state.artifact.id, state.provenance.sources[0].label)?;
    writeln!(out, "{}", String::from_utf8_lossy(&first.page))?;
    if let Some(next) = refresh(state, Timestamp::from_unix_ms(1_777_000_060_000))? {
        writeln!(out, "{}", String::from_utf8_lossy(&next.page))?;
    }
    for issue in refused() {
        writeln!(out, "refused: {}: {}", issue.path, issue.message)?;
    }
    Ok(())
}

/// Decides on the artifact of a request. Ids and times are the embedder's to choose.
pub(crate) fn create(at: Timestamp) -> Result<Decision, Box<dyn Error>> {
    let request = CreateRequest::parse(&parse_message(REQUEST)?).map_err(report)?;
    let context = CreateContext {
        id: ArtifactId::generate(&request.input.heading.slug, [1, 2, 3, 4, 5, 6]),
        project_id: "demo".parse()?,
        run_id: None,
        author: Author::Agent,
        at,
        pins: Pins::new(),
        attempt: None,
    };
    decide::create(request, context).map_err(report)
}

/// Decides on what the output of the source makes of an artifact, by the rules that create had.
pub(crate) fn refresh(
    state: &ArtifactState,
    at: Timestamp,
) -> Result<Option<Decision>, Box<dyn Error>> {
    let ran = SourceOutput {
        source: *state.artifact.sources().first().ok_or("there is nothing to refresh from")?,
        output: &Intake::from(JsonText::parse(OUTPUT)?),
        account_label: None,
        pin: None,
        // What `Intake::protect` took out; this output of ours needs none of it.
        redactions: &Redactions::default(),
    };
    let gathered = Gathered { outputs: &[ran], results: &[], failed: &[] };
    Ok(decide::refresh(state, gathered, at)?)
}

/// Shows that a request is refused with every fault at once.
pub(crate) fn refused() -> Vec<Issue> {
    let body = br#"{ "input": { "titel": "T", "document": { "dataJson": { "token": 1 } } } }"#;
    let Ok(body) = parse_message(body) else { return Vec::new() };
    CreateRequest::parse(&body).err().unwrap_or_default()
}

fn report(issues: Vec<Issue>) -> Box<dyn Error> {
    let line = |issue: Issue| format!("{}: {}", issue.path, issue.message);
    let lines: Vec<String> = issues.into_iter().map(line).collect();
    lines.join("\n").into()
}
