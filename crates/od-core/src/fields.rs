//! Reading an input object field by field, collecting every fault on the way.
//!
//! Not serde: its derive stops at the first fault and knows no pointers.

use std::str::FromStr;

use crate::credential;
use crate::error::{ErrorCode, Issue, nearest_name};
use crate::ids::ParseIdError;
use crate::json::{BoundedObject, Map, Pointer, Value, type_name};
use crate::limits::{self, Limit, utf16_len};

/// The fields the daemon fills in; an input that has one misunderstands who decides.
pub const DAEMON_OWNED: &[&str] = &[
    "id",
    "projectId",
    "run",
    "runId",
    "createdAt",
    "updatedAt",
    "createdByRunId",
    "schemaVersion",
    "refreshStatus",
    "lastRefreshedAt",
    "revision",
    "digests",
    "health",
    "sourcePin",
    "permissionSetBy",
    "createdByAttempt",
];

/// The issues found so far, at most 20.
#[derive(Debug, Default)]
pub(crate) struct Issues {
    found: Vec<Issue>,
}

impl Issues {
    pub(crate) fn push(&mut self, issue: Issue) {
        if self.found.len() < limits::JSON_FAULTS.max() {
            self.found.push(issue);
        }
    }

    pub(crate) fn extend(&mut self, issues: impl IntoIterator<Item = Issue>) {
        for issue in issues {
            self.push(issue);
        }
    }

    /// Returns the value if nothing was found, the issues otherwise.
    pub(crate) fn finish<T>(self, value: Option<T>) -> Result<T, Vec<Issue>> {
        match value {
            Some(value) if self.found.is_empty() => Ok(value),
            Some(_) | None => Err(self.found),
        }
    }
}

/// One object of an input, open for reading.
pub(crate) struct Fields<'v, 'i> {
    map: &'v Map,
    at: Pointer,
    pub(crate) issues: &'i mut Issues,
}

impl<'v, 'i> Fields<'v, 'i> {
    /// Opens an object, refusing every field that is not known.
    pub(crate) fn open(
        value: &'v Value,
        at: Pointer,
        known: &[&str],
        issues: &'i mut Issues,
    ) -> Option<Self> {
        let Value::Object(map) = value else {
            issues.push(wrong_type(&at, value, "an object"));
            return None;
        };
        for key in map.keys().filter(|key| !known.contains(&key.as_str())) {
            issues.push(unknown_field(&at, key, known));
        }
        Some(Self { map, at, issues })
    }

    /// Returns the pointer to a field.
    pub(crate) fn at(&self, key: &str) -> Pointer {
        self.at.clone().key(key)
    }

    /// Returns a field's value, if it is there.
    pub(crate) fn get(&self, key: &str) -> Option<&'v Value> {
        self.map.get(key)
    }

    /// Returns a field's value, noting its absence.
    pub(crate) fn required(&mut self, key: &str) -> Option<&'v Value> {
        let value = self.map.get(key);
        if value.is_none() {
            self.issues.push(
                Issue::new(self.at(key).as_str(), "required", format!("`{key}` is missing"))
                    .fix(format!("add `{key}`")),
            );
        }
        value
    }

    /// Reads an optional text within a limit that holds no credential.
    pub(crate) fn text(&mut self, key: &str, limit: &Limit) -> Option<String> {
        let value = self.get(key)?;
        let at = self.at(key);
        check_text(value, &at, limit, self.issues)
    }

    /// Reads an optional text that has a parser of its own, and holds no credential.
    pub(crate) fn parsed<T: FromStr<Err = ParseIdError>>(&mut self, key: &str) -> Option<T> {
        let value = self.get(key)?;
        let at = self.at(key);
        let Some(text) = value.as_str() else {
            self.issues.push(wrong_type(&at, value, "a string"));
            return None;
        };
        if let Some((kind, _)) = credential::find(text) {
            self.issues.push(credential_issue(&at, kind));
            return None;
        }
        match text.parse() {
            Ok(parsed) => Some(parsed),
            Err(error) => {
                self.issues.push(malformed(&at, text, &error));
                None
            }
        }
    }

    /// Reads an optional word of a closed set.
    pub(crate) fn word<T: Copy>(
        &mut self,
        key: &str,
        all: &[T],
        as_str: impl Fn(T) -> &'static str,
    ) -> Option<T> {
        let value = self.get(key)?;
        let found =
            value.as_str().and_then(|word| all.iter().copied().find(|one| as_str(*one) == word));
        if found.is_none() {
            let words: Vec<&str> = all.iter().map(|one| as_str(*one)).collect();
            let got = value.as_str().unwrap_or_else(|| type_name(value));
            let want = words.join(", ");
            let issue = Issue::new(
                self.at(key).as_str(),
                "not_allowed",
                format!("`{key}` is not one of the allowed words"),
            )
            .got(got)
            .want(want.as_str());
            let fix = match (nearest_name(got, words.iter().copied()), words.as_slice()) {
                (Some(near), _) | (None, &[near]) => format!("use `{near}`"),
                (None, _) => format!("use one of {want}"),
            };
            self.issues.push(issue.fix(fix));
        }
        found
    }

    /// Reads an optional boolean.
    pub(crate) fn flag(&mut self, key: &str) -> Option<bool> {
        let value = self.get(key)?;
        let flag = value.as_bool();
        if flag.is_none() {
            self.issues.push(wrong_type(&self.at(key), value, "true or false"));
        }
        flag
    }

    /// Reads an optional bounded object.
    pub(crate) fn bounded(&mut self, key: &str) -> Option<BoundedObject> {
        let value = self.get(key)?;
        match BoundedObject::check(value.clone()) {
            Ok(object) => Some(object),
            Err(faults) => {
                let at = self.at(key);
                self.issues.extend(faults.issues(at.as_str()));
                None
            }
        }
    }

    /// Reads an optional array with a bound on its length; nothing past the bound is read.
    pub(crate) fn array(&mut self, key: &str, limit: &Limit) -> Option<&'v [Value]> {
        let value = self.get(key)?;
        let at = self.at(key);
        let Some(items) = value.as_array() else {
            self.issues.push(wrong_type(&at, value, "an array"));
            return None;
        };
        if !limit.allows(items.len()) {
            self.issues.push(
                Issue::new(at.as_str(), "too_many_items", format!("`{key}` has too many entries"))
                    .got(format!("{} entries", items.len()))
                    .want(limit.want())
                    .fix(format!("keep the first {} that matter", limit.max())),
            );
        }
        Some(&items[..items.len().min(limit.max())])
    }
}

/// Reads a text: its type, its length, no NUL, nothing that looks like a credential.
pub(crate) fn check_text(
    value: &Value,
    at: &Pointer,
    limit: &Limit,
    issues: &mut Issues,
) -> Option<String> {
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

/// Makes the issue of a text that looks like a credential, without repeating it.
pub(crate) fn credential_issue(at: &Pointer, kind: credential::CredentialKind) -> Issue {
    Issue::new(
        at.as_str(),
        ErrorCode::RedactionRequired.as_str(),
        "the text looks like a credential",
    )
    .got(kind.as_str())
    .want("nothing that grants access: it would be stored and shown")
    .fix("remove it; the daemon adds credentials when it calls a connector")
}

pub(crate) fn wrong_type(at: &Pointer, value: &Value, want: &str) -> Issue {
    let issue = Issue::new(at.as_str(), "wrong_type", format!("must be {want}"))
        .got(type_name(value))
        .want(want);
    issue.fix(if value.is_null() {
        "leave the field out".to_owned()
    } else {
        format!("give {want} instead")
    })
}

pub(crate) fn malformed(at: &Pointer, text: &str, error: &ParseIdError) -> Issue {
    Issue::new(at.as_str(), "malformed", format!("not a valid {}", error.what))
        .got(credential::redact_text(text))
        .want(error.want)
        .fix(format!("write it as {}", error.want))
}

fn unknown_field(at: &Pointer, key: &str, known: &[&str]) -> Issue {
    let here = at.clone().key(&credential::redact_text(key));
    if DAEMON_OWNED.contains(&key) {
        return Issue::new(
            here.as_str(),
            "daemon_owned",
            format!("`{key}` is filled in by the daemon"),
        )
        .want("an input without it")
        .fix(format!("remove `{key}`"));
    }
    let issue = Issue::new(here.as_str(), "unknown_field", "the field is not known")
        .want(format!("one of {}", known.join(", ")));
    match nearest_name(key, known.iter().copied()) {
        Some(near) => issue.fix(format!("did you mean `{near}`?")),
        None => issue.fix("remove it"),
    }
}
