//! Answers of the verbs: text, JSON, exit codes; the same with and without a daemon or `--dry-run`.

mod agreement;
pub(crate) mod dry_run;
mod exits;
mod success;
mod transcripts;
