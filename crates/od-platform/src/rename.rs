//! Renames that replace nothing, and renames that swap two names: `renameat2` on Linux, `renameatx_np` on
//! macOS, for which rustix has one name.

use std::os::fd::AsFd;

use rustix::fs::{AtFlags, FileType, RenameFlags};
use rustix::io::Errno;

/// Renames a file or directory into another directory without replacing anything there.
///
/// # Errors
///
/// Fails with `EXIST` if the name is taken.
pub fn rename_new(
    from_folder: impl AsFd,
    from: &str,
    to_folder: impl AsFd,
    to: &str,
) -> Result<(), Errno> {
    let flags = RenameFlags::NOREPLACE;
    match rustix::fs::renameat_with(&from_folder, from, &to_folder, to, flags) {
        Err(err) if is_unsupported(err) => rename_new_in_steps(from_folder, from, to_folder, to),
        other => other,
    }
}

/// Renames without replacing where the filesystem has no such rename: NFS, 9p, FUSE, WSL's mounts.
fn rename_new_in_steps(
    from_folder: impl AsFd,
    from: &str,
    to_folder: impl AsFd,
    to: &str,
) -> Result<(), Errno> {
    let stat = rustix::fs::statat(&from_folder, from, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
        // A directory replaces an empty one at most, and those that od renames are never empty.
        return match rustix::fs::renameat(&from_folder, from, &to_folder, to) {
            Err(Errno::NOTEMPTY | Errno::NOTDIR) => Err(Errno::EXIST),
            other => other,
        };
    }
    // A second name first: that fails if there is anything of the name.
    rustix::fs::linkat(&from_folder, from, &to_folder, to, AtFlags::empty())?;
    rustix::fs::unlinkat(&from_folder, from, AtFlags::empty())
}

/// The outcome of a swap.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Exchange {
    /// Each name stands for what the other stood for.
    Done,
    /// One of the two is not there.
    Missing,
    /// The system or the filesystem cannot swap.
    Unsupported,
}

/// Swaps two files of a directory in one step.
///
/// Where this is not supported, whoever replaces a file cannot tell what it replaced: an edit that comes in
/// that very moment is lost (the fault suite found one when the swap was switched off).
///
/// # Errors
///
/// Fails with what the system says.
pub fn exchange(folder: impl AsFd, one: &str, other: &str) -> Result<Exchange, Errno> {
    match rustix::fs::renameat_with(&folder, one, &folder, other, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(Exchange::Done),
        Err(Errno::NOENT) => Ok(Exchange::Missing),
        Err(err) if is_unsupported(err) => Ok(Exchange::Unsupported),
        Err(err) => Err(err),
    }
}

/// macOS says `ENOTSUP` where Linux says `EINVAL`.
fn is_unsupported(err: Errno) -> bool {
    [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP].contains(&err)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    #[test]
    fn what_has_the_name_stays_however_it_is_renamed() {
        let place = tempfile::tempdir().expect("a directory");
        let folder = File::open(place.path()).expect("the folder");
        let steps: fn(&File, &str, &str) -> Result<(), Errno> =
            |folder, from, to| rename_new_in_steps(folder, from, folder, to);
        let whole: fn(&File, &str, &str) -> Result<(), Errno> =
            |folder, from, to| rename_new(folder, from, folder, to);
        for rename in [steps, whole] {
            fs::write(place.path().join("new"), "new").expect("a file");
            fs::write(place.path().join("old"), "old").expect("a file");
            assert_eq!(rename(&folder, "new", "old"), Err(Errno::EXIST));
            assert_eq!(fs::read(place.path().join("old")).expect("it"), b"old");
            fs::remove_file(place.path().join("old")).expect("removed");
            assert_eq!(rename(&folder, "new", "old"), Ok(()));
            assert_eq!(fs::read(place.path().join("old")).expect("it"), b"new");
            assert!(!place.path().join("new").exists());
            for name in ["d1", "d2"] {
                fs::create_dir_all(place.path().join(name).join("inner")).expect("folders");
            }
            assert_eq!(rename(&folder, "d1", "d2"), Err(Errno::EXIST));
            assert_eq!(rename(&folder, "d1", "d3"), Ok(()));
            fs::remove_dir_all(place.path().join("d2")).expect("removed");
            fs::remove_dir_all(place.path().join("d3")).expect("removed");
        }
    }
}
