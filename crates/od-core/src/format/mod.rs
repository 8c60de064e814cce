//! Values as people read them: numbers, money, dates, lengths of time, in a locale and a zone.
//!
//! Everything is a function of the value, the format and the [`Context`]; there is no clock here.

mod buffer;
pub(crate) mod currency;
pub(crate) mod date;
pub(crate) mod decimal;
pub(crate) mod elapsed;
mod locale;
pub(crate) mod number;
pub(crate) mod value;
mod zone;

pub use buffer::TextBuffer;
pub use locale::Locale;
pub use value::{Context, FormatFault};
pub use zone::{UnknownZone, Zone};
