//! `aside/`: bytes that are in the way but are not ours to throw away.

use od_core::ledger::excess_aside_files;
use od_ports::store::KeptAside;

use crate::disk::{Dir, DiskError, EntryKind, is_no_directory};

pub(crate) const ASIDE: &str = "aside";

/// Moves a file of an artifact aside.
pub(crate) fn keep_file(artifact: &Dir, name: &str) -> Result<(), DiskError> {
    keep_file_as(artifact, name, name)
}

/// Moves a file of an artifact aside under the name that people know it by.
pub(crate) fn keep_file_as(artifact: &Dir, name: &str, known: &str) -> Result<(), DiskError> {
    let aside = artifact.child_or_make(ASIDE)?;
    let free = free_name(&aside, known)?;
    // Not synced: a rename that is lost with the power leaves the file where it was.
    artifact.rename(name, &aside, &free)?;
    trim(&aside)
}

/// Moves whatever has a name in some directory aside, under the name that people know it by.
pub(crate) fn keep_entry(
    artifact: &Dir,
    from: &Dir,
    name: &str,
    known: &str,
) -> Result<(), DiskError> {
    let aside = artifact.child_or_make(ASIDE)?;
    let free = free_name(&aside, known)?;
    from.rename(name, &aside, &free)
}

/// Writes bytes aside, durably.
pub(crate) fn keep_bytes(artifact: &Dir, name: &str, bytes: &[u8]) -> Result<(), DiskError> {
    let aside = artifact.child_or_make(ASIDE)?;
    let free = free_name(&aside, name)?;
    // Synced at once: whoever calls this is about to cut or replace the only other copy.
    aside.write_synced(&free, bytes)?;
    aside.sync()?;
    trim(&aside)
}

/// Lists what was kept aside, oldest first.
pub(crate) fn list(artifact: &Dir) -> Result<Vec<KeptAside>, DiskError> {
    let aside = match artifact.child(ASIDE) {
        Ok(aside) => aside,
        Err(err) if err.is_missing() || is_no_directory(&err) => return Ok(Vec::new()),
        Err(err) => return Err(err),
    };
    let mut kept = Vec::new();
    for (number, name) in numbered(&aside)? {
        let bytes = aside.stat(&name)?.map_or(0, |stat| stat.bytes);
        kept.push((number, KeptAside { path: format!("{ASIDE}/{name}"), bytes }));
    }
    kept.sort_by_key(|(number, _)| *number);
    Ok(kept.into_iter().map(|(_, kept)| kept).collect())
}

/// Names are `<number>-<name>`: the number orders them without a clock.
fn free_name(aside: &Dir, name: &str) -> Result<String, DiskError> {
    // Directories too: a repair keeps whatever stood in the way, and a name that one of them has is not
    // free.
    let taken = aside.entries()?.into_iter().filter_map(|(name, _)| number_of(&name));
    Ok(format!("{:06}-{name}", taken.max().unwrap_or(0) + 1))
}

fn trim(aside: &Dir) -> Result<(), DiskError> {
    let mut files = numbered(aside)?;
    files.sort_by_key(|(number, _)| *number);
    excess_aside_files(&files).iter().try_for_each(|(_, name)| aside.remove(name))
}

fn numbered(aside: &Dir) -> Result<Vec<(u64, String)>, DiskError> {
    let parse = |(name, kind): (String, EntryKind)| {
        let number = number_of(&name)?;
        (kind == EntryKind::Regular).then_some((number, name))
    };
    Ok(aside.entries()?.into_iter().filter_map(parse).collect())
}

fn number_of(name: &str) -> Option<u64> {
    name.split_once('-')?.0.parse().ok()
}
