//! The kinds of fields: each reads a value, noting its faults, and describes it as JSON Schema.

use std::marker::PhantomData;
use std::str::FromStr;

use schemars::JsonSchema;
use serde_json::json;

use super::fields::{Issues, credential_issue, credential_issues, malformed, wrong_type};
use super::object::Input;
use super::schema;
use crate::credential;
use crate::error::{Issue, nearest_name};
use crate::format::{UnknownZone, Zone};
use crate::ids::{ParseIdError, Revision};
use crate::json::{BoundedObject, Pointer, Value, type_name};
use crate::limits::{self, Limit, utf16_len};
use crate::words::Word;

/// Reads one kind of field and describes it.
pub(crate) trait Reader {
    /// The type that a sound value is read as.
    type Value;

    /// Reads a value; `None` if it is refused, which is noted.
    fn read(&self, value: &Value, at: &Pointer, issues: &mut Issues) -> Option<Self::Value>;

    /// Returns the schema; objects describe themselves.
    fn schema(&self, description: &str) -> Value;
}

/// Returns the schema of a field; the field's type tells what its reader makes.
pub(crate) fn describe<T>(reader: &impl Reader<Value = T>, description: &str) -> Value {
    reader.schema(description)
}

/// A text within a limit that holds neither NUL nor a credential.
pub(crate) struct Text(&'static Limit);

/// Returns the reader of a text.
pub(crate) const fn text(limit: &'static Limit) -> Text {
    Text(limit)
}

impl Reader for Text {
    type Value = String;

    fn read(&self, value: &Value, at: &Pointer, issues: &mut Issues) -> Option<String> {
        let Self(limit) = self;
        let Some(text) = value.as_str() else {
            issues.push(wrong_type(at, value, "a string"));
            return None;
        };
        let units = utf16_len(text);
        if !limit.allows(units) {
            issues.push(
                Issue::new(at.as_str(), "too_long", "the text is too long")
                    .got(format!("{units} {}", limit.unit))
                    .want(limit.want())
                    .fix("shorten it"),
            );
            return None;
        }
        if text.contains('\0') {
            issues.push(
                Issue::new(at.as_str(), "nul_character", "the text holds a NUL character")
                    .want("no NUL")
                    .fix("remove the character"),
            );
            return None;
        }
        if let Some((kind, _)) = credential::find(text) {
            issues.push(credential_issue(at, kind));
            return None;
        }
        Some(text.to_owned())
    }

    fn schema(&self, description: &str) -> Value {
        schema::text(description, 0, self.0)
    }
}

/// A time zone: a name of the IANA database, in its spelling.
pub(crate) struct ZoneName;

impl Reader for ZoneName {
    type Value = Zone;

    fn read(&self, value: &Value, at: &Pointer, issues: &mut Issues) -> Option<Zone> {
        let name = text(&limits::SHORT_TEXT).read(value, at, issues)?;
        match name.parse() {
            Ok(zone) => Some(zone),
            Err(UnknownZone { near, .. }) => {
                let message = "`timeZone` is no zone of the IANA database";
                let issue = Issue::new(at.as_str(), "not_allowed", message).got(&name);
                issues.push(issue.want("a zone such as Europe/Berlin").fix(near.unwrap_or("UTC")));
                None
            }
        }
    }

    fn schema(&self, description: &str) -> Value {
        schema::text(description, 1, &limits::SHORT_TEXT)
    }
}

/// The template of an artifact: its type and its size; the compiler does the rest.
pub(crate) struct TemplateHtml;

impl Reader for TemplateHtml {
    type Value = String;

    fn read(&self, value: &Value, at: &Pointer, issues: &mut Issues) -> Option<String> {
        let Some(template) = value.as_str() else {
            issues.push(wrong_type(at, value, "a string"));
            return None;
        };
        if !limits::TEMPLATE.allows(template.len()) {
            let issue = Issue::new(at.as_str(), "too_long", "the template is too large")
                .got(format!("{} bytes", template.len()))
                .want(limits::TEMPLATE.want());
            issues.push(issue.fix("move content into the data, and repeat over it"));
            return None;
        }
        Some(template.to_owned())
    }

    fn schema(&self, _: &str) -> Value {
        let description =
            "the template (html_template_v1); a plain page for the data if a new artifact has none";
        // Counted in bytes; the schema's characters are never more.
        schema::text(description, 0, &limits::TEMPLATE)
    }
}

/// A text that has a parser of its own, and holds no credential.
pub(crate) struct Parsed<T>(PhantomData<T>);

/// Returns the reader of a text that has a parser of its own.
pub(crate) const fn parsed<T>() -> Parsed<T> {
    Parsed(PhantomData)
}

impl<T: FromStr<Err = ParseIdError> + JsonSchema> Reader for Parsed<T> {
    type Value = T;

    fn read(&self, value: &Value, at: &Pointer, issues: &mut Issues) -> Option<T> {
        let Some(text) = value.as_str() else {
            issues.push(wrong_type(at, value, "a string"));
            return None;
        };
        if let Some((kind, _)) = credential::find(text) {
            issues.push(credential_issue(at, kind));
            return None;
        }
        match text.parse() {
            Ok(parsed) => Some(parsed),
            Err(error) => {
                issues.push(malformed(at, text, &error));
                None
            }
        }
    }

    fn schema(&self, description: &str) -> Value {
        schema::typed::<T>(description)
    }
}

/// A word of a closed set.
pub(crate) struct Words<T: 'static> {
    taken: &'static [T],
    told: &'static [T],
    default: Option<T>,
}

/// Returns the reader of a word of a closed set.
pub(crate) const fn one_of<T: Word>(taken: &'static [T]) -> Words<T> {
    Words { taken, told: taken, default: None }
}

impl<T: Word> Words<T> {
    /// Has the schema name fewer words than are read: what the others mean is for the caller to say.
    pub(crate) const fn telling(self, told: &'static [T]) -> Self {
        Self { told, ..self }
    }

    /// Has the schema name a default.
    pub(crate) const fn defaulting_to(self, default: T) -> Self {
        Self { default: Some(default), ..self }
    }
}

impl<T: Word> Reader for Words<T> {
    type Value = T;

    fn read(&self, value: &Value, at: &Pointer, issues: &mut Issues) -> Option<T> {
        let found = value
            .as_str()
            .and_then(|word| self.taken.iter().copied().find(|one| one.word() == word));
        if found.is_none() {
            let words: Vec<&str> = self.taken.iter().map(|one| one.word()).collect();
            let got = value.as_str().unwrap_or_else(|| type_name(value));
            let want = words.join(", ");
            let message = format!("`{}` is not one of the allowed words", at.last());
            let issue =
                Issue::new(at.as_str(), "not_allowed", message).got(got).want(want.as_str());
            let fix = match (nearest_name(got, words.iter().copied()), words.as_slice()) {
                (Some(near), _) | (None, &[near]) => format!("use `{near}`"),
                (None, _) => format!("use one of {want}"),
            };
            issues.push(issue.fix(fix));
        }
        found
    }

    fn schema(&self, description: &str) -> Value {
        let words: Vec<&str> = self.told.iter().map(|one| one.word()).collect();
        let mut schema = json!({ "type": "string", "description": description, "enum": words });
        if let Some(default) = self.default {
            schema["default"] = default.word().into();
        }
        schema
    }
}

/// A boolean.
pub(crate) struct Flag;

impl Reader for Flag {
    type Value = bool;

    fn read(&self, value: &Value, at: &Pointer, issues: &mut Issues) -> Option<bool> {
        let flag = value.as_bool();
        if flag.is_none() {
            issues.push(wrong_type(at, value, "true or false"));
        }
        flag
    }

    fn schema(&self, description: &str) -> Value {
        json!({ "type": "boolean", "description": description })
    }
}

/// The revision that a change is based on.
pub(crate) struct RevisionNumber;

impl Reader for RevisionNumber {
    type Value = Revision;

    fn read(&self, value: &Value, at: &Pointer, issues: &mut Issues) -> Option<Revision> {
        let revision = value.as_u64().and_then(|number| Revision::try_from(number).ok());
        if revision.is_none() {
            issues.push(wrong_type(at, value, "a revision: an integer from 1"));
        }
        revision
    }

    fn schema(&self, description: &str) -> Value {
        schema::typed::<Revision>(description)
    }
}

/// Free-form JSON within the limits of stored JSON, and what becomes of credentials in it.
pub(crate) enum FreeForm {
    /// They stay: nothing of it is stored.
    Unstored,
    /// They are refused.
    Stored,
    /// They are redacted with a warning, and refused if any remain.
    Redacted,
}

impl Reader for FreeForm {
    type Value = BoundedObject;

    fn read(&self, value: &Value, at: &Pointer, issues: &mut Issues) -> Option<BoundedObject> {
        let mut value = value.clone();
        match self {
            Self::Unstored | Self::Stored => {}
            Self::Redacted => {
                redact(&mut value, at, issues);
                issues.extend(credential_issues(&value, at));
            }
        }
        let object = match BoundedObject::check(value) {
            Ok(object) => object,
            Err(faults) => {
                issues.extend(faults.issues(at.as_str()));
                return None;
            }
        };
        match self {
            Self::Unstored | Self::Redacted => {}
            // After the limits: a document that breaks them is not searched.
            Self::Stored => issues.extend(credential_issues(object.value(), at)),
        }
        Some(object)
    }

    fn schema(&self, description: &str) -> Value {
        schema::typed::<BoundedObject>(description)
    }
}

fn redact(value: &mut Value, at: &Pointer, issues: &mut Issues) {
    for place in credential::redact_json(value) {
        issues.warn(
            Issue::new(
                format!("{}{}", at.as_str(), place.as_str()),
                "redacted",
                "a text that looks like a credential was replaced",
            )
            .want("inputs without credentials: the daemon adds them when it calls a connector")
            .fix("remove it from the input"),
        );
    }
}

/// An object with fields of its own.
pub(crate) struct Object<T>(PhantomData<T>);

/// Returns the reader of an object with fields of its own.
pub(crate) const fn object<T: Input>() -> Object<T> {
    Object(PhantomData)
}

impl<T: Input> Reader for Object<T> {
    type Value = T;

    fn read(&self, value: &Value, at: &Pointer, issues: &mut Issues) -> Option<T> {
        T::read(value, at.clone(), issues)
    }

    fn schema(&self, _: &str) -> Value {
        T::schema()
    }
}

/// A list of objects with a bound on its length; nothing past the bound is read.
pub(crate) struct List<T> {
    limit: &'static Limit,
    items: PhantomData<T>,
}

/// Returns the reader of a list of objects.
pub(crate) const fn list<T: Input>(limit: &'static Limit) -> List<T> {
    List { limit, items: PhantomData }
}

impl<T: Input> Reader for List<T> {
    type Value = Vec<T>;

    fn read(&self, value: &Value, at: &Pointer, issues: &mut Issues) -> Option<Vec<T>> {
        let items = read_items(value, at, self.limit, issues)?;
        let read = |(i, item)| T::read(item, at.clone().index(i), issues);
        Some(items.iter().enumerate().filter_map(read).collect())
    }

    fn schema(&self, description: &str) -> Value {
        schema::array(description, &T::schema(), 0, self.limit)
    }
}

/// Returns the items of an array that are within a limit, noting that there are more.
pub(crate) fn read_items<'v>(
    value: &'v Value,
    at: &Pointer,
    limit: &Limit,
    issues: &mut Issues,
) -> Option<&'v [Value]> {
    let Some(items) = value.as_array() else {
        issues.push(wrong_type(at, value, "an array"));
        return None;
    };
    if !limit.allows(items.len()) {
        let message = format!("`{}` has too many entries", at.last());
        issues.push(
            Issue::new(at.as_str(), "too_many_items", message)
                .got(format!("{} entries", items.len()))
                .want(limit.want())
                .fix(format!("keep the first {} that matter", limit.max())),
        );
    }
    Some(&items[..items.len().min(limit.max())])
}
