//! Skills: what agents read. The built-in one, those on disk, and the check of both.

mod builtin;
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
pub use builtin::{BUILTIN_FILES, BUILTIN_NAME, BuiltinFile};
pub use check::{Finding, Severity, check};
pub(crate) use discover::load;
pub use discover::{Found, PLACES, discover};
pub use frontmatter::{Form, Frontmatter, FrontmatterError, Place, read};
