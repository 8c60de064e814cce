//! Every refusal of the product: code, advice, details, and the catalogue they come from.

mod catalogue;
mod code;
mod failure;
mod issue;

pub use catalogue::catalogue_markdown;
pub use code::{ErrorCode, Retry};
pub use failure::{Details, Failure};
pub use issue::{Issue, nearest_name};
