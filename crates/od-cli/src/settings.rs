//! Directories of the program: flag, else environment, else default.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use od_core::error::ErrorCode;
use od_fs::{DataDir, PrivateDir, PrivateError};

use crate::args::Globals;
use crate::local;
use crate::output::CommandError;

/// The directories that the program works with.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Settings {
    /// `OD_HOME`, else `~/.open-design`.
    pub(crate) home: PathBuf,
    /// `--data-dir`, else `OD_DATA_DIR`, else the nearest `.od/` upward, else `data` in the home.
    pub(crate) data_dir: PathBuf,
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
        let settings = Self::unchecked(globals)?;
        settings.check()?;
        Ok(settings)
    }

    /// As [`Self::of_process`], as if the program had been started in another directory.
    pub(crate) fn of_directory(globals: &Globals, directory: &Path) -> Result<Self, CommandError> {
        let variable = |name: &str| std::env::var_os(name);
        let settings = Self::resolve(globals, &variable, directory, &Path::is_dir)?;
        settings.check()?;
        Ok(settings)
    }

    /// As [`Self::of_process`], without the check of who can write there: for `od doctor`, which
    /// explains what is wrong.
    pub(crate) fn unchecked(globals: &Globals) -> Result<Self, CommandError> {
        let directory = std::env::current_dir().map_err(|error| {
            CommandError::new(
                ErrorCode::Internal,
                format!("the current directory is gone: {error}"),
            )
            .suggest("change to a directory that exists")
        })?;
        Self::resolve(globals, &|name| std::env::var_os(name), &directory, &Path::is_dir)
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
        let data_dir = globals
            .data_dir
            .as_ref()
            .map(|given| directory.join(given))
            .or_else(|| path("OD_DATA_DIR"))
            .or_else(nearest)
            .unwrap_or_else(|| home.join("data"));
        Ok(Self { home, data_dir, directory: directory.to_owned(), user_home, ceiling })
    }
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
            Settings::resolve(&globals, &variable, Path::new("/w/site/src"), &is_dir).unwrap();
        assert_eq!(settings.data_dir, Path::new(data_dir));
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
    fn without_any_home_it_says_what_to_set() {
        let refused =
            Settings::resolve(&Globals::default(), &|_| None, Path::new("/w"), &|_| false);
        assert_eq!(refused.unwrap_err().failure.suggestion, "set OD_HOME to a private directory");
    }
}
