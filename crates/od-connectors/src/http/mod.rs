//! A bounded HTTP GET: checked addresses, redirects by hand, a byte cap while reading.

mod address;
mod dial;
mod fetch;

pub(crate) use dial::{HostOverride, Origin};
pub(crate) use fetch::{FetchError, Fetcher, Reply, Request};
