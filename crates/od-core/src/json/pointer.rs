//! JSON pointers (RFC 6901), written step by step.

/// A JSON pointer under construction.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Pointer(String);

impl Pointer {
    /// Returns the pointer to the root.
    #[must_use]
    pub const fn root() -> Self {
        Self(String::new())
    }

    /// Returns the pointer to a member of the object this one points to.
    #[must_use]
    pub fn key(mut self, key: &str) -> Self {
        push_pointer_key(&mut self.0, key);
        self
    }

    /// Returns the pointer to an item of the array this one points to.
    #[must_use]
    pub fn index(mut self, index: usize) -> Self {
        self.0.push('/');
        self.0.push_str(&index.to_string());
        self
    }

    /// Returns the last step, as it is written.
    #[must_use]
    pub fn last(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// Returns the pointer as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the pointer as text.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

/// Writes the step to a member behind a pointer.
pub(crate) fn push_pointer_key(pointer: &mut String, key: &str) {
    // A hostile key may be long and hold control characters; the pointer goes into refusals.
    const SHOWN: usize = 128;
    pointer.push('/');
    for c in key.chars().take(SHOWN) {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c if c.is_control() => pointer.push(char::REPLACEMENT_CHARACTER),
            c => pointer.push(c),
        }
    }
    if key.chars().nth(SHOWN).is_some() {
        pointer.push('…');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_escaped() {
        let pointer = Pointer::root().key("a/b~c").index(7).key("\u{1b}");
        assert_eq!(pointer.as_str(), "/a~1b~0c/7/\u{fffd}");
        assert_eq!(Pointer::root().as_str(), "");
        assert!(Pointer::root().key(&"k".repeat(5000)).as_str().len() < 140);
    }
}
