//! The difference between the data before and after a refresh.

use super::ChangeReport;
use crate::json::{Pointer, Value};

/// The most places that are named.
const NAMED: usize = crate::limits::CHANGED_PATHS.max();

/// Reports which places differ between two documents: how many, and the first 20 as pointers.
///
/// A place is a scalar, or a whole value that was added or removed; numbers are compared as they
/// are held.
#[must_use]
pub fn report_changes(before: &Value, after: &Value) -> ChangeReport {
    let mut report = ChangeReport::default();
    compare(before, after, &mut Vec::new(), &mut report);
    report
}

enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

fn compare<'a>(
    before: &'a Value,
    after: &'a Value,
    path: &mut Vec<Step<'a>>,
    report: &mut ChangeReport,
) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            for (key, value) in before {
                path.push(Step::Key(key));
                match after.get(key) {
                    Some(other) => compare(value, other, path, report),
                    None => note(path, report),
                }
                path.pop();
            }
            for key in after.keys().filter(|key| !before.contains_key(*key)) {
                path.push(Step::Key(key));
                note(path, report);
                path.pop();
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            for i in 0..before.len().max(after.len()) {
                path.push(Step::Index(i));
                match (before.get(i), after.get(i)) {
                    (Some(one), Some(other)) => compare(one, other, path, report),
                    (Some(_), None) | (None, Some(_)) | (None, None) => note(path, report),
                }
                path.pop();
            }
        }
        _ if before == after => {}
        _ => note(path, report),
    }
}

fn note(path: &[Step<'_>], report: &mut ChangeReport) {
    report.count += 1;
    if report.paths.len() < NAMED {
        let pointer = path.iter().fold(Pointer::root(), |pointer, step| match step {
            Step::Key(key) => pointer.key(key),
            Step::Index(index) => pointer.index(*index),
        });
        report.paths.push(pointer.into_string());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn places_are_named_as_pointers() {
        let before = json!({ "same": 1, "n": 1, "gone": {}, "list": [1, { "a": 1 }, 3] });
        let after = json!({ "same": 1, "n": 2, "list": [1, { "a": 2 }], "new": [1] });
        let report = report_changes(&before, &after);
        assert_eq!(report.paths, ["/n", "/gone", "/list/1/a", "/list/2", "/new"]);
        assert_eq!(report.count, 5);
    }

    #[test]
    fn the_order_of_keys_is_no_change() {
        let before: Value = serde_json::from_str(r#"{"a":1,"b":2}"#).unwrap();
        let after: Value = serde_json::from_str(r#"{"b":2,"a":1}"#).unwrap();
        assert!(!report_changes(&before, &after).is_changed());
    }

    #[test]
    fn twenty_are_named_and_all_counted() {
        let report = report_changes(&json!(vec![0; 50]), &json!(vec![1; 50]));
        assert_eq!((report.count, report.paths.len()), (50, 20));
    }
}
