//! Writes values into HTML.

use std::io::{self, Write};

/// Writes `text` so that HTML reads back exactly these characters, in text and quoted attributes.
pub(super) fn write_escaped<W: Write>(text: &str, out: &mut W) -> io::Result<()> {
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(at) = next_special(bytes, from) {
        out.write_all(&bytes[from..at])?;
        out.write_all(replacement(bytes[at]))?;
        from = at + 1;
    }
    out.write_all(&bytes[from..])
}

const fn is_special(byte: u8) -> bool {
    matches!(byte, b'&' | b'<' | b'>' | b'"' | b'\'' | b'\r' | 0)
}

/// Carriage returns would be read as line feeds, NUL would vanish.
const fn replacement(byte: u8) -> &'static [u8] {
    match byte {
        b'&' => b"&amp;",
        b'<' => b"&lt;",
        b'>' => b"&gt;",
        b'"' => b"&quot;",
        b'\'' => b"&#39;",
        b'\r' => b"&#13;",
        _ => "\u{FFFD}".as_bytes(),
    }
}

/// Finds the next byte to escape. Whole blocks are tested without branches, which compilers turn
/// into vector instructions.
fn next_special(bytes: &[u8], from: usize) -> Option<usize> {
    const BLOCK: usize = 16;
    let mut at = from;
    while let Some(block) = bytes.get(at..at + BLOCK) {
        if block.iter().fold(false, |found, byte| found | is_special(*byte)) {
            break;
        }
        at += BLOCK;
    }
    bytes[at..].iter().position(|byte| is_special(*byte)).map(|offset| at + offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut out = Vec::new();
        write_escaped(text, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn every_special_character_is_escaped_wherever_it_stands() {
        check("", "");
        check(
            "plain text longer than one block of bytes",
            "plain text longer than one block of bytes",
        );
        for at in 0..40 {
            let before = "x".repeat(at);
            check(&format!("{before}<é"), &format!("{before}&lt;é"));
        }
        check("&<>\"'\r\n\t", "&amp;&lt;&gt;&quot;&#39;&#13;\n\t");
        check("a\0b", "a\u{FFFD}b");
        check("&amp;", "&amp;amp;");
    }
}
