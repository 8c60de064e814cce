//! Directories and values of the program: flag, else environment, else `config.toml`, else default.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use od_core::error::ErrorCode;
use od_fs::{DataDir, PrivateDir, PrivateError};

use crate::args::Globals;
use crate::config::{Config, ConfigError, FILE, FILE_BYTES_MAX, FILES, Key, Origin, parse_store};
use crate::local;
use crate::output::{CommandError, Exit};
use od_daemon::{Announcement, DEFAULT_PORT, PasswordSources, SharedStore, StoreAddress};

/// The directories that the program works with.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Settings {
    /// `OD_HOME`, else `~/.open-design`.
    pub(crate) home: PathBuf,
    /// `--data-dir`, else `OD_DATA_DIR`, else the nearest `.od/` upward, else `data-dir` of config.toml,
    /// else `data` in the home.
    pub(crate) data_dir: PathBuf,
    /// The place that the data directory was found in.
    pub(crate) data_dir_origin: Origin,
    /// The values of `config.toml` in the home.
    pub(crate) config: Config,
    /// The directory that the program was started in.
    pub(crate) directory: PathBuf,
    /// The person's home directory, where agents keep their own skills.
    pub(crate) user_home: Option<PathBuf>,
    /// `OD_CEILING`: searches upward go no further than this directory.
    pub(crate) ceiling: Option<PathBuf>,
}

impl Settings {
    /// Returns the settings of this process, if nobody else can write to their directories.
    ///
    /// The search upward ends with an error at a `.od/` of somebody else's: whoever made it could name
    /// a daemon of his own in it and be sent tokens. Going on past it would be as safe, but it would
    /// show another store than the one the person sees lying there, without a word.
    pub(crate) fn of_process(globals: &Globals) -> Result<Self, CommandError> {
        let settings = Self::in_directory(globals, &current_directory()?)?;
        settings.check()?;
        Ok(settings)
    }

    /// As [`Self::of_process`], as if the program had been started in another directory.
    pub(crate) fn of_directory(globals: &Globals, directory: &Path) -> Result<Self, CommandError> {
        let settings = Self::in_directory(globals, directory)?;
        settings.check()?;
        Ok(settings)
    }

    /// As [`Self::of_process`], without the check of who can write there and without a configuration
    /// that cannot be read: for `od doctor`, which explains what is wrong.
    pub(crate) fn unchecked(globals: &Globals) -> Result<Self, CommandError> {
        let directory = current_directory()?;
        match Self::in_directory(globals, &directory) {
            Ok(settings) => Ok(settings),
            Err(_) => Self::resolve(globals, &environment, &directory, &Path::is_dir, &|_| {
                Ok(Config::default())
            }),
        }
    }

    fn in_directory(globals: &Globals, directory: &Path) -> Result<Self, CommandError> {
        Self::resolve(globals, &environment, directory, &Path::is_dir, &read_config)
    }

    /// Returns the value of a key in this process, and where it comes from; `None` where it has none.
    pub(crate) fn configured(&self, key: Key) -> Result<(Option<String>, Origin), CommandError> {
        if key == Key::DataDir {
            return Ok((Some(self.data_dir.display().to_string()), self.data_dir_origin));
        }
        if let Some(text) = environment(key.variable()).filter(|text| !text.is_empty()) {
            let text = text.to_string_lossy();
            // A browser's variable is the desktop's, with rules of its own; ours are checked.
            let value = match key {
                Key::Browser => text.into_owned(),
                Key::DataDir
                | Key::Store
                | Key::Port
                | Key::LogLevel
                | Key::GithubBaseUrl
                | Key::DesktopNotifications
                | Key::AgentsPath
                | Key::AgentsHome => key.parse(&text).map_err(|error| {
                    let message = format!("{}: {error}", key.variable());
                    CommandError::new(ErrorCode::BadRequest, message)
                        .suggest(format!("correct or unset {}", key.variable()))
                        .ending(Exit::Usage)
                })?,
            };
            return Ok((Some(value), Origin::Environment));
        }
        if let Some(value) = self.config.value(key) {
            return Ok((Some(value.to_owned()), Origin::File));
        }
        let default = match key {
            Key::Port => Some(DEFAULT_PORT.to_string()),
            Key::LogLevel => Some("warn".to_owned()),
            Key::DesktopNotifications => Some("off".to_owned()),
            Key::Store => Some(FILES.to_owned()),
            Key::DataDir
            | Key::Browser
            | Key::GithubBaseUrl
            | Key::AgentsPath
            | Key::AgentsHome => None,
        };
        Ok((default, Origin::Default))
    }

    /// Returns the port that the environment or `config.toml` asks for.
    pub(crate) fn port(&self) -> Result<Option<u16>, CommandError> {
        let (port, origin) = self.configured(Key::Port)?;
        let is_asked = origin != Origin::Default;
        Ok(port.filter(|_| is_asked).and_then(|port| port.parse().ok()))
    }

    /// Returns the database that keeps the artifacts; `None` if files do.
    ///
    /// Where nobody says, it is the one that the running daemon works with, which a flag may have named.
    pub(crate) fn shared_store(
        &self,
        flag: Option<&str>,
    ) -> Result<Option<SharedStore>, CommandError> {
        let (configured, origin) = self.configured(Key::Store)?;
        let told = || {
            let configuration = Announcement::of_living(&self.data_dir)?.configuration;
            configuration.get(Key::Store.name()).cloned()
        };
        let text = match (flag, origin) {
            (Some(flag), _) => Some(parse_store(flag.trim()).map_err(|problem| {
                CommandError::new(ErrorCode::BadRequest, format!("--store {problem}"))
                    .suggest("od serve --store postgres://ROLE@HOST:5432/DATABASE")
                    .ending(Exit::Usage)
            })?),
            (None, Origin::Default) => told(),
            (None, Origin::Flag | Origin::Environment | Origin::Nearest | Origin::File) => {
                configured
            }
        };
        let address: Option<StoreAddress> = text.and_then(|text| text.parse().ok());
        Ok(address.map(|address| SharedStore { address, passwords: self.passwords() }))
    }

    /// Returns where passwords of databases are looked for, as PostgreSQL's own programs do.
    pub(crate) fn passwords(&self) -> PasswordSources {
        let set = |name: &str| environment(name).filter(|value| !value.is_empty());
        let file = set("PGPASSFILE").map(PathBuf::from);
        let file = file.or_else(|| self.user_home.as_ref().map(|home| home.join(".pgpass")));
        let password = set("PGPASSWORD").and_then(|password| password.into_string().ok());
        PasswordSources { password, file }
    }

    fn check(&self) -> Result<(), CommandError> {
        let home = PrivateDir::open(&self.home);
        for checked in [home, DataDir::open_existing(&self.data_dir)] {
            match checked {
                // What is missing is made, and what cannot be opened is told by whoever needs it.
                Ok(_) | Err(PrivateError::Io { .. } | PrivateError::Kind { .. }) => {}
                Err(
                    error @ (PrivateError::Foreign { .. }
                    | PrivateError::Writable { .. }
                    | PrivateError::TooOpen { .. }
                    | PrivateError::Link { .. }),
                ) => return Err(local::untrusted(&error)),
            }
        }
        Ok(())
    }

    /// Returns a directory and those above it, up to the ceiling if it lies below one.
    pub(crate) fn upward<'p>(&self, from: &'p Path) -> impl Iterator<Item = &'p Path> {
        upward(from, self.ceiling.as_deref())
    }

    fn resolve(
        globals: &Globals,
        variable: &dyn Fn(&str) -> Option<OsString>,
        directory: &Path,
        is_dir: &dyn Fn(&Path) -> bool,
        config: &dyn Fn(&Path) -> Result<Config, CommandError>,
    ) -> Result<Self, CommandError> {
        let path = |name: &str| {
            variable(name).filter(|text| !text.is_empty()).map(|text| directory.join(text))
        };
        let user_home = path("HOME");
        let home = path("OD_HOME")
            .or_else(|| user_home.as_ref().map(|home| home.join(".open-design")))
            .ok_or_else(|| {
                CommandError::new(ErrorCode::BadRequest, "neither OD_HOME nor HOME is set")
                    .suggest("set OD_HOME to a private directory")
            })?;
        let ceiling = path("OD_CEILING").map(|given| given.canonicalize().unwrap_or(given));
        let nearest = || {
            upward(directory, ceiling.as_deref())
                .map(|parent| parent.join(".od"))
                .find(|path| is_dir(path))
        };
        let config = config(&home)?;
        let given = globals.data_dir.as_ref().map(|given| directory.join(given));
        let (data_dir, data_dir_origin) = if let Some(given) = given {
            (given, Origin::Flag)
        } else if let Some(named) = path("OD_DATA_DIR") {
            (named, Origin::Environment)
        } else if let Some(found) = nearest() {
            // Before the file: a directory with a store of its own keeps it.
            (found, Origin::Nearest)
        } else if let Some(set) = config.value(Key::DataDir) {
            (PathBuf::from(set), Origin::File)
        } else {
            (home.join("data"), Origin::Default)
        };
        let directory = directory.to_owned();
        Ok(Self { home, data_dir, data_dir_origin, config, directory, user_home, ceiling })
    }
}

fn environment(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

fn current_directory() -> Result<PathBuf, CommandError> {
    std::env::current_dir().map_err(|error| {
        CommandError::new(ErrorCode::Internal, format!("the current directory is gone: {error}"))
            .suggest("change to a directory that exists")
    })
}

/// Reads the configuration of a home; a missing one says nothing.
fn read_config(home: &Path) -> Result<Config, CommandError> {
    let refused = |error: &ConfigError| {
        let message = format!("{}: {error}", home.join(FILE).display());
        CommandError::new(ErrorCode::BadRequest, message)
            .suggest(error.fix_of_file())
            .ending(Exit::Usage)
    };
    let Some(text) = config_text(home)? else { return Ok(Config::default()) };
    Config::parse(&text).map_err(|error| refused(&error))
}

/// Reads the text of a home's `config.toml`; `None` where there is none.
pub(crate) fn config_text(home: &Path) -> Result<Option<String>, CommandError> {
    // What is wrong with a home is told by whoever needs it; a missing one is no fault.
    let Ok(open) = PrivateDir::open(home) else { return Ok(None) };
    let bytes = open.read(FILE, FILE_BYTES_MAX).map_err(|error| local::untrusted(&error))?;
    bytes.map(String::from_utf8).transpose().map_err(|_| {
        let message = format!("{} is not UTF-8", home.join(FILE).display());
        CommandError::new(ErrorCode::BadRequest, message)
            .suggest("write it again as UTF-8")
            .ending(Exit::Usage)
    })
}

fn upward<'p>(from: &'p Path, ceiling: Option<&Path>) -> impl Iterator<Item = &'p Path> {
    let steps = ceiling
        .and_then(|ceiling| from.strip_prefix(ceiling).ok())
        .map_or(usize::MAX, |below| below.components().count());
    from.ancestors().take(steps.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(flag: Option<&str>, variables: &[(&str, &str)], dirs: &[&str], data_dir: &str) {
        let globals = Globals { json: false, data_dir: flag.map(PathBuf::from) };
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
        };
        let is_dir = |path: &Path| dirs.iter().any(|dir| Path::new(dir) == path);
        let settings =
            Settings::resolve(&globals, &variable, Path::new("/w/site/src"), &is_dir, &|_| {
                Ok(Config::default())
            });
        assert_eq!(settings.unwrap().data_dir, Path::new(data_dir));
    }

    #[test]
    fn the_flag_wins_over_the_environment_over_the_nearest_over_the_home() {
        let home = ("HOME", "/h");
        check(None, &[home], &[], "/h/.open-design/data");
        check(None, &[home, ("OD_HOME", "/o")], &[], "/o/data");
        check(None, &[home], &["/w/.od"], "/w/.od");
        check(None, &[home], &["/w/.od", "/w/site/.od"], "/w/site/.od");
        check(None, &[home, ("OD_DATA_DIR", "/d")], &["/w/.od"], "/d");
        check(Some("../x"), &[home, ("OD_DATA_DIR", "/d")], &["/w/.od"], "/w/site/src/../x");
        check(None, &[home, ("OD_DATA_DIR", "")], &[], "/h/.open-design/data");
        check(None, &[home, ("OD_CEILING", "/w/site")], &["/w/.od"], "/h/.open-design/data");
        check(None, &[home, ("OD_CEILING", "/w")], &["/.od", "/w/.od"], "/w/.od");
        check(None, &[home, ("OD_CEILING", "/elsewhere")], &["/w/.od"], "/w/.od");
    }

    #[test]
    fn the_file_names_the_store_of_directories_that_have_none() {
        let of_file = |dirs: &'static [&'static str]| {
            let is_dir = |path: &Path| dirs.iter().any(|dir| Path::new(dir) == path);
            let variable = |name: &str| (name == "HOME").then(|| "/h".into());
            let config = |_: &Path| Ok(Config::parse("data-dir = \"/srv/od\"").unwrap());
            let globals = Globals::default();
            let resolved =
                Settings::resolve(&globals, &variable, Path::new("/w"), &is_dir, &config).unwrap();
            (resolved.data_dir, resolved.data_dir_origin)
        };
        assert_eq!(of_file(&[]), (PathBuf::from("/srv/od"), Origin::File));
        assert_eq!(of_file(&["/w/.od"]), (PathBuf::from("/w/.od"), Origin::Nearest));
    }

    #[test]
    fn without_any_home_it_says_what_to_set() {
        let refused =
            Settings::resolve(&Globals::default(), &|_| None, Path::new("/w"), &|_| false, &|_| {
                Ok(Config::default())
            });
        assert_eq!(refused.unwrap_err().failure.suggestion, "set OD_HOME to a private directory");
    }
}
