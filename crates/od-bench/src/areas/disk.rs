//! The floor under every durable write: one file, synced, in a synced directory.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use crate::measure;
use crate::row::{Row, Target};
use crate::world::{Outcome, scratch};

/// Writes the bytes to one file, syncs it, and syncs its directory.
pub(crate) fn one_file(folder: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(folder.join("floor"))?;
    file.write_all(bytes)?;
    file.sync_all()?;
    File::open(folder)?.sync_all()
}

/// Measures the floor against the same write without any sync.
pub(crate) fn measure() -> Outcome<Vec<Row>> {
    let folder = scratch()?;
    let bytes = vec![b'x'; 8 * 1024];
    let pair = measure::in_turns(
        200,
        || drop(one_file(folder.path(), &bytes)),
        || drop(fs::write(folder.path().join("bare"), &bytes)),
    );
    Ok(vec![Row::against_peer(
        "write 8 KiB, fsync file and directory (the floor)".to_owned(),
        &pair,
        "no sync",
        Target::None,
    )])
}
