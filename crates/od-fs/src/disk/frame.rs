//! One file with several parts and a checksum over all of them.
//!
//! `ODFRAME1`, the header's length (u32, little endian), the header (JSON: names and lengths of the
//! parts), the parts, and the SHA-256 of everything before it. A frame is whole or it is nothing.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

use super::error::DiskError;

const MAGIC: &[u8; 8] = b"ODFRAME1";
const CHECKSUM_BYTES: usize = 32;
const PREFIX_BYTES: usize = MAGIC.len() + 4;

/// One part of a frame.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Section {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// The parts of a frame, in order.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Frame {
    sections: Vec<Section>,
}

/// The bytes are not a whole frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a whole frame")]
pub(crate) struct FrameError;

#[derive(Deserialize, Serialize)]
struct HeaderEntry {
    name: String,
    bytes: usize,
}

impl Frame {
    pub(crate) fn push(&mut self, name: &str, bytes: &[u8]) {
        self.sections.push(Section { name: name.to_owned(), bytes: bytes.to_vec() });
    }

    /// Returns the bytes of a part.
    pub(crate) fn section(&self, name: &str) -> Option<&[u8]> {
        self.sections
            .iter()
            .find(|section| section.name == name)
            .map(|section| section.bytes.as_slice())
    }

    /// Returns the frame as it is written.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let entries: Vec<HeaderEntry> = self
            .sections
            .iter()
            .map(|section| HeaderEntry { name: section.name.clone(), bytes: section.bytes.len() })
            .collect();
        let header = serde_json::to_vec(&entries).unwrap_or_default();
        let total: usize = self.sections.iter().map(|section| section.bytes.len()).sum();
        let mut out = Vec::with_capacity(PREFIX_BYTES + header.len() + total + CHECKSUM_BYTES);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&u32::try_from(header.len()).unwrap_or(u32::MAX).to_le_bytes());
        out.extend_from_slice(&header);
        for section in &self.sections {
            out.extend_from_slice(&section.bytes);
        }
        let checksum = digest(&SHA256, &out);
        out.extend_from_slice(checksum.as_ref());
        out
    }

    /// Reads the first part of a frame and nothing behind it; `None` if there is none. Nothing of it is
    /// checked.
    pub(crate) fn read_first(file: &File, bytes_max: u64) -> Result<Option<Vec<u8>>, DiskError> {
        let read = |bytes: usize, from: usize| {
            if bytes as u64 > bytes_max {
                return Ok(None);
            }
            let mut part = vec![0; bytes];
            match file.read_exact_at(&mut part, from as u64) {
                Ok(()) => Ok(Some(part)),
                Err(err) if err.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
                Err(err) => Err(DiskError::new("read a file", err)),
            }
        };
        let Some(prefix) = read(PREFIX_BYTES, 0)? else { return Ok(None) };
        let Some(length) = prefix.strip_prefix(MAGIC.as_slice()) else { return Ok(None) };
        let length = length.first_chunk::<4>().map_or(0, |length| u32::from_le_bytes(*length));
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let Some(header) = read(length, PREFIX_BYTES)? else { return Ok(None) };
        let entries: Vec<HeaderEntry> = serde_json::from_slice(&header).unwrap_or_default();
        match entries.first() {
            Some(entry) => read(entry.bytes, PREFIX_BYTES + length),
            None => Ok(None),
        }
    }

    /// Reads a frame back; anything but the exact bytes that were written is refused.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, FrameError> {
        let body_bytes = bytes.len().checked_sub(CHECKSUM_BYTES).ok_or(FrameError)?;
        let (body, checksum) = bytes.split_at(body_bytes);
        if digest(&SHA256, body).as_ref() != checksum {
            return Err(FrameError);
        }
        let rest = body.strip_prefix(MAGIC.as_slice()).ok_or(FrameError)?;
        let (length, rest) = rest.split_first_chunk::<4>().ok_or(FrameError)?;
        let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| FrameError)?;
        let (header, mut rest) = rest.split_at_checked(length).ok_or(FrameError)?;
        let entries: Vec<HeaderEntry> = serde_json::from_slice(header).map_err(|_| FrameError)?;
        let mut frame = Self::default();
        for entry in entries {
            let (part, after) = rest.split_at_checked(entry.bytes).ok_or(FrameError)?;
            frame.push(&entry.name, part);
            rest = after;
        }
        if rest.is_empty() { Ok(frame) } else { Err(FrameError) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Frame {
        let mut frame = Frame::default();
        frame.push("data.json", b"{}\n");
        frame.push("empty", b"");
        frame.push("template.html", b"<p>{{data.x}}</p>");
        frame
    }

    #[test]
    fn a_frame_survives_its_own_bytes() {
        assert_eq!(Frame::decode(&sample().encode()), Ok(sample()));
    }

    #[test]
    fn the_first_part_is_read_by_itself_or_not_at_all() {
        use std::io::Write as _;
        let first = |bytes: &[u8]| {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(bytes).unwrap();
            Frame::read_first(&file, 4096).unwrap()
        };
        let bytes = sample().encode();
        assert_eq!(first(&bytes), Some(b"{}\n".to_vec()));
        assert_eq!(first(&Frame::default().encode()), None);
        for at in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[at / 8] ^= 1 << (at % 8);
            let _ = first(&flipped);
        }
        for length in 0..PREFIX_BYTES + 20 {
            assert_eq!(first(&bytes[..length]), None, "cut at {length}");
        }
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let bytes = sample().encode();
        for at in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[at / 8] ^= 1 << (at % 8);
            assert_eq!(Frame::decode(&flipped), Err(FrameError), "bit {at}");
        }
        for length in 0..bytes.len() {
            assert_eq!(Frame::decode(&bytes[..length]), Err(FrameError), "cut at {length}");
        }
    }
}
