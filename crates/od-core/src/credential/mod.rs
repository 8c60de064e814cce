//! Values that look like credentials: found, redacted, and known secrets scrubbed exactly.
//!
//! The first line is [`Scrubber`]: the secrets the daemon itself holds, found exactly in every
//! encoding. Patterns are the second line; they miss what has no telling form.

mod assignment;
mod encoding;
mod names;
mod pattern;
mod redact;
mod scrub;

pub use assignment::redact_assignments;
pub use names::{is_secret_path, is_sensitive_key};
pub use pattern::{CredentialKind, find};
pub use redact::{REDACTED, find_in_json, redact_json, redact_text};
pub use scrub::Scrubber;
