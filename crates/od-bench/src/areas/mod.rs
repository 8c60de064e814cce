//! The table of areas. A new area is a module and a new line here.

mod core;
pub(crate) mod daemon;
mod disk;
mod template;

use crate::row::Row;

/// Rows that belong together.
pub(crate) struct Area {
    /// What the command line calls it.
    pub(crate) name: &'static str,
    /// Measures every row of the area.
    pub(crate) measure: fn() -> Vec<Row>,
}

/// Every area, in the order of the printed table.
pub(crate) const AREAS: &[Area] = &[
    Area { name: "core", measure: core::measure },
    Area { name: "disk", measure: disk::measure },
    Area { name: "template", measure: template::measure },
    Area { name: "daemon", measure: daemon::measure },
];
