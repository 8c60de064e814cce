//! Keys that no stored document may carry, found where a refresh would store them.

use od_core::artifact::OutputMapping;
use od_core::connector::protect_text;
use od_core::credential::{Scrubber, redact_json};
use od_core::ids::MappingPath;
use od_core::json::{Value, is_denied_key};
use serde_json::json;

/// Paths proposed in place of the one that leads to a denied key.
const PROPOSED_MAX: usize = 8;
/// How deep output may be; what is deeper is refused by the limits anyway.
const DEPTH_MAX: usize = 16;

/// A denied key in an output, and a mapping that goes round it.
#[derive(Clone, Debug, PartialEq)]
pub struct DeniedKey {
    /// The key.
    pub key: String,
    /// Where it stands in the output, as a JSON pointer.
    pub pointer: String,
    /// An `outputMapping` that takes what stands beside it, without it.
    pub mapping: Value,
}

impl DeniedKey {
    /// Takes secrets and credentials out of the keys it names: a key of an output may be one.
    pub(super) fn protected(mut self, secrets: &Scrubber) -> Self {
        let keys = self.pointer.split('/').map(|key| key.replace("~1", "/").replace("~0", "~"));
        let keys: Vec<String> = keys.map(|key| protect_text(&key, secrets)).collect();
        self.pointer = pointer(keys.get(1..).unwrap_or_default());
        secrets.scrub_json(&mut self.mapping);
        redact_json(&mut self.mapping);
        self
    }

    /// Says what to do about it.
    pub(super) fn suggestion(&self) -> String {
        format!("map only what is needed, without `{}`: {}", self.pointer, self.mapping)
    }
}

/// Finds the first denied key in the parts of an output that a mapping takes; without a mapping, in
/// all of it.
pub(super) fn find_denied(output: &Value, mapping: Option<&OutputMapping>) -> Option<DeniedKey> {
    let mut path = Vec::new();
    match mapping.and_then(|mapping| mapping.data_paths.as_deref()) {
        None => search(output, output, &mut path),
        Some(arrows) => arrows.iter().find_map(|arrow| {
            path.clear();
            let part = follow(output, &arrow.from, &mut path)?;
            search(output, part, &mut path)
        }),
    }
}

/// Walks a mapping path, noting its steps.
fn follow<'v>(output: &'v Value, path: &MappingPath, steps: &mut Vec<String>) -> Option<&'v Value> {
    path.segments().try_fold(output, |value, segment| {
        steps.push(segment.key.to_owned());
        match value {
            Value::Object(map) => map.get(segment.key),
            Value::Array(items) => items.get(segment.index?),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        }
    })
}

fn search(output: &Value, value: &Value, path: &mut Vec<String>) -> Option<DeniedKey> {
    if path.len() > DEPTH_MAX {
        return None;
    }
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
            step(path, index.to_string(), |path| search(output, item, path))
        }),
        Value::Object(map) => map.iter().find_map(|(key, item)| {
            step(path, key.clone(), |path| {
                if is_denied_key(key) {
                    Some(DeniedKey {
                        key: key.clone(),
                        pointer: pointer(path),
                        mapping: way_round(output, path),
                    })
                } else {
                    search(output, item, path)
                }
            })
        }),
    }
}

fn step<T>(path: &mut Vec<String>, key: String, look: impl FnOnce(&mut Vec<String>) -> T) -> T {
    path.push(key);
    let found = look(path);
    path.pop();
    found
}

fn pointer(path: &[String]) -> String {
    path.iter().map(|key| format!("/{}", key.replace('~', "~0").replace('/', "~1"))).collect()
}

/// Proposes a mapping of what stands beside a denied key, at every level above it.
fn way_round(output: &Value, denied: &[String]) -> Value {
    let mut arrows = Vec::new();
    let mut value = output;
    for (depth, on_the_way) in denied.iter().enumerate() {
        if let Value::Object(map) = value {
            for (key, item) in map {
                let mut path: Vec<String> = denied[..depth].to_vec();
                path.push(key.clone());
                let from = path.join(".");
                let is_clean = key != on_the_way
                    && !is_denied_key(key)
                    && search(item, item, &mut Vec::new()).is_none();
                if is_clean && from.parse::<MappingPath>().is_ok() && arrows.len() < PROPOSED_MAX {
                    arrows.push(json!({ "from": from, "to": key }));
                }
            }
        }
        let next = match value {
            Value::Object(map) => map.get(on_the_way),
            Value::Array(items) => on_the_way.parse::<usize>().ok().and_then(|at| items.get(at)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        };
        let Some(next) = next else { break };
        value = next;
    }
    json!({ "dataPaths": arrows })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(from: &str) -> OutputMapping {
        serde_json::from_value(json!({ "dataPaths": [{ "from": from, "to": "x" }] })).unwrap()
    }

    #[test]
    fn a_foreign_body_is_found_with_its_place_and_a_way_round_it() {
        let output = json!({
            "total": 1,
            "items": [{ "tag_name": "v1", "body": "text", "url": "https://x.example" }],
        });
        let found = find_denied(&output, None).unwrap();
        assert_eq!(found.pointer, "/items/0/body");
        assert_eq!(
            found.mapping,
            json!({ "dataPaths": [
                { "from": "total", "to": "total" },
                { "from": "items.0.tag_name", "to": "tag_name" },
                { "from": "items.0.url", "to": "url" },
            ] })
        );
        let proposed: OutputMapping = serde_json::from_value(found.mapping).unwrap();
        assert_eq!(find_denied(&output, Some(&proposed)), None, "the way round is clear");
    }

    #[test]
    fn what_a_mapping_does_not_take_does_not_matter() {
        let output = json!({ "headers": { "x": 1 }, "rows": [{ "a": 1 }], "raw": "x" });
        assert_eq!(find_denied(&output, Some(&mapping("rows"))), None);
        assert_eq!(find_denied(&output, Some(&mapping("missing.rows"))), None);
        assert_eq!(find_denied(&output, Some(&mapping("$"))).unwrap().pointer, "/headers");
        assert_eq!(find_denied(&output, None).unwrap().pointer, "/headers");
    }
}
