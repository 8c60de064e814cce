//! The two listeners: API with console, and previews.

mod api;
mod preview;
mod record;

pub(crate) use api::ApiDoor;
pub(crate) use preview::PreviewDoor;
