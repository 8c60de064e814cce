//! Schedules: what a change of one answers.

use od_core::ids::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::artifact::ArtifactLine;

/// A schedule after a change of it.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleAnswer {
    /// The artifact.
    pub artifact: ArtifactLine,
    /// Its next runs, if none of them fails; none if it is switched off.
    #[schemars(length(max = 5))]
    pub next_runs: Vec<Timestamp>,
    /// Where a person sees it.
    #[schemars(length(max = 1024))]
    pub console_url: String,
}
