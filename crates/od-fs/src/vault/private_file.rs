//! Files that only their owner may read, and that are replaced in one step.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::Path;

use od_ports::access::credential_vault::VaultError;
use rustix::fs::OFlags;
use zeroize::Zeroizing;

/// Does work with files away from the threads that serve requests.
pub(super) async fn blocking<T, E>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<VaultError> + Send + 'static,
{
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
        Err(E::from(VaultError::Unavailable { reason: "the work was stopped".to_owned() }))
    })
}

/// Reads a private file, or returns `None` if there is none.
///
/// Refuses links, other owners, and files that anyone else could read: a secret that was readable
/// for a while is no secret.
pub(super) fn read(path: &Path, bytes_max: u64) -> Result<Option<Zeroizing<Vec<u8>>>, VaultError> {
    // Without NONBLOCK a pipe of that name would hold the caller until somebody writes to it.
    let flags = (OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK).bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(err) if rustix::io::Errno::from_io_error(&err) == Some(rustix::io::Errno::LOOP) => {
            return Err(not_private(path, "it is a symbolic link"));
        }
        Err(err) => return Err(unavailable("open", path, &err)),
    };
    // The open file, not its name: a name can be given to another file between the check and the read.
    check(path, &file)?;
    let mut bytes = Zeroizing::new(Vec::new());
    (&file)
        // One byte more than allowed tells a file that fits from one that was cut.
        .take(bytes_max + 1)
        .read_to_end(&mut bytes)
        .map_err(|err| unavailable("read", path, &err))?;
    if bytes.len() as u64 > bytes_max {
        return Err(VaultError::Damaged { reason: format!("{} is too large", name(path)) });
    }
    Ok(Some(bytes))
}

fn check(path: &Path, file: &File) -> Result<(), VaultError> {
    let metadata = file.metadata().map_err(|err| unavailable("inspect", path, &err))?;
    if !metadata.is_file() {
        return Err(not_private(path, "it is not a regular file"));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(not_private(path, "it belongs to another user"));
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(not_private(path, "others may read or write it; chmod it to 600"));
    }
    Ok(())
}

/// Replaces a private file: written beside it, synced, renamed, directory synced.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), VaultError> {
    let staged = stage(path, bytes)?;
    staged.persist(path).map_err(|err| unavailable("replace", path, &err.error))?;
    sync_directory(path)
}

/// Makes a private file unless there is one; returns whether this call made it.
pub(super) fn create_once(path: &Path, bytes: &[u8]) -> Result<bool, VaultError> {
    let staged = stage(path, bytes)?;
    // Of two processes that make the key at once one wins, and both go on with the key that is there.
    match staged.persist_noclobber(path) {
        Ok(_) => sync_directory(path).map(|()| true),
        Err(err) if err.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(err) => Err(unavailable("create", path, &err.error)),
    }
}

/// Waits for other processes that are changing files of the same directory.
pub(super) fn lock(path: &Path) -> Result<File, VaultError> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(path)
        .and_then(|file| file.lock().map(|()| file))
        .map_err(|err| unavailable("lock", path, &err))
}

/// Makes the directory, for its owner only.
pub(super) fn make_directory(directory: &Path) -> Result<(), VaultError> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .map_err(|err| unavailable("create", directory, &err))
}

fn stage(path: &Path, bytes: &[u8]) -> Result<tempfile::NamedTempFile, VaultError> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let write = || -> io::Result<tempfile::NamedTempFile> {
        let mut staged = tempfile::Builder::new()
            .prefix(".vault-")
            // From the first byte on: set later, the mode would leave an instant in which others can read.
            .permissions(Permissions::from_mode(0o600))
            .tempfile_in(directory)?;
        staged.write_all(bytes)?;
        staged.as_file().sync_all()?;
        Ok(staged)
    };
    write().map_err(|err| unavailable("write", path, &err))
}

fn sync_directory(path: &Path) -> Result<(), VaultError> {
    let directory = path.parent().unwrap_or(Path::new("."));
    File::open(directory)
        .and_then(|handle| handle.sync_all())
        .map_err(|err| unavailable("sync", directory, &err))
}

fn not_private(path: &Path, why: &str) -> VaultError {
    VaultError::NotPrivate { reason: format!("{}: {why}", name(path)) }
}

/// Describes a failed call without the directory, which is no business of a client.
fn unavailable(action: &str, path: &Path, error: &io::Error) -> VaultError {
    VaultError::Unavailable { reason: format!("cannot {action} {}: {}", name(path), error.kind()) }
}

fn name(path: &Path) -> String {
    path.file_name().map_or_else(|| ".".to_owned(), |name| name.to_string_lossy().into_owned())
}
