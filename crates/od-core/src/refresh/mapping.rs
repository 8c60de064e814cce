//! From a source's output to the data.

use super::transform::{TransformError, transform};
use crate::artifact::{DataPath, OutputMapping, Transform};
use crate::error::ErrorCode;
use crate::ids::MappingPath;
use crate::json::{Map, Value, type_name};

/// Why an output cannot be mapped into the data.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum MappingError {
    /// A `from` names nothing in the output.
    #[error("`{from}` names nothing in the output; it has {}", nearest.join(", "))]
    Unresolved {
        /// The path.
        from: MappingPath,
        /// Existing paths near it.
        nearest: Vec<String>,
    },
    /// A `to` leads through something that is neither object nor array, or past an array's end.
    #[error("`{to}` cannot be written: {found} stands on the way")]
    Blocked {
        /// The path.
        to: MappingPath,
        /// The value that stands on the way.
        found: &'static str,
    },
    /// A value does not have the form its transform needs.
    #[error("`{from}` cannot be transformed: {cause}")]
    Transform {
        /// The path; `$` for the whole output.
        from: String,
        /// The kind that the transform needs.
        cause: TransformError,
    },
    /// Without `dataPaths` the output must be an object.
    #[error("the output is {found}, and without `dataPaths` it must be an object")]
    NotAnObject {
        /// The kind that it is.
        found: &'static str,
    },
}

impl MappingError {
    /// Returns the code of the refusal.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        ErrorCode::OutputMappingUnresolved
    }
}

/// Returns the data with the output mapped into it; the data is not changed where no mapping points.
///
/// Each `from` is read from the output, transformed, and **replaces** what stands at `to`; objects
/// above `to` are kept or made. Without `dataPaths` the keys of the transformed output replace the
/// same keys of the data.
///
/// # Errors
///
/// Fails if a `from` resolves to nothing, if a value cannot be transformed, or if a `to` cannot be
/// written: data is never silently left stale.
pub fn apply_mapping(
    data: &Map,
    output: &Value,
    mapping: Option<&OutputMapping>,
    source: &str,
) -> Result<Map, MappingError> {
    let how = mapping.and_then(|mapping| mapping.transform).unwrap_or(Transform::Identity);
    let Some(paths) = mapping.and_then(|mapping| mapping.data_paths.as_deref()) else {
        return replace_keys(data, output, how, source);
    };
    let mut mapped = data.clone();
    for DataPath { from, to } in paths {
        let value = resolve(output, from).ok_or_else(|| MappingError::Unresolved {
            from: from.clone(),
            nearest: nearest_paths(output, from),
        })?;
        let value = transform(how, value, source)
            .map_err(|cause| MappingError::Transform { from: from.to_string(), cause })?;
        write(&mut mapped, to, value)?;
    }
    Ok(mapped)
}

/// Returns what keeps a refresh from writing to a place of the data, if anything does.
pub(crate) fn obstacle(data: &Map, to: &MappingPath) -> Option<&'static str> {
    let mut segments = to.segments();
    let Some(first) = segments.next() else { return Some(WHOLE_DATA) };
    let mut place = data.get(first.key);
    for segment in segments {
        place = match place {
            // The objects above a place are made where nothing stands.
            None | Some(Value::Null) => return None,
            Some(Value::Object(map)) => map.get(segment.key),
            Some(Value::Array(items)) => {
                let item = segment.index.and_then(|index| items.get(index));
                if item.is_none() {
                    return Some(NO_SUCH_INDEX);
                }
                item
            }
            Some(value @ (Value::Bool(_) | Value::Number(_) | Value::String(_))) => {
                return Some(type_name(value));
            }
        };
    }
    None
}

fn replace_keys(
    data: &Map,
    output: &Value,
    how: Transform,
    source: &str,
) -> Result<Map, MappingError> {
    let value = transform(how, output, source)
        .map_err(|cause| MappingError::Transform { from: "$".to_owned(), cause })?;
    let Value::Object(keys) = value else {
        return Err(MappingError::NotAnObject { found: type_name(&value) });
    };
    let mut mapped = data.clone();
    mapped.extend(keys);
    Ok(mapped)
}

/// Returns the value a path names, if there is one.
#[must_use]
pub fn resolve<'v>(value: &'v Value, path: &MappingPath) -> Option<&'v Value> {
    path.segments().try_fold(value, |value, segment| match value {
        Value::Object(map) => map.get(segment.key),
        Value::Array(items) => items.get(segment.index?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}

const WHOLE_DATA: &str = "the whole data";
const NO_SUCH_INDEX: &str = "an array without that index";

/// Replaces what stands at a path, making the objects above it where nothing stands.
fn write(data: &mut Map, to: &MappingPath, value: Value) -> Result<(), MappingError> {
    let blocked = |found| MappingError::Blocked { to: to.clone(), found };
    let mut segments = to.segments().peekable();
    let Some(first) = segments.next() else { return Err(blocked(WHOLE_DATA)) };
    let mut place = data.entry(first.key).or_insert(Value::Null);
    for segment in segments {
        if place.is_null() {
            *place = Value::Object(Map::new());
        }
        place = match place {
            Value::Object(map) => map.entry(segment.key).or_insert(Value::Null),
            Value::Array(items) => {
                let item = segment.index.and_then(|index| items.get_mut(index));
                item.ok_or_else(|| blocked(NO_SUCH_INDEX))?
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                return Err(blocked(type_name(place)));
            }
        };
    }
    *place = value;
    Ok(())
}

/// Lists what exists where a path stops resolving: the deepest container's own paths, nearest
/// spelling first, at most five.
fn nearest_paths(output: &Value, from: &MappingPath) -> Vec<String> {
    let mut value = output;
    let mut prefix = String::new();
    let mut wanted = "";
    for segment in from.segments() {
        wanted = segment.key;
        let next = match value {
            Value::Object(map) => map.get(segment.key),
            Value::Array(items) => segment.index.and_then(|index| items.get(index)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        };
        let Some(next) = next else { break };
        value = next;
        prefix.push_str(segment.key);
        prefix.push('.');
    }
    let mut names: Vec<String> = match value {
        Value::Object(map) => map.keys().cloned().collect(),
        Value::Array(items) if !items.is_empty() => vec!["0".to_owned()],
        Value::Array(_) => vec!["an empty array".to_owned()],
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return vec![format!("{} at `{}`", type_name(value), prefix.trim_end_matches('.'))];
        }
    };
    let near = crate::error::nearest_name(wanted, names.iter().map(String::as_str));
    let near = near.and_then(|near| names.iter().position(|name| name == near));
    if let Some(position) = near {
        names.swap(0, position);
    }
    let shown = names.iter().take(5).map(|name| format!("{prefix}{name}"));
    let shown: Vec<_> = shown.collect();
    if shown.is_empty() { vec!["nothing".to_owned()] } else { shown }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn map(data: Value, output: &Value, mapping: Value) -> Result<Value, MappingError> {
        let mapping: OutputMapping = serde_json::from_value(mapping).unwrap();
        let Value::Object(data) = data else { panic!("an object") };
        apply_mapping(&data, output, Some(&mapping), "src").map(Value::Object)
    }

    #[test]
    fn a_target_is_replaced_and_its_surroundings_kept() {
        let data = json!({ "a": { "old": 1, "keep": 2 }, "z": [1, { "q": 0 }] });
        let output = json!({ "items": [{ "n": 5 }] });
        let mapping = json!({ "dataPaths": [
            { "from": "items.0", "to": "a.old" },
            { "from": "$.items.0.n", "to": "z.1.q" },
            { "from": "items", "to": "new.deep" },
        ]});
        assert_eq!(
            map(data, &output, mapping).unwrap(),
            json!({ "a": { "old": { "n": 5 }, "keep": 2 }, "z": [1, { "q": 5 }],
                    "new": { "deep": [{ "n": 5 }] } })
        );
    }

    #[test]
    fn without_paths_the_top_level_keys_are_replaced() {
        let data = json!({ "a": { "x": 1 }, "b": 2 });
        assert_eq!(
            map(data.clone(), &json!({ "a": { "y": 1 } }), json!({})).unwrap(),
            json!({ "a": { "y": 1 }, "b": 2 })
        );
        assert!(matches!(
            map(data, &json!([1]), json!({})),
            Err(MappingError::NotAnObject { found: "an array" })
        ));
    }

    #[test]
    fn an_unresolved_path_names_what_exists() {
        let output = json!({ "data": { "releases": [], "count": 0 } });
        let error = map(
            json!({}),
            &output,
            json!({ "dataPaths": [{ "from": "data.release", "to": "r" }] }),
        )
        .unwrap_err();
        let MappingError::Unresolved { nearest, .. } = &error else { panic!("{error}") };
        assert_eq!(nearest, &["data.releases", "data.count"]);
        assert_eq!(
            error.to_string(),
            "`data.release` names nothing in the output; it has data.releases, data.count"
        );
        assert_eq!(error.code(), ErrorCode::OutputMappingUnresolved);
    }

    #[test]
    fn a_blocked_target_fails() {
        for to in ["a.b", "list.7", "list.x"] {
            let data = json!({ "a": "text", "list": [1] });
            let mapping = json!({ "dataPaths": [{ "from": "$", "to": to }] });
            assert!(matches!(map(data, &json!(1), mapping), Err(MappingError::Blocked { .. })));
        }
    }

    fn small_json() -> impl Strategy<Value = Value> {
        let leaf =
            prop_oneof![any::<i8>().prop_map(Value::from), "[a-c]{0,2}".prop_map(Value::from)];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[a-d]", inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    /// Removes what stands at a path, and the objects above it that are then empty.
    fn without(value: &mut Value, path: &[&str]) {
        let Some((key, rest)) = path.split_first() else { return };
        match value {
            Value::Object(map) => {
                let is_gone = match map.get_mut(*key) {
                    Some(_) if rest.is_empty() => true,
                    Some(inner) => {
                        without(inner, rest);
                        inner.as_object().is_some_and(Map::is_empty)
                    }
                    None => false,
                };
                if is_gone {
                    map.shift_remove(*key);
                }
            }
            Value::Array(items) => {
                if let Some(item) = key.parse::<usize>().ok().and_then(|i| items.get_mut(i)) {
                    if rest.is_empty() {
                        *item = Value::Null;
                    } else {
                        without(item, rest);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[test]
    fn an_obstacle_is_what_a_write_would_meet() {
        let data =
            json!({ "a": { "b": 1 }, "list": [{ "x": null }, 2], "none": null, "text": "t" });
        let Value::Object(data) = data else { unreachable!("it is an object") };
        for to in [
            "a",
            "a.b",
            "a.b.c",
            "a.c.d",
            "list",
            "list.0",
            "list.0.x",
            "list.0.x.y",
            "list.1.z",
            "list.2",
            "list.x",
            "none.deep.er",
            "text",
            "text.x",
            "new.deep",
        ] {
            let path: MappingPath = to.parse().unwrap();
            let met = match write(&mut data.clone(), &path, Value::Null) {
                Ok(()) => None,
                Err(MappingError::Blocked { found, .. }) => Some(found),
                Err(other) => panic!("{to}: {other}"),
            };
            assert_eq!(obstacle(&data, &path), met, "{to}");
        }
    }

    proptest! {
        #[test]
        fn nothing_outside_a_target_changes(
            data in prop::collection::vec(("[a-d]", small_json()), 0..4),
            output in small_json(),
            to in "[a-d](\\.[a-d0-2]){0,3}",
        ) {
            let data = Value::Object(data.into_iter().collect());
            let mapping = json!({ "dataPaths": [{ "from": "$", "to": to }] });
            if let Ok(mut after) = map(data.clone(), &output, mapping) {
                let path: Vec<&str> = to.split('.').collect();
                let target: MappingPath = to.parse().unwrap();
                prop_assert_eq!(resolve(&after, &target), Some(&output));
                let mut before = data;
                without(&mut before, &path);
                without(&mut after, &path);
                prop_assert_eq!(before, after);
            }
        }
    }
}
