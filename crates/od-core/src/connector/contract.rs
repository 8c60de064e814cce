//! The contract of a tool, as one digest.

use super::Tool;
use crate::error::Issue;
use crate::ids::Digest;
use crate::json::Value;
use crate::schema::DataSchema;

/// Digests a tool's contract: its name, its input schema, and its safety. A change of any is drift.
#[must_use]
pub fn contract_digest(tool: &Tool) -> Digest {
    Digest::of_json(&serde_json::json!({
        "name": tool.name.as_str(),
        "inputSchema": tool.input_schema,
        "sideEffect": tool.safety.side_effect.as_str(),
        "approval": tool.safety.approval.as_str(),
        "refreshEligible": tool.refresh_eligible,
    }))
}

/// Returns whether a pin's digest is of this tool's contract, or of an earlier one whose input schema
/// was only widened since: every input that was right then is right now and means the same.
///
/// Only the connector can say the latter, by [`Tool::former_input_schemas`]: a pin keeps digests, and a
/// wider schema of somebody else's tool may be another tool.
#[must_use]
pub fn is_contract_of(tool: &Tool, pinned: &Digest) -> bool {
    let former = |schema: &Value| {
        contract_digest(&Tool { input_schema: schema.clone(), ..tool.clone() }) == *pinned
    };
    contract_digest(tool) == *pinned || tool.former_input_schemas.iter().any(former)
}

/// Returns whether every input that `former` accepts is accepted by `now`, as far as that shows in
/// bounds, lists of values, and properties that became optional or were added.
#[must_use]
pub fn only_widens(former: &Value, now: &Value) -> bool {
    let (Some(former), Some(now)) = (former.as_object(), now.as_object()) else {
        return former == now;
    };
    former.keys().chain(now.keys()).all(|key| {
        let (was, is) = (former.get(key), now.get(key));
        match key.as_str() {
            "title" | "description" => true,
            "maximum" | "maxLength" | "maxItems" => is_loosened(was, is, |was, is| is >= was),
            "minimum" | "minLength" | "minItems" => is_loosened(was, is, |was, is| is <= was),
            "enum" => is.is_none() || was.is_some() && is_subset(was, is),
            "required" => is_subset(is, was),
            "items" => match (was, is) {
                (Some(was), Some(is)) => only_widens(was, is),
                (was, is) => was == is,
            },
            "properties" => match (was.and_then(Value::as_object), is.and_then(Value::as_object)) {
                // A new property takes what was refused before only if unknown ones were.
                (Some(was), Some(is)) => {
                    (was.len() == is.len()
                        || former.get("additionalProperties") == Some(&false.into()))
                        && was.iter().all(|(name, schema)| {
                            is.get(name).is_some_and(|now| only_widens(schema, now))
                        })
                }
                (was, is) => was == is,
            },
            _ => was == is,
        }
    })
}

fn is_loosened(was: Option<&Value>, is: Option<&Value>, by: fn(f64, f64) -> bool) -> bool {
    match (was, is) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(was), Some(is)) => was.as_f64().zip(is.as_f64()).is_some_and(|(was, is)| by(was, is)),
    }
}

/// Returns whether the values of one list are all in the other; an absent list has none.
fn is_subset(part: Option<&Value>, whole: Option<&Value>) -> bool {
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let whole = list(whole);
    list(part).iter().all(|value| whole.contains(value))
}

/// The digests of the parts of a tool's contract.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ContractParts {
    /// Of its input schema.
    pub input_schema: Digest,
    /// Of its safety: what it does, and what it needs before it runs.
    pub safety: Digest,
}

impl ContractParts {
    /// Digests the parts of a tool's contract.
    #[must_use]
    pub fn of(tool: &Tool) -> Self {
        Self {
            input_schema: Digest::of_json(&tool.input_schema),
            safety: Digest::of_json(&serde_json::json!([
                tool.safety.side_effect.as_str(),
                tool.safety.approval.as_str(),
                tool.refresh_eligible,
            ])),
        }
    }

    /// Names the parts that are different now.
    #[must_use]
    pub fn changes(&self, now: &Self) -> Vec<&'static str> {
        let parts = [
            (self.input_schema != now.input_schema, "input schema"),
            (self.safety != now.safety, "safety"),
        ];
        parts.into_iter().filter_map(|(differs, part)| differs.then_some(part)).collect()
    }
}

/// Checks a tool's input against its schema; every issue at once.
///
/// # Errors
///
/// Returns the input's issues; or, if the schema itself is not one this build can check, what is
/// wrong with it, for then no input may pass.
pub fn check_input(tool: &Tool, input: &Value) -> Result<(), Vec<Issue>> {
    let issues = DataSchema::compile(&tool.input_schema)?.check(input);
    if issues.is_empty() { Ok(()) } else { Err(issues) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_that_takes_more_only_widens() {
        let former = json!({
            "type": "object", "required": ["owner"], "additionalProperties": false,
            "properties": {
                "owner": { "type": "string", "minLength": 1, "maxLength": 100 },
                "limit": { "type": "integer", "minimum": 1, "maximum": 100 },
                "state": { "type": "string", "enum": ["open", "closed"] },
            },
        });
        let changed = |pointer: &str, value: Value| {
            let mut schema = former.clone();
            *schema.pointer_mut(pointer).unwrap() = value;
            only_widens(&former, &schema)
        };
        assert!(only_widens(&former, &former));
        assert!(changed("/properties/limit/maximum", json!(500)));
        assert!(changed("/properties/owner/minLength", json!(0)));
        assert!(changed("/properties/state/enum", json!(["all", "open", "closed"])));
        assert!(changed("/required", json!([])));
        assert!(!changed("/properties/limit/maximum", json!(50)));
        assert!(!changed("/properties/limit/type", json!("number")));
        assert!(!changed("/properties/owner/minLength", json!(2)));
        assert!(!changed("/properties/state/enum", json!(["open"])));
        assert!(!changed("/required", json!(["owner", "limit"])));
        assert!(!changed("/properties", json!({})));
        let limited = json!({ "type": "string", "enum": ["a"] });
        assert!(only_widens(&limited, &json!({ "type": "string" })));
        assert!(!only_widens(&json!({ "type": "string" }), &limited));
        let open = json!({ "type": "object", "properties": {} });
        assert!(!only_widens(&open, &json!({ "type": "object", "properties": { "a": limited } })));
    }
}
