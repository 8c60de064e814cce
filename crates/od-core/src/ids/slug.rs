//! Titles as parts of names.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use super::{ParseIdError, string_newtype};
use crate::limits::SLUG;

/// A title in lower-case ASCII: letters and digits, words joined with single `-`, at most 128.
#[derive(
    Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, serde::Deserialize, serde::Serialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct Slug(String);

string_newtype!(
    Slug,
    "^[a-z0-9]+(-[a-z0-9]+)*$",
    128,
    "lower-case letters and digits, words joined with single dashes"
);

impl Slug {
    /// Makes a slug of any text: NFKD, what is ASCII, lower case, runs of the rest as one `-`.
    ///
    /// A text without one ASCII letter or digit becomes `artifact`.
    #[must_use]
    pub fn from_title(title: &str) -> Self {
        let mut slug = String::new();
        let mut gap = false;
        for c in title.nfkd() {
            if c.is_ascii_alphanumeric() {
                let gap_len = usize::from(gap && !slug.is_empty());
                if slug.len() + gap_len >= SLUG.max() {
                    break;
                }
                if gap_len == 1 {
                    slug.push('-');
                }
                gap = false;
                slug.push(c.to_ascii_lowercase());
            } else if !is_combining_mark(c) {
                // Combining marks fall away without splitting the word they decorate.
                gap = true;
            }
        }
        if slug.is_empty() {
            slug.push_str("artifact");
        }
        Self(slug)
    }
}

impl std::str::FromStr for Slug {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let words_fit = text.split('-').all(|word| {
            !word.is_empty() && word.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9'))
        });
        if SLUG.allows(text.len()) && words_fit {
            Ok(Self(text.to_owned()))
        } else {
            Err(ParseIdError {
                what: "slug",
                want: "1 to 128 of a-z 0-9, words joined with single dashes",
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(title: &str, slug: &str) {
        assert_eq!(Slug::from_title(title).as_str(), slug);
    }

    #[test]
    fn titles_become_plain_words() {
        check("Release Dashboard", "release-dashboard");
        check("  Crème brûlée — 100 %  ", "creme-brulee-100");
        check("ﬁne ½", "fine-1-2");
        check("实时看板", "artifact");
        check("A实B", "a-b");
        check("", "artifact");
        check("../../etc", "etc");
    }

    proptest! {
        #[test]
        fn every_title_gives_a_valid_slug(title in ".{0,300}") {
            let slug = Slug::from_title(&title);
            prop_assert_eq!(slug.as_str().parse::<Slug>().unwrap(), slug);
        }

        #[test]
        fn a_slug_is_its_own_slug(text in "[a-z0-9]{1,9}(-[a-z0-9]{1,9}){0,5}") {
            let slug: Slug = text.parse().unwrap();
            prop_assert_eq!(Slug::from_title(&text), slug);
        }
    }
}
