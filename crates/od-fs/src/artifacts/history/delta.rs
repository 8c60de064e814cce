//! The difference between two texts as instructions that make one from the other.
//!
//! JSON is stored with one value a line and templates are written in lines, so lines are what is copied:
//! a row that changed costs its own lines and a few bytes. The instructions are compressed by whoever
//! stores them.

use std::collections::HashMap;

/// Copies so many bytes of the base, from an offset.
const COPY: u8 = 0;
/// Takes so many bytes that follow.
const INSERT: u8 = 1;

/// Returns instructions that make `target` from `base`.
pub(super) fn encode(base: &[u8], target: &[u8]) -> Vec<u8> {
    let base_lines = lines(base);
    let mut places: HashMap<&[u8], usize> = HashMap::with_capacity(base_lines.len());
    for (at, (_, line)) in base_lines.iter().enumerate() {
        places.entry(line).or_insert(at);
    }
    let mut writer = Writer { base_bytes: 0..0, inserted: Vec::new(), out: Vec::new() };
    // The line of the base that would come next if nothing had changed.
    let mut next = 0;
    for (_, line) in lines(target) {
        let follows = base_lines.get(next).is_some_and(|(_, expected)| *expected == line);
        match if follows { Some(next) } else { places.get(line).copied() } {
            Some(at) => {
                writer.copy(base_lines[at].0, line.len());
                next = at + 1;
            }
            None => {
                writer.insert(line);
                // A changed line stands for the one that was there: the next one is looked for behind it.
                next += 1;
            }
        }
    }
    writer.finish()
}

/// Carries instructions out; `None` if they are no instructions for this base, or make more than
/// `bytes_max` bytes.
pub(super) fn apply(base: &[u8], mut instructions: &[u8], bytes_max: usize) -> Option<Vec<u8>> {
    let mut target = Vec::with_capacity(bytes_max.min(2 * base.len() + instructions.len()));
    while let Some((kind, rest)) = instructions.split_first() {
        let (length, rest) = number(rest)?;
        let (piece, rest) = match *kind {
            COPY => {
                let (offset, rest) = number(rest)?;
                (base.get(offset..offset.checked_add(length)?)?, rest)
            }
            INSERT => rest.split_at_checked(length)?,
            _ => return None,
        };
        if target.len() + piece.len() > bytes_max {
            return None;
        }
        target.extend_from_slice(piece);
        instructions = rest;
    }
    Some(target)
}

fn lines(text: &[u8]) -> Vec<(usize, &[u8])> {
    let mut offset = 0;
    text.split_inclusive(|byte| *byte == b'\n')
        .map(|line| {
            let at = offset;
            offset += line.len();
            (at, line)
        })
        .collect()
}

/// Gathers copies and insertions into as few instructions as possible.
struct Writer {
    base_bytes: std::ops::Range<usize>,
    inserted: Vec<u8>,
    out: Vec<u8>,
}

impl Writer {
    fn copy(&mut self, offset: usize, bytes: usize) {
        if self.base_bytes.is_empty() || self.base_bytes.end != offset {
            self.flush();
            self.base_bytes = offset..offset;
        }
        self.base_bytes.end += bytes;
    }

    fn insert(&mut self, line: &[u8]) {
        if !self.base_bytes.is_empty() {
            self.flush();
        }
        self.inserted.extend_from_slice(line);
    }

    fn flush(&mut self) {
        if !self.base_bytes.is_empty() {
            self.out.push(COPY);
            write_number(&mut self.out, self.base_bytes.len());
            write_number(&mut self.out, self.base_bytes.start);
            self.base_bytes = 0..0;
        }
        if !self.inserted.is_empty() {
            self.out.push(INSERT);
            write_number(&mut self.out, self.inserted.len());
            self.out.append(&mut self.inserted);
        }
    }

    fn finish(mut self) -> Vec<u8> {
        self.flush();
        self.out
    }
}

/// Writes a number seven bits a byte, the lowest first.
fn write_number(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push((number & 0x7f) as u8);
}

fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut number: usize = 0;
    for (at, byte) in bytes.iter().enumerate().take(5) {
        number |= usize::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((number, &bytes[at + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(rows: impl IntoIterator<Item = u32>) -> Vec<u8> {
        let row = |n| format!("    {{\n      \"id\": {n},\n      \"name\": \"row {n}\"\n    }},\n");
        rows.into_iter().map(row).collect::<String>().into_bytes()
    }

    #[test]
    fn the_target_is_made_again_whatever_changed() {
        let base = text(0..200);
        let mut changed = base.clone();
        changed.splice(500..520, *b"another line altogether");
        for target in [
            base.clone(),
            Vec::new(),
            text(1..200),
            text(0..400),
            text((0..200).rev()),
            changed,
            b"no line end".to_vec(),
            text([7; 50]),
        ] {
            for (from, to) in [(&base, &target), (&target, &base)] {
                let instructions = encode(from, to);
                assert_eq!(apply(from, &instructions, to.len()).as_ref(), Some(to));
                if !to.is_empty() {
                    assert_eq!(apply(from, &instructions, to.len() - 1), None, "it is bounded");
                }
            }
        }
    }

    #[test]
    fn a_row_that_changed_costs_its_own_lines() {
        let base = text(0..1_000);
        let target: Vec<u8> = [text(0..500), text([5_000]), text(501..1_000)].concat();
        let instructions = encode(&base, &target);
        assert!(instructions.len() < 120, "{} bytes", instructions.len());
    }

    #[test]
    fn damaged_instructions_make_nothing_and_do_not_panic() {
        let base = text(0..20);
        let target: Vec<u8> = [text(0..10), text([99]), text(11..30)].concat();
        let instructions = encode(&base, &target);
        for at in 0..instructions.len() * 8 {
            let mut flipped = instructions.clone();
            flipped[at / 8] ^= 1 << (at % 8);
            let _ = apply(&base, &flipped, 1 << 20);
        }
        for length in 0..instructions.len() {
            let _ = apply(&base, &instructions[..length], 1 << 20);
        }
    }
}
