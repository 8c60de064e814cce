//! Values that look like credentials: found, redacted, and known secrets scrubbed exactly.
//!
//! The first line is [`Scrubber`]: the secrets the daemon itself holds, found exactly in every
//! encoding. Patterns are the second line; they miss what has no telling form.
//!
//! ```
//! use od_core::credential::{is_credential_key, is_secret_path};
//!
//! assert!(is_credential_key("db_password"));
//! assert!(!is_credential_key("total_tokens"));
//! assert!(is_secret_path("home/.ssh/config"));
//! ```

mod assignment;
mod encoding;
mod file;
mod form;
mod form_len;
mod key;
mod pattern;
mod randomness;
mod redact;
mod report;
#[cfg(feature = "artifacts")]
mod rule;
#[cfg(feature = "artifacts")]
mod scrub;

pub use assignment::redact_assignments;
pub use file::is_secret_path;
pub use key::{CREDENTIAL_NAMES, is_credential_key, is_plainly_prose};
pub use pattern::{CredentialKind, find, known_forms};
pub use redact::{REDACTED, find_in_json, redact_json, redact_text};
pub(crate) use report::{PlacePath, RedactionLog};
pub use report::{RedactedPlace, RedactionAction, RedactionReason, Redactions};
#[cfg(feature = "artifacts")]
pub(crate) use rule::{MemberRule, protect_member_text};
#[cfg(feature = "artifacts")]
pub use scrub::Scrubber;
