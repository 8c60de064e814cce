//! `OD_HOME/config.toml`: a closed list of keys, each with its environment variable and its default.
//!
//! Only the person's own home has such a file. One in a project would come with a clone, and a clone
//! must not choose ports, programs to start or addresses to fetch from.

use std::collections::BTreeMap;
use std::fmt;

use od_core::error::nearest_name;
use od_daemon::{StoreAddress, StoreAddressError};
use tracing_subscriber::filter::LevelFilter;
use url::Url;

/// The file's name below `OD_HOME`.
pub(crate) const FILE: &str = "config.toml";
/// The most bytes of the file that are read.
pub(crate) const FILE_BYTES_MAX: u64 = 64 * 1024;

/// A key of the configuration.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Key {
    DataDir,
    Store,
    Port,
    LogLevel,
    Browser,
    GithubBaseUrl,
    DesktopNotifications,
    AgentsPath,
    AgentsHome,
}

impl Key {
    /// Every key, in the order of `od config list`.
    pub(crate) const ALL: [Self; 9] = [
        Self::DataDir,
        Self::Store,
        Self::Port,
        Self::LogLevel,
        Self::Browser,
        Self::GithubBaseUrl,
        Self::DesktopNotifications,
        Self::AgentsPath,
        Self::AgentsHome,
    ];
    /// The names of all keys.
    pub(crate) const NAMES: &'static [&'static str] = &[
        Self::DataDir.name(),
        Self::Store.name(),
        Self::Port.name(),
        Self::LogLevel.name(),
        Self::Browser.name(),
        Self::GithubBaseUrl.name(),
        Self::DesktopNotifications.name(),
        Self::AgentsPath.name(),
        Self::AgentsHome.name(),
    ];

    /// Returns the name in the file and on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::DataDir => "data-dir",
            Self::Store => "store",
            Self::Port => "port",
            Self::LogLevel => "log-level",
            Self::Browser => "browser",
            Self::GithubBaseUrl => "github-base-url",
            Self::DesktopNotifications => "desktop-notifications",
            Self::AgentsPath => "agents-path",
            Self::AgentsHome => "agents-home",
        }
    }

    /// Returns the key of a name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }

    /// Returns the environment variable that wins over the file.
    pub(crate) const fn variable(self) -> &'static str {
        match self {
            Self::DataDir => "OD_DATA_DIR",
            Self::Store => "OD_STORE",
            Self::Port => "OD_PORT",
            Self::LogLevel => "OD_LOG",
            Self::Browser => "BROWSER",
            Self::GithubBaseUrl => "OD_GITHUB_BASE_URL",
            Self::DesktopNotifications => "OD_DESKTOP_NOTIFICATIONS",
            Self::AgentsPath => "OD_AGENTS_PATH",
            Self::AgentsHome => "OD_AGENTS_HOME",
        }
    }

    /// Returns one sentence for lists.
    pub(crate) const fn help(self) -> &'static str {
        match self {
            Self::DataDir => {
                "Where artifacts are stored, outside a directory that has a .od/ of its own."
            }
            Self::Store => {
                "What keeps the artifacts: files, or the database of a team: postgres://ROLE@HOST/DATABASE."
            }
            Self::Port => "The port of the API and the console on 127.0.0.1; 0 takes a free one.",
            Self::LogLevel => "How much the daemon logs: off, error, warn, info, debug or trace.",
            Self::Browser => "The program that opens the console's address.",
            Self::GithubBaseUrl => {
                "The API of GitHub, for an Enterprise server: https://HOST/api/v3."
            }
            Self::DesktopNotifications => {
                "Whether the desktop shows a check that has changed: on or off."
            }
            Self::AgentsPath => {
                "The PATH that agents are looked for in, instead of the login shell's."
            }
            Self::AgentsHome => {
                "The HOME of agents that the daemon starts, instead of the login shell's."
            }
        }
    }

    /// Returns whether a running daemon keeps the value that it started with.
    pub(crate) const fn needs_restart(self) -> bool {
        match self {
            Self::Store
            | Self::Port
            | Self::LogLevel
            | Self::GithubBaseUrl
            | Self::DesktopNotifications
            | Self::AgentsPath
            | Self::AgentsHome => true,
            // The data directory says which daemon; the browser is started by the command.
            Self::DataDir | Self::Browser => false,
        }
    }

    /// Checks a value of the key and returns it as it is stored.
    pub(crate) fn parse(self, text: &str) -> Result<String, ConfigError> {
        let text = text.trim();
        let wrong = |problem: &str| ConfigError::Value { key: self, problem: problem.to_owned() };
        if text.is_empty() {
            return Err(wrong("is empty; `od config unset` takes a value away"));
        }
        if text.chars().any(char::is_control) {
            return Err(wrong("holds a control character"));
        }
        if self == Self::Store {
            return parse_store(text).map_err(|problem| ConfigError::Value { key: self, problem });
        }
        // The file is read by whoever helps, and copied between machines: a secret has no place in it.
        if od_core::credential::find(text).is_some() {
            return Err(wrong(
                "looks like a credential; `od connectors connect` keeps those encrypted",
            ));
        }
        match self {
            Self::DataDir | Self::AgentsPath | Self::AgentsHome if !text.starts_with('/') => {
                Err(wrong("must be an absolute path"))
            }
            Self::Port => match text.parse::<u16>() {
                Ok(port) => Ok(port.to_string()),
                Err(_) => Err(wrong("must be a port: a number from 0 to 65535")),
            },
            Self::LogLevel => match text.parse::<LevelFilter>() {
                Ok(level) => Ok(level.to_string()),
                Err(_) => Err(wrong("must be off, error, warn, info, debug or trace")),
            },
            Self::GithubBaseUrl => match Url::parse(text) {
                Ok(url) if !url.username().is_empty() || url.password().is_some() => {
                    Err(wrong("must not carry a user or a password"))
                }
                Ok(url) if url.scheme() == "https" => Ok(text.to_owned()),
                // A token of GitHub goes there: unencrypted it stays on this machine.
                Ok(url) if url.scheme() == "http" && is_loopback(&url) => Ok(text.to_owned()),
                Ok(_) | Err(_) => Err(wrong(
                    "must be an address that begins with https://; http:// only on this machine",
                )),
            },
            Self::DesktopNotifications => match text {
                "on" | "off" => Ok(text.to_owned()),
                _ => Err(wrong("must be on or off")),
            },
            Self::DataDir | Self::Store | Self::Browser | Self::AgentsPath | Self::AgentsHome => {
                Ok(text.to_owned())
            }
        }
    }

    /// Writes the line of a value in the file.
    fn line(self, value: &str) -> String {
        match self {
            Self::Port => format!("{} = {value}", self.name()),
            Self::DataDir
            | Self::Store
            | Self::LogLevel
            | Self::Browser
            | Self::GithubBaseUrl
            | Self::DesktopNotifications
            | Self::AgentsPath
            | Self::AgentsHome => {
                // Without control characters a text is quoted alike in JSON and in TOML.
                format!("{} = {}", self.name(), serde_json::Value::from(value))
            }
        }
    }
}

/// The word for a store of files in the data directory.
pub(crate) const FILES: &str = "files";

/// Checks the address of a store. What was given is not repeated: it may hold a password.
pub(crate) fn parse_store(text: &str) -> Result<String, String> {
    if text == FILES {
        return Ok(text.to_owned());
    }
    match text.parse::<StoreAddress>() {
        Ok(address) => Ok(address.as_str().to_owned()),
        Err(StoreAddressError::Password) => Err(
            "must hold no password: put it into the file that PGPASSFILE names (~/.pgpass, chmod 600), as HOST:5432:DATABASE:ROLE:PASSWORD"
                .to_owned(),
        ),
        Err(StoreAddressError::Connection(error)) => Err(format!("is no store: {error}")),
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// The place that a value comes from, the strongest first.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Origin {
    Flag,
    Environment,
    /// The nearest `.od/` upward: only of the data directory.
    Nearest,
    File,
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flag => "flag",
            Self::Environment => "environment",
            Self::Nearest => "nearest .od/",
            Self::File => "file",
            Self::Default => "default",
        })
    }
}

/// The reason why a configuration is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum ConfigError {
    #[error("the configuration has no key `{given}`")]
    UnknownKey { given: String, nearest: Option<&'static str> },
    #[error("`{}` {problem}", key.name())]
    Value { key: Key, problem: String },
    #[error("it is no TOML: {message}")]
    Syntax { message: String },
    #[error("the line of `{key}` cannot be changed without touching others")]
    ByHand { key: String },
}

impl ConfigError {
    pub(crate) fn unknown(given: &str) -> Self {
        let nearest = nearest_name(given, Key::NAMES.iter().copied());
        Self::UnknownKey {
            given: given.to_owned(),
            nearest: nearest.and_then(Key::from_name).map(Key::name),
        }
    }

    /// Returns what would be right in the file, and the command that takes the wrong line away.
    pub(crate) fn fix_of_file(&self) -> String {
        let key = match self {
            Self::UnknownKey { given, .. } => given.as_str(),
            Self::Value { key, .. } => key.name(),
            Self::Syntax { .. } | Self::ByHand { .. } => return self.fix(),
        };
        format!("{}; or take it away with `od config unset {key}`", self.fix())
    }

    /// Returns what would be right.
    pub(crate) fn fix(&self) -> String {
        match self {
            Self::UnknownKey { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::UnknownKey { nearest: None, .. } => {
                format!("the keys are {}", Key::NAMES.join(", "))
            }
            Self::Value { key, .. } => format!("{}: {}", key.name(), key.help()),
            Self::Syntax { .. } => {
                "write one `key = value` a line, texts in double quotes".to_owned()
            }
            Self::ByHand { .. } => "edit the file by hand".to_owned(),
        }
    }
}

/// The values that the file sets, each checked.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Config {
    values: BTreeMap<Key, String>,
}

impl Config {
    /// Parses the text of the file.
    pub(crate) fn parse(text: &str) -> Result<Self, ConfigError> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            ConfigError::Syntax { message: error.message().to_owned() }
        })?;
        let mut values = BTreeMap::new();
        for (name, value) in table {
            let key = Key::from_name(&name).ok_or_else(|| ConfigError::unknown(&name))?;
            let text = match (key, value) {
                (Key::Port, toml::Value::Integer(port)) => port.to_string(),
                (Key::Port, _) => {
                    let problem = "must be a number without quotes".to_owned();
                    return Err(ConfigError::Value { key, problem });
                }
                (_, toml::Value::String(text)) => text,
                (_, _) => {
                    let problem = "must be a text in double quotes".to_owned();
                    return Err(ConfigError::Value { key, problem });
                }
            };
            values.insert(key, key.parse(&text)?);
        }
        Ok(Self { values })
    }

    /// Returns the value that the file sets.
    pub(crate) fn value(&self, key: Key) -> Option<&str> {
        self.values.get(&key).map(String::as_str)
    }

    /// Returns the number of values that the file sets.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns the text of the file with one value set or taken away; comments and the other lines stay.
    pub(crate) fn edited(text: &str, key: Key, value: Option<&str>) -> Result<String, ConfigError> {
        let mut expected = Self::parse(text)?;
        let line = match value {
            Some(value) => {
                let value = key.parse(value)?;
                let line = key.line(&value);
                expected.values.insert(key, value);
                Some(line)
            }
            None => {
                expected.values.remove(&key);
                None
            }
        };
        let mut lines: Vec<String> = Vec::new();
        let mut is_placed = false;
        for present in text.lines() {
            if !sets(present, key.name()) {
                lines.push(present.to_owned());
            } else if let Some(line) = &line {
                lines.push(line.clone());
                is_placed = true;
            }
        }
        lines.extend(line.filter(|_| !is_placed));
        let mut edited = lines.join("\n");
        if !edited.is_empty() {
            edited.push('\n');
        }
        // A text over several lines, or a quoted key, is not what a line-wise change understands.
        if Self::parse(&edited).ok().as_ref() == Some(&expected) {
            Ok(edited)
        } else {
            Err(ConfigError::ByHand { key: key.name().to_owned() })
        }
    }

    /// Returns the text of the file without a key, whatever else is wrong in it; as it was if it has no
    /// such key.
    pub(crate) fn without(text: &str, name: &str) -> Result<String, ConfigError> {
        let table = |text: &str| {
            text.parse::<toml::Table>()
                .map_err(|error| ConfigError::Syntax { message: error.message().to_owned() })
        };
        let mut expected = table(text)?;
        if expected.remove(name).is_none() {
            return Ok(text.to_owned());
        }
        let kept = text.lines().filter(|line| !sets(line, name));
        let edited: String = kept.flat_map(|line| [line, "\n"]).collect();
        if table(&edited).ok().as_ref() == Some(&expected) {
            Ok(edited)
        } else {
            Err(ConfigError::ByHand { key: name.to_owned() })
        }
    }
}

/// Returns whether a line of the file sets a key.
fn sets(line: &str, name: &str) -> bool {
    line.trim_start().strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str, wanted: &str) {
        let error = Config::parse(text).unwrap_err();
        assert!(format!("{error}; {}", error.fix()).contains(wanted), "{error}; {}", error.fix());
    }

    #[test]
    fn unknown_keys_and_wrong_kinds_are_refused_with_what_would_be_right() {
        refused("prot = 1\n", "did you mean `port`?");
        refused("port = \"7456\"\n", "a number without quotes");
        refused("port = 70000\n", "from 0 to 65535");
        refused("log-level = \"loud\"\n", "off, error, warn");
        refused("data-dir = \"here\"\n", "absolute");
        refused("browser = [1]\n", "double quotes");
        refused("github-base-url = \"https://me@host/api\"\n", "password");
        refused("github-base-url = \"ftp://host\"\n", "https://");
        refused("github-base-url = \"http://host/api\"\n", "http:// only on this machine");
        assert!(Config::parse("github-base-url = \"http://127.0.0.1:9/api\"").is_ok());
        refused("port = \n", "key = value");
        refused("[daemon]\nport = 1\n", "no key `daemon`");
    }

    #[test]
    fn the_store_of_a_team_is_named_without_its_password() {
        for good in ["files", "postgres://ada@db.example/od", "postgresql://ada@127.0.0.1:5433/od"]
        {
            assert!(Config::parse(&format!("store = \"{good}\"\n")).is_ok(), "{good}");
        }
        let given = "store = \"postgres://ada:hunter2-canary@db.example/od\"\n";
        refused(given, "PGPASSFILE");
        assert!(!Config::parse(given).unwrap_err().to_string().contains("canary"));
        refused("store = \"mysql://ada@db/od\"\n", "is no store");
        refused("store = \"postgres://ada@db.example/od?sslmode=disable\"\n", "TLS");
    }

    #[test]
    fn a_credential_is_no_value() {
        let token = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
        refused(&format!("browser = \"{token}\"\n"), "looks like a credential");
        let error = Config::edited("", Key::Browser, Some(&token)).unwrap_err();
        assert!(!error.to_string().contains(&token), "{error}");
    }

    #[test]
    fn setting_one_value_keeps_every_other_line() {
        let before = "# mine\nport = 7000 # the old one\n\nbrowser = \"firefox\"\n";
        let after = Config::edited(before, Key::Port, Some("8000")).unwrap();
        assert_eq!(after, "# mine\nport = 8000\n\nbrowser = \"firefox\"\n");
        let after = Config::edited(&after, Key::Port, None).unwrap();
        assert_eq!(after, "# mine\n\nbrowser = \"firefox\"\n");
        let after = Config::edited(&after, Key::DataDir, Some("/srv/a \"b\"")).unwrap();
        let config = Config::parse(&after).unwrap();
        assert_eq!(config.value(Key::DataDir), Some("/srv/a \"b\""), "{after}");
        assert_eq!((config.value(Key::Browser), config.len()), (Some("firefox"), 2));
    }

    #[test]
    fn a_key_is_taken_away_whatever_else_is_wrong() {
        let before = "prot = 1\nport = \"x\" # wrong\nbrowser = \"firefox\"\n";
        let without = |name: &str| Config::without(before, name).unwrap();
        assert_eq!(without("prot"), "port = \"x\" # wrong\nbrowser = \"firefox\"\n");
        assert_eq!(without("port"), "prot = 1\nbrowser = \"firefox\"\n");
        assert_eq!(without("data-dir"), before);
        let quoted = Config::without("\"prot\" = 1\n", "prot");
        assert_eq!(quoted, Err(ConfigError::ByHand { key: "prot".to_owned() }));
    }

    #[test]
    fn a_file_that_lines_do_not_describe_is_left_to_its_author() {
        let text = "browser = \"\"\"fire\\\nport = 1\\\nfox\"\"\"\n";
        let refused = Config::edited(text, Key::Port, Some("2"));
        assert_eq!(refused, Err(ConfigError::ByHand { key: "port".to_owned() }));
    }
}
