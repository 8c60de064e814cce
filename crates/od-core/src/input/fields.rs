//! Reading an input object field by field, collecting every fault on the way.
//!
//! Not serde: its derive stops at the first fault and knows no pointers.

use super::object::Patch;
use super::readers::Reader;
use crate::credential;
use crate::error::{ErrorCode, Issue, nearest_name};
use crate::ids::ParseIdError;
use crate::json::{Map, Pointer, Value, type_name};
use crate::limits;

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
    "sourcePins",
    "stale",
    "permissionSetBy",
    "scheduleGrant",
    "checkResults",
    "createdByAttempt",
];

/// One object of an input, open for reading.
pub(crate) struct Fields<'v, 'i> {
    map: &'v Map,
    at: Pointer,
    refused: Vec<&'static str>,
    pub(crate) issues: &'i mut Issues,
}

impl<'v, 'i> Fields<'v, 'i> {
    /// Opens an object, noting every field that is not known.
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
        Some(Self { map, at, refused: Vec::new(), issues })
    }

    /// Notes the absence of a required field.
    pub(crate) fn require(&mut self, name: &'static str) {
        if !self.map.contains_key(name) {
            let issue =
                Issue::new(self.at(name).as_str(), "required", format!("`{name}` is missing"));
            self.issues.push(issue.fix(format!("add `{name}`")));
        }
    }

    /// Reads a field; `None` if it is absent or refused.
    pub(crate) fn read<R: Reader>(&mut self, name: &'static str, reader: &R) -> Option<R::Value> {
        let value = self.map.get(name)?;
        let at = self.at(name);
        let read = reader.read(value, &at, self.issues);
        if read.is_none() {
            self.refused.push(name);
        }
        read
    }

    /// Reads a field that `null` removes; a refused one is kept.
    pub(crate) fn read_patch<R: Reader>(
        &mut self,
        name: &'static str,
        reader: &R,
    ) -> Patch<R::Value> {
        match self.map.get(name) {
            Some(Value::Null) => Patch::Remove,
            Some(_) | None => self.read(name, reader).map_or(Patch::Keep, Patch::Set),
        }
    }

    /// Returns whether a field was there and was refused.
    pub(crate) fn is_refused(&self, name: &str) -> bool {
        self.refused.contains(&name)
    }

    /// Returns whether the object has a field.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.map.contains_key(name)
    }

    /// Returns the pointer to the object.
    pub(crate) fn here(&self) -> &Pointer {
        &self.at
    }

    /// Returns the pointer to a field.
    pub(crate) fn at(&self, name: &str) -> Pointer {
        self.at.clone().key(name)
    }
}

/// The faults and warnings found so far; of faults at most 20 are kept.
#[derive(Debug, Default)]
pub(crate) struct Issues {
    faults: Vec<Issue>,
    warnings: Vec<Issue>,
}

impl Issues {
    pub(crate) fn push(&mut self, fault: Issue) {
        // The first faults, in the order of the declaration: they say what is wrong, and a body of ten
        // thousand unknown keys is answered in kilobytes.
        if self.faults.len() < limits::JSON_FAULTS.max() {
            self.faults.push(fault);
        }
    }

    pub(crate) fn extend(&mut self, faults: impl IntoIterator<Item = Issue>) {
        for fault in faults {
            self.push(fault);
        }
    }

    /// Notes a change that was made to the input to make it safe.
    pub(crate) fn warn(&mut self, warning: Issue) {
        self.warnings.push(warning);
    }

    /// Returns the value with the warnings if there are no faults, the faults otherwise.
    pub(crate) fn finish<T>(self, value: Option<T>) -> Result<(T, Vec<Issue>), Vec<Issue>> {
        match value {
            // A whole value is not enough: an unknown field beside it is a fault too.
            Some(value) if self.faults.is_empty() => Ok((value, self.warnings)),
            Some(_) | None => Err(self.faults),
        }
    }
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

/// Returns the issues of JSON that holds what looks like credentials.
pub(crate) fn credential_issues(value: &Value, at: &Pointer) -> Vec<Issue> {
    credential::find_in_json(value, limits::JSON_FAULTS.max())
        .into_iter()
        .map(|(place, kind)| credential_issue(&place, kind).under(at.as_str()))
        .collect()
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
    // A key can be a credential as well, pasted in the wrong place; the answer must not repeat it, and
    // neither may the log of whoever asked.
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
