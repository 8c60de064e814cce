//! The mapping of a source: which parts of its output go where in the data.

use super::source::Transform;
use crate::error::Issue;
use crate::ids::MappingPath;
use crate::input::{Input as _, Issues, Reader, input, one_of, parsed, read_items, schema};
use crate::json::{Pointer, Value, is_denied_key};
use crate::limits;

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
            let to: Option<MappingPath> =
                item.get("to").and_then(Value::as_str).and_then(|to| to.parse().ok());
            if let Some(to) = to
                && let Some(other) = paths.iter().find(|path| {
                    // One target is the other, or lies inside it.
                    path.to.segments().zip(to.segments()).all(|(a, b)| a == b)
                })
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

/// Reads the `to` of a mapping: a place below a key of the root, and below no key that is never
/// stored.
pub(crate) struct Target;

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
        } else if let Some(meant) = below_data(&to) {
            let message =
                "`to` is a place of the data already: `data.` is only written in templates";
            issues.push(
                Issue::new(at.as_str(), "target_below_data", message)
                    .got(to.as_str())
                    .want("the path without `data.`")
                    .fix(meant),
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

/// Returns the place that is meant by a `to` that names the data itself, as bindings and requests do.
fn below_data(to: &MappingPath) -> Option<String> {
    let keys: Vec<&str> = to.segments().map(|segment| segment.key).collect();
    let below = match keys[..] {
        ["input", "document", "dataJson", ..] => &keys[3..],
        ["document", "dataJson", ..] => &keys[2..],
        ["data" | "dataJson", ..] => &keys[1..],
        _ => return None,
    };
    (!below.is_empty()).then(|| below.join("."))
}
