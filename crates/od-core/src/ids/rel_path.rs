//! Paths inside a project.

use super::{ParseIdError, string_newtype};
use crate::limits;

/// A path below a project's root: `/` between names, no `.` or `..`, nothing absolute.
///
/// The folders the daemon keeps to itself (`.git`, `.live-artifacts`, `.od`) are no part of any
/// path.
#[derive(
    Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, serde::Deserialize, serde::Serialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct RelPath(String);

string_newtype!(
    RelPath,
    "^[^/\\\\\\u0000-\\u001f\\u007f]+(/[^/\\\\\\u0000-\\u001f\\u007f]+)*$",
    260,
    "path relative to the project, with / between names"
);

impl RelPath {
    /// Returns the names between the slashes.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }

    /// Returns the last name.
    #[must_use]
    pub fn file_name(&self) -> &str {
        self.0.rsplit_once('/').map_or(self.0.as_str(), |(_, name)| name)
    }
}

impl std::str::FromStr for RelPath {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let fault = |want| Err(ParseIdError { what: "relative path", want });
        if text.is_empty() || !limits::PATH.allows(limits::utf16_len(text)) {
            return fault("1 to 260 UTF-16 code units");
        }
        if text.chars().any(|c| c == '\\' || c.is_control()) {
            return fault("no backslashes and no control characters");
        }
        for name in text.split('/') {
            if matches!(name, "" | "." | "..") {
                return fault("names joined with single slashes, none of them `.` or `..`");
            }
            // Without case: the same folder answers to both on some file systems.
            let reserved = [".git", ".live-artifacts", ".od"];
            if reserved.iter().any(|kept| name.eq_ignore_ascii_case(kept)) {
                return fault("nothing inside .git, .live-artifacts or .od");
            }
        }
        Ok(Self(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_leaves_the_project() {
        for bad in [
            "",
            "/etc/passwd",
            "..",
            "a/../b",
            "a/./b",
            "a//b",
            "a/",
            "a\\b",
            "a\0b",
            "a\nb",
            ".git/config",
            "x/.GIT/config",
            ".live-artifacts/a",
        ] {
            assert!(bad.parse::<RelPath>().is_err(), "{bad:?}");
        }
        let path: RelPath = "data/größe 1.json".parse().unwrap();
        assert_eq!(path.components().collect::<Vec<_>>(), ["data", "größe 1.json"]);
        assert_eq!(path.file_name(), "größe 1.json");
    }

    #[test]
    fn the_limit_counts_utf16_units() {
        assert!("a".repeat(260).parse::<RelPath>().is_ok());
        assert!("a".repeat(261).parse::<RelPath>().is_err());
        assert!("😀".repeat(130).parse::<RelPath>().is_ok());
        assert!(format!("{}a", "😀".repeat(130)).parse::<RelPath>().is_err());
    }

    proptest! {
        #[test]
        fn an_accepted_path_has_only_plain_names(text in "[a./\\\\\\PC]{0,20}") {
            if let Ok(path) = text.parse::<RelPath>() {
                prop_assert!(path.components().all(|name| !matches!(name, "" | "." | "..")));
                prop_assert_eq!(path.as_str(), text);
            }
        }
    }
}
