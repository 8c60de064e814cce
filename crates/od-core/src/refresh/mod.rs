//! Refreshing: what is recorded, how a refresh moves, and how output becomes data.

mod changes;
mod machine;
mod mapping;
mod record;
mod transform;

pub use changes::report_changes;
pub use machine::{
    Effect, InvalidTransition, Notice, Outcome, Phase, RefreshState, Signal, StartedRefresh, step,
};
pub(crate) use mapping::obstacle;
pub use mapping::{MappingError, apply_mapping, resolve};
pub use record::{
    ChangeReport, CompactError, RecordConnector, RecordStatus, RecordStep, RefreshRecord,
};
pub(crate) use transform::ROW_KEYS;
pub use transform::{TransformError, transform};
