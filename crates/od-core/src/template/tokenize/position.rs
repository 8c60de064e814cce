//! From byte offsets to lines and columns.

/// Looks up lines and columns; cheap as long as the offsets ascend.
#[derive(Debug)]
pub(crate) struct LineCursor<'s> {
    source: &'s str,
    offset: usize,
    line: u32,
    column: u32,
}

impl<'s> LineCursor<'s> {
    pub(crate) fn new(source: &'s str) -> Self {
        Self { source, offset: 0, line: 1, column: 1 }
    }

    /// Returns line and column, both from 1; columns count characters, CRLF is one line end.
    pub(crate) fn at(&mut self, offset: usize) -> (u32, u32) {
        if offset < self.offset {
            *self = Self::new(self.source);
        }
        let bytes = self.source.as_bytes();
        let offset = offset.min(bytes.len());
        let mut line_start = self.offset;
        for end in memchr::memchr2_iter(b'\n', b'\r', &bytes[self.offset..offset]) {
            let end = self.offset + end;
            if bytes[end] == b'\n' || bytes.get(end + 1) != Some(&b'\n') {
                self.line += 1;
                self.column = 1;
                line_start = end + 1;
            }
        }
        let characters = bytes[line_start..offset].iter().filter(|byte| **byte & 0xC0 != 0x80);
        self.column += characters.count() as u32;
        self.offset = offset;
        (self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, offset: usize, expected: (u32, u32)) {
        assert_eq!(LineCursor::new(source).at(offset), expected);
    }

    #[test]
    fn columns_count_characters_and_lines_end_like_html_says() {
        check("", 0, (1, 1));
        check("äb", 2, (1, 2));
        check("a\nb", 2, (2, 1));
        check("a\r\nb", 3, (2, 1));
        check("a\rb", 2, (2, 1));
        check("ab", 99, (1, 3));
    }

    #[test]
    fn going_back_gives_the_same_answer() {
        let mut lines = LineCursor::new("a\nbc\nd");
        assert_eq!(lines.at(5), (3, 1));
        assert_eq!(lines.at(3), (2, 2));
    }
}
