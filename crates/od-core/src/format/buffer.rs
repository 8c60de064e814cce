//! Text of a bounded length, on the stack.

/// The longest formatted value: 309 digits in groups, with separators of three bytes.
const BYTES_MAX: usize = 1024;

/// Collects the text of one formatted value without allocating.
#[derive(Clone)]
pub struct TextBuffer {
    bytes: [u8; BYTES_MAX],
    len: usize,
}

impl Default for TextBuffer {
    fn default() -> Self {
        Self { bytes: [0; BYTES_MAX], len: 0 }
    }
}

impl TextBuffer {
    /// Returns the text so far.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Only whole texts are pushed.
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    /// Returns the bytes of the text so far.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Adds digits, given as numbers.
    #[inline]
    pub(crate) fn push_digits(&mut self, digits: &[u8]) {
        for digit in digits {
            self.push_ascii(b'0' + digit);
        }
    }

    /// Adds zeros.
    pub(crate) fn push_zeros(&mut self, count: usize) {
        for _ in 0..count {
            self.push_ascii(b'0');
        }
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Returns whether a character more might not fit.
    pub(crate) const fn is_nearly_full(&self) -> bool {
        self.len + 4 > BYTES_MAX
    }

    /// Adds text; what does not fit is left out whole.
    pub(crate) fn push(&mut self, text: &str) {
        let end = self.len + text.len();
        if let Some(room) = self.bytes.get_mut(self.len..end) {
            room.copy_from_slice(text.as_bytes());
            self.len = end;
        }
    }

    /// Adds an ASCII digit or sign.
    #[inline]
    pub(crate) fn push_ascii(&mut self, byte: u8) {
        debug_assert!(byte.is_ascii());
        if let Some(free) = self.bytes.get_mut(self.len) {
            *free = byte;
            self.len += 1;
        }
    }

    /// Adds an integer with at least `width` digits.
    pub(crate) fn push_integer(&mut self, integer: u64, width: usize) {
        // Days, months and hours: nearly everything.
        if integer < 100 {
            let (tens, ones) = ((integer / 10) as u8, (integer % 10) as u8);
            self.push_zeros(width.saturating_sub(2));
            if tens > 0 || width > 1 {
                self.push_ascii(b'0' + tens);
            }
            return self.push_ascii(b'0' + ones);
        }
        let mut digits = itoa::Buffer::new();
        let digits = digits.format(integer);
        self.push_zeros(width.saturating_sub(digits.len()));
        self.push(digits);
    }
}

impl std::fmt::Debug for TextBuffer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("TextBuffer").field(&self.as_str()).finish()
    }
}
