//! From a schema's JSON to what data is checked with.

use std::collections::BTreeSet;

use super::{ANNOTATIONS, Additional, Choices, DataSchema, Properties, SCHEMA_KEYWORDS, TYPES};
use crate::error::{Issue, nearest_name};
use crate::json::{Pointer, Value, type_name};
use crate::limits;

/// Reads one schema, and keeps what is wrong with it.
#[derive(Default)]
pub(super) struct Compiler {
    pub(super) issues: Vec<Issue>,
}

impl Compiler {
    /// Reads a schema, or a part of one.
    pub(super) fn schema(&mut self, schema: &Value, here: &Pointer, depth: usize) -> DataSchema {
        let mut compiled = DataSchema::default();
        let Value::Object(keywords) = schema else {
            self.refuse(here, "must be a schema object", type_name(schema), "an object");
            return compiled;
        };
        // A tool's schema does not come from bounded JSON; its depth is bounded here.
        if !limits::SCHEMA_DEPTH.allows(depth) {
            let want = limits::SCHEMA_DEPTH.want();
            self.refuse(here, "nests too deep", &format!("level {depth}"), &want);
            return compiled;
        }
        for (keyword, value) in keywords {
            let place = here.clone().key(keyword);
            self.keyword(&mut compiled, keyword, value, &place, depth);
        }
        for key in &compiled.required {
            if compiled.properties.get(key).is_none() && compiled.additional == Additional::Refused
            {
                let place = here.clone().key("required");
                self.refuse(&place, "requires a key the schema refuses", key, "declared keys");
                break;
            }
        }
        compiled
    }

    fn keyword(
        &mut self,
        compiled: &mut DataSchema,
        keyword: &str,
        value: &Value,
        here: &Pointer,
        depth: usize,
    ) {
        match keyword {
            "type" => compiled.types = self.types(value, here),
            "properties" => compiled.properties = self.properties(value, here, depth),
            "required" => compiled.required = self.names(value, here),
            "additionalProperties" => {
                compiled.additional = match value {
                    Value::Bool(true) => Additional::Allowed,
                    Value::Bool(false) => Additional::Refused,
                    Value::Null
                    | Value::Number(_)
                    | Value::String(_)
                    | Value::Array(_)
                    | Value::Object(_) => {
                        Additional::Like(Box::new(self.schema(value, here, depth + 1)))
                    }
                };
            }
            "items" => compiled.items = Some(Box::new(self.schema(value, here, depth + 1))),
            "enum" => match value.as_array() {
                Some(values) if !values.is_empty() => compiled.choices.push(Choices::of(values)),
                Some(_) | None => {
                    self.refuse(here, "must list values", type_name(value), "a filled array");
                }
            },
            "const" => compiled.choices.push(Choices::of(std::slice::from_ref(value))),
            "minimum" => compiled.number.min = self.double(value, here),
            "maximum" => compiled.number.max = self.double(value, here),
            "minLength" => compiled.length.min = self.count(value, here),
            "maxLength" => compiled.length.max = self.count(value, here),
            "minItems" => compiled.count.min = self.count(value, here),
            "maxItems" => compiled.count.max = self.count(value, here),
            annotation if ANNOTATIONS.contains(&annotation) => {}
            unknown => self.unknown(unknown, here),
        }
    }

    fn unknown(&mut self, keyword: &str, here: &Pointer) {
        let issue = Issue::new(here.as_str(), "schema_keyword", "the keyword is not supported")
            .got(keyword)
            .want(SCHEMA_KEYWORDS.join(", "));
        let issue = match nearest_name(keyword, SCHEMA_KEYWORDS.iter().copied()) {
            Some(name) => issue.fix(format!("did you mean `{name}`?")),
            None => issue.fix("remove it, or say it with the supported keywords"),
        };
        self.push(issue);
    }

    fn types(&mut self, value: &Value, here: &Pointer) -> Option<Vec<&'static str>> {
        let known = |value: &Value| {
            let word = value.as_str()?;
            TYPES.iter().find(|name| **name == word).copied()
        };
        let types = match value {
            Value::Array(names) if !names.is_empty() => {
                names.iter().map(known).collect::<Option<Vec<_>>>()
            }
            Value::String(_) => known(value).map(|name| vec![name]),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => None,
        };
        let Some(mut types) = types else {
            self.refuse(here, "is not a type", &value.to_string(), &TYPES.join(", "));
            return None;
        };
        let mut seen = BTreeSet::new();
        types.retain(|name| seen.insert(*name));
        Some(types)
    }

    fn properties(&mut self, value: &Value, here: &Pointer, depth: usize) -> Properties {
        let Value::Object(map) = value else {
            self.refuse(here, "must be an object of schemas", type_name(value), "an object");
            return Properties::default();
        };
        let schemas = map
            .iter()
            .map(|(name, schema)| {
                let place = here.clone().key(name);
                (name.clone(), self.schema(schema, &place, depth + 1))
            })
            .collect();
        let places = map.keys().enumerate().map(|(place, name)| (name.clone(), place)).collect();
        Properties { schemas, places }
    }

    fn names(&mut self, value: &Value, here: &Pointer) -> Vec<String> {
        let names = value.as_array().and_then(|names| {
            names.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        });
        let Some(mut names) = names else {
            self.refuse(here, "must list keys", type_name(value), "an array of strings");
            return Vec::new();
        };
        let mut seen = BTreeSet::new();
        names.retain(|name: &String| seen.insert(name.clone()));
        names
    }

    fn double(&mut self, value: &Value, here: &Pointer) -> Option<f64> {
        let double = value.as_f64();
        if double.is_none() {
            self.refuse(here, "must be a number", type_name(value), "a number");
        }
        double
    }

    fn count(&mut self, value: &Value, here: &Pointer) -> Option<u64> {
        let count = value.as_u64();
        if count.is_none() {
            self.refuse(here, "must be a count", &value.to_string(), "an integer from 0");
        }
        count
    }

    fn refuse(&mut self, here: &Pointer, message: &str, got: &str, want: &str) {
        self.push(Issue::new(here.as_str(), "schema_malformed", message).got(got).want(want));
    }

    fn push(&mut self, issue: Issue) {
        if self.issues.len() < limits::JSON_FAULTS.max() {
            self.issues.push(issue);
        }
    }
}
