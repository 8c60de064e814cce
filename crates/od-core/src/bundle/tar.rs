//! The archive: a plain ustar file of which every byte follows from names and contents.
//!
//! Our own because a bundle must have one spelling: a general reader takes what a bundle may not hold
//! (links, long names, sparse files, owners, times), and a bit that nobody reads is a bit that can be
//! changed unseen. A general program for tar still opens it.

use crate::limits::{BUNDLE_BYTES, BUNDLE_ENTRIES};

const BLOCK: usize = 512;
/// The name field of a header is as long, and ends with a zero byte here.
const NAME_MAX: usize = 99;
const SIZE_AT: usize = 124;
const SIZE_DIGITS: usize = 11;
const SUM_AT: usize = 148;

/// One file of an archive.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Entry<'b> {
    pub(super) name: &'b str,
    pub(super) bytes: &'b [u8],
}

/// The reasons why bytes are no archive of ours.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TarFault {
    /// The archive is larger than allowed.
    #[error("it is larger than {} bytes", BUNDLE_BYTES.allowed)]
    TooLarge,
    /// The archive holds more files than allowed.
    #[error("it has more than {} entries", BUNDLE_ENTRIES.allowed)]
    TooManyEntries,
    /// The archive ends before its end marks, or inside a file.
    #[error("it is cut short at byte {at}")]
    CutShort {
        /// The place.
        at: usize,
    },
    /// Something stands behind the end marks.
    #[error("something stands behind its end, at byte {at}")]
    Trailing {
        /// The place.
        at: usize,
    },
    /// A name that no bundle has: absolute, with `..`, too long, or in other letters.
    #[error("an entry at byte {at} has a name that no bundle has")]
    Name {
        /// The place.
        at: usize,
    },
    /// A header that od did not write: a link, a long name, an owner, a time, a wrong sum.
    #[error("the header at byte {at} is not one that od writes")]
    Header {
        /// The place.
        at: usize,
    },
    /// The bytes between the end of a file and the next block are not zero.
    #[error("the padding at byte {at} is not empty")]
    Padding {
        /// The place.
        at: usize,
    },
}

/// Returns whether a path may stand in a bundle: lower-case segments, none of which begins with a dot.
pub(super) fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-' | b'_');
    let is_segment =
        |part: &str| !part.is_empty() && !part.starts_with('.') && part.bytes().all(is_letter);
    name.len() <= NAME_MAX && name.split('/').all(is_segment)
}

/// Adds one file. The name is one that [`is_name`] accepts.
pub(super) fn append(archive: &mut Vec<u8>, name: &str, bytes: &[u8]) {
    archive.extend(header(name, bytes.len() as u64));
    archive.extend(bytes);
    archive.resize(archive.len().next_multiple_of(BLOCK), 0);
}

/// Adds the end marks.
pub(super) fn finish(archive: &mut Vec<u8>) {
    archive.extend([0; 2 * BLOCK]);
}

/// Reads an archive that [`append`] and [`finish`] could have written, and no other.
pub(super) fn read(archive: &[u8]) -> Result<Vec<Entry<'_>>, TarFault> {
    if archive.len() as u64 > BUNDLE_BYTES.allowed {
        return Err(TarFault::TooLarge);
    }
    let mut entries = Vec::new();
    let mut at = 0;
    loop {
        let head = archive.get(at..at + BLOCK).ok_or(TarFault::CutShort { at })?;
        if head.iter().all(|byte| *byte == 0) {
            return end(archive, at + BLOCK).map(|()| entries);
        }
        if !BUNDLE_ENTRIES.allows(entries.len() + 1) {
            return Err(TarFault::TooManyEntries);
        }
        let (name, size) = parse_header(head, at)?;
        let start = at + BLOCK;
        // A claimed size is only compared, never allocated.
        let left = archive.len() - start;
        let size = usize::try_from(size).ok().filter(|size| *size <= left);
        let size = size.ok_or(TarFault::CutShort { at: start })?;
        let end = start + size;
        let next = end.next_multiple_of(BLOCK);
        let padding = archive.get(end..next).ok_or(TarFault::CutShort { at: end })?;
        if padding.iter().any(|byte| *byte != 0) {
            return Err(TarFault::Padding { at: end });
        }
        entries.push(Entry { name, bytes: &archive[start..end] });
        at = next;
    }
}

fn end(archive: &[u8], at: usize) -> Result<(), TarFault> {
    let last = archive.get(at..at + BLOCK).ok_or(TarFault::CutShort { at })?;
    if last.iter().any(|byte| *byte != 0) || archive.len() != at + BLOCK {
        return Err(TarFault::Trailing { at });
    }
    Ok(())
}

fn parse_header(head: &[u8], at: usize) -> Result<(&str, u64), TarFault> {
    let name = head[..=NAME_MAX].split(|byte| *byte == 0).next().unwrap_or_default();
    let name = std::str::from_utf8(name).ok().filter(|name| is_name(name));
    let name = name.ok_or(TarFault::Name { at })?;
    let digits = std::str::from_utf8(&head[SIZE_AT..SIZE_AT + SIZE_DIGITS]).ok();
    let size = digits.and_then(|digits| u64::from_str_radix(digits, 8).ok());
    let size = size.ok_or(TarFault::Header { at })?;
    // Everything else in a header follows from these two.
    if header(name, size) == head { Ok((name, size)) } else { Err(TarFault::Header { at }) }
}

fn header(name: &str, size: u64) -> [u8; BLOCK] {
    let mut head = [0; BLOCK];
    let mut put =
        |at: usize, text: &str| head[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, name);
    put(100, "0000644\0");
    put(108, "0000000\0");
    put(116, "0000000\0");
    put(SIZE_AT, &format!("{size:011o}\0"));
    put(136, "00000000000\0");
    put(SUM_AT, "        ");
    put(156, "0");
    put(257, "ustar\x0000");
    put(329, "0000000\0");
    put(337, "0000000\0");
    let sum: u32 = head.iter().map(|byte| u32::from(*byte)).sum();
    head[SUM_AT..SUM_AT + 8].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive() -> Vec<u8> {
        let mut archive = Vec::new();
        append(&mut archive, "a.json", b"{}");
        append(&mut archive, "b/c.html", &[b'x'; 513]);
        append(&mut archive, "empty", b"");
        finish(&mut archive);
        archive
    }

    #[test]
    fn an_archive_is_read_back_as_it_was_written() {
        let archive = archive();
        let entries = read(&archive).unwrap();
        let names: Vec<_> = entries.iter().map(|entry| (entry.name, entry.bytes.len())).collect();
        assert_eq!(names, [("a.json", 2), ("b/c.html", 513), ("empty", 0)]);
    }

    #[test]
    fn no_flipped_bit_of_a_header_is_read_as_the_same_archive() {
        let good = archive();
        let entries = read(&good).unwrap();
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(read(&bad).as_ref(), Ok(&entries), "bit {bit}");
        }
    }

    #[test]
    fn every_cut_is_refused() {
        let good = archive();
        for length in 0..good.len() {
            assert!(read(&good[..length]).is_err(), "{length}");
        }
        let long = [&good[..], &[0; BLOCK]].concat();
        assert!(matches!(read(&long), Err(TarFault::Trailing { .. })));
    }

    #[test]
    fn names_that_leave_the_folder_are_refused() {
        for name in ["../a", "/a", "a/../b", "a//b", "a/.b", "", "A", "a b", "a\\b", "./a"] {
            assert!(!is_name(name), "{name}");
            let mut archive = Vec::new();
            append(&mut archive, name, b"x");
            finish(&mut archive);
            assert!(read(&archive).is_err(), "{name}");
        }
        assert!(!is_name(&"a".repeat(100)));
    }

    #[test]
    fn links_long_names_and_claimed_sizes_are_refused_without_memory() {
        for kind in [b'1', b'2', b'5', b'x', b'g', b'L', b'S', 0] {
            let mut head = header("a", 0);
            head[156] = kind;
            let archive = [&head[..], &[0; 2 * BLOCK]].concat();
            assert!(matches!(read(&archive), Err(TarFault::Header { .. })), "{kind}");
        }
        let huge = [&header("a", 0o77_777_777_777)[..], &[0; 2 * BLOCK]].concat();
        assert!(matches!(read(&huge), Err(TarFault::CutShort { .. })));
        let mut many = Vec::new();
        for _ in 0..=BUNDLE_ENTRIES.max() {
            many.extend(header("a", 0));
        }
        finish(&mut many);
        assert_eq!(read(&many), Err(TarFault::TooManyEntries));
    }
}
