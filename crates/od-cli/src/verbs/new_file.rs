//! Files that a person names as targets: written beside and renamed, never through a link.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use od_core::error::ErrorCode;

use crate::output::{CommandError, Exit};

/// Refuses a target that is no file: a link leads where nobody looked, a directory holds other things.
pub(crate) fn check(path: &Path) -> Result<(), CommandError> {
    let (what, fix) = match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => {
            ("a symbolic link", "name the file that it leads to, or remove the link")
        }
        Ok(found) if found.is_dir() => ("a directory", "name a file in it"),
        Ok(found) if !found.is_file() => ("no regular file", "name another"),
        Ok(_) => return Ok(()),
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(err) => return Err(failed(path, &err)),
    };
    let message = format!("{} is {what}", path.display());
    Err(CommandError::new(ErrorCode::BadRequest, message).suggest(fix).ending(Exit::Usage))
}

/// Writes a file whole: whoever reads it meanwhile, or after a crash, sees the old one or the new one.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    check(path)?;
    let synced = || {
        let draft = draft(path, bytes)?;
        draft.as_file().sync_all()?;
        draft.persist(path).map_err(io::Error::from)
    };
    synced().map(drop).map_err(|err| failed(path, &err))
}

/// Writes a file of thousands that a command can make again, at a path that the caller has looked at. It
/// is replaced whole, too, and not waited for: a disk takes milliseconds for each file that is synced,
/// which made a site of a thousand pages a matter of seconds.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    draft(path, bytes)?.persist(path)?;
    Ok(())
}

fn draft(path: &Path, bytes: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        Some(_) | None => Path::new("."),
    };
    // A new file gets what the umask leaves of 0666, as any other program's; an old one keeps its mode.
    let before = fs::metadata(path).ok().map(|found| found.permissions());
    let mode = Permissions::from_mode(0o666);
    let mut draft =
        tempfile::Builder::new().prefix(".od-").permissions(mode).tempfile_in(folder)?;
    draft.write_all(bytes)?;
    if let Some(before) = before {
        draft.as_file().set_permissions(before)?;
    }
    Ok(draft)
}

fn failed(path: &Path, err: &io::Error) -> CommandError {
    CommandError::new(ErrorCode::BadRequest, format!("{}: {err}", path.display()))
        .suggest("name a file in a directory that exists and may be written to")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_and_a_directory_are_refused_and_what_the_link_leads_to_stays() {
        let scratch = tempfile::tempdir().unwrap();
        let kept = scratch.path().join("kept");
        fs::write(&kept, "mine").unwrap();
        let link = scratch.path().join("link");
        symlink(&kept, &link).unwrap();
        let said = |path: &Path| write(path, b"new").unwrap_err().failure.message;
        assert!(said(&link).ends_with("is a symbolic link"));
        assert!(said(scratch.path()).ends_with("is a directory"));
        assert_eq!(fs::read_to_string(&kept).unwrap(), "mine");
    }

    #[test]
    fn a_file_is_replaced_and_not_written_into() {
        let scratch = tempfile::tempdir().unwrap();
        let (path, other) = (scratch.path().join("page.html"), scratch.path().join("other"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        // Another name of the same contents: writing into them would change both.
        fs::hard_link(&path, &other).unwrap();
        write(&path, b"new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_to_string(&other).unwrap(), "old");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 2, "no draft is left");
    }
}
