//! The template compiler beside a browser-grade parser.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on stops, and says what it did"
)]

mod data;
mod dice;
mod generate;
mod intl_oracle;
mod oracle;
mod shrink;
mod template_allocation;
mod template_differential;
mod template_fixtures;
mod template_linearity;
