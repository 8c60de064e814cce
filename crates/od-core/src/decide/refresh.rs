//! Deciding on the output of a source.

use std::sync::Arc;

use super::Decision;
use super::shown_redactions::{Mapping, shown_redactions, shown_results};
use crate::artifact::{
    ArtifactState, GeneratedBy, PageRefused, Provenance, ProvenanceSource, RefreshStatus,
    SourcePin, SourceRef, StaleSource, Transform, check_data, origin_of, source_call, source_label,
};
use crate::credential::Redactions;
use crate::error::{ErrorCode, Issue};
use crate::ids::Timestamp;
use crate::intake::Intake;
use crate::json::{BoundedObject, JsonFaults, Map, Value};
use crate::limits;
use crate::ownership::{
    PathWrite, Place, QueryRead, SourceRead, WrittenBy, known_writes, source_wrote,
};
use crate::refresh::{Mapped, MappingError, apply_mapping, report_changes};
use crate::template::RenderError;

/// Everything that a refresh read and worked out.
#[derive(Clone, Copy, Debug)]
pub struct Gathered<'a> {
    /// The outputs of the sources that ran.
    pub outputs: &'a [SourceOutput<'a>],
    /// The results of the queries, in the order of the document.
    pub results: &'a [QueryOutput],
    /// The sources that failed and keep their values.
    pub failed: &'a [FailedSource],
}

/// The protected output of a source that ran.
#[derive(Clone, Copy, Debug)]
pub struct SourceOutput<'a> {
    /// The source, as the artifact has it.
    pub source: SourceRef<'a>,
    /// Its output.
    pub output: &'a Intake,
    /// The account it ran with.
    pub account_label: Option<&'a str>,
    /// The pin that the artifact has from now on.
    pub pin: Option<&'a SourcePin>,
    /// What protection took out of the output.
    pub redactions: &'a Redactions,
}

/// The outcome of a query.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryOutput {
    /// It gave a value.
    Ran {
        /// The value.
        value: Value,
        /// The tables that it read.
        tables: Vec<String>,
    },
    /// A source that it reads failed: the value stays.
    Kept,
}

/// A source that failed and keeps its values.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FailedSource {
    /// Its id.
    pub id: String,
    /// The reason.
    pub code: ErrorCode,
}

/// Why an output does not become the next state. What is there stays.
#[derive(Debug, thiserror::Error)]
pub enum RefreshRefused {
    /// An output or a result could not be mapped.
    #[error("{}{fault}", of_source(source_id.as_deref()))]
    Mapping {
        /// The source, where there are several.
        source_id: Option<String>,
        /// Why not.
        fault: MappingError,
    },
    /// The data would break the limits.
    #[error("the data would break the limits: {faults}")]
    Limits {
        /// Which.
        faults: JsonFaults,
    },
    /// The data would hold what looks like a credential, or would not fit its schema.
    #[error("the data would not be accepted")]
    Data {
        /// Where, and which rule.
        issues: Vec<Issue>,
    },
    /// The page would show what protection took out of the output.
    #[error("the page shows what may not be stored")]
    Redacted {
        /// Where, why, and the mapping that avoids it.
        issues: Vec<Issue>,
    },
    /// The stored template has no page for the data.
    #[error(transparent)]
    Page(#[from] PageRefused),
}

/// Decides on the state after the sources and queries ran, by the rules of create: mapping, limits,
/// denied keys, credentials, the artifact's own schema, the page. `None` if neither data nor pins nor
/// the set of stale sources would change.
///
/// # Errors
///
/// Fails at the first rule that refuses.
pub fn refresh(
    before: &ArtifactState,
    gathered: Gathered<'_>,
    at: Timestamp,
) -> Result<Option<Decision>, RefreshRefused> {
    let Gathered { outputs, failed, .. } = gathered;
    let Written { data, by_source, writes } = write(before, gathered, at)?;
    let data = BoundedObject::check(Value::Object(data))
        .map_err(|faults| RefreshRefused::Limits { faults })?;
    let issues = check_data(before.artifact.document.as_ref(), &data);
    if !issues.is_empty() {
        return Err(RefreshRefused::Data { issues });
    }
    check_redactions(before, outputs, &by_source, &data)?;
    let changes = report_changes(before.data.value(), data.value());
    let stale = stale_after(before, failed, at);
    let mut pins = before.artifact.pins();
    pins.extend(outputs.iter().filter_map(|it| Some((it.source.id.to_owned(), it.pin?.clone()))));
    // By id alone: a source that goes on failing would otherwise make a revision at every try.
    let ids = |stale: &[StaleSource]| -> Vec<String> {
        stale.iter().map(|stale| stale.source.clone()).collect()
    };
    if !changes.is_changed()
        && pins == before.artifact.pins()
        && ids(&stale) == ids(&before.provenance.stale)
    {
        return Ok(None);
    }
    let mut artifact = before.artifact.clone();
    artifact.updated_at = at;
    artifact.last_refreshed_at = Some(at);
    artifact.refresh_status = RefreshStatus::Succeeded;
    artifact.set_pins(pins);
    // What is shown now is what the sources gave, no longer the state that somebody brought back.
    artifact.restored = None;
    let provenance = Provenance {
        generated_at: at,
        generated_by: GeneratedBy::RefreshRunner,
        notes: before.provenance.notes.clone(),
        sources: origins(before, outputs),
        paths: source_wrote(&known_writes(before), writes, data.value()),
        stale,
        extra: before.provenance.extra.clone(),
    };
    let template_html = Arc::clone(&before.template_html);
    let state = ArtifactState { artifact, template_html, data, provenance };
    Ok(Some(Decision::of(state, changes, Vec::new())?))
}

/// Data with every output and result written into it.
struct Written {
    data: Map,
    /// The places that each output wrote, with where the values stood in it.
    by_source: Vec<Vec<(Place, String)>>,
    writes: Vec<PathWrite>,
}

fn write(
    before: &ArtifactState,
    gathered: Gathered<'_>,
    at: Timestamp,
) -> Result<Written, RefreshRefused> {
    let revision = before.artifact.revision.next();
    let mut after = Written {
        data: before.data.object().clone(),
        by_source: Vec::with_capacity(gathered.outputs.len()),
        writes: Vec::new(),
    };
    for SourceOutput { source, output, .. } in gathered.outputs {
        if source.is_table {
            after.by_source.push(Vec::new());
            continue;
        }
        let (label, call) = (source_label(source.source), source_call(source.source));
        let mapping = source.source.output_mapping.as_ref();
        let Mapped { data, written } = apply_mapping(&after.data, output, mapping, &label)
            .map_err(|fault| {
                // One of several is named; a lone source has no id that its author wrote.
                let source_id = source.index.map(|_| source.id.to_owned());
                RefreshRefused::Mapping { source_id, fault }
            })?;
        after.data = data;
        after.writes.extend(written.iter().map(|(path, from)| {
            let id = source.id.to_owned();
            let read =
                SourceRead { id, label: label.clone(), call: call.clone(), from: from.clone() };
            PathWrite { path: path.clone(), by: WrittenBy::Source(read), revision, at }
        }));
        after.by_source.push(written);
    }
    let sources = before.artifact.sources();
    for (query, result) in before.artifact.queries().iter().zip(gathered.results) {
        let QueryOutput::Ran { value, tables } = result else { continue };
        let path = Place::from(&query.to);
        path.put(&mut after.data, value.clone()).map_err(|found| {
            let fault = MappingError::Blocked { to: query.to.clone(), found };
            RefreshRefused::Mapping { source_id: None, fault }
        })?;
        let by = WrittenBy::Query(QueryRead::new(&query.sql, tables, &sources));
        after.writes.push(PathWrite { path, by, revision, at });
    }
    Ok(after)
}

/// Refuses what the page would show redacted.
fn check_redactions(
    before: &ArtifactState,
    outputs: &[SourceOutput<'_>],
    by_source: &[Vec<(Place, String)>],
    data: &BoundedObject,
) -> Result<(), RefreshRefused> {
    if outputs.iter().all(|output| output.redactions.is_empty()) {
        return Ok(());
    }
    // A template that does not compile is refused with its faults when the page is rendered.
    let Ok((template, _)) = before.compile_template() else { return Ok(()) };
    let mut issues = Vec::new();
    for (output, written) in outputs.iter().zip(by_source) {
        if output.redactions.is_empty() || written.is_empty() {
            continue;
        }
        let mapping = output.source.source.output_mapping.as_ref();
        let transform = mapping.and_then(|mapping| mapping.transform);
        // Of a larger output no other member is proposed.
        let is_small = output.output.json_size() <= 4 * limits::CONNECTOR_OUTPUT.max();
        let whole = if is_small { output.output.to_value() } else { Value::Null };
        let mapping = Mapping {
            output: &whole,
            written,
            transform: transform.unwrap_or(Transform::Identity),
            data: data.value(),
        };
        issues.extend(shown_redactions(&template, output.redactions, &mapping));
    }
    let queried: Vec<Place> =
        before.artifact.queries().iter().map(|query| Place::from(&query.to)).collect();
    issues.extend(shown_results(&template, &queried, data.value()));
    if issues.is_empty() { Ok(()) } else { Err(RefreshRefused::Redacted { issues }) }
}

/// Returns the stale sources after a refresh: one that failed before keeps the time of then.
fn stale_after(before: &ArtifactState, failed: &[FailedSource], at: Timestamp) -> Vec<StaleSource> {
    let earlier = |id: &str| before.provenance.stale.iter().find(|stale| stale.source == id);
    let stale = |failed: &FailedSource| StaleSource {
        source: failed.id.clone(),
        since: earlier(&failed.id).map_or(at, |stale| stale.since),
        code: failed.code,
    };
    failed.iter().map(stale).collect()
}

/// Names every source as an origin: those that failed too, for their values are still there.
fn origins(before: &ArtifactState, outputs: &[SourceOutput<'_>]) -> Vec<ProvenanceSource> {
    let origin = |source: &SourceRef<'_>| {
        let ran = outputs.iter().find(|output| output.source.id == source.id);
        let saved = || before.artifact.pin(source.id)?.account_label.as_deref();
        origin_of(source.source, ran.map_or_else(saved, |ran| ran.account_label))
    };
    before.artifact.sources().iter().map(origin).collect()
}

fn of_source(source: Option<&str>) -> String {
    source.map(|source| format!("source `{source}`: ")).unwrap_or_default()
}

impl RefreshRefused {
    /// Returns the code of the refusal.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        let is_redaction = |issue: &Issue| issue.code == ErrorCode::RedactionRequired.as_str();
        match self {
            Self::Mapping { fault, .. } => fault.code(),
            Self::Limits { faults } if faults.is_size() => ErrorCode::OutputTooLarge,
            Self::Data { issues } if issues.iter().any(is_redaction) => {
                ErrorCode::RedactionRequired
            }
            Self::Redacted { .. } => ErrorCode::RedactionRequired,
            Self::Limits { .. } | Self::Data { .. } => ErrorCode::SourceUnreadable,
            Self::Page(PageRefused::Data(faults))
                if matches!(faults[..], [RenderError::TooLarge { .. }]) =>
            {
                ErrorCode::OutputTooLarge
            }
            Self::Page(_) => ErrorCode::TemplateBindingInvalid,
        }
    }

    /// Returns the places and rules of the refusal.
    #[must_use]
    pub fn issues(&self) -> Vec<Issue> {
        match self {
            Self::Mapping { .. } => {
                vec![Issue::new("/document/sourceJson/outputMapping", "mapping", self.to_string())]
            }
            Self::Limits { faults } => faults.issues("/document/dataJson"),
            Self::Data { issues } | Self::Redacted { issues } => issues.clone(),
            Self::Page(refused) => refused.issues(),
        }
    }
}

/// Refreshes the first source of a state with an output, for tests of what comes after it.
#[cfg(test)]
pub(crate) fn refreshed_with(
    before: &ArtifactState,
    output: &Value,
    at_ms: i64,
) -> Result<Option<Decision>, RefreshRefused> {
    let ran = SourceOutput {
        source: before.artifact.sources()[0],
        output: &Intake::try_from(output).unwrap(),
        account_label: None,
        pin: None,
        redactions: &Redactions::default(),
    };
    let gathered = Gathered { outputs: &[ran], results: &[], failed: &[] };
    refresh(before, gathered, Timestamp::from_unix_ms(at_ms))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::create::created;
    use super::*;
    use crate::artifact::Author;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_unix_ms(ms)
    }

    /// An artifact whose source maps `items` to `rows`.
    fn state(data: &Value, schema: &Value, html: &str) -> ArtifactState {
        let source = json!({ "type": "local_file", "input": { "path": "a.json" },
            "outputMapping": { "dataPaths": [{ "from": "items", "to": "rows" }] } });
        let body = json!({ "input": { "title": "T", "document": {
            "dataJson": data, "dataSchemaJson": schema, "sourceJson": source } },
            "templateHtml": html, "provenanceJson": { "notes": "kept", "sources": [] } });
        created(&body, Author::Agent)
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers write the value down")]
    fn refreshed(
        before: &ArtifactState,
        output: Value,
    ) -> Result<Option<Decision>, RefreshRefused> {
        let ran = SourceOutput {
            source: before.artifact.sources()[0],
            output: &Intake::try_from(&output).unwrap(),
            account_label: Some("me"),
            pin: None,
            redactions: &Redactions::default(),
        };
        refresh(before, Gathered { outputs: &[ran], results: &[], failed: &[] }, at(9))
    }

    /// As a refresh runs: the output is protected first.
    #[expect(clippy::needless_pass_by_value, reason = "callers write the value down")]
    fn refreshed_protected(
        before: &ArtifactState,
        output: Value,
    ) -> Result<Option<Decision>, RefreshRefused> {
        let secrets = crate::credential::Scrubber::new([""; 0]);
        let protected = Intake::try_from(&output).unwrap().protect(&secrets).unwrap();
        let ran = SourceOutput {
            source: before.artifact.sources()[0],
            output: &protected.intake,
            account_label: None,
            pin: None,
            redactions: &protected.redactions,
        };
        refresh(before, Gathered { outputs: &[ran], results: &[], failed: &[] }, at(9))
    }

    fn key() -> String {
        ["gh", "p_abcdefghij0123456789klmnopqrst"].concat()
    }

    #[test]
    fn a_shown_value_that_is_taken_out_fails_the_refresh_with_the_mapping_that_avoids_it() {
        let html = "<p>{{data.rows.title}}</p>";
        let before = state(&json!({ "rows": { "title": "t" } }), &json!({}), html);
        let fails = |before: &ArtifactState, items: Value| {
            let refused = refreshed_protected(before, json!({ "items": items })).unwrap_err();
            assert_eq!(refused.code(), ErrorCode::RedactionRequired, "{refused}");
            refused.issues().remove(0)
        };
        let issue = fails(&before, json!({ "title": key(), "name": "a" }));
        assert_eq!(issue.path, "template.html:1:4");
        let fix = issue.fix.unwrap();
        assert!(fix.contains(r#"{ "from": "items.name", "to": "name" }"#), "{fix}");
        // What the page does not show fails nothing.
        let hidden = json!({ "items": { "title": "x", "other": key() } });
        assert!(refreshed_protected(&before, hidden).unwrap().is_some());
        let dropped = "<p>{{data.rows.body}}</p>";
        let before = state(&json!({ "rows": {} }), &json!({}), dropped);
        fails(&before, json!({ "body": "text", "name": "a" }));
    }

    #[test]
    fn one_row_of_a_list_does_not_fail_the_page_for_what_an_outsider_wrote() {
        let html =
            "<ul><li data-od-repeat=\"row in data.rows\">{{row.title}}{{row.auth_token}}</li></ul>";
        let before = state(&json!({ "rows": [] }), &json!({}), html);
        let rows = json!({ "items": [{ "title": "fine" }, { "title": key() }] });
        let decision = refreshed_protected(&before, rows).unwrap().unwrap();
        assert!(String::from_utf8_lossy(&decision.page).contains("<li>[redacted]</li>"));
        let origins = crate::ownership::origins(&decision.state, None);
        assert!(origins[1].says.ends_with("one text in it is redacted"), "{}", origins[1].says);
        // The keys are no outsider's.
        let rows = json!({ "items": [{ "title": "fine", "auth_token": "a8f3k2j9x7q1w5e4r6t0" }] });
        let refused = refreshed_protected(&before, rows).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::RedactionRequired);
    }

    #[test]
    fn a_decision_says_what_changed_and_where_it_came_from() {
        let before = state(&json!({ "rows": [1], "t": 1 }), &json!({}), "<p>{{data.t}}</p>");
        let decision = refreshed(&before, json!({ "items": [2] })).unwrap().unwrap();
        assert_eq!(decision.state.data.value(), &json!({ "rows": [2], "t": 1 }));
        assert_eq!(decision.changes.paths, ["/rows/0"]);
        let provenance = &decision.state.provenance;
        assert_eq!(provenance.generated_by, GeneratedBy::RefreshRunner);
        assert_eq!(provenance.notes.as_deref(), Some("kept"));
        assert_eq!(provenance.sources[0].label, "a.json");
        assert_eq!(provenance.sources[0].account_label.as_deref(), Some("me"));
        assert_eq!(decision.state.artifact.last_refreshed_at, Some(at(9)));
    }

    #[test]
    fn the_same_output_decides_nothing() {
        let before = state(&json!({ "rows": [1] }), &json!({}), "<p></p>");
        assert!(refreshed(&before, json!({ "items": [1] })).unwrap().is_none());
    }

    #[test]
    fn every_rule_of_create_holds_again() {
        let code = |schema: Value, output: Value| {
            let before = state(&json!({ "rows": [] }), &schema, "<p></p>");
            refreshed(&before, output).unwrap_err().code()
        };
        let schema = json!({ "properties": { "rows": { "maxItems": 1 } } });
        assert_eq!(code(schema, json!({ "items": [1, 2] })), ErrorCode::SourceUnreadable);
        assert_eq!(code(json!({}), json!({ "x": 1 })), ErrorCode::OutputMappingUnresolved);
        let key = ["gh", "p_abcdefghij0123456789klmn"].concat();
        assert_eq!(code(json!({}), json!({ "items": key })), ErrorCode::RedactionRequired);
        // The output is within the limits, and so is the data; together they are not.
        let large = "x".repeat(16_000);
        let rows: Vec<&str> = (0..16).map(|_| large.as_str()).collect();
        let full = state(&json!({ "pad": rows }), &json!({}), "<p></p>");
        let error = refreshed(&full, json!({ "items": [large] })).unwrap_err();
        assert_eq!(error.code(), ErrorCode::OutputTooLarge);
        let before = state(&json!({ "rows": [] }), &json!({}), "<p>{{data.rows.0}}</p>");
        let error = refreshed(&before, json!({ "items": [{}] })).unwrap_err();
        assert_eq!(error.code(), ErrorCode::TemplateBindingInvalid);
    }
}
