//! Keys that are never stored, where leaving them out would leave nothing to store.

use od_core::artifact::OutputMapping;
use od_core::connector::protect_text;
use od_core::credential::Scrubber;
use od_core::ids::MappingPath;
use od_core::json::{Pointer, Value, is_denied_key};

/// Why leaving keys out of an output does not help.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum DeniedKeys {
    /// The mapping takes what stands under such a key.
    Mapped {
        /// The place in the output, as a JSON pointer.
        pointer: String,
    },
    /// There is nothing else in the output.
    Everything,
}

/// Finds a denied key of the output that the mapping itself names: what it takes would be gone.
pub(super) fn find_mapped(
    output: &Value,
    mapping: Option<&OutputMapping>,
    secrets: &Scrubber,
) -> Option<DeniedKeys> {
    let arrows = mapping.and_then(|mapping| mapping.data_paths.as_deref())?;
    arrows.iter().find_map(|arrow| follow(output, &arrow.from, secrets))
}

fn follow(output: &Value, path: &MappingPath, secrets: &Scrubber) -> Option<DeniedKeys> {
    let (mut value, mut place) = (output, Pointer::root());
    for segment in path.segments() {
        place = place.key(&protect_text(segment.key, secrets));
        value = match value {
            Value::Object(map) => {
                let item = map.get(segment.key)?;
                if is_denied_key(segment.key) {
                    return Some(DeniedKeys::Mapped { pointer: place.into_string() });
                }
                item
            }
            Value::Array(items) => items.get(segment.index?)?,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
        };
    }
    None
}

/// Returns whether protection left nothing of an output that had members.
pub(super) fn is_all_denied(before: usize, after: &Value) -> bool {
    before > 0 && size(after) == 0
}

/// Counts the members of an object; anything else keeps what it has.
pub(super) fn size(output: &Value) -> usize {
    match output {
        Value::Object(map) => map.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(output: &Value, from: &str) -> Option<DeniedKeys> {
        let mapping = json!({ "dataPaths": [{ "from": from, "to": "x" }] });
        let mapping: OutputMapping = serde_json::from_value(mapping).unwrap();
        find_mapped(output, Some(&mapping), &Scrubber::new([""; 0]))
    }

    #[test]
    fn only_what_a_mapping_takes_matters() {
        let output = json!({ "headers": { "x": 1 }, "rows": [{ "a": 1, "body": "text" }] });
        let at = |pointer: &str| Some(DeniedKeys::Mapped { pointer: pointer.to_owned() });
        assert_eq!(found(&output, "rows.0.body"), at("/rows/0/body"));
        assert_eq!(found(&output, "headers.x"), at("/headers"));
        for from in ["rows", "rows.0.a", "$", "missing.body", "rows.7.body"] {
            assert_eq!(found(&output, from), None, "{from}");
        }
        assert_eq!(find_mapped(&output, None, &Scrubber::new([""; 0])), None);
    }
}
