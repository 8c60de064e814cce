//! Closed sets of words: an enum, its text and its parser, declared once.

/// A word of a closed set that [`words!`] declares.
pub(crate) trait Word: Copy + 'static {
    /// Returns the word.
    fn word(self) -> &'static str;
}

/// Declares a closed set of words: the enum, its text, and its parser.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(
            Clone,
            Copy,
            Debug,
            Eq,
            Hash,
            PartialEq,
            serde::Deserialize,
            serde::Serialize,
            schemars::JsonSchema,
        )]
        #[schemars(inline)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $text)] $variant,)*
        }

        impl $name {
            /// Every word, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the word.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            /// Returns the value a word stands for, if it is one of the set.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str() == word)
            }
        }

        impl $crate::words::Word for $name {
            fn word(self) -> &'static str {
                self.as_str()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use words;
