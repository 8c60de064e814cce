//! Checks: conditions on the data of an artifact, worked out at every commit and kept with it.
//!
//! A check says what has to hold. One that cannot be worked out is unknown, and never counts as holding.
//!
//! ```
//! use od_core::checks::{Check, CheckState, work_out};
//! use od_core::ids::Timestamp;
//! use serde_json::json;
//!
//! let check = json!({ "id": "errors", "path": "errors.open", "op": "lte", "value": 5 });
//! let checks: Vec<Check> = vec![serde_json::from_value(check).unwrap()];
//! let now = Timestamp::from_unix_ms(0);
//! let results = work_out(&checks, &json!({ "errors": { "open": 7 } }), &[], now);
//! assert_eq!(results[0].state, CheckState::Failing);
//! ```

use std::cmp::Ordering;

use crate::artifact::ArtifactState;
use crate::error::Issue;
use crate::ids::{CheckId, MappingPath, Timestamp};
use crate::input::{
    Input as _, Issues, Reader, input, one_of, parsed, read_items, schema, text, wrong_type,
};
use crate::json::{Pointer, Value};
use crate::limits;
use crate::refresh::resolve;
use crate::schedule::Interval;
use crate::words::words;

#[expect(clippy::cast_possible_wrap, reason = "2^53 - 1")]
const INTEGER_MAX: i64 = limits::JSON_INTEGER.allowed as i64;

words! {
    /// The comparison that has to hold between the value at a check's path and its own.
    CheckOp {
        /// Equal.
        Equal = "eq",
        /// Not equal.
        NotEqual = "ne",
        /// Less.
        Less = "lt",
        /// Less or equal.
        LessOrEqual = "lte",
        /// Greater.
        Greater = "gt",
        /// Greater or equal.
        GreaterOrEqual = "gte",
    }
}

words! {
    /// The weight of a check that does not hold.
    Severity {
        /// Worth knowing.
        Info = "info",
        /// Worth a look.
        Warning = "warning",
        /// Worth an interruption.
        Critical = "critical",
    }
}

words! {
    /// What a check came to.
    CheckState {
        /// It holds.
        Passing = "passing",
        /// It could not be worked out: nothing stands at its path, or something that does not compare.
        Unknown = "unknown",
        /// It does not hold.
        Failing = "failing",
    }
}

input! {
    /// One check of a document.
    #[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub struct Check "a condition that has to hold; worked out at every commit" {
        /// Its name, unique in the artifact.
        required id: CheckId = "id", parsed(), "names the check";
        /// The place in the data.
        required path: MappingPath
            = "path", parsed(), "place in the data: a scalar; of a list its length, of a time its age";
        /// The comparison.
        required op: CheckOp = "op", one_of(CheckOp::ALL), "the value at path, op, value has to hold";
        /// What is compared with.
        required value: CheckValue = "value", Scalar, "number, text or boolean; for an age 2h or 1d";
        /// How much it weighs if it does not hold.
        #[serde(default = "Severity::default_value")]
        default(Severity::Warning) severity: Severity
            = "severity", one_of(Severity::ALL), "warning if absent";
        /// What people are told if it does not hold.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(max = limits::TITLE.allowed))]
        optional message: String = "message", text(&limits::TITLE), "told if it does not hold";
    }
}

impl Severity {
    const fn default_value() -> Self {
        Self::Warning
    }
}

/// The number, text or boolean that a check compares with.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(transparent)]
pub struct CheckValue(Value);

impl schemars::JsonSchema for CheckValue {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CheckValue".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": ["number", "string", "boolean"],
            "minimum": -INTEGER_MAX, "maximum": INTEGER_MAX,
            "maxLength": limits::TITLE.allowed,
            "description": "a number, a text or a boolean",
        })
    }
}

/// Reads `value` of a check.
struct Scalar;

impl Reader for Scalar {
    type Value = CheckValue;

    fn read(&self, value: &Value, at: &Pointer, issues: &mut Issues) -> Option<CheckValue> {
        match value {
            Value::String(_) => text(&limits::TITLE)
                .read(value, at, issues)
                .map(|text| CheckValue(Value::String(text))),
            Value::Number(_) | Value::Bool(_) => Some(CheckValue(value.clone())),
            Value::Null | Value::Array(_) | Value::Object(_) => {
                issues.push(wrong_type(at, value, "a number, a text or a boolean"));
                None
            }
        }
    }

    fn schema(&self, description: &str) -> Value {
        serde_json::json!({ "type": ["number", "string", "boolean"], "description": description,
            "minimum": -INTEGER_MAX, "maximum": INTEGER_MAX,
            "maxLength": limits::TITLE.allowed })
    }
}

/// Reads `checks`: each with an id of its own.
pub(crate) struct CheckList;

impl Reader for CheckList {
    type Value = Vec<Check>;

    fn read(&self, value: &Value, at: &Pointer, issues: &mut Issues) -> Option<Vec<Check>> {
        let items = read_items(value, at, &limits::CHECKS, issues)?;
        let mut checks: Vec<Check> = Vec::new();
        for (i, item) in items.iter().enumerate() {
            let at = at.clone().index(i);
            let Some(check) = Check::read(item, at.clone(), issues) else { continue };
            if checks.iter().any(|other| other.id == check.id) {
                let message = "two checks have the same id";
                let issue = Issue::new(at.clone().key("id").as_str(), "duplicate_id", message);
                issues.push(
                    issue
                        .got(check.id.as_str())
                        .want("an id of its own for each check: its history goes by it")
                        .fix(format!("rename it, such as `{}-{}`", check.id, i + 1)),
                );
            }
            issues.extend(order_fault(&check).map(|issue| issue.under(at.as_str())));
            checks.push(check);
        }
        Some(checks)
    }

    fn schema(&self, description: &str) -> Value {
        schema::array(description, &Check::schema(), 0, &limits::CHECKS)
    }
}

/// Refuses an order of what has none: only numbers and ages are more or less.
fn order_fault(check: &Check) -> Option<Issue> {
    let is_ordered = match &check.value.0 {
        Value::Number(_) => true,
        Value::String(text) => text.parse::<Interval>().is_ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    };
    let wants_order = !matches!(check.op, CheckOp::Equal | CheckOp::NotEqual);
    (wants_order && !is_ordered).then(|| {
        let message = format!("`{}` compares numbers, counts and ages", check.op);
        Issue::new("/value", "not_allowed", message)
            .got(check.value.0.to_string())
            .want("a number, or an age such as 2h")
            .fix("use `eq` or `ne` for texts and booleans")
    })
}

/// What one check came to, kept with the revision.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct CheckResult {
    /// The check.
    pub id: CheckId,
    /// What it came to.
    pub state: CheckState,
    /// How much it weighs if it does not hold.
    pub severity: Severity,
    /// What was compared, in a few words: a value, a count, an age.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::TITLE.allowed))]
    pub found: Option<String>,
    /// What people are told.
    #[schemars(length(max = limits::SHORT_TEXT.allowed))]
    pub message: String,
    /// Since when it is in this state.
    pub since: Timestamp,
}

/// A check whose state is another than before.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct CheckChange {
    /// The check.
    pub id: CheckId,
    /// What it came to before; absent if it is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<CheckState>,
    /// What it comes to now.
    pub to: CheckState,
    /// What was compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::TITLE.allowed))]
    pub found: Option<String>,
}

/// Works out every check of a list over data at a time. A state that stays keeps its `since`.
#[must_use]
pub fn work_out(
    checks: &[Check],
    data: &Value,
    before: &[CheckResult],
    at: Timestamp,
) -> Vec<CheckResult> {
    let one = |check: &Check| {
        let (state, found) = check.work_out(data, at);
        let last = before.iter().find(|result| result.id == check.id);
        let since = last.filter(|last| last.state == state).map_or(at, |last| last.since);
        let (id, severity) = (check.id.clone(), check.severity);
        CheckResult { id, state, severity, found, message: check.told(), since }
    };
    checks.iter().map(one).collect()
}

/// Returns the checks whose state is another than before, new ones that do not pass included.
#[must_use]
pub fn changes(before: &[CheckResult], after: &[CheckResult]) -> Vec<CheckChange> {
    let change = |result: &CheckResult| {
        let last = before.iter().find(|last| last.id == result.id).map(|last| last.state);
        let is_news = match last {
            Some(last) => last != result.state,
            // What begins well is no news.
            None => result.state != CheckState::Passing,
        };
        let (id, to, found) = (result.id.clone(), result.state, result.found.clone());
        is_news.then_some(CheckChange { id, from: last, to, found })
    };
    after.iter().filter_map(change).collect()
}

/// Sets the results of a state that is about to be committed.
pub fn update_results(state: &mut ArtifactState) {
    let document = state.artifact.document.as_ref();
    let checks = document.map(|document| document.checks.as_slice()).unwrap_or_default();
    let (before, at) = (&state.artifact.check_results, state.artifact.updated_at);
    state.artifact.check_results = work_out(checks, state.data.value(), before, at);
}

/// The checks of an artifact, counted, in a list.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct CheckSummary {
    /// Those that hold.
    pub passing: u32,
    /// Those that do not.
    pub failing: u32,
    /// Those that could not be worked out.
    pub unknown: u32,
    /// The worst of those that do not hold, as people are told of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<CheckResult>,
}

impl CheckSummary {
    /// Counts some results; none if there are none.
    #[must_use]
    pub fn of(results: &[CheckResult]) -> Option<Self> {
        let count = |state| {
            let of_state = results.iter().filter(|result| result.state == state);
            u32::try_from(of_state.count()).unwrap_or(u32::MAX)
        };
        (!results.is_empty()).then(|| Self {
            passing: count(CheckState::Passing),
            failing: count(CheckState::Failing),
            unknown: count(CheckState::Unknown),
            worst: worst(results).cloned(),
        })
    }
}

/// Returns the worst of some results: failing before unknown, then by weight. None if all hold.
#[must_use]
pub fn worst(results: &[CheckResult]) -> Option<&CheckResult> {
    let open = results.iter().filter(|result| result.state != CheckState::Passing);
    open.max_by_key(|result| (result.state as u8, result.severity as u8))
}

impl Check {
    /// Compares what stands at the path at a time; returns the outcome and what was compared.
    fn work_out(&self, data: &Value, at: Timestamp) -> (CheckState, Option<String>) {
        let Some(found) = resolve(data, &self.path) else { return (CheckState::Unknown, None) };
        let (ordering, shown) = match (found, &self.value.0) {
            (Value::Array(items), Value::Number(want)) => {
                let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
                let ordering = want.as_f64().and_then(|want| f64::from(count).partial_cmp(&want));
                (ordering.map(Compared::Ordered), format!("{count} items"))
            }
            (Value::Number(found), Value::Number(want)) => {
                let ordering =
                    found.as_f64().zip(want.as_f64()).and_then(|(a, b)| a.partial_cmp(&b));
                (ordering.map(Compared::Ordered), found.to_string())
            }
            (Value::String(found), Value::String(want)) => {
                match (found.parse::<Timestamp>(), want.parse::<Interval>()) {
                    (Ok(time), Ok(want)) => {
                        // A time that is still to come is younger than any age.
                        let age = at.ms_since(time);
                        let shown = format!("{} old", Interval::from_ms(age));
                        (Some(Compared::Ordered(age.cmp(&want.ms()))), shown)
                    }
                    (Err(_), _) | (_, Err(_)) => {
                        (Some(Compared::equality(found == want)), found.clone())
                    }
                }
            }
            (Value::Bool(found), Value::Bool(want)) => {
                (Some(Compared::equality(found == want)), found.to_string())
            }
            // Another kind of value than the check was written for: whoever changed the source should look.
            (Value::Array(items), _) => (None, format!("{} items", items.len())),
            (Value::Object(_), _) => (None, "an object".to_owned()),
            (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_), _) => {
                (None, found.to_string())
            }
        };
        let holds = ordering.and_then(|compared| compared.holds(self.op));
        let state = match holds {
            Some(true) => CheckState::Passing,
            Some(false) => CheckState::Failing,
            None => CheckState::Unknown,
        };
        (state, Some(limits::cut(shown, limits::TITLE)))
    }

    /// Returns what people are told if it does not hold.
    fn told(&self) -> String {
        let plain = || format!("{} {} {}", self.path, self.op, self.value.0);
        limits::cut(self.message.clone().unwrap_or_else(plain), limits::SHORT_TEXT)
    }
}

/// Two values of one kind, compared.
#[derive(Clone, Copy)]
enum Compared {
    /// Numbers, counts and ages.
    Ordered(Ordering),
    /// Texts and booleans, which are equal or not.
    Same,
    Different,
}

impl Compared {
    const fn equality(is_same: bool) -> Self {
        if is_same { Self::Same } else { Self::Different }
    }

    /// Returns whether a comparison holds; none if the values have no order.
    fn holds(self, op: CheckOp) -> Option<bool> {
        Some(match (self, op) {
            (Self::Ordered(ordering), CheckOp::Equal) => ordering.is_eq(),
            (Self::Ordered(ordering), CheckOp::NotEqual) => ordering.is_ne(),
            (Self::Ordered(ordering), CheckOp::Less) => ordering.is_lt(),
            (Self::Ordered(ordering), CheckOp::LessOrEqual) => ordering.is_le(),
            (Self::Ordered(ordering), CheckOp::Greater) => ordering.is_gt(),
            (Self::Ordered(ordering), CheckOp::GreaterOrEqual) => ordering.is_ge(),
            (Self::Same, CheckOp::Equal) | (Self::Different, CheckOp::NotEqual) => true,
            (Self::Same, CheckOp::NotEqual) | (Self::Different, CheckOp::Equal) => false,
            (
                Self::Same | Self::Different,
                CheckOp::Less | CheckOp::LessOrEqual | CheckOp::Greater | CheckOp::GreaterOrEqual,
            ) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const NOW: i64 = 1_777_507_200_000;

    fn check(path: &str, op: &str, value: &Value) -> Check {
        let value = json!({ "id": "c", "path": path, "op": op, "value": value });
        Check::read_whole(&value).unwrap().0
    }

    fn state(data: &Value, path: &str, op: &str, value: &Value) -> &'static str {
        let at = Timestamp::from_unix_ms(NOW);
        work_out(&[check(path, op, value)], data, &[], at)[0].state.as_str()
    }

    #[test]
    fn scalars_counts_and_ages_are_compared_and_the_rest_is_unknown() {
        let data = json!({ "n": 3, "f": 0.5, "ok": true, "s": "green", "rows": [1, 2],
            "at": "2026-04-29T22:00:00.000Z", "later": "2026-05-01T00:00:00.000Z",
            "none": null, "deep": { "n": 1 } });
        for (path, op, value, expected) in [
            ("n", "lte", json!(3), "passing"),
            ("n", "lt", json!(3), "failing"),
            ("n", "eq", json!(3.0), "passing"),
            ("n", "ne", json!(3), "failing"),
            ("f", "gt", json!(0.4), "passing"),
            ("deep.n", "gte", json!(2), "failing"),
            ("rows", "gt", json!(1), "passing"),
            ("rows", "eq", json!(3), "failing"),
            ("at", "lt", json!("3h"), "passing"),
            ("at", "lt", json!("2h"), "failing"),
            ("at", "lte", json!("2h"), "passing"),
            ("later", "lt", json!("1m"), "passing"),
            ("s", "eq", json!("green"), "passing"),
            ("s", "ne", json!("green"), "failing"),
            ("ok", "eq", json!(true), "passing"),
            ("ok", "eq", json!(false), "failing"),
            // Nothing there, another kind, no order: never green.
            ("absent", "lt", json!(5), "unknown"),
            ("none", "eq", json!(0), "unknown"),
            ("n", "eq", json!("3"), "unknown"),
            ("s", "lt", json!("3h"), "unknown"),
            ("deep", "eq", json!(1), "unknown"),
            ("rows", "eq", json!("2"), "unknown"),
        ] {
            assert_eq!(state(&data, path, op, &value), expected, "{path} {op} {value}");
        }
    }

    #[test]
    fn a_state_that_stays_keeps_its_time_and_only_a_change_is_news() {
        let checks = [check("n", "lt", &json!(5))];
        let at = Timestamp::from_unix_ms;
        let first = work_out(&checks, &json!({ "n": 1 }), &[], at(1));
        assert_eq!(changes(&[], &first), [], "what begins well is no news");
        let second = work_out(&checks, &json!({ "n": 2 }), &first, at(2));
        assert_eq!((second[0].since, second[0].found.as_deref()), (at(1), Some("2")));
        let third = work_out(&checks, &json!({ "n": 7 }), &second, at(3));
        assert_eq!((third[0].since, third[0].state), (at(3), CheckState::Failing));
        let news = changes(&second, &third);
        assert_eq!(
            (news.len(), news[0].from, news[0].to),
            (1, Some(CheckState::Passing), CheckState::Failing)
        );
        let fourth = work_out(&checks, &json!({ "n": 8 }), &third, at(4));
        assert_eq!(changes(&third, &fourth), [], "once");
        let gone = work_out(&checks, &json!({}), &fourth, at(5));
        assert_eq!(changes(&fourth, &gone)[0].to, CheckState::Unknown);
        assert_eq!(worst(&gone).map(|result| result.state), Some(CheckState::Unknown));
        assert_eq!(worst(&first), None);
    }

    #[test]
    fn refusals_name_the_place_and_the_way_out() {
        let read = |value: Value| {
            let mut issues = Issues::default();
            CheckList.read(&value, &Pointer::root(), &mut issues);
            let faults = issues.finish(None::<()>).unwrap_err();
            faults.into_iter().map(|issue| (issue.path, issue.code)).collect::<Vec<_>>()
        };
        let one = json!({ "id": "a", "path": "n", "op": "lt", "value": 1 });
        assert_eq!(read(json!([one])), []);
        let twice = read(json!([one, one]));
        assert_eq!(twice, [("/1/id".to_owned(), "duplicate_id".into())]);
        let text = read(json!([{ "id": "a", "path": "s", "op": "lt", "value": "green" }]));
        assert_eq!(text, [("/0/value".to_owned(), "not_allowed".into())]);
        let many: Vec<Value> = (0..21)
            .map(|n| json!({ "id": format!("c{n}"), "path": "n", "op": "lt", "value": n }))
            .collect();
        assert_eq!(read(json!(many)).len(), 1, "at most 20");
        assert_eq!(
            read(json!([{ "id": "a", "path": "n", "op": "lt", "value": null }]))[0].0,
            "/0/value"
        );
    }

    proptest! {
        #[test]
        fn whatever_stands_at_the_path_nothing_but_a_comparison_that_holds_is_green(
            found in prop_oneof![
                Just(Value::Null), any::<bool>().prop_map(Value::from), any::<i32>().prop_map(Value::from),
                "[a-z0-9]{0,4}".prop_map(Value::from), Just(json!([])), Just(json!({})),
            ],
            want in any::<i32>(),
            op in proptest::sample::select(CheckOp::ALL),
        ) {
            let data = json!({ "v": found });
            let is_green = state(&data, "v", op.as_str(), &json!(want)) == "passing";
            let number = match &data["v"] {
                Value::Number(number) => number.as_f64(),
                Value::Array(_) => Some(0.0),
                Value::Null | Value::Bool(_) | Value::String(_) | Value::Object(_) => None,
            };
            let want = f64::from(want);
            let holds = number.is_some_and(|number| match op {
                CheckOp::Equal => number == want,
                CheckOp::NotEqual => number != want,
                CheckOp::Less => number < want,
                CheckOp::LessOrEqual => number <= want,
                CheckOp::Greater => number > want,
                CheckOp::GreaterOrEqual => number >= want,
            });
            prop_assert_eq!(is_green, holds);
        }
    }
}
