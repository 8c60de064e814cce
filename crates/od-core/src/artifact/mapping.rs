//! The mapping of a source: which parts of its output go where in the data.

use super::source::{Source, Transform};
use crate::error::Issue;
use crate::ids::MappingPath;
use crate::input::{Input as _, Issues, Reader, input, one_of, parsed, read_items, schema};
use crate::json::{BoundedObject, Pointer, Value, is_denied_key};
use crate::limits;
use crate::refresh::obstacle;

input! {
    /// How a source's output becomes data.
    #[derive(
        Clone, Debug, Default, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
    )]
    #[serde(rename_all = "camelCase")]
    pub struct OutputMapping "how the output becomes data" {
        /// Which parts of the output go where; without it the output's top-level keys replace those of
        /// the data.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1, max = limits::MAPPING_PATHS.allowed))]
        optional data_paths: Vec<DataPath>
            = "dataPaths", DataPaths, "which parts go where; without it the output's top-level keys replace those of the data";
        /// What is done to each value on the way; `identity` if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        optional transform: Transform
            = "transform", one_of(Transform::ALL), "what is done to each value; identity if absent";
    }
}

input! {
    /// One arrow of a mapping.
    #[derive(
        Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
    )]
    #[serde(rename_all = "camelCase")]
    pub struct DataPath "takes the value at `from` of the output and replaces what stands at `to` of the data" {
        /// Where the value stands in the output.
        required from: MappingPath
            = "from", parsed(), "where the value stands in the output; $ is all of it";
        /// Where it replaces what stands in the data.
        required to: MappingPath
            = "to", Target, "where it stands in the data; begins with a key";
    }
}

/// Reads `dataPaths`: at least one, no two of which write to the same place.
struct DataPaths;

impl Reader for DataPaths {
    type Value = Vec<DataPath>;

    fn read(&self, value: &Value, at: &Pointer, issues: &mut Issues) -> Option<Vec<DataPath>> {
        let items = read_items(value, at, &limits::MAPPING_PATHS, issues)?;
        if items.is_empty() {
            issues.push(
                Issue::new(at.as_str(), "empty", "`dataPaths` maps nothing")
                    .fix("add an entry, or leave `dataPaths` out to take the output's keys"),
            );
        }
        let mut paths: Vec<DataPath> = Vec::new();
        for (i, item) in items.iter().enumerate() {
            let at = at.clone().index(i);
            let path = DataPath::read(item, at.clone(), issues);
            // An entry whose `from` is refused still writes somewhere.
            let to = item.get("to").and_then(Value::as_str).and_then(|to| to.parse().ok());
            if let Some(to) = to
                && let Some(other) = paths.iter().find(|path| overlap(&path.to, &to))
            {
                let message = format!("writes over `{}`, which another entry writes", other.to);
                issues.push(
                    Issue::new(at.key("to").as_str(), "overlapping_target", message)
                        .got(to.as_str())
                        .fix("give each entry a place of its own"),
                );
            }
            paths.extend(path);
        }
        Some(paths)
    }

    fn schema(&self, description: &str) -> Value {
        schema::array(description, &DataPath::schema(), 1, &limits::MAPPING_PATHS)
    }
}

/// Returns whether one target is the other, or lies inside it.
fn overlap(a: &MappingPath, b: &MappingPath) -> bool {
    a.segments().zip(b.segments()).all(|(a, b)| a == b)
}

/// Reads the `to` of a mapping: a place below a key of the root, and below no key that is never
/// stored.
struct Target;

impl Reader for Target {
    type Value = MappingPath;

    fn read(&self, value: &Value, at: &Pointer, issues: &mut Issues) -> Option<MappingPath> {
        let to: MappingPath = parsed().read(value, at, issues)?;
        if to.segments().next().is_none_or(|first| first.index.is_some()) {
            let message = "data is an object: `to` names a key of it";
            issues.push(
                Issue::new(at.as_str(), "target_not_a_key", message)
                    .got(to.as_str())
                    .want("a key first, such as releases or summary.count")
                    .fix("begin `to` with the key that the template shows"),
            );
        } else if let Some(denied) = to.segments().find(|segment| is_denied_key(segment.key)) {
            issues.push(
                Issue::new(at.as_str(), "denied_key", "the key is never stored")
                    .got(denied.key)
                    .want("none of the keys that name raw responses or credentials")
                    .fix("use a key that says what the value means"),
            );
        }
        Some(to)
    }

    fn schema(&self, description: &str) -> Value {
        schema::typed::<MappingPath>(description)
    }
}

/// Returns an issue for every `to` of a mapping that no refresh could write: a source that can only
/// fail is refused when it is set. `document_at` points to the document in the request.
pub(super) fn blocked_targets(
    source: Option<&Source>,
    data: &BoundedObject,
    document_at: &Pointer,
) -> Vec<Issue> {
    let mapping = source.and_then(|source| source.output_mapping.as_ref());
    let Some(paths) = mapping.and_then(|mapping| mapping.data_paths.as_ref()) else {
        return Vec::new();
    };
    let list = document_at.clone().key("sourceJson").key("outputMapping").key("dataPaths");
    let blocked = |(i, to)| {
        let found = obstacle(data.object(), to)?;
        let at = list.clone().index(i).key("to");
        let issue = Issue::new(at.as_str(), "target_blocked", "the data has no place for `to`")
            .got(format!("{to}: {found} stands on the way"))
            .want("a place below objects of the data, or one that is not there yet")
            .fix("map to another key, or make what stands on the way an object");
        Some(issue)
    };
    paths.iter().map(|path| &path.to).enumerate().filter_map(blocked).collect()
}
