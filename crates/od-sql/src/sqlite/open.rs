//! Opens a database so that nothing appears beside it and nothing in it changes.
//!
//! A file without a write-ahead log is opened as immutable: SQLite then takes no locks and makes no
//! files. With a log, or a rollback journal, reading needs recovery, which writes; so the files are copied
//! to a private directory and recovered there.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use od_core::limits::{QUERY_HEAP, SQLITE_COPY, SQLITE_VALUE};
use od_ports::connector_provider::ProviderError;
use od_ports::project_files::LocatedFile;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use rustix::fs::{Mode, OFlags};
use tempfile::TempDir;

use crate::engine::Watch;
use crate::engine::functions::register_texts;

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Tries before a database counts as busy.
const ATTEMPTS: usize = 5;
/// Time between two tries.
const PAUSE: Duration = Duration::from_millis(50);
/// Instructions between two looks at the clock. A row takes ten or more, and each may call a function
/// that reads a text of the greatest length.
const PROGRESS_OPS: i32 = 50;

/// The files beside a database that say it has to be recovered first.
const SIDECARS: [&str; 2] = ["-wal", "-journal"];

/// Opens a database, reads from it, and makes sure that it did not change meanwhile.
pub(super) fn with_database<T>(
    located: &LocatedFile,
    watch: &Watch,
    read: impl Fn(&mut Connection) -> Result<T, ProviderError>,
) -> Result<T, ProviderError> {
    let files = Files::open(located)?;
    check_magic(&files)?;
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            std::thread::sleep(PAUSE);
        }
        let before = Stamp::of(&files)?;
        let result = if before.sidecars.is_empty() {
            let mut connection = open_immutable(&located.path, watch)?;
            read(&mut connection)
        } else {
            let copy = match Copy::make(&files, &before) {
                Ok(copy) => copy,
                // A log may go between two looks.
                Err(ProviderError::Unavailable { .. }) => continue,
                Err(fault) => return Err(fault),
            };
            if Stamp::of(&files)?.is_torn(&before) {
                continue;
            }
            let mut connection = copy.open(watch)?;
            return read(&mut connection);
        };
        // An immutable file that was written to gives rows of two states, or an error that is none.
        if Stamp::of(&files)? == before {
            return result;
        }
    }
    Err(ProviderError::Unavailable {
        message: "the database is being written to; try again".to_owned(),
    })
}

/// The folder of a database, held open, so that a folder that is exchanged for another meanwhile leads
/// nobody to a database of the other: an agent that swapped the two in a loop had one copied in three
/// seconds.
struct Files {
    folder: OwnedFd,
    name: OsString,
    node: (u64, u64),
}

impl Files {
    fn open(located: &LocatedFile) -> Result<Self, ProviderError> {
        let (Some(folder), Some(name)) = (located.path.parent(), located.path.file_name()) else {
            return Err(unreadable(&io::ErrorKind::NotFound.into()));
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = rustix::fs::open(folder, flags, Mode::empty())
            .map_err(|err| unreadable(&err.into()))?;
        let node = (located.device, located.inode);
        Ok(Self { folder, name: name.to_owned(), node })
    }

    /// Opens the database: that which was located, or nothing.
    fn database(&self) -> Result<(File, Metadata), ProviderError> {
        let (file, metadata) = self.beside("").map_err(|err| unreadable(&err))?;
        if (metadata.dev(), metadata.ino()) != self.node {
            return Err(ProviderError::Forbidden {
                message: "the file was exchanged while it was opened".to_owned(),
            });
        }
        Ok((file, metadata))
    }

    /// Opens a file beside the database; a link is no file.
    fn beside(&self, suffix: &str) -> io::Result<(File, Metadata)> {
        let mut name = self.name.clone();
        name.push(suffix);
        // Without waiting: a pipe of that name would never be opened.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(&self.folder, &name, flags, Mode::empty())?);
        let metadata = file.metadata()?;
        Ok((file, metadata))
    }
}

/// A database and its sidecars at one moment.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Stamp {
    device: u64,
    inode: u64,
    len: u64,
    changed: (i64, i64, i64, i64),
    sidecars: Vec<Sidecar>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct Sidecar {
    suffix: &'static str,
    len: u64,
    /// Salts and checksums: another header is another log.
    header: Vec<u8>,
}

impl Stamp {
    fn of(files: &Files) -> Result<Self, ProviderError> {
        let (_, metadata) = files.database()?;
        let mut sidecars = Vec::new();
        for suffix in SIDECARS {
            let (file, beside) = match files.beside(suffix) {
                Ok(found) => found,
                Err(err) if err.kind() == io::ErrorKind::NotFound => continue,
                Err(_) => return Err(no_regular_file(suffix)),
            };
            if beside.len() == 0 && beside.is_file() {
                continue;
            }
            if !beside.is_file() {
                return Err(no_regular_file(suffix));
            }
            let mut header = Vec::new();
            file.take(32).read_to_end(&mut header).map_err(|err| unreadable(&err))?;
            sidecars.push(Sidecar { suffix, len: beside.len(), header });
        }
        Ok(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            len: metadata.len(),
            changed: (
                metadata.mtime(),
                metadata.mtime_nsec(),
                metadata.ctime(),
                metadata.ctime_nsec(),
            ),
            sidecars,
        })
    }

    /// Returns whether a copy made since `before` may hold parts of two states. A log that has only
    /// grown is no harm: SQLite reads it up to the last frame whose checksum holds.
    fn is_torn(&self, before: &Self) -> bool {
        let logs = |stamp: &Self| {
            stamp.sidecars.iter().map(|s| (s.suffix, s.header.clone())).collect::<Vec<_>>()
        };
        (self.inode, self.len, self.changed) != (before.inode, before.len, before.changed)
            || logs(self) != logs(before)
    }
}

fn sidecar(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn no_regular_file(suffix: &str) -> ProviderError {
    ProviderError::Forbidden {
        message: format!("the database's `{suffix}` file is not a regular file"),
    }
}

fn check_magic(files: &Files) -> Result<(), ProviderError> {
    let mut magic = [0; MAGIC.len()];
    let (file, _) = files.database()?;
    match (&file).read_exact(&mut magic) {
        Ok(()) if magic == *MAGIC => Ok(()),
        Ok(()) | Err(_) => Err(ProviderError::Malformed {
            message: "the file is not a SQLite database".to_owned(),
        }),
    }
}

fn open_immutable(path: &Path, watch: &Watch) -> Result<Connection, ProviderError> {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri.push_str("?immutable=1&mode=ro");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri, flags).map_err(|err| refused(&err))?;
    harden(connection, watch)
}

/// A database with its sidecars in a directory of its own, gone when this is dropped.
struct Copy {
    directory: TempDir,
}

impl Copy {
    fn make(files: &Files, stamp: &Stamp) -> Result<Self, ProviderError> {
        let bytes = stamp.len + stamp.sidecars.iter().map(|sidecar| sidecar.len).sum::<u64>();
        if bytes > SQLITE_COPY.allowed {
            return Err(ProviderError::OutOfBounds {
                message: format!(
                    "the database has a write-ahead log or journal and must be copied to be read: \
                     {bytes} bytes, allowed are {}; a checkpoint or VACUUM by its owner ends that",
                    SQLITE_COPY.allowed
                ),
                limit: SQLITE_COPY.want(),
            });
        }
        let directory = tempfile::Builder::new()
            .prefix("od-sqlite-")
            .tempdir()
            .map_err(|err| unreadable(&err))?;
        let copy = Self { directory };
        // The log before the database: a checkpoint between the two is seen in the stamps.
        for sidecar_of in &stamp.sidecars {
            let (log, _) = files.beside(sidecar_of.suffix).map_err(|err| unreadable(&err))?;
            written(log, &sidecar(&copy.path(), sidecar_of.suffix))?;
        }
        written(files.database()?.0, &copy.path())?;
        Ok(copy)
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("copy.db")
    }

    fn open(&self, watch: &Watch) -> Result<Connection, ProviderError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            Connection::open_with_flags(self.path(), flags).map_err(|err| refused(&err))?;
        // Recovery writes to the copy, so it happens before the connection may only read.
        connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
            .map_err(|err| refused(&err))?;
        harden(connection, watch)
    }
}

/// Bounds a connection, and leaves it no way to run what a hostile schema holds.
fn harden(mut connection: Connection, watch: &Watch) -> Result<Connection, ProviderError> {
    let watch = watch.clone();
    let set = |connection: &mut Connection| -> rusqlite::Result<()> {
        connection.progress_handler(PROGRESS_OPS, Some(move || watch.is_over()))?;
        connection.execute_batch(&format!(
            "PRAGMA hard_heap_limit = {}; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0; \
             PRAGMA cell_size_check = ON; PRAGMA query_only = ON;",
            QUERY_HEAP.allowed
        ))?;
        for (config, value) in [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        ] {
            connection.set_db_config(config, value)?;
        }
        for (limit, value) in [
            (Limit::SQLITE_LIMIT_ATTACHED, 0),
            (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
            (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
            (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 50),
            (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 128),
            (Limit::SQLITE_LIMIT_LENGTH, i32::try_from(SQLITE_VALUE.allowed).unwrap_or(i32::MAX)),
        ] {
            connection.set_limit(limit, value)?;
        }
        // SQLite's own take time that grows with both their texts, and nothing interrupts them.
        register_texts(connection, SQLITE_VALUE.max())
    };
    set(&mut connection).map_err(|err| refused(&err))?;
    Ok(connection)
}

/// Copies an open file, as far as a copy may go: it may grow while it is read.
fn written(from: File, to: &Path) -> Result<(), ProviderError> {
    let mut to = File::create_new(to).map_err(|err| unreadable(&err))?;
    io::copy(&mut from.take(SQLITE_COPY.allowed), &mut to).map_err(|err| unreadable(&err))?;
    Ok(())
}

fn unreadable(error: &io::Error) -> ProviderError {
    ProviderError::Unavailable { message: format!("the database cannot be read: {}", error.kind()) }
}

fn refused(_: &rusqlite::Error) -> ProviderError {
    ProviderError::Malformed {
        message: "the file is not a SQLite database that can be read".to_owned(),
    }
}
