//! The floor under every durable write: one file, synced, in a synced directory.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use crate::measure;
use crate::row::{Row, Target};
use crate::world::{Outcome, scratch, told};

const QUIET_ROUNDS: usize = 200;
const SETTLING: Duration = Duration::from_secs(1);

/// Writes the bytes to one file, syncs it, and syncs its directory.
pub(crate) fn one_file(folder: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(folder.join("floor"))?;
    file.write_all(bytes)?;
    file.sync_all()?;
    File::open(folder)?.sync_all()
}

/// Measures the floor for so many bytes while nothing else goes on: call it before a store is made.
pub(crate) fn quiet_floor(bytes: &[u8]) -> Outcome<Duration> {
    // What the area before this one left to the disk is done by then.
    std::thread::sleep(SETTLING);
    let folder = scratch()?;
    let mut failed = None;
    let mut readings: Vec<Duration> = (0..QUIET_ROUNDS)
        .map(|_| {
            measure::once(&mut || failed = one_file(folder.path(), bytes).err().or(failed.take()))
        })
        .collect();
    failed.map_or(Ok(()), |error| Err(told(error)))?;
    Ok(measure::median(&mut readings))
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
