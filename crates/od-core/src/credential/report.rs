//! The redactions of a source's output, counted and named.

use std::collections::HashMap;

use crate::limits::{REDACTED_PLACES, REDACTED_PLACES_KNOWN, SHORT_TEXT, cut};
use crate::words::words;

words! {
    /// What happened to a value of a source's output.
    RedactionAction {
        /// The member is not in the output, name and value.
        LeftOut = "left_out",
        /// `[redacted]` stands where the credential stood.
        Replaced = "replaced",
    }
}

words! {
    /// Why a value of a source's output is not shown.
    RedactionReason {
        /// Its key is one of those that are never stored.
        NeverStored = "never_stored",
        /// Its key is the name of a credential.
        CredentialName = "credential_name",
        /// It looks like a credential.
        CredentialValue = "credential_value",
        /// It holds a secret that the daemon keeps.
        HeldSecret = "held_secret",
    }
}

/// A place of a source's output that was left out or replaced.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct RedactedPlace {
    /// The place as a JSON pointer in which `*` stands for every item of an array: `/items/*/body`.
    #[schemars(length(max = 1024))]
    pub path: String,
    /// How many values that were.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    pub count: u64,
    /// What happened to them.
    pub action: RedactionAction,
    /// Why.
    pub reason: RedactionReason,
}

/// The parts of a source's output that were left out or replaced.
#[derive(
    Clone, Debug, Default, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Redactions {
    /// How many values.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    pub count: u64,
    /// Where, in document order; answers and records name the first 20.
    #[schemars(length(max = 20))]
    pub places: Vec<RedactedPlace>,
}

impl Redactions {
    /// Returns whether nothing was left out or replaced.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns whether every value is under one of the places.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.places.iter().map(|place| place.count).sum::<u64>() == self.count
    }

    /// Returns what answers and records say: the count, and the first places.
    #[must_use]
    pub fn bounded(&self) -> Self {
        let shown = self.places.iter().take(REDACTED_PLACES.max()).cloned();
        let cut =
            |place: RedactedPlace| RedactedPlace { path: cut(place.path, SHORT_TEXT), ..place };
        Self { count: self.count, places: shown.map(cut).collect() }
    }
}

/// Collects redactions while a value is gone through.
#[derive(Debug, Default)]
pub(crate) struct RedactionLog {
    found: Redactions,
    index: HashMap<(String, RedactionAction, RedactionReason), usize>,
}

impl RedactionLog {
    pub(crate) fn note(&mut self, path: &str, action: RedactionAction, reason: RedactionReason) {
        self.found.count += 1;
        let key = (path.to_owned(), action, reason);
        if let Some(at) = self.index.get(&key) {
            self.found.places[*at].count += 1;
        } else if REDACTED_PLACES_KNOWN.allows(self.found.places.len() + 1) {
            // A hostile output has as many keys as it likes; only the count goes on.
            self.index.insert(key, self.found.places.len());
            self.found.places.push(RedactedPlace {
                path: path.to_owned(),
                count: 1,
                action,
                reason,
            });
        }
    }

    pub(crate) fn finish(self) -> Redactions {
        self.found
    }
}

/// The way to a value, as [`RedactedPlace::path`] writes it.
#[derive(Debug, Default)]
pub(crate) struct PlacePath(String);

impl PlacePath {
    /// Enters a member; returns what [`Self::leave`] goes back to.
    pub(crate) fn enter_key(&mut self, key: &str) -> usize {
        let before = self.0.len();
        crate::json::push_pointer_key(&mut self.0, key);
        before
    }

    /// Enters the items of an array.
    pub(crate) fn enter_items(&mut self) -> usize {
        let before = self.0.len();
        self.0.push_str("/*");
        before
    }

    pub(crate) fn leave(&mut self, before: usize) {
        self.0.truncate(before);
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_one_place_are_counted_together_and_places_are_bounded() {
        let mut log = RedactionLog::default();
        let (left_out, never) = (RedactionAction::LeftOut, RedactionReason::NeverStored);
        for i in 0..2_000 {
            log.note("/items/*/body", left_out, never);
            log.note(&format!("/k{i}"), left_out, never);
        }
        let found = log.finish();
        assert_eq!((found.count, found.places[0].count), (4_000, 2_000));
        assert!(!found.is_complete() && found.places.len() <= REDACTED_PLACES_KNOWN.max());
        let bounded = found.bounded();
        assert_eq!((bounded.count, bounded.places.len()), (4_000, REDACTED_PLACES.max()));
    }
}
