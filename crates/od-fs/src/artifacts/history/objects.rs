//! `objects/`: the contents of revisions, each once, by the digest of its bytes.
//!
//! A file is a chain: a content in full, compressed, and behind it later contents as compressed
//! instructions that make them from an earlier one of the chain. It is named by its first content. The
//! n-th content of a chain is made from the one whose number is n without its lowest bit, so any of the
//! 128 is made in at most seven steps, and a hundred revisions that differ by a row each take little more
//! than one of them.
//!
//! Chains are only appended to, and only by whoever holds the commit lock; a chain that no kept revision
//! names is removed as a whole. A damaged piece damages the contents that are made from it and no others:
//! each piece has a header that says how long it is, a damaged header is searched past, and a content
//! counts only if its digest is the one asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::FileExt as _;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use od_core::ids::Digest;

use super::delta;
use crate::disk::{Dir, DiskError, EntryKind, is_foreign, sync_file};

pub(crate) const OBJECTS: &str = "objects";
const MAGIC: &[u8; 8] = b"ODOBJ\0\0\x01";
const HEX: usize = 64;
/// Magic, digest, base, number in the chain, bytes of the content, bytes that are stored.
const CHECKED_BYTES: usize = MAGIC.len() + 2 * HEX + 2 + 4 + 4;
const CHECK_BYTES: usize = 8;
const HEADER_BYTES: usize = CHECKED_BYTES + CHECK_BYTES;
/// Contents of one chain.
const CHAIN_MAX: u16 = 128;
/// Steps to a content: one for each bit of its number. More is a damaged header that leads in a circle.
const STEPS_MAX: usize = 16;
/// A content that takes fewer bytes stays in the chain of the one before it even if it is stored in full.
const SMALL_BYTES: usize = 4096;
/// No content is larger than a template or data at their limits, indented by hand.
const CONTENT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The longest part of a chain that is searched for the header behind a damaged one.
const SEARCHED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A piece of a chain, as its header says.
#[derive(Clone, Debug)]
struct Piece {
    /// The chain.
    chain: String,
    /// Where its stored bytes begin.
    offset: u64,
    /// The content it is made from; none if it is stored in full.
    base: Option<Digest>,
    number: u16,
    content_bytes: usize,
    stored_bytes: usize,
}

/// The place of the next content of a chain.
struct NextInChain {
    chain: String,
    /// The content that it is made from.
    base: Digest,
    number: u16,
}

/// The contents of one artifact that there are headers of.
#[derive(Debug)]
pub(crate) struct Objects {
    dir: Option<Dir>,
    pieces: BTreeMap<Digest, Piece>,
    chains: BTreeMap<String, BTreeSet<Digest>>,
}

impl Objects {
    /// Reads the headers of every chain, not the contents.
    pub(crate) fn open(artifact: &Dir) -> Result<Self, DiskError> {
        let mut objects = Self { dir: None, pieces: BTreeMap::new(), chains: BTreeMap::new() };
        let dir = match artifact.child(OBJECTS) {
            Ok(dir) => dir,
            Err(err) if err.is_missing() || is_foreign(&err) => return Ok(objects),
            Err(err) => return Err(err),
        };
        for (name, kind) in dir.entries()? {
            if kind == EntryKind::Regular && is_chain_name(&name) {
                match dir.open_regular(&name) {
                    Ok((file, stat)) => objects.read_headers(&name, &file, stat.bytes)?,
                    // Removed meanwhile, or nothing of ours.
                    Err(err) if err.is_missing() || is_foreign(&err) => {}
                    Err(err) => return Err(err),
                }
            }
        }
        objects.dir = Some(dir);
        Ok(objects)
    }

    fn read_headers(&mut self, chain: &str, file: &File, bytes: u64) -> Result<(), DiskError> {
        let mut at = 0;
        while at + HEADER_BYTES as u64 <= bytes {
            let mut header = [0; HEADER_BYTES];
            file.read_exact_at(&mut header, at)
                .map_err(|err| DiskError::new("read a file", err))?;
            let Some((digest, mut piece)) = parse_header(&header) else {
                match search_header(file, at + 1, bytes)? {
                    Some(found) => at = found,
                    None => return Ok(()),
                }
                continue;
            };
            let offset = at + HEADER_BYTES as u64;
            let end = offset + piece.stored_bytes as u64;
            if end > bytes {
                // The end of a write that was cut short; a later one may stand behind it.
                at += 1;
                continue;
            }
            piece.offset = offset;
            chain.clone_into(&mut piece.chain);
            self.add(digest, piece);
            at = end;
        }
        Ok(())
    }

    fn add(&mut self, digest: Digest, piece: Piece) {
        self.chains.entry(piece.chain.clone()).or_default().insert(digest.clone());
        // The later of two: the first may be what a loss of power left of it.
        self.pieces.insert(digest, piece);
    }

    /// Returns the length of a content that there is a header of.
    pub(crate) fn content_bytes(&self, digest: &Digest) -> Option<usize> {
        self.pieces.get(digest).map(|piece| piece.content_bytes)
    }

    /// Reads one content; `None` if it is not there or is damaged.
    pub(crate) fn read(&self, digest: &Digest) -> Result<Option<Vec<u8>>, DiskError> {
        let Some(dir) = &self.dir else { return Ok(None) };
        // From the content asked for to the one that is stored in full.
        let mut steps = Vec::new();
        let mut wanted = Some(digest);
        while let Some(step) = wanted {
            let Some(piece) = self.pieces.get(step) else { return Ok(None) };
            if steps.len() > STEPS_MAX {
                return Ok(None);
            }
            steps.push(piece);
            wanted = piece.base.as_ref();
        }
        let mut content = Vec::new();
        for piece in steps.into_iter().rev() {
            let Some(stored) = read_stored(dir, piece)? else { return Ok(None) };
            content = match piece.base {
                None => stored,
                Some(_) => match delta::apply(&content, &stored, piece.content_bytes) {
                    Some(made) => made,
                    None => return Ok(None),
                },
            };
        }
        Ok((Digest::of_bytes(&content) == *digest).then_some(content))
    }

    /// Adds a content if it is not there, made from `like` where that saves room. Nothing is synced;
    /// returns the chain that it is in.
    pub(crate) fn write(
        &mut self,
        artifact: &Dir,
        digest: &Digest,
        content: &[u8],
        like: Option<&Digest>,
    ) -> Result<String, DiskError> {
        // Read, not only looked for: after a loss of power a header may stand before bytes that never
        // got to the disk.
        if let Some(piece) = self.pieces.get(digest)
            && self.read(digest)?.as_deref() == Some(content)
        {
            return Ok(piece.chain.clone());
        }
        if self.dir.is_none() {
            self.dir = Some(artifact.child_or_make(OBJECTS)?);
        }
        let full = compress(content);
        if let Some(next) = like.and_then(|like| self.next_in_chain(like)) {
            if let Some(base_content) = self.read(&next.base)? {
                let stored = compress(&delta::encode(&base_content, content));
                // Instructions that are not much shorter than the content only lengthen the way to it.
                if stored.len() < full.len() / 2 {
                    let NextInChain { chain, base, number } = next;
                    return self.append(&chain, digest, Some(base), number, content, &stored);
                }
            }
            // A file for each would take a block of the disk.
            if full.len() < SMALL_BYTES {
                return self.append(&next.chain, digest, None, next.number, content, &full);
            }
        }
        self.append(digest.hex_digits(), digest, None, 0, content, &full)
    }

    /// Returns the place behind the last content of a chain; `None` if it is full or has a gap.
    fn next_in_chain(&self, like: &Digest) -> Option<NextInChain> {
        let chain = &self.pieces.get(like)?.chain;
        let contents = self.chains.get(chain)?;
        let number_of = |digest: &Digest| self.pieces.get(digest).map(|piece| piece.number);
        let number = contents.iter().filter_map(number_of).max()? + 1;
        if number >= CHAIN_MAX {
            return None;
        }
        let wanted = Some(number & (number - 1));
        let base = contents.iter().find(|digest| number_of(digest) == wanted)?.clone();
        Some(NextInChain { chain: chain.clone(), base, number })
    }

    fn append(
        &mut self,
        chain: &str,
        digest: &Digest,
        base: Option<Digest>,
        number: u16,
        content: &[u8],
        stored: &[u8],
    ) -> Result<String, DiskError> {
        let Some(dir) = &self.dir else { return Ok(chain.to_owned()) };
        let mut bytes = header(digest, base.as_ref(), number, content.len(), stored.len());
        bytes.extend_from_slice(stored);
        let mut file = dir.append(chain)?;
        let failed = |err| DiskError::new("write a file", err);
        let offset = file.metadata().map_err(failed)?.len() + HEADER_BYTES as u64;
        file.write_all(&bytes).map_err(failed)?;
        let (content_bytes, stored_bytes) = (content.len(), stored.len());
        let piece =
            Piece { chain: chain.to_owned(), offset, base, number, content_bytes, stored_bytes };
        self.add(digest.clone(), piece);
        Ok(chain.to_owned())
    }

    /// Waits until chains are on the disk, their names too.
    pub(crate) fn sync(&self, chains: &BTreeSet<String>) -> Result<(), DiskError> {
        let Some(dir) = &self.dir else { return Ok(()) };
        for chain in chains {
            sync_file(&dir.append(chain)?)?;
        }
        dir.sync()
    }

    /// Removes the chains of which no content is named.
    pub(crate) fn sweep(&self, named: &BTreeSet<&Digest>) -> Result<(), DiskError> {
        let Some(dir) = &self.dir else { return Ok(()) };
        let unnamed = |contents: &BTreeSet<Digest>| contents.iter().all(|one| !named.contains(one));
        self.chains
            .iter()
            .filter(|(_, contents)| unnamed(contents))
            .try_for_each(|(chain, _)| dir.remove(chain))
    }
}

fn is_chain_name(name: &str) -> bool {
    name.len() == HEX && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn header(
    digest: &Digest,
    base: Option<&Digest>,
    number: u16,
    content_bytes: usize,
    stored_bytes: usize,
) -> Vec<u8> {
    let length = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX).to_le_bytes();
    let mut header = Vec::with_capacity(HEADER_BYTES + stored_bytes);
    header.extend_from_slice(MAGIC);
    header.extend_from_slice(digest.hex_digits().as_bytes());
    header.extend_from_slice(base.map_or(&[b'0'; HEX], |base| {
        base.hex_digits().as_bytes().first_chunk().unwrap_or(&[b'0'; HEX])
    }));
    header.extend_from_slice(&number.to_le_bytes());
    header.extend_from_slice(&length(content_bytes));
    header.extend_from_slice(&length(stored_bytes));
    let check = checksum(&header);
    header.extend_from_slice(&check);
    header
}

fn parse_header(header: &[u8; HEADER_BYTES]) -> Option<(Digest, Piece)> {
    let (checked, check) = header.split_at(CHECKED_BYTES);
    if checksum(checked) != *check {
        return None;
    }
    let rest = checked.strip_prefix(MAGIC)?;
    let (digest, rest) = rest.split_at_checked(HEX)?;
    let (base, rest) = rest.split_at_checked(HEX)?;
    let (number, rest) = rest.split_first_chunk::<2>()?;
    let (content_bytes, rest) = rest.split_first_chunk::<4>()?;
    let (stored_bytes, _) = rest.split_first_chunk::<4>()?;
    let named = |hex: &[u8]| format!("sha256:{}", str::from_utf8(hex).ok()?).parse::<Digest>().ok();
    let length = |bytes: &[u8; 4]| usize::try_from(u32::from_le_bytes(*bytes)).ok();
    let base = if base == [b'0'; HEX] { None } else { Some(named(base)?) };
    let piece = Piece {
        chain: String::new(),
        offset: 0,
        base,
        number: u16::from_le_bytes(*number),
        content_bytes: length(content_bytes)?,
        stored_bytes: length(stored_bytes)?,
    };
    Some((named(digest)?, piece))
}

fn checksum(bytes: &[u8]) -> [u8; CHECK_BYTES] {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    let mut check = [0; CHECK_BYTES];
    check.copy_from_slice(&digest.as_ref()[..CHECK_BYTES]);
    check
}

/// Finds the next place where a header may begin.
fn search_header(file: &File, from: u64, bytes: u64) -> Result<Option<u64>, DiskError> {
    let length = bytes.saturating_sub(from).min(SEARCHED_BYTES_MAX);
    let mut rest = vec![0; usize::try_from(length).unwrap_or(0)];
    file.read_exact_at(&mut rest, from).map_err(|err| DiskError::new("read a file", err))?;
    let found = rest.windows(MAGIC.len()).position(|window| window == MAGIC);
    Ok(found.map(|at| from + at as u64))
}

/// Reads what is stored of a piece, and unpacks it; `None` if it is damaged.
fn read_stored(dir: &Dir, piece: &Piece) -> Result<Option<Vec<u8>>, DiskError> {
    let file = match dir.open_regular(&piece.chain) {
        Ok((file, _)) => file,
        Err(err) if err.is_missing() || is_foreign(&err) => return Ok(None),
        Err(err) => return Err(err),
    };
    let mut stored = vec![0; piece.stored_bytes];
    if file.read_exact_at(&mut stored, piece.offset).is_err() {
        return Ok(None);
    }
    // Instructions may be longer than what they make, by little: a few bytes for each line.
    let most = 2 * CONTENT_BYTES_MAX;
    let mut plain = Vec::with_capacity(piece.content_bytes.min(CONTENT_BYTES_MAX));
    let read = ZlibDecoder::new(stored.as_slice()).take(most as u64).read_to_end(&mut plain);
    Ok(read.is_ok().then_some(plain))
}

fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}
