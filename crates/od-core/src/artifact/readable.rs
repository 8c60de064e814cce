//! What can be read of a request that is refused, so that its other faults are told with the first.

use super::Source;
use super::source_input::read_source;
use crate::fields::Issues;
use crate::json::{BoundedObject, Pointer, Value};

/// The parts of a create or update request that are judged by more than its own reader: a source by
/// its connector, a template by its compiler and its data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Readable {
    /// The template, if it is a text.
    pub template_html: Option<String>,
    /// The data, if it is within its limits.
    pub data: Option<BoundedObject>,
    /// The source, if nothing is wrong with it.
    pub source: Option<Source>,
}

impl Readable {
    /// Reads what can be read of a body, whatever is wrong with the rest.
    #[must_use]
    pub fn of(body: &Value) -> Self {
        let part = |pointer: &str| body.pointer(pointer);
        Self {
            template_html: part("/templateHtml").and_then(Value::as_str).map(str::to_owned),
            data: part("/input/document/dataJson")
                .and_then(|data| BoundedObject::check(data.clone()).ok()),
            source: part("/input/document/sourceJson").and_then(sound_source),
        }
    }
}

fn sound_source(value: &Value) -> Option<Source> {
    let mut issues = Issues::default();
    let source = read_source(value, Pointer::root(), &mut issues, &mut Vec::new());
    issues.finish(source).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_fault_in_one_part_leaves_the_others_readable() {
        let source = json!({ "type": "local_file", "input": { "path": "a.json" } });
        let body = |data: Value, source: &Value| {
            json!({ "title": 1, "templateHtml": "<p>{{", "input": {
                "document": { "dataJson": data, "sourceJson": source } } })
        };
        let whole = Readable::of(&body(json!({ "a": 1 }), &source));
        assert_eq!(whole.template_html.as_deref(), Some("<p>{{"));
        assert!(whole.data.is_some() && whole.source.is_some());
        let broken = Readable::of(&body(json!({ "token": 1 }), &json!({ "type": "web" })));
        assert_eq!((broken.data, broken.source), (None, None));
        assert_eq!(Readable::of(&json!([])), Readable::default());
    }
}
