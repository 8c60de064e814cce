//! The page of an artifact, from memory where nothing changed.

mod cache;
mod page;

pub use cache::PageCache;
pub use page::{Media, Page, PageError, PageRequest, page};
