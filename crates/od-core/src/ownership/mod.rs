//! One writer a path: who writes which place of the data, and who wrote what stands there.
//!
//! A place belongs to the one source or query that writes it, else to the author. An update keeps what
//! belongs to a source, a refresh keeps what belongs to the author, and [`PathWrite`]s remember who
//! wrote each place last, so that a page can say where every number comes from.
//!
//! ```
//! use od_core::ownership::Place;
//!
//! let row = Place::root().key("rows").key("0");
//! assert_eq!((row.as_str(), row.dotted().as_str()), ("/rows/0", "rows.0"));
//! assert!(row.is_within(&Place::root().key("rows")));
//! ```

mod advice;
mod first_values;
#[cfg(test)]
mod interleavings;
mod origin;
mod place;
mod rule;
#[cfg(test)]
mod several;
mod writes;

pub use advice::{advice, name_columns};
pub(crate) use advice::{first_shown, position, same_step, steps};
pub use first_values::first_values;
pub(crate) use origin::last_write;
pub use origin::{PathOrigin, PathWriter, Reader, origins};
pub(crate) use place::{NO_SUCH_INDEX, WHOLE_DATA};
pub use place::{NotAPlace, Place, name_places};
pub use rule::{Kept, Owner, Ownership, ROOT_SOURCE, Writer, adopt};
pub use writes::{
    PathWrite, QueriedSource, QueryRead, SourceRead, WrittenBy, author_wrote, forget, known_writes,
    source_wrote,
};
