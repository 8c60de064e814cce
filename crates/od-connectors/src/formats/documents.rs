//! YAML and TOML, as the JSON they stand for.

use od_core::intake::{Intake, JsonText};
use od_core::json::{Map, Value};
use od_core::limits::{DATA_FILE, INTAKE_CELLS, INTAKE_DEPTH};

use super::{FormatFault, malformed, utf8};

/// Reads one YAML document. Aliases are followed within a budget: nine lines of them can stand for a
/// billion values.
pub(crate) fn read_yaml(bytes: &[u8]) -> Result<Intake, FormatFault> {
    let text = bounded(bytes)?;
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: INTAKE_CELLS.max(),
            max_depth: INTAKE_DEPTH.max(),
            max_documents: 1,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 100_000 },
    };
    let value: Value = serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let place = error
            .location()
            .map(|place| format!(" at line {}, column {}", place.line(), place.column()))
            .unwrap_or_default();
        malformed(format!("the text is not YAML that can be read{place}"))
    })?;
    Ok(Intake::Json(JsonText::from_value(&value)?))
}

/// Reads a TOML document; dates and times become texts.
pub(crate) fn read_toml(bytes: &[u8]) -> Result<Intake, FormatFault> {
    let text = bounded(bytes)?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count() + 1;
        malformed(format!("the text is not TOML at line {line}"))
    })?;
    Ok(Intake::Json(JsonText::from_value(&json(toml::Value::Table(table)))?))
}

/// These formats are read into a tree, which takes many times their bytes.
fn bounded(bytes: &[u8]) -> Result<&str, FormatFault> {
    if !DATA_FILE.allows(bytes.len()) {
        return Err(FormatFault::TooLong { limit: DATA_FILE, measured: bytes.len() });
    }
    utf8(bytes)
}

fn json(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(integer) => Value::from(integer),
        toml::Value::Float(float) => Value::from(float),
        toml::Value::Boolean(bool) => Value::Bool(bool),
        toml::Value::Datetime(datetime) => Value::String(datetime.to_string()),
        toml::Value::Array(items) => items.into_iter().map(json).collect(),
        toml::Value::Table(table) => {
            Value::Object(table.into_iter().map(|(key, value)| (key, json(value))).collect::<Map>())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn yaml_and_toml_become_the_json_they_stand_for() {
        let yaml = "owner: ada\nobjectives:\n  - {name: \"Ship\", progress: 0.4, done: false}\n  - name: Learn\n    due: 2026-05-01\n    note: ~\n";
        assert_eq!(
            read_yaml(yaml.as_bytes()).unwrap().to_value(),
            json!({ "owner": "ada", "objectives": [
                { "name": "Ship", "progress": 0.4, "done": false },
                { "name": "Learn", "due": "2026-05-01", "note": null },
            ]})
        );
        let toml =
            "title = \"x\"\nat = 2026-05-01T10:00:00Z\n[[item]]\nn = 9007199254740993\nok = true\n";
        assert_eq!(
            read_toml(toml.as_bytes()).unwrap().to_value(),
            json!({ "title": "x", "at": "2026-05-01T10:00:00Z",
                    "item": [{ "n": "9007199254740993", "ok": true }] })
        );
    }

    #[test]
    fn hostile_documents_are_refused() {
        let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for i in 1..10 {
            let before = vec![format!("*a{}", i - 1); 10].join(",");
            bomb.push_str(&format!("a{i}: &a{i} [{before}]\n"));
        }
        assert!(matches!(read_yaml(bomb.as_bytes()), Err(FormatFault::Malformed { .. })));
        let deep = "[".repeat(100_000);
        assert!(read_yaml(deep.as_bytes()).is_err());
        assert!(read_toml(format!("a = {deep}").as_bytes()).is_err());
        assert!(read_yaml(b"a: 1\na: 2\n").is_err(), "one key twice");
        assert!(read_yaml(b"a: \xff\n").unwrap_err().to_string().contains("UTF-8"));
        assert!(read_toml(b"a = 1\nb = \n").unwrap_err().to_string().contains("line 2"));
        let large = vec![b'#'; DATA_FILE.max() + 1];
        assert!(matches!(read_toml(&large), Err(FormatFault::TooLong { .. })));
    }
}
