//! The core through its public API: fixtures, golden vectors, limits, oracles.

mod canonical_oracle;
mod fixtures;
mod golden;
mod limits;
