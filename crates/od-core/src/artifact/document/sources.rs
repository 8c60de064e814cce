//! The sources of an artifact: one in `sourceJson`, or several in `sources`, which are one list to
//! everything that runs or reads them.

use std::collections::BTreeMap;

use super::document::Document;
use super::mapping::{DataPath, OutputMapping};
use super::source::{ConnectorRef, RefreshPermission, Source, SourcePin, SourceType};
use crate::error::{ErrorCode, Issue};
use crate::ids::{MappingPath, SourceId, Timestamp, ToolName};
use crate::input::{Fields, Input, Issues, Properties, Reader, one_of, parsed, read_items, schema};
use crate::json::{BoundedObject, Pointer, Value};
use crate::limits;
use crate::ownership::{Place, ROOT_SOURCE};
use crate::query::Query;
use crate::refresh::obstacle;
use crate::words::words;

words! {
    /// The effect of one source's failure on a refresh.
    OnFailure {
        /// The refresh fails.
        Fail = "fail",
        /// Its values stay and are marked stale; the refresh goes on.
        Keep = "keep",
    }
}

/// One of several sources: `document.sources`.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NamedSource {
    /// Its name, and that of its table.
    pub id: SourceId,
    /// What runs. Its permission is that of the document.
    #[serde(flatten, serialize_with = "write_call")]
    #[schemars(with = "StoredCall")]
    pub source: Source,
    /// Where the rows stand in its output; found as `compact_table` finds them if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<MappingPath>,
    /// What its failure does to a refresh.
    #[serde(default = "OnFailure::default_value", skip_serializing_if = "OnFailure::is_default")]
    pub on_failure: OnFailure,
}

/// A source as one of several is written: without the permission.
#[derive(schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
struct StoredCall {
    /// What kind of source it is.
    #[serde(rename = "type")]
    kind: SourceType,
    /// The tool that runs, qualified (`github.list_releases`); absent for a local file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_name: Option<ToolName>,
    /// The input of the tool, or the file to read.
    #[serde(default)]
    input: BoundedObject,
    /// The connector the tool belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    connector: Option<ConnectorRef>,
    /// How the output becomes data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output_mapping: Option<OutputMapping>,
}

impl OnFailure {
    const fn default_value() -> Self {
        Self::Fail
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
    const fn is_default(&self) -> bool {
        matches!(self, Self::Fail)
    }
}

/// The field of a source that one of several does not have.
const PERMISSION: &str = "refreshPermission";

fn write_call<S: serde::Serializer>(source: &Source, serializer: S) -> Result<S::Ok, S::Error> {
    use serde::ser::SerializeMap as _;
    let fields = match serde_json::to_value(source) {
        Ok(Value::Object(mut fields)) => {
            fields.remove(PERMISSION);
            fields
        }
        Ok(_) | Err(_) => return Err(serde::ser::Error::custom("a source is an object")),
    };
    let mut map = serializer.serialize_map(Some(fields.len()))?;
    for (key, value) in &fields {
        map.serialize_entry(key, value)?;
    }
    map.end()
}

impl Input for NamedSource {
    const DESCRIPTION: &'static str = "one of several sources";

    fn push_names(names: &mut Vec<&'static str>) {
        names.push("id");
        let mut of_source = Vec::new();
        Source::push_names(&mut of_source);
        names.extend(of_source.into_iter().filter(|name| *name != PERMISSION));
        names.extend(["rows", "onFailure"]);
    }

    fn read_fields(fields: &mut Fields<'_, '_>) -> Option<Self> {
        fields.require("id");
        let id = fields.read("id", &parsed());
        let source = Source::read_fields(fields);
        let rows = fields.read("rows", &parsed());
        let on_failure = fields.read("onFailure", &one_of(OnFailure::ALL));
        Some(Self {
            id: id?,
            source: source?,
            rows,
            on_failure: on_failure.unwrap_or(OnFailure::Fail),
        })
    }

    fn push_properties(properties: &mut Properties) {
        properties.push("id", true, parsed::<SourceId>().schema("its name; also its table's"));
        let mut of_source = Properties::default();
        Source::push_properties(&mut of_source);
        properties.append_without(of_source, PERMISSION);
        let rows = "where the rows of its table stand in its output; found if absent";
        properties.push("rows", false, parsed::<MappingPath>().schema(rows));
        let keep = "keep: if it fails, its values stay, marked stale; fail if absent";
        properties.push("onFailure", false, one_of(OnFailure::ALL).schema(keep));
    }
}

/// Reads `sources`: at least one, no two with the same id.
pub(super) struct SourceList;

impl Reader for SourceList {
    type Value = Vec<NamedSource>;

    fn read(&self, value: &Value, at: &Pointer, issues: &mut Issues) -> Option<Vec<NamedSource>> {
        let items = read_items(value, at, &limits::SOURCES, issues)?;
        if items.is_empty() {
            let issue = Issue::new(at.as_str(), "empty", "`sources` has no source");
            issues.push(issue.fix("add a source, or leave `sources` out"));
        }
        let mut sources: Vec<NamedSource> = Vec::new();
        for (i, item) in items.iter().enumerate() {
            let at = at.clone().index(i);
            let Some(source) = NamedSource::read(item, at.clone(), issues) else { continue };
            if sources.iter().any(|other| other.id == source.id) {
                let message = "two sources have the same id";
                issues.push(
                    Issue::new(at.key("id").as_str(), "duplicate_id", message)
                        .got(source.id.as_str())
                        .want("an id of its own for each source: it names the table")
                        .fix(format!("rename it, such as `{}_{}`", source.id, i + 1)),
                );
            }
            sources.push(source);
        }
        Some(sources)
    }

    fn schema(&self, description: &str) -> Value {
        schema::array(description, &NamedSource::schema(), 1, &limits::SOURCES)
    }
}

/// The pins of an artifact's sources, by their ids.
pub type Pins = BTreeMap<String, SourcePin>;

/// A source whose last run failed and whose values were kept.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct StaleSource {
    /// The source's id.
    #[schemars(length(max = limits::ID.allowed))]
    pub source: String,
    /// The first refresh that it failed in; what stands in the data is from before.
    pub since: Timestamp,
    /// The reason for its last failure.
    // Every code in every answer would be longer than all that models read of the tools.
    #[schemars(with = "String", length(max = limits::ID.allowed))]
    pub code: ErrorCode,
}

/// One source of an artifact, whichever field it stands in.
#[derive(Clone, Copy, Debug)]
pub struct SourceRef<'a> {
    /// Its id; [`ROOT_SOURCE`] in `sourceJson`.
    pub id: &'a str,
    /// What runs.
    pub source: &'a Source,
    /// Where the rows of its table stand in its output.
    pub rows: Option<&'a MappingPath>,
    /// What its failure does to a refresh.
    pub on_failure: OnFailure,
    /// Its place in `sources`; none in `sourceJson`.
    pub index: Option<usize>,
    /// Whether it writes nothing itself: only queries read it.
    pub is_table: bool,
}

impl<'a> SourceRef<'a> {
    /// Points to it from the document, such as `/sources/0`.
    #[must_use]
    pub fn pointer(&self) -> String {
        match self.index {
            Some(index) => format!("/sources/{index}"),
            None => "/sourceJson".to_owned(),
        }
    }

    /// Returns the arrows of its mapping; none for a source that maps its whole output.
    #[must_use]
    pub fn data_paths(&self) -> &'a [DataPath] {
        let mapping: Option<&'a OutputMapping> = self.source.output_mapping.as_ref();
        mapping.and_then(|mapping| mapping.data_paths.as_deref()).unwrap_or_default()
    }

    /// Returns whether another one has the same id and makes the same call.
    #[must_use]
    pub fn is_same(&self, other: &SourceRef<'_>) -> bool {
        self.id == other.id && self.source.runs_as(other.source)
    }
}

impl Document {
    /// Returns every source, in the order of the document.
    #[must_use]
    pub fn all_sources(&self) -> Vec<SourceRef<'_>> {
        let has_queries = !self.queries.is_empty();
        let root = self.source_json.iter().map(|source| SourceRef {
            id: ROOT_SOURCE,
            source,
            rows: None,
            on_failure: OnFailure::Fail,
            index: None,
            is_table: has_queries && source.output_mapping.is_none(),
        });
        let named = self.sources.iter().enumerate().map(|(index, named)| SourceRef {
            id: named.id.as_str(),
            source: &named.source,
            rows: named.rows.as_ref(),
            on_failure: named.on_failure,
            index: Some(index),
            is_table: named.source.output_mapping.is_none(),
        });
        root.chain(named).collect()
    }

    /// Returns whether the document has more than the first version of the stored shape can say.
    #[must_use]
    pub fn needs_newest_version(&self) -> bool {
        !self.sources.is_empty() || !self.queries.is_empty() || self.refresh.is_some()
    }

    /// Returns the permission to refresh; none without a source.
    #[must_use]
    pub fn permission(&self) -> RefreshPermission {
        match &self.source_json {
            Some(source) => source.refresh_permission,
            None if self.sources.is_empty() => RefreshPermission::None,
            None => self.refresh_permission.unwrap_or(RefreshPermission::None),
        }
    }

    /// Sets the permission to refresh, where the document has it.
    pub fn set_permission(&mut self, permission: RefreshPermission) {
        match &mut self.source_json {
            Some(source) => {
                source.refresh_permission = permission;
                self.refresh_permission = None;
            }
            None if self.sources.is_empty() => self.refresh_permission = None,
            None => self.refresh_permission = Some(permission),
        }
    }

    /// Returns whether a refresh of another document runs the same: whether it may is no part of that.
    #[must_use]
    pub fn runs_as(&self, other: &Self) -> bool {
        let (mine, others) = (self.all_sources(), other.all_sources());
        mine.len() == others.len()
            && mine.iter().zip(&others).all(|(one, other)| one.is_same(other))
            && self.sources == other.sources
            && self.queries == other.queries
    }
}

/// Returns an issue for every rule between the sources and the queries of a document that is broken.
/// `at` points to the document in the request.
pub(in crate::artifact) fn design_issues(document: &Document, at: &Pointer) -> Vec<Issue> {
    let mut issues = Vec::new();
    let place = |pointer: String| format!("{}{pointer}", at.as_str());
    if document.source_json.is_some() && !document.sources.is_empty() {
        let message = "a document has `sourceJson` or `sources`, not both";
        issues.push(
            Issue::new(place("/sourceJson".to_owned()), "two_kinds_of_source", message)
                .want("`sources` alone, or `sourceJson` for the only source")
                .fix("move it into `sources` with an `id`, and its refreshPermission to `document.refreshPermission`"),
        );
    }
    let sources = document.all_sources();
    if sources.is_empty() && !document.queries.is_empty() {
        let message = "queries read the rows of sources, and the document has none";
        let issue = Issue::new(place("/queries".to_owned()), "queries_without_source", message);
        issues.push(issue.want("`sources` beside `queries`").fix("add `sources`"));
    }
    for source in
        sources.iter().filter(|source| source.index.is_some() || !document.queries.is_empty())
    {
        let is_open =
            source.source.output_mapping.as_ref().is_some_and(|it| it.data_paths.is_none());
        if is_open {
            let message = "one of several writers has to name the places it writes";
            let fix = format!("\"dataPaths\": [{{ \"from\": \"$\", \"to\": \"{}\" }}]", source.id);
            let pointer = place(format!("{}/outputMapping", source.pointer()));
            issues.push(Issue::new(pointer, "mapping_without_paths", message).fix(fix));
        }
    }
    issues.extend(overlaps(&sources, &document.queries, at));
    issues
}

/// The targets of every source and query, with where they stand in the document and who writes them.
fn targets<'a>(
    sources: &[SourceRef<'a>],
    queries: &'a [Query],
) -> Vec<(String, &'a MappingPath, String)> {
    let mut targets = Vec::new();
    for source in sources {
        for (i, path) in source.data_paths().iter().enumerate() {
            let pointer = format!("{}/outputMapping/dataPaths/{i}/to", source.pointer());
            targets.push((pointer, &path.to, format!("the source `{}`", source.id)));
        }
    }
    for (i, query) in queries.iter().enumerate() {
        targets.push((format!("/queries/{i}/to"), &query.to, format!("query {}", i + 1)));
    }
    targets
}

/// Every place has one writer. What one mapping says twice is refused where it is read.
fn overlaps(sources: &[SourceRef<'_>], queries: &[Query], at: &Pointer) -> Vec<Issue> {
    let targets = targets(sources, queries);
    let mut issues = Vec::new();
    for (i, (pointer, to, writer)) in targets.iter().enumerate() {
        let place = Place::from(*to);
        let other = targets[..i].iter().find(|(_, earlier, by)| {
            let earlier = Place::from(*earlier);
            (by != writer || by.starts_with("query"))
                && (place.is_within(&earlier) || earlier.is_within(&place))
        });
        if let Some((_, earlier, by)) = other {
            let message = format!("writes over `{earlier}`, which {by} writes");
            let pointer = format!("{}{pointer}", at.as_str());
            issues.push(
                Issue::new(pointer, "overlapping_target", message)
                    .got(to.as_str())
                    .want("one writer for each place of the data")
                    .fix("give each source and query a place of its own"),
            );
        }
    }
    issues
}

/// Returns an issue for every `to` that no refresh could write: a source that can only fail is refused
/// when it is set. `at` points to the document in the request.
pub(in crate::artifact) fn blocked_targets(
    document: &Document,
    data: &BoundedObject,
    at: &Pointer,
) -> Vec<Issue> {
    let sources = document.all_sources();
    let blocked = |(pointer, to, _): (String, &MappingPath, String)| {
        let found = obstacle(data.object(), to)?;
        let pointer = format!("{}{pointer}", at.as_str());
        let issue = Issue::new(pointer, "target_blocked", "the data has no place for `to`")
            .got(format!("{to}: {found} stands on the way"))
            .want("a place below objects of the data, or one that is not there yet")
            .fix("map to another key, or make what stands on the way an object");
        Some(issue)
    };
    targets(&sources, &document.queries).into_iter().filter_map(blocked).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::document::DocumentInput;
    use super::*;

    fn source(id: &str, to: &str) -> Value {
        json!({ "id": id, "type": "local_file", "input": { "path": format!("{id}.csv") },
            "outputMapping": { "dataPaths": [{ "from": "count", "to": to }] } })
    }

    fn document(fields: Value) -> Result<Document, Vec<(String, String)>> {
        let mut document = json!({ "dataJson": {} });
        let Value::Object(fields) = fields else { panic!("an object") };
        document.as_object_mut().unwrap().extend(fields);
        match DocumentInput::read_whole(&document) {
            Ok((input, _)) => Ok(input.to_document()),
            Err(issues) => Err(issues.into_iter().map(|it| (it.path, it.code)).collect()),
        }
    }

    #[track_caller]
    fn refused(fields: Value, path: &str, code: &str) {
        let found = document(fields).unwrap_err();
        assert!(found.contains(&(path.to_owned(), code.to_owned())), "{found:?}");
    }

    #[test]
    fn several_sources_are_one_list_with_their_tables() {
        let table = json!({ "id": "log", "type": "local_file", "input": { "path": "log.csv" },
            "rows": "items", "onFailure": "keep" });
        let query = json!({ "to": "top", "sql": "SELECT 1 AS n FROM log" });
        let document = document(json!({ "sources": [source("a", "x"), table], "queries": [query],
            "refreshPermission": "manual_refresh_granted_for_read_only" }))
        .unwrap();
        let sources = document.all_sources();
        let ids: Vec<_> = sources.iter().map(|it| (it.id, it.is_table, it.on_failure)).collect();
        assert_eq!(ids, [("a", false, OnFailure::Fail), ("log", true, OnFailure::Keep)]);
        assert_eq!(document.permission(), RefreshPermission::Manual);
        let stored = serde_json::to_value(&document).unwrap();
        assert_eq!(stored["sources"][1]["onFailure"], "keep");
        assert!(stored["sources"][0].get(PERMISSION).is_none(), "the document has it");
        assert_eq!(serde_json::from_value::<Document>(stored).unwrap(), document);
    }

    #[test]
    fn a_document_of_one_source_is_stored_as_before() {
        let one = json!({ "type": "local_file", "input": { "path": "a.json" } });
        let stored =
            serde_json::to_string(&document(json!({ "sourceJson": one })).unwrap()).unwrap();
        assert_eq!(
            stored,
            "{\"format\":\"html_template_v1\",\"templatePath\":\"template.html\",\"generatedPreviewPath\":\"index.html\",\"dataPath\":\"data.json\",\"sourceJson\":{\"type\":\"local_file\",\"input\":{\"path\":\"a.json\"},\"refreshPermission\":\"none\"}}"
        );
    }

    #[test]
    fn the_permission_of_the_document_is_that_of_its_one_source() {
        let one = json!({ "type": "local_file", "input": { "path": "a.json" } });
        let permission = "manual_refresh_granted_for_read_only";
        let document =
            document(json!({ "sourceJson": one, "refreshPermission": permission })).unwrap();
        assert_eq!(document.permission(), RefreshPermission::Manual);
        assert_eq!(document.refresh_permission, None);
    }

    #[test]
    fn every_place_has_one_writer() {
        let query = |to: &str| json!({ "to": to, "sql": "SELECT 1 AS n FROM a" });
        let overlap = "overlapping_target";
        refused(
            json!({ "sources": [source("a", "x.y"), source("b", "x")] }),
            "/sources/1/outputMapping/dataPaths/0/to",
            overlap,
        );
        let with = |queries: Value| json!({ "sources": [source("a", "x")], "queries": queries });
        refused(with(json!([query("x.n")])), "/queries/0/to", overlap);
        refused(with(json!([query("y"), query("y")])), "/queries/1/to", overlap);
        assert!(document(with(json!([query("y"), query("yy")]))).is_ok());
    }

    #[test]
    fn what_does_not_fit_together_is_refused_with_its_fix() {
        let one = json!({ "type": "local_file", "input": { "path": "a.json" } });
        let both = json!({ "sourceJson": one, "sources": [source("a", "x")] });
        refused(both, "/sourceJson", "two_kinds_of_source");
        let query = json!({ "to": "q", "sql": "SELECT 1 AS n" });
        refused(json!({ "queries": [query] }), "/queries", "queries_without_source");
        refused(json!({ "sources": [] }), "/sources", "empty");
        refused(
            json!({ "sources": [source("a", "x"), source("a", "y")] }),
            "/sources/1/id",
            "duplicate_id",
        );
        let mut open = source("a", "x");
        open["outputMapping"] = json!({});
        let at = "/sources/0/outputMapping";
        refused(json!({ "sources": [open] }), at, "mapping_without_paths");
        let mut own = source("a", "x");
        own[PERMISSION] = json!("none");
        refused(json!({ "sources": [own] }), "/sources/0/refreshPermission", "unknown_field");
        let many: Vec<Value> = (0..9).map(|i| source(&format!("s{i}"), &format!("k{i}"))).collect();
        refused(json!({ "sources": many }), "/sources", "too_many_items");
    }

    #[test]
    fn a_patch_puts_several_in_the_place_of_one_and_back() {
        use super::super::document::DocumentPatch;
        let permission = "manual_refresh_granted_for_read_only";
        let one = json!({ "type": "local_file", "input": { "path": "a.json" },
            "refreshPermission": permission });
        let before = document(json!({ "sourceJson": one })).unwrap();
        let patch = |fields: Value| DocumentPatch::read_whole(&fields).unwrap().0;
        let several = patch(json!({ "sources": [source("a", "x")] })).apply(before.clone());
        assert_eq!((several.source_json.is_none(), several.sources.len()), (true, 1));
        assert_eq!(several.permission(), RefreshPermission::Manual, "it was granted");
        let back = patch(json!({ "sourceJson": one })).apply(several.clone());
        assert_eq!(back, before);
        let off = patch(json!({ "refreshPermission": "none" })).apply(several.clone());
        assert!(several.runs_as(&off) && off.permission() == RefreshPermission::None);
    }
}
