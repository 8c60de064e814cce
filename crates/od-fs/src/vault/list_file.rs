//! A list of entries in one private file, replaced as a whole.

use std::path::PathBuf;

use od_ports::access::credential_vault::VaultError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::private_file;

/// The format written and the only one read.
const VERSION: u32 = 1;

/// A list in one file: `{ "version": 1, "<member>": […] }`.
#[derive(Clone, Debug)]
pub(super) struct ListFile {
    /// The directory of the file and of its lock.
    pub(super) directory: PathBuf,
    /// The name of the file.
    pub(super) name: &'static str,
    /// The name of the list in the file.
    pub(super) member: &'static str,
    /// The name of the lock under which it is changed; several lists may have one lock.
    pub(super) lock: &'static str,
    /// The most bytes that are read.
    pub(super) bytes_max: u64,
    /// Whether a damaged file is one without entries. Others are refused, and stay as they are.
    pub(super) is_forgettable: bool,
}

impl ListFile {
    pub(super) fn path(&self) -> PathBuf {
        self.directory.join(self.name)
    }

    /// Reads the entries; there are none before the first change.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<Vec<T>, VaultError> {
        let Some(bytes) = private_file::read(&self.path(), self.bytes_max)? else {
            return Ok(Vec::new());
        };
        match self.parse(&bytes) {
            Err(VaultError::Damaged { .. }) if self.is_forgettable => Ok(Vec::new()),
            parsed => parsed,
        }
    }

    fn parse<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<Vec<T>, VaultError> {
        let damaged =
            |fault: &str| VaultError::Damaged { reason: format!("{} {fault}", self.name) };
        let mut stored: Map<String, Value> = serde_json::from_slice(bytes)
            .map_err(|err| damaged(&format!("at line {}", err.line())))?;
        // The version first: a later one may have other members, and the message is to say why.
        let version = stored.shift_remove("version").unwrap_or_default();
        if version != VERSION {
            return Err(damaged(&format!("has the unknown version {version}")));
        }
        let entries = stored.shift_remove(self.member);
        let (Some(entries), true) = (entries, stored.is_empty()) else {
            return Err(damaged(&format!("does not hold {} and nothing else", self.member)));
        };
        // Nothing of an entry is told: an address may hold a secret.
        serde_json::from_value(entries).map_err(|_| damaged("has an entry that is not understood"))
    }

    /// Changes the entries under the lock; writes nothing if they are the same.
    pub(super) fn change<T, R, E>(
        &self,
        change: impl FnOnce(&mut Vec<T>) -> Result<R, E>,
    ) -> Result<R, E>
    where
        T: Clone + PartialEq + DeserializeOwned + Serialize,
        E: From<VaultError>,
    {
        private_file::make_directory(&self.directory)?;
        let _lock = private_file::lock(&self.directory.join(self.lock))?;
        // Read under the lock: only the file says what another process has changed.
        let mut entries = self.read()?;
        let before = entries.clone();
        let changed = change(&mut entries)?;
        if entries != before {
            let stored = json!({ "version": VERSION, self.member: entries });
            private_file::replace(&self.path(), format!("{stored:#}\n").as_bytes())?;
        }
        Ok(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_shape_is_damaged_and_is_not_overwritten() {
        let home = tempfile::TempDir::new().unwrap();
        let list = ListFile {
            directory: home.path().join("keys"),
            name: "words.json",
            member: "words",
            lock: "words.lock",
            bytes_max: 1024,
            is_forgettable: false,
        };
        let add = |word: &str| {
            let word = word.to_owned();
            list.change(|words: &mut Vec<String>| {
                words.push(word);
                Ok::<_, VaultError>(())
            })
        };
        add("one").unwrap();
        let text = std::fs::read_to_string(list.path()).unwrap();
        assert_eq!(text, "{\n  \"version\": 1,\n  \"words\": [\n    \"one\"\n  ]\n}\n");
        for (text, fault) in [
            ("{", "words.json at line 1"),
            ("[]", "words.json at line 1"),
            (r#"{ "version": 2, "others": [] }"#, "words.json has the unknown version 2"),
            (r#"{ "words": [] }"#, "words.json has the unknown version null"),
            (r#"{ "version": 1 }"#, "words.json does not hold words and nothing else"),
            (
                r#"{ "version": 1, "words": [], "more": 1 }"#,
                "words.json does not hold words and nothing else",
            ),
            (
                r#"{ "version": 1, "words": [17] }"#,
                "words.json has an entry that is not understood",
            ),
        ] {
            std::fs::write(list.path(), text).unwrap();
            let damaged = VaultError::Damaged { reason: fault.to_owned() };
            assert_eq!(list.read::<String>(), Err(damaged.clone()), "{text}");
            assert_eq!(add("two"), Err(damaged), "{text}");
            assert_eq!(std::fs::read_to_string(list.path()).unwrap(), text);
            let forgetting = ListFile { is_forgettable: true, ..list.clone() };
            assert_eq!(forgetting.read::<String>(), Ok(Vec::new()), "{text}");
        }
    }
}
