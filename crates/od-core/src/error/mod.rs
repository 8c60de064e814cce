//! Every refusal of the product: code, advice, details, and the catalogue they come from.

mod code;
mod failure;
mod issue;

pub use code::{ErrorCode, Retry, catalogue_markdown};
pub use failure::{Details, Failure};
pub use issue::{Issue, nearest_name};
