//! The difference between two JSON values.

use std::collections::HashMap;

use crate::json::{Pointer, Value, canonical_size};
use crate::limits::{DIFF_CHANGES, DIFF_VALUE};
use crate::words::words;

/// The difference between two values.
#[derive(
    Clone, Debug, Default, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ValueDiff {
    /// How many places differ.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    pub count: u64,
    /// The first of them, in document order.
    #[schemars(length(max = DIFF_CHANGES.allowed))]
    pub changes: Vec<ValueChange>,
}

words! {
    /// What became of a value.
    Change {
        /// It is there only afterwards.
        Added = "added",
        /// It was there only before.
        Removed = "removed",
        /// It is another.
        Changed = "changed",
    }
}

/// One place that differs.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ValueChange {
    /// The place, as a JSON pointer: into the value afterwards, of a removed one into that before.
    #[schemars(length(max = 4096))]
    pub path: String,
    /// The place for people, where a field of its row tells more than the row's number:
    /// `rows[id=a-2].state`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub place: Option<String>,
    /// What became of it.
    pub change: Change,
    /// The value before; absent if there was none or it is too large to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// The value afterwards; absent if there is none or it is too large to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
    /// Whether a value was too large to show.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub omitted: bool,
}

/// Compares two values: scalars, and whole values that were added or removed.
///
/// Rows of an array that a field tells apart are compared row by row, wherever they stand. Of others those
/// that are equal at the beginning and at the end stay paired. So a row that was put in or taken out is one
/// difference and not one of every row behind it.
#[must_use]
pub fn diff_values(before: &Value, after: &Value) -> ValueDiff {
    let mut diff = ValueDiff::default();
    compare(before, after, &Place::Root, &mut diff);
    diff
}

/// A place in a document, written out only where something differs.
enum Place<'p> {
    Root,
    Key(&'p Self, &'p str),
    Index(&'p Self, usize),
    /// The row of an array whose rows a field tells apart.
    Row {
        above: &'p Self,
        field: &'p str,
        value: &'p str,
        /// Its number before and afterwards; the same where it is in one of them only.
        numbers: (usize, usize),
    },
}

impl Place<'_> {
    /// Returns the place in the value before, or in that afterwards.
    fn pointer(&self, is_before: bool) -> Pointer {
        match self {
            Self::Root => Pointer::root(),
            Self::Key(above, key) => above.pointer(is_before).key(key),
            Self::Index(above, index) => above.pointer(is_before).index(*index),
            Self::Row { above, numbers: (before, after), .. } => {
                above.pointer(is_before).index(if is_before { *before } else { *after })
            }
        }
    }

    /// Returns whether a row on the way is told by a field of its.
    fn is_in_row(&self) -> bool {
        match self {
            Self::Root => false,
            Self::Key(above, _) | Self::Index(above, _) => above.is_in_row(),
            Self::Row { .. } => true,
        }
    }

    /// Returns the place for people.
    fn label(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Key(Self::Root, key) => (*key).to_owned(),
            Self::Key(above, key) => format!("{}.{key}", above.label()),
            Self::Index(Self::Root, index) => index.to_string(),
            Self::Index(above, index) => format!("{}.{index}", above.label()),
            Self::Row { above, field, value, .. } => {
                format!("{}[{field}={value}]", above.label())
            }
        }
    }
}

fn compare(before: &Value, after: &Value, at: &Place<'_>, diff: &mut ValueDiff) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            for (key, value) in before {
                let at = Place::Key(at, key);
                match after.get(key) {
                    Some(other) => compare(value, other, &at, diff),
                    None => diff.note(&at, Some(value), None),
                }
            }
            for (key, value) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
                diff.note(&Place::Key(at, key), None, Some(value));
            }
        }
        (Value::Array(was), Value::Array(is)) => match told_apart_by(was, is) {
            Some(field) => {
                if compare_told_rows(was, is, field, at, diff) == RowOrder::Changed {
                    diff.note(at, Some(before), Some(after));
                }
            }
            None => compare_rows(was, is, at, diff),
        },
        _ if before == after => {}
        _ => diff.note(at, Some(before), Some(after)),
    }
}

fn compare_rows(before: &[Value], after: &[Value], at: &Place<'_>, diff: &mut ValueDiff) {
    let same = |(one, other): &(&Value, &Value)| one == other;
    let head = before.iter().zip(after).take_while(same).count();
    let (before_rest, after_rest) = (&before[head..], &after[head..]);
    let tail = before_rest.iter().rev().zip(after_rest.iter().rev()).take_while(same).count();
    let was = &before_rest[..before_rest.len() - tail];
    let is = &after_rest[..after_rest.len() - tail];
    let paired = was.len().min(is.len());
    for (index, (one, other)) in was.iter().zip(is).enumerate() {
        compare(one, other, &Place::Index(at, head + index), diff);
    }
    for (index, value) in was.iter().enumerate().skip(paired) {
        diff.note(&Place::Index(at, head + index), Some(value), None);
    }
    for (index, value) in is.iter().enumerate().skip(paired) {
        diff.note(&Place::Index(at, head + index), None, Some(value));
    }
}

/// Names of fields that usually tell rows apart, most telling first.
const TELLING: [&str; 13] = [
    "id", "key", "uuid", "slug", "number", "sha", "tag", "path", "url", "name", "title", "label",
    "date",
];

/// Returns the field that tells the rows of both arrays apart, if there is one: in every row a string or a
/// number, and another in each row of an array.
fn told_apart_by<'v>(before: &'v [Value], after: &'v [Value]) -> Option<&'v str> {
    let first = before.first().or(after.first())?.as_object()?;
    let usual = TELLING.iter().filter_map(|name| first.get_key_value(*name));
    let ending = |name: &str| {
        let name = name.to_ascii_lowercase();
        ["id", "key", "name"].iter().any(|end| name.ends_with(end))
    };
    let others = first.iter().filter(|(name, _)| ending(name) && !TELLING.contains(&name.as_str()));
    let mut fields = usual.chain(others).map(|(name, _)| name.as_str());
    fields.find(|field| {
        let is_telling =
            |rows: &[Value]| told_rows(rows, field).is_some_and(|told| told.len() == rows.len());
        is_telling(before) && is_telling(after)
    })
}

/// Returns the rows by the text of a field with their numbers; `None` if a row has none.
fn told_rows<'v>(rows: &'v [Value], field: &str) -> Option<HashMap<String, (usize, &'v Value)>> {
    let told = rows.iter().enumerate().map(|(number, row)| {
        let text = match row.get(field)? {
            Value::String(text) => text.clone(),
            Value::Number(value) => value.to_string(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
        };
        Some((text, (number, row)))
    });
    told.collect()
}

/// Whether the rows of both arrays stand in the same order.
#[derive(Clone, Copy, Eq, PartialEq)]
enum RowOrder {
    Kept,
    Changed,
}

fn compare_told_rows(
    before: &[Value],
    after: &[Value],
    field: &str,
    at: &Place<'_>,
    diff: &mut ValueDiff,
) -> RowOrder {
    let (Some(old), Some(new)) = (told_rows(before, field), told_rows(after, field)) else {
        return RowOrder::Kept;
    };
    let mut rows: Vec<_> = new.iter().collect();
    rows.sort_unstable_by_key(|(_, (number, _))| *number);
    let mut order = RowOrder::Kept;
    let mut furthest = 0;
    for (value, (number, row)) in rows {
        match old.get(value) {
            Some((was_number, was)) => {
                if *was_number < furthest {
                    order = RowOrder::Changed;
                }
                furthest = *was_number;
                let numbers = (*was_number, *number);
                compare(was, row, &Place::Row { above: at, field, value, numbers }, diff);
            }
            None => {
                let numbers = (*number, *number);
                diff.note(&Place::Row { above: at, field, value, numbers }, None, Some(row));
            }
        }
    }
    let mut gone: Vec<_> = old.iter().filter(|(value, _)| !new.contains_key(*value)).collect();
    gone.sort_unstable_by_key(|(_, (number, _))| *number);
    for (value, (number, row)) in gone {
        let numbers = (*number, *number);
        diff.note(&Place::Row { above: at, field, value, numbers }, Some(row), None);
    }
    order
}

impl ValueDiff {
    fn note(&mut self, at: &Place<'_>, before: Option<&Value>, after: Option<&Value>) {
        self.count += 1;
        if !DIFF_CHANGES.allows(self.changes.len() + 1) {
            return;
        }
        let change = match (before, after) {
            (None, Some(_)) => Change::Added,
            (Some(_), None) => Change::Removed,
            (Some(_), Some(_)) | (None, None) => Change::Changed,
        };
        let fits = |value: &&Value| DIFF_VALUE.allows(canonical_size(value));
        let omitted = before.iter().chain(&after).any(|value| !fits(value));
        self.changes.push(ValueChange {
            path: at.pointer(change == Change::Removed).into_string(),
            place: at.is_in_row().then(|| at.label()),
            change,
            before: before.filter(fits).cloned(),
            after: after.filter(fits).cloned(),
            omitted,
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn places(before: &Value, after: &Value) -> Vec<(String, &'static str)> {
        let diff = diff_values(before, after);
        diff.changes.into_iter().map(|change| (change.path, change.change.as_str())).collect()
    }

    #[test]
    fn values_are_told_by_place_with_what_they_were_and_are() {
        let before = json!({ "n": 1, "gone": [], "same": { "deep": [1, 2] }, "null": null });
        let after = json!({ "n": 2, "same": { "deep": [1, 3] }, "null": null, "new": null });
        let diff = diff_values(&before, &after);
        assert_eq!(diff.count, 4);
        let first = &diff.changes[0];
        assert_eq!((&first.before, &first.after), (&Some(json!(1)), &Some(json!(2))));
        let told = places(&before, &after);
        assert_eq!(told[1], ("/gone".to_owned(), "removed"));
        assert_eq!(told[2], ("/same/deep/1".to_owned(), "changed"));
        assert_eq!(told[3], ("/new".to_owned(), "added"));
    }

    #[test]
    fn a_row_put_in_or_taken_out_is_one_difference() {
        let rows: Vec<Value> = (0..100).map(|n| json!({ "n": n })).collect();
        for at in [0, 50, 100] {
            let mut more = rows.clone();
            more.insert(at, json!({ "n": -1 }));
            let (rows, more) = (json!(rows), json!(more));
            assert_eq!(places(&rows, &more), [(format!("/{at}"), "added")]);
            assert_eq!(places(&more, &rows), [(format!("/{at}"), "removed")]);
        }
    }

    #[test]
    fn many_differences_are_counted_and_large_values_left_out() {
        let diff = diff_values(&json!(vec![0; 10_000]), &json!(vec![1; 10_000]));
        assert_eq!((diff.count, diff.changes.len()), (10_000, 500));
        let large = json!("x".repeat(3_000));
        let diff = diff_values(&json!({ "a": 1 }), &json!({ "a": large }));
        assert_eq!((&diff.changes[0].before, &diff.changes[0].after), (&Some(json!(1)), &None));
        assert!(diff.changes[0].omitted);
    }

    #[test]
    fn rows_that_a_field_tells_apart_are_compared_wherever_they_stand() {
        let told = |before: &Value, after: &Value| -> Vec<(String, String)> {
            let changes = diff_values(before, after).changes.into_iter();
            changes.map(|it| (it.path, it.place.unwrap_or_default())).collect()
        };
        let row = |id: &str, n: u8| json!({ "id": id, "n": n });
        let before = json!({ "rows": [row("a", 1), row("b", 2), row("c", 3)] });
        let after = json!({ "rows": [row("z", 0), row("a", 1), row("c", 4)] });
        assert_eq!(
            told(&before, &after),
            [
                ("/rows/0".to_owned(), "rows[id=z]".to_owned()),
                ("/rows/2/n".to_owned(), "rows[id=c].n".to_owned()),
                ("/rows/1".to_owned(), "rows[id=b]".to_owned()),
            ]
        );
        // Another order alone is a difference too, of the list.
        let turned = json!({ "rows": [row("b", 2), row("a", 1), row("c", 3)] });
        assert_eq!(told(&before, &turned), [("/rows".to_owned(), String::new())]);
        // Two rows of one id: the id tells nothing apart.
        let twins = [row("a", 1), row("a", 2)];
        let turned = json!([twins[1], twins[0]]);
        let places = told(&json!(twins), &turned);
        assert_eq!(
            places,
            [("/0/n".to_owned(), String::new()), ("/1/n".to_owned(), String::new())]
        );
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![Just(json!(null)), (0..4).prop_map(|n| json!(n))];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[ab/~]|id", inner, 0..3)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn only_equal_values_have_no_difference(before in any_json(), after in any_json()) {
            prop_assert_eq!(diff_values(&before, &after).count == 0, before == after);
            prop_assert_eq!(diff_values(&before, &before), ValueDiff::default());
            for change in diff_values(&before, &after).changes {
                let side = if change.change == Change::Removed { &before } else { &after };
                let shown = if change.change == Change::Removed { change.before } else { change.after };
                prop_assert_eq!(side.pointer(&change.path), shown.as_ref());
            }
        }
    }
}
