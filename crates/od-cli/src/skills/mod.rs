//! Skills, the files that agents read: the built-in one, those on disk, and the check of both.

mod check;
mod discover;
mod frontmatter;
mod yaml;

#[cfg(test)]
mod asset_tests;
#[cfg(test)]
mod rule_tests;

#[cfg(test)]
pub(crate) use asset_tests::check_page;
pub use check::{Finding, Severity, check};
pub(crate) use discover::load;
pub use discover::{BUILTIN_FILES, BUILTIN_NAME, BuiltinFile, PLACES, SkillFile, discover};
pub use frontmatter::{Form, Frontmatter, FrontmatterError, Position, read};
