//! The ids that share one alphabet, and the shape every checked string has.

use super::Slug;

/// The alphabet of every id, as clients see it.
pub const ID_PATTERN: &str = "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$";

/// Why a text is not one of the values of this module.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a valid {what}: {want}")]
pub struct ParseIdError {
    /// The kind of value that was wanted, such as `artifact id`.
    pub what: &'static str,
    /// The rule that refused it.
    pub want: &'static str,
}

/// Gives a one-`String` newtype its conversions: text in through its parser, text out as it is.
macro_rules! string_newtype {
    ($name:ident, $pattern:expr, $max:expr, $doc:literal) => {
        impl $name {
            /// Returns the text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::ids::ParseIdError;
            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.0
            }
        }

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "pattern": $pattern,
                    "maxLength": $max,
                    "description": $doc,
                })
            }
        }
    };
}
pub(crate) use string_newtype;

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(
            Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, serde::Deserialize, serde::Serialize,
        )]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        string_newtype!($name, ID_PATTERN, 128, $what);

        impl std::str::FromStr for $name {
            type Err = ParseIdError;
            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                if is_id(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(ParseIdError { what: $what, want: ID_WANT })
                }
            }
        }
    };
}

text_id! {
    /// Names one project.
    ProjectId, "project id"
}
text_id! {
    /// Names one live artifact inside its project; also the name of its folder.
    ArtifactId, "artifact id"
}
text_id! {
    /// Names one run of an agent.
    RunId, "run id"
}
text_id! {
    /// Names the program that an agent is, such as `claude` or `codex`.
    AgentName, "agent name"
}
text_id! {
    /// Names the chat an agent works in, as the agent calls it.
    SessionId, "session id"
}
text_id! {
    /// Names one session of an agent that a person chats with.
    AgentSessionId, "agent session id"
}
text_id! {
    /// Names the session of one browser in the console.
    ConsoleSessionId, "console session id"
}
text_id! {
    /// Names one attempt of a client to create an artifact: the same attempt is answered once.
    AttemptId, "attempt id"
}
text_id! {
    /// Names one token, for the log and for single use.
    TokenId, "token id"
}
text_id! {
    /// Names whom a person's token is for: a data directory, or one start of its daemon.
    Audience, "audience"
}
text_id! {
    /// Names one start of a daemon.
    InstanceId, "instance id"
}
text_id! {
    /// Names one connector of the catalog.
    ConnectorId, "connector id"
}
text_id! {
    /// Names one tool of a connector, qualified (`github.list_releases`) or short.
    ToolName, "tool name"
}

const ID_WANT: &str = "1 to 128 of A-Z a-z 0-9 . _ - starting with a letter or digit";

fn is_id(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() <= 128
        && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

impl ArtifactId {
    /// Makes the id of a new artifact: `la-<slug>-<12 hex>`.
    #[must_use]
    pub fn generate(slug: &Slug, entropy: [u8; 6]) -> Self {
        // 3 for `la-`, 13 for `-` and the hex digits; the slug gives way so that the id fits.
        let slug: String = slug.as_str().chars().take(128 - 3 - 13).collect();
        Self(format!("la-{}-{}", slug.trim_end_matches('-'), hex(&entropy)))
    }
}

impl RunId {
    /// Makes the id of a new run: `run-<32 hex>`.
    #[must_use]
    pub fn generate(entropy: [u8; 16]) -> Self {
        Self(format!("run-{}", hex(&entropy)))
    }
}

impl AgentSessionId {
    /// Makes the id of a new session: `as-<12 hex>`.
    #[must_use]
    pub fn generate(entropy: [u8; 6]) -> Self {
        Self(format!("as-{}", hex(&entropy)))
    }
}

impl ConsoleSessionId {
    /// Makes the id of a new session: `cs-<12 hex>`. It is a name, not a secret.
    #[must_use]
    pub fn generate(entropy: [u8; 6]) -> Self {
        Self(format!("cs-{}", hex(&entropy)))
    }
}

impl TokenId {
    /// Makes the id of a new token: 32 hex digits.
    #[must_use]
    pub fn generate(entropy: [u8; 16]) -> Self {
        Self(hex(&entropy))
    }
}

impl InstanceId {
    /// Makes the id of a new start: 32 hex digits.
    #[must_use]
    pub fn generate(entropy: [u8; 16]) -> Self {
        Self(hex(&entropy))
    }
}

impl Audience {
    /// Names a data directory by a digest of what tells it from every other.
    #[must_use]
    pub fn of_data_dir(digest: [u8; 16]) -> Self {
        Self(hex(&digest))
    }

    /// Names one start of this data directory's daemon.
    #[cfg(feature = "artifacts")]
    #[must_use]
    pub fn started(&self, instance: &InstanceId) -> Self {
        // Ids have no line breaks, so no other pair gives the same text.
        let both = format!("{self}\n{instance}");
        Self(hex(&ring::digest::digest(&ring::digest::SHA256, both.as_bytes()).as_ref()[..16]))
    }
}

impl ProjectId {
    /// Makes the id of a new project: `<slug>-<12 hex>`.
    #[must_use]
    pub fn generate(slug: &Slug, entropy: [u8; 6]) -> Self {
        let slug: String = slug.as_str().chars().take(128 - 13).collect();
        Self(format!("{}-{}", slug.trim_end_matches('-'), hex(&entropy)))
    }
}

impl ToolName {
    /// Returns the name qualified with its connector: `list_releases` of `github` becomes
    /// `github.list_releases`, and a name already qualified stays as it is.
    ///
    /// # Errors
    ///
    /// Fails if the qualified name would be longer than an id may be.
    pub fn qualified(&self, connector: &ConnectorId) -> Result<Self, ParseIdError> {
        let prefix_len = connector.as_str().len();
        let is_qualified = self.0.len() > prefix_len + 1
            && self.0.starts_with(connector.as_str())
            && self.0.as_bytes()[prefix_len] == b'.';
        if is_qualified { Ok(self.clone()) } else { format!("{connector}.{}", self.0).parse() }
    }
}

/// Writes bytes as lower-case hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|b| [DIGITS[usize::from(b >> 4)], DIGITS[usize::from(b & 15)]])
        .map(char::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_alphabet_is_the_traversal_defence() {
        for bad in ["", ".", "..", "-a", "_a", "a/b", "a\\b", "a b", "a\0", "é", "../x", "a\n"] {
            assert!(bad.parse::<ArtifactId>().is_err(), "{bad:?}");
        }
        for good in ["a", "0", "la-x-000000000000", "A.b_c-d"] {
            assert_eq!(good.parse::<ArtifactId>().unwrap().as_str(), good);
        }
        assert!("a".repeat(128).parse::<ProjectId>().is_ok());
        assert!("a".repeat(129).parse::<ProjectId>().is_err());
    }

    #[test]
    fn a_generated_id_fits_however_long_the_slug() {
        let slug: Slug = "a".repeat(128).parse().unwrap();
        let id = ArtifactId::generate(&slug, [0xab; 6]);
        assert_eq!(id.as_str().len(), 128);
        assert!(id.as_str().ends_with("-abababababab"));
        assert_eq!(id.as_str().parse::<ArtifactId>().unwrap(), id);
        let project = ProjectId::generate(&slug, [1; 6]);
        assert_eq!(project.as_str().parse::<ProjectId>().unwrap(), project);
    }

    #[test]
    fn a_short_tool_name_is_qualified_once() {
        let github: ConnectorId = "github".parse().unwrap();
        let check = |name: &str, want: &str| {
            let name: ToolName = name.parse().unwrap();
            assert_eq!(name.qualified(&github).unwrap().as_str(), want);
        };
        check("list_releases", "github.list_releases");
        check("github.list_releases", "github.list_releases");
        check("githubx", "github.githubx");
        check("other.tool", "github.other.tool");
    }

    proptest! {
        #[test]
        fn printing_and_parsing_an_id_is_identity(text in "[A-Za-z0-9][A-Za-z0-9._-]{0,127}") {
            let id: ArtifactId = text.parse().unwrap();
            prop_assert_eq!(id.to_string(), text);
        }

        #[test]
        fn ids_are_read_by_their_own_parser(text in ".{0,140}") {
            let json = serde_json::Value::String(text.clone());
            prop_assert_eq!(
                serde_json::from_value::<RunId>(json).is_ok(),
                text.parse::<RunId>().is_ok()
            );
        }
    }
}
