//! Refreshing: what is recorded, how a refresh moves, and how output becomes data.
//!
//! ```
//! use od_core::refresh::resolve;
//! use serde_json::json;
//!
//! let output = json!({ "items": [{ "n": 3 }] });
//! assert_eq!(resolve(&output, &"$.items.0.n".parse().unwrap()), Some(&json!(3)));
//! ```

mod changes;
mod compact_table;
/// The state machine of one refresh, as a function of values: a signal goes in, effects come out, and
/// the caller carries them out.
mod machine {
    mod effect;
    mod signal;
    mod state;
    mod step;

    pub use effect::{Effect, Notice, Phase};
    pub use signal::{Signal, SourceRan};
    pub use state::{Outcome, RefreshState, StartedRefresh};
    pub use step::{InvalidTransition, step};
}
mod mapping;
mod outline;
mod projection;
mod record;
mod transform;

pub use changes::report_changes;
pub(crate) use compact_table::ROW_KEYS;
pub use machine::{
    Effect, InvalidTransition, Notice, Outcome, Phase, RefreshState, Signal, SourceRan,
    StartedRefresh, step,
};
pub(crate) use mapping::obstacle;
pub use mapping::{Mapped, MappingError, UnresolvedFrom, apply_mapping, resolve, unresolved};
pub use outline::outline;
pub use projection::first_rows;
pub use record::{
    ChangeReport, CompactError, RecordConnector, RecordStatus, RecordStep, RefreshRecord,
};
pub use transform::{TransformError, transform};
