//! The core through its public API: fixtures, golden vectors, limits, oracles.

#[cfg(test)]
mod canonical_oracle;
#[cfg(test)]
mod embedding;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod links;
#[cfg(test)]
mod repaired_pages;
#[cfg(test)]
mod repository;
