//! Every answer that a test reads is held against its published schema.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use jsonschema::Validator;
use od_wire::event::EventName;
use od_wire::route::{Operation, ROUTES, Route};
use od_wire::schema::{AnswerShape, bodies, error_envelope, event_data};
use serde_json::Value;

use crate::raw_client::Answer;

static ERRORS: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::validator_for(&error_envelope().to_value()).unwrap());

static ANSWERS: LazyLock<HashMap<Operation, Validator>> = LazyLock::new(|| {
    ROUTES
        .iter()
        .filter_map(|route| match bodies(route.operation).answer {
            AnswerShape::Json(schema) => {
                Some((route.operation, jsonschema::validator_for(&schema.to_value()).unwrap()))
            }
            AnswerShape::Page
            | AnswerShape::Events
            | AnswerShape::Description
            | AnswerShape::Message => None,
        })
        .collect()
});

/// Which operations have answered with success in this process.
static SEEN: Mutex<Vec<Operation>> = Mutex::new(Vec::new());

/// Returns the route that a method and a target belong to.
pub(crate) fn route(method: &str, target: &str) -> Option<&'static Route> {
    let path = target.split('?').next().unwrap_or_default();
    ROUTES.iter().find(|route| {
        let (mut pattern, mut given) = (route.path.split('/'), path.split('/'));
        let is_same = loop {
            match (pattern.next(), given.next()) {
                (None, None) => break true,
                (Some(wanted), Some(found)) if wanted == found || wanted.starts_with('{') => {}
                (_, _) => break false,
            }
        };
        is_same && route.method.as_str() == method
    })
}

/// Holds an answer against the schema of its route, or of the error envelope.
pub(crate) fn check(method: &str, target: &str, answer: &Answer) {
    if answer.header("content-type") != Some("application/json") || answer.body.is_empty() {
        return;
    }
    let value = answer.json();
    if answer.status != 200 {
        let faults: Vec<_> = ERRORS.iter_errors(&value).map(|e| e.to_string()).collect();
        assert!(faults.is_empty(), "{method} {target}: {faults:?} in {value}");
        return;
    }
    let Some(route) = route(method, target) else { return };
    SEEN.lock().unwrap().push(route.operation);
    if let Some(validator) = ANSWERS.get(&route.operation) {
        let faults: Vec<_> = validator
            .iter_errors(&value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(faults.is_empty(), "{method} {target}: {faults:?} in {value}");
    }
}

/// Returns true if the operation has answered with success and its answer was checked.
pub(crate) fn has_been_seen(operation: Operation) -> bool {
    SEEN.lock().unwrap().contains(&operation)
}

/// Holds every event of a stream's text against the schema of its name; returns them in order.
pub(crate) fn check_events(text: &str) -> Vec<(EventName, Value)> {
    let mut lines = text.lines();
    let mut events = Vec::new();
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix("event: ") else { continue };
        let data = lines.next().and_then(|line| line.strip_prefix("data: "));
        let data: Value = serde_json::from_str(data.expect("data after the name")).unwrap();
        let name = EventName::from_word(name).unwrap_or_else(|| panic!("unpublished: {name}"));
        let validator = jsonschema::validator_for(&event_data(name).to_value()).unwrap();
        let faults: Vec<_> = validator.iter_errors(&data).map(|e| e.to_string()).collect();
        assert!(faults.is_empty(), "{name:?}: {faults:?} in {data}");
        events.push((name, data));
    }
    events
}
