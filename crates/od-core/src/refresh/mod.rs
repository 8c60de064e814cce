//! Refreshing: what is recorded, how a refresh moves, and how output becomes data.

mod record;

pub use record::{
    ChangeReport, CompactError, RecordConnector, RecordStatus, RecordStep, RefreshRecord,
};
