//! The table of areas. A new area is a module and a new line here.

pub(crate) mod chat;
mod command;
mod core;
pub(crate) mod daemon;
mod disk;
pub(crate) mod formatted;
mod refresh;
pub(crate) mod repeat;
mod revisions;
mod scale;
mod search;
mod site;
mod sources;
mod store;
mod template;

use crate::row::Row;
use crate::world::Outcome;

/// Rows that belong together.
pub(crate) struct Area {
    /// The name on the command line.
    pub(crate) name: &'static str,
    /// Measures every row of the area, or says why it cannot.
    pub(crate) measure: fn() -> Outcome<Vec<Row>>,
}

/// Every area, in the order of the printed table.
pub(crate) const AREAS: &[Area] = &[
    Area { name: "core", measure: || Ok(core::measure()) },
    Area { name: "template", measure: || Ok(template::measure()) },
    Area { name: "disk", measure: disk::measure },
    Area { name: "store", measure: store::measure },
    Area { name: "revisions", measure: revisions::measure },
    Area { name: "refresh", measure: refresh::measure },
    Area { name: "scale", measure: scale::measure },
    Area { name: "search", measure: search::measure },
    Area { name: "sources", measure: sources::measure },
    Area { name: "daemon", measure: daemon::measure },
    Area { name: "busy", measure: daemon::measure_busy },
    Area { name: "slow-clients", measure: daemon::measure_slow_clients },
    Area { name: "command", measure: command::measure },
    Area { name: "chat", measure: chat::measure },
    Area { name: "site", measure: site::measure },
];
