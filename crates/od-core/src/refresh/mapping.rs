//! From a source's output to the data.

use super::outline::outline;
use super::projection::{NotTaken, WHOLE_MAX, nearest_paths, table_head, take};
use super::transform::TransformError;
use crate::artifact::{DataPath, OutputMapping, Transform};
use crate::error::ErrorCode;
use crate::ids::MappingPath;
use crate::intake::Intake;
use crate::json::{Map, Value, type_name};
use crate::limits::JSON_DOCUMENT;
use crate::ownership::{NO_SUCH_INDEX, Place, WHOLE_DATA};

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
        /// Every path of the output with the kind of what stands there, as far as it is listed.
        outline: Vec<String>,
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
    /// What a `from` names is far larger than what is stored.
    #[error("`{from}` takes {measured} bytes, and data has room for {}", JSON_DOCUMENT.want())]
    TooLarge {
        /// The path; `$` for the whole output.
        from: String,
        /// Its size as JSON.
        measured: usize,
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
        match self {
            Self::TooLarge { .. } => ErrorCode::OutputTooLarge,
            Self::Unresolved { .. }
            | Self::Blocked { .. }
            | Self::Transform { .. }
            | Self::NotAnObject { .. } => ErrorCode::OutputMappingUnresolved,
        }
    }
}

/// Data with an output mapped into it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapped {
    /// The data.
    pub data: Map,
    /// The places that were written, each with where its value stood in the output.
    pub written: Vec<(Place, String)>,
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
    output: &Intake,
    mapping: Option<&OutputMapping>,
    source: &str,
) -> Result<Mapped, MappingError> {
    let how = mapping.and_then(|mapping| mapping.transform).unwrap_or(Transform::Identity);
    let Some(paths) = mapping.and_then(|mapping| mapping.data_paths.as_deref()) else {
        return replace_keys(data, output, how, source);
    };
    let mut mapped = Mapped { data: data.clone(), written: Vec::with_capacity(paths.len()) };
    for DataPath { from, to } in paths {
        let value =
            take(output, from, how, source).map_err(|fault| not_taken(output, from, fault))?;
        write(&mut mapped.data, to, value)?;
        mapped.written.push((Place::from(to), from.to_string()));
    }
    Ok(mapped)
}

/// A `from` that names nothing in an output.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnresolvedFrom {
    /// The index of its entry in `dataPaths`.
    pub entry: usize,
    /// The path that was probably meant.
    pub meant: Option<String>,
    /// Everything that would refuse a refresh: the path, and what the output has there.
    pub error: MappingError,
}

/// Returns every `from` of a mapping that names nothing in an output.
#[must_use]
pub fn unresolved(output: &Intake, mapping: Option<&OutputMapping>) -> Vec<UnresolvedFrom> {
    let paths = mapping.and_then(|mapping| mapping.data_paths.as_deref()).unwrap_or_default();
    let fault = |(entry, path): (usize, &DataPath)| {
        let from = &path.from;
        let is_missing =
            matches!(take(output, from, Transform::Identity, ""), Err(NotTaken::Unresolved));
        is_missing.then(|| {
            let steps: Vec<&str> = from.segments().map(|segment| segment.key).collect();
            // What was meant is looked for in the whole value; a large one is not built for a hint.
            let whole = (output.json_size() <= WHOLE_MAX).then(|| output.to_value());
            let whole = whole.or_else(|| table_head(output));
            let nearest = nearest_paths(output, from);
            UnresolvedFrom {
                entry,
                meant: whole.and_then(|whole| crate::repair::meant_path(&whole, &steps)),
                error: MappingError::Unresolved {
                    from: from.clone(),
                    nearest,
                    outline: outline(output),
                },
            }
        })
    };
    paths.iter().enumerate().filter_map(fault).collect()
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

fn not_taken(output: &Intake, from: &MappingPath, fault: NotTaken) -> MappingError {
    match fault {
        NotTaken::Unresolved => {
            let (nearest, outline) = (nearest_paths(output, from), outline(output));
            MappingError::Unresolved { from: from.clone(), nearest, outline }
        }
        NotTaken::TooLarge { measured } => {
            MappingError::TooLarge { from: from.to_string(), measured }
        }
        NotTaken::Transform(cause) => MappingError::Transform { from: from.to_string(), cause },
    }
}

fn replace_keys(
    data: &Map,
    output: &Intake,
    how: Transform,
    source: &str,
) -> Result<Mapped, MappingError> {
    let root = MappingPath::root();
    let value =
        take(output, &root, how, source).map_err(|fault| not_taken(output, &root, fault))?;
    let Value::Object(keys) = value else {
        return Err(MappingError::NotAnObject { found: type_name(&value) });
    };
    let place = |key: &String| match how {
        Transform::Identity => (Place::root().key(key), key.clone()),
        // Made of the whole output: no part of it is where the value stood.
        Transform::CompactTable | Transform::MetricSummary => {
            (Place::root().key(key), "$".to_owned())
        }
    };
    let written = keys.keys().map(place).collect();
    let mut data = data.clone();
    data.extend(keys);
    Ok(Mapped { data, written })
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

/// Replaces what stands at a path, making the objects above it where nothing stands.
fn write(data: &mut Map, to: &MappingPath, value: Value) -> Result<(), MappingError> {
    let blocked = |found| MappingError::Blocked { to: to.clone(), found };
    Place::from(to).put(data, value).map_err(blocked)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn map(data: Value, output: &Value, mapping: Value) -> Result<Value, MappingError> {
        let mapping: OutputMapping = serde_json::from_value(mapping).unwrap();
        let Value::Object(data) = data else { panic!("an object") };
        let output = Intake::try_from(output).unwrap();
        apply_mapping(&data, &output, Some(&mapping), "src")
            .map(|mapped| Value::Object(mapped.data))
    }

    #[test]
    fn a_path_names_what_is_there_and_nothing_else() {
        let value = json!({ "rows": [{ "n": null }], "text": "x" });
        let named = |path: &str| resolve(&value, &path.parse().unwrap()).cloned();
        assert_eq!(named("rows.0.n"), Some(Value::Null), "null is something");
        assert_eq!(named("text"), Some(json!("x")));
        for nothing in ["row", "rows.1", "rows.0.m", "rows.n", "text.0", "rows.0.n.x"] {
            assert_eq!(named(nothing), None, "{nothing}");
        }
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
    fn a_mapping_of_an_older_artifact_finds_its_value_below_json() {
        let mapping = || json!({ "dataPaths": [{ "from": "json.a", "to": "x" }] });
        let output = json!({ "a": 1 });
        assert_eq!(map(json!({}), &output, mapping()).unwrap(), json!({ "x": 1 }));
        let output = json!({ "json": { "b": 1 }, "a": 1 });
        assert!(map(json!({}), &output, mapping()).is_err(), "the output has its own `json`");
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
    fn a_key_of_a_table_is_found_by_what_it_means_however_many_rows_there_are() {
        let mapping: OutputMapping =
            serde_json::from_value(json!({ "dataPaths": [{ "from": "rowCount", "to": "n" }] }))
                .unwrap();
        for rows in [2, WHOLE_MAX / 8] {
            let mut builder = crate::intake::TableBuilder::new(vec!["name".to_owned()]).unwrap();
            for _ in 0..rows {
                builder.push(&crate::intake::CellRef::Integer(1)).unwrap();
                builder.end_row().unwrap();
            }
            let output = Intake::Table(builder.finish());
            let found = unresolved(&output, Some(&mapping));
            assert_eq!(found[0].meant.as_deref(), Some("count"), "{rows}");
        }
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
        let MappingError::Unresolved { nearest, outline, .. } = &error else { panic!("{error}") };
        assert_eq!(nearest, &["data.releases", "data.count"]);
        assert_eq!(outline[1..], ["data.releases: an array of 0", "data.count: a number"]);
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

    #[test]
    fn of_many_rows_only_what_is_stored_is_built() {
        let rows: Vec<Value> =
            (0..60_000).map(|n| json!({ "n": n, "text": "x".repeat(20) })).collect();
        let output = json!({ "total": 7, "items": rows });
        let to = |from: &str, how: &str| {
            let mapping = json!({ "dataPaths": [{ "from": from, "to": "x" }], "transform": how });
            map(json!({}), &output, mapping).map(|data| data["x"].clone())
        };
        let table = to("$", "compact_table").unwrap();
        assert_eq!((&table["count"], &table["truncated"]), (&json!(60_000), &json!(true)));
        assert_eq!(table["rows"].as_array().unwrap().len(), 100);
        assert_eq!(to("items", "metric_summary").unwrap()["value"], 60_000);
        assert_eq!(to("$", "metric_summary").unwrap()["value"], 7);
        assert_eq!(to("items.59999.n", "identity").unwrap(), 59_999);
        let refused = to("items", "identity").unwrap_err();
        assert_eq!(refused.code(), ErrorCode::OutputTooLarge, "{refused}");
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
