//! The rules as a library: a request becomes an artifact and its page, and the output of a source
//! becomes its next data. No files, no network, no clock: everything comes in as a value.
//!
//! `cargo run -p od-core --example embed`

use std::error::Error;
use std::io::Write;

use od_core::artifact::{
    ArtifactState, Author, CreateContext, CreateRequest, DataContext, compile, default_template,
    new_artifact, provenance_of, render_checked,
};
use od_core::error::Issue;
use od_core::ids::{ArtifactId, Timestamp};
use od_core::json::{BoundedJson, parse_message};
use od_core::refresh::{CandidateParts, build_candidate};

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
    let state = create(Timestamp::from_unix_ms(1_777_000_000_000))?;
    writeln!(out, "{} by {:?}", state.artifact.id, state.provenance.sources[0].label)?;
    writeln!(out, "{}", page(&state)?)?;
    let next = refresh(&state, Timestamp::from_unix_ms(1_777_000_060_000))?;
    writeln!(out, "{}", page(&next)?)?;
    for issue in refused() {
        writeln!(out, "refused: {}: {}", issue.path, issue.message)?;
    }
    Ok(())
}

/// Makes an artifact of a request. Ids and times are the embedder's to choose.
pub(crate) fn create(at: Timestamp) -> Result<ArtifactState, Box<dyn Error>> {
    let request = CreateRequest::parse(&parse_message(REQUEST)?).map_err(report)?;
    let CreateRequest { mut input, template_html, provenance, .. } = request;
    let author = Author::Agent;
    let context = CreateContext {
        id: ArtifactId::generate(&input.heading.slug, [1, 2, 3, 4, 5, 6]),
        project_id: "demo".parse()?,
        run_id: None,
        author,
        at,
        source_pin: None,
        attempt: None,
    };
    let artifact = new_artifact(&input, context);
    let context = DataContext { source: artifact.source(), pin: None, author, at };
    let provenance = provenance_of(provenance, &context);
    let data = input.document.take().map(|document| document.data).unwrap_or_default();
    let html =
        template_html.unwrap_or_else(|| default_template(&input.heading.title, data.object()));
    Ok(ArtifactState { artifact, template_html: html.into(), data, provenance })
}

/// Draws the page of a state; the same state gives the same bytes.
pub(crate) fn page(state: &ArtifactState) -> Result<String, Box<dyn Error>> {
    let (template, _remarks) = compile(&state.template_html).map_err(report)?;
    let mut page = Vec::new();
    render_checked(&template, state.data.value(), &mut page).map_err(report)?;
    Ok(String::from_utf8(page)?)
}

/// Maps the output of the source into the data, by the rules that create had.
pub(crate) fn refresh(
    state: &ArtifactState,
    at: Timestamp,
) -> Result<ArtifactState, Box<dyn Error>> {
    let source = state.artifact.source().ok_or("there is nothing to refresh from")?;
    let candidate = build_candidate(&CandidateParts {
        artifact: &state.artifact,
        data: &state.data,
        provenance: &state.provenance,
        source,
        output: &BoundedJson::parse(OUTPUT)?,
        account_label: None,
        at,
    })?;
    let (data, provenance) = (candidate.data, candidate.provenance);
    Ok(ArtifactState { data, provenance, ..state.clone() })
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
