//! A strict subset of JSON Schema, for `dataSchemaJson` and the inputs of tools.
//!
//! Checked: `type`, `properties`, `required`, `additionalProperties`, `items`, `enum`, `const`,
//! `minimum`, `maximum`, `minLength`, `maxLength`, `minItems`, `maxItems`. Read and ignored, because
//! they say nothing about validity: `title`, `description`, `default`, `examples`, `$schema`,
//! `$comment`. Any other keyword is refused: a rule that is not checked must not look as if it were.
//!
//! Both sides may be hostile, so the work is bounded by the sum of their sizes, not the product: what
//! a check looks up (members of `enum`, property names) is indexed once, when the schema is compiled.
//!
//! ```
//! use od_core::schema::DataSchema;
//! use serde_json::json;
//!
//! let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
//! let schema = DataSchema::compile(&schema).unwrap();
//! assert!(schema.check(&json!({ "n": 1 })).is_empty());
//! assert_eq!(schema.check(&json!({ "n": "one" }))[0].path, "/n");
//! ```

mod compiler;

use std::collections::{BTreeMap, BTreeSet};

use self::compiler::Compiler;
use crate::error::{Issue, nearest_name};
use crate::json::{Map, Pointer, Value, canonical_bytes, type_name};
use crate::limits;

/// The keywords that are checked.
pub const SCHEMA_KEYWORDS: &[&str] = &[
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
];

const ANNOTATIONS: &[&str] =
    &["title", "description", "default", "examples", "$schema", "$comment"];

const TYPES: &[&str] = &["null", "boolean", "object", "array", "number", "integer", "string"];

/// A schema whose every keyword is understood.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataSchema {
    types: Option<Vec<&'static str>>,
    properties: Properties,
    required: Vec<String>,
    additional: Additional,
    items: Option<Box<Self>>,
    /// The values that `enum` and `const` leave; a value has to be in every one.
    choices: Vec<Choices>,
    number: Range<f64>,
    length: Range<u64>,
    count: Range<u64>,
}

/// The declared properties, found by name, listed in the order of the schema.
#[derive(Clone, Debug, Default, PartialEq)]
struct Properties {
    schemas: Vec<(String, DataSchema)>,
    places: BTreeMap<String, usize>,
}

impl Properties {
    fn get(&self, name: &str) -> Option<&DataSchema> {
        self.places.get(name).map(|place| &self.schemas[*place].1)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.schemas.iter().map(|(name, _)| name.as_str())
    }
}

/// The values one `enum` or `const` allows, in the form they are compared in.
#[derive(Clone, Debug, PartialEq)]
struct Choices {
    canonical: BTreeSet<Vec<u8>>,
    /// The allowed values for the `want` of a refusal.
    shown: String,
}

impl Choices {
    fn of(values: &[Value]) -> Self {
        Self {
            canonical: values.iter().map(comparable).collect(),
            shown: listed(values.iter().take(limits::JSON_FAULTS.max()).map(Value::to_string)),
        }
    }
}

/// Returns the form in which values are compared: `1` and `1.0` are one value.
fn comparable(value: &Value) -> Vec<u8> {
    #[cfg(test)]
    tests::CANONICALISED.set(tests::CANONICALISED.get() + 1);
    canonical_bytes(value)
}

/// Lists what is allowed, in the length a refusal has room for.
fn listed(names: impl Iterator<Item = impl AsRef<str>>) -> String {
    let mut list = String::new();
    for name in names {
        let separator = if list.is_empty() { "" } else { ", " };
        let room = limits::SHORT_TEXT.max() / 2 - list.len().min(limits::SHORT_TEXT.max() / 2);
        if separator.len() + name.as_ref().len() > room {
            list.push_str(separator);
            list.push('…');
            break;
        }
        list.push_str(separator);
        list.push_str(name.as_ref());
    }
    list
}

#[derive(Clone, Debug, Default, PartialEq)]
enum Additional {
    #[default]
    Allowed,
    Refused,
    Like(Box<DataSchema>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Range<T> {
    min: Option<T>,
    max: Option<T>,
}

impl<T> Default for Range<T> {
    fn default() -> Self {
        Self { min: None, max: None }
    }
}

impl DataSchema {
    /// Reads a schema.
    ///
    /// # Errors
    ///
    /// Returns every keyword that is not supported or not well-formed, at most 20.
    pub fn compile(schema: &Value) -> Result<Self, Vec<Issue>> {
        let mut compiler = Compiler::default();
        let compiled = compiler.schema(schema, &Pointer::root(), 1);
        if compiler.issues.is_empty() { Ok(compiled) } else { Err(compiler.issues) }
    }

    /// Checks a value; every issue at once, at most 20.
    #[must_use]
    pub fn check(&self, value: &Value) -> Vec<Issue> {
        let mut issues = Vec::new();
        self.check_at(value, &Pointer::root(), &mut issues);
        issues
    }

    fn check_at(&self, value: &Value, here: &Pointer, issues: &mut Vec<Issue>) {
        if issues.len() >= limits::JSON_FAULTS.max() {
            return;
        }
        let mut add = |issue: Issue| issues.push(issue);
        if let Some(types) = &self.types
            && !types.iter().any(|name| is_type(value, name))
        {
            let want = types.join(" or ");
            add(Issue::new(here.as_str(), "schema_type", format!("must be {want}"))
                .got(type_name(value))
                .want(want));
            return;
        }
        if !self.choices.is_empty() {
            let compared = comparable(value);
            if let Some(choices) =
                self.choices.iter().find(|choices| !choices.canonical.contains(&compared))
            {
                add(Issue::new(here.as_str(), "schema_enum", "is not one of the allowed values")
                    .got(value.to_string())
                    .want(choices.shown.as_str()));
            }
        }
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                let number = number.as_f64().unwrap_or(0.0);
                issues.extend(self.number.check(number, here, "schema_number", "the number"));
            }
            Value::String(text) => {
                let length = text.chars().count() as u64;
                issues.extend(self.length.check(length, here, "schema_length", "the length"));
            }
            Value::Array(items) => {
                let count = items.len() as u64;
                issues.extend(self.count.check(count, here, "schema_items", "the number of items"));
                if let Some(schema) = &self.items {
                    for (i, item) in items.iter().enumerate() {
                        if issues.len() >= limits::JSON_FAULTS.max() {
                            break;
                        }
                        schema.check_at(item, &here.clone().index(i), issues);
                    }
                }
            }
            Value::Object(map) => self.check_object(map, here, issues),
        }
        issues.truncate(limits::JSON_FAULTS.max());
    }

    fn check_object(&self, map: &Map, here: &Pointer, issues: &mut Vec<Issue>) {
        for key in self.required.iter().filter(|key| !map.contains_key(*key)) {
            issues.push(
                Issue::new(
                    here.clone().key(key).as_str(),
                    "schema_required",
                    format!("`{key}` is missing"),
                )
                .fix(format!("add `{key}`")),
            );
        }
        for (key, value) in map {
            if issues.len() >= limits::JSON_FAULTS.max() {
                break;
            }
            let place = here.clone().key(key);
            match self.properties.get(key) {
                Some(schema) => schema.check_at(value, &place, issues),
                None => match &self.additional {
                    Additional::Allowed => {}
                    Additional::Like(schema) => schema.check_at(value, &place, issues),
                    Additional::Refused => {
                        let issue = Issue::new(
                            place.as_str(),
                            "schema_unknown_key",
                            "the key is not part of the schema",
                        )
                        .want(listed(self.properties.names()));
                        issues.push(match nearest_name(key, self.properties.names()) {
                            Some(name) => issue.fix(format!("did you mean `{name}`?")),
                            None => issue.fix("remove it"),
                        });
                    }
                },
            }
        }
    }
}

impl<T: PartialOrd + Copy + std::fmt::Display> Range<T> {
    fn check(&self, got: T, here: &Pointer, code: &str, what: &str) -> Option<Issue> {
        let too_small = self.min.filter(|min| got < *min);
        let too_large = self.max.filter(|max| got > *max);
        let want = match (too_small, too_large) {
            (Some(min), _) => format!("at least {min}"),
            (None, Some(max)) => format!("at most {max}"),
            (None, None) => return None,
        };
        let message = format!("{what} must be {want}");
        Some(Issue::new(here.as_str(), code, message).got(got.to_string()).want(want))
    }
}

fn is_type(value: &Value, name: &str) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
        Value::Number(number) => {
            let is_whole = number.as_f64().is_some_and(|double| double.fract() == 0.0);
            name == "number" || (name == "integer" && is_whole)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use serde_json::json;

    use super::*;

    thread_local! {
        /// How many values were brought into the form they are compared in.
        pub(super) static CANONICALISED: Cell<usize> = const { Cell::new(0) };
    }

    #[track_caller]
    fn check(schema: &Value, value: &Value, want: &[(&str, &str)]) {
        let issues = DataSchema::compile(schema).unwrap().check(value);
        let found: Vec<_> = issues.iter().map(|i| (i.path.as_str(), i.code.as_str())).collect();
        assert_eq!(found, want, "{issues:?}");
    }

    #[test]
    fn every_keyword_is_checked() {
        let schema = json!({
            "type": "object",
            "required": ["n", "rows"],
            "additionalProperties": false,
            "properties": {
                "n": { "type": "integer", "minimum": 1, "maximum": 5 },
                "s": { "type": ["string", "null"], "minLength": 2, "maxLength": 3 },
                "k": { "enum": ["a", 1.0] },
                "c": { "const": true },
                "rows": { "type": "array", "minItems": 1, "maxItems": 2, "items": { "type": "object" } },
            },
        });
        check(&schema, &json!({ "n": 1, "s": "é😀", "k": 1, "c": true, "rows": [{}] }), &[]);
        check(&schema, &json!({ "n": 2.0, "s": null, "rows": [{}] }), &[]);
        check(
            &schema,
            &json!({ "n": 6, "s": "x", "k": "b", "c": false, "rows": [], "z": 1 }),
            &[
                ("/n", "schema_number"),
                ("/s", "schema_length"),
                ("/k", "schema_enum"),
                ("/c", "schema_enum"),
                ("/rows", "schema_items"),
                ("/z", "schema_unknown_key"),
            ],
        );
        check(
            &schema,
            &json!({ "n": 1.5, "rows": [{}, 1, {}] }),
            &[("/n", "schema_type"), ("/rows", "schema_items"), ("/rows/1", "schema_type")],
        );
        check(&schema, &json!({}), &[("/n", "schema_required"), ("/rows", "schema_required")]);
        check(&schema, &json!([]), &[("", "schema_type")]);
    }

    #[test]
    fn a_member_of_an_enum_is_made_comparable_once_however_much_data_is_checked() {
        let members: Vec<String> = (0..400).map(|i| format!("member {i}")).collect();
        let schema = json!({ "items": { "enum": members } });
        CANONICALISED.set(0);
        let compiled = DataSchema::compile(&schema).unwrap();
        assert_eq!(CANONICALISED.get(), 400, "each member when the schema is compiled");
        for count in [100, 200, 400] {
            let data: Vec<&str> = members.iter().rev().take(count).map(String::as_str).collect();
            CANONICALISED.set(0);
            assert_eq!(compiled.check(&json!(data)), []);
            assert_eq!(CANONICALISED.get(), count, "each value once, no member again");
        }
    }

    #[test]
    fn an_enum_and_a_const_beside_it_both_hold() {
        let schema = json!({ "enum": ["a", "b"], "const": "b" });
        check(&schema, &json!("b"), &[]);
        check(&schema, &json!("a"), &[("", "schema_enum")]);
    }

    #[test]
    fn what_a_refusal_lists_has_a_length() {
        let members: Vec<String> = (0..20).map(|_| "x".repeat(16_000)).collect();
        let names: Map =
            (0..16).map(|i| (format!("{i}{}", "n".repeat(9_000)), json!({}))).collect();
        let schema = json!({
            "properties": names, "additionalProperties": false, "enum": members,
        });
        for issue in DataSchema::compile(&schema).unwrap().check(&json!({ "z": 1 })) {
            let want = issue.want.unwrap();
            assert!(limits::SHORT_TEXT.allows(want.len()), "{} bytes", want.len());
        }
    }

    #[test]
    fn a_schema_may_describe_the_rest() {
        let schema = json!({ "additionalProperties": { "type": "number" } });
        check(&schema, &json!({ "a": 1, "b": "x" }), &[("/b", "schema_type")]);
    }

    #[test]
    fn what_is_not_checked_is_refused() {
        let issues = DataSchema::compile(&json!({
            "pattern": "^a", "minimun": 1, "type": "text",
            "properties": { "a": { "oneOf": [] } }, "items": 3,
        }))
        .unwrap_err();
        let found: Vec<_> = issues.iter().map(|i| i.path.as_str()).collect();
        assert_eq!(found, ["/pattern", "/minimun", "/type", "/properties/a/oneOf", "/items"]);
        assert_eq!(issues[1].fix.as_deref(), Some("did you mean `minimum`?"));
    }

    #[test]
    fn annotations_pass() {
        let schema = json!({ "title": "t", "description": "d", "$schema": "s", "default": 1 });
        assert!(DataSchema::compile(&schema).is_ok());
    }

    #[test]
    fn a_schema_that_nests_without_end_is_refused() {
        let mut schema = json!({});
        for _ in 0..40 {
            schema = json!({ "items": schema });
        }
        assert!(DataSchema::compile(&schema).is_err());
    }

    #[test]
    fn at_most_twenty_issues_are_told() {
        let schema = DataSchema::compile(&json!({ "items": { "type": "string" } })).unwrap();
        assert_eq!(schema.check(&json!(vec![1; 50])).len(), 20);
    }
}
