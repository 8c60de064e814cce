//! The history of an artifact's refreshes, one record a line.

use crate::artifact::{RefreshStatus, StaleSource};
use crate::connector::ToolSafety;
use crate::credential::Redactions;
use crate::error::{ErrorCode, Failure};
use crate::ids::{ConnectorId, Digest, RefreshId, Revision, SourceId, Timestamp, ToolName};
use crate::json::{self, Map, Value};
use crate::ledger::Actor;
use crate::limits::{RECORD_METADATA, REFRESH_TIMEOUT, SHORT_TEXT, SOURCES, cut};
use crate::schedule::Trigger;
use crate::words::words;

words! {
    /// Which step of a refresh a record tells of.
    RecordStep {
        /// The refresh got its id; nothing has run.
        Started = "refresh:start",
        /// The source ran.
        Source = "document",
        /// The refresh is over and the data is what the source gave; the last record of its id.
        Committed = "refresh:commit",
        /// The refresh is over and the data before it is kept; the last record of its id.
        Failed = "refresh:failed",
    }
}

impl RecordStatus {
    /// Returns whether the refresh brought data, of all its sources or of some.
    #[must_use]
    pub const fn is_success(self) -> bool {
        match self {
            Self::Succeeded | Self::SucceededPartially => true,
            Self::Running | Self::Failed | Self::Cancelled | Self::TimedOut | Self::Abandoned => {
                false
            }
        }
    }
}

impl RecordStep {
    /// Returns the last step of a refresh that ended in this way.
    #[must_use]
    pub const fn last(status: RecordStatus) -> Self {
        match status {
            RecordStatus::Succeeded | RecordStatus::SucceededPartially => Self::Committed,
            RecordStatus::Running
            | RecordStatus::Failed
            | RecordStatus::Cancelled
            | RecordStatus::TimedOut
            | RecordStatus::Abandoned => Self::Failed,
        }
    }

    /// Returns whether this is the last step of a refresh.
    #[must_use]
    pub const fn is_last(self) -> bool {
        match self {
            Self::Started | Self::Source => false,
            Self::Committed | Self::Failed => true,
        }
    }
}

words! {
    /// How a step went.
    RecordStatus {
        /// It goes on.
        Running = "running",
        /// It did what it should.
        Succeeded = "succeeded",
        /// Some sources gave their data; others failed and kept theirs, which is stale.
        SucceededPartially = "succeeded_partially",
        /// It failed; the data before it is kept.
        Failed = "failed",
        /// It was cancelled.
        Cancelled = "cancelled",
        /// It ran past its time.
        TimedOut = "timed_out",
        /// The process that ran it ended before it did.
        Abandoned = "abandoned",
    }
}

/// One line of `refreshes.jsonl`: never a payload, never a credential.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefreshRecord {
    /// Which refresh.
    pub refresh_id: RefreshId,
    /// Which step of it.
    pub step: RecordStep,
    /// How the step went.
    pub status: RecordStatus,
    /// When the record was made.
    pub at: Timestamp,
    /// What started the refresh; in its first record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Trigger>,
    /// Who asked for it; in its first record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<Actor>,
    /// The slot of the schedule that it runs for; in its first record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<Timestamp>,
    /// The slots before that one which nobody ran; in its first record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 10_000))]
    pub missed: Option<u64>,
    /// How long the step took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    pub duration_ms: Option<u64>,
    /// The source that the step is of, where the artifact names its sources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceId>,
    /// What ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connector: Option<RecordConnector>,
    /// How many rows the source gave, where queries read them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    pub rows: Option<u64>,
    /// The sources that failed and kept their values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = SOURCES.allowed))]
    pub stale: Vec<StaleSource>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<CompactError>,
    /// What it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangeReport>,
    /// The revision it committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
    /// The digest of the record before this one; absent in the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prev: Option<Digest>,
    /// Fields of a newer daemon, kept as they were.
    #[serde(flatten)]
    pub extra: Map,
}

impl RefreshRecord {
    /// Makes a record without the optional parts.
    #[must_use]
    pub fn new(
        refresh_id: RefreshId,
        step: RecordStep,
        status: RecordStatus,
        at: Timestamp,
    ) -> Self {
        Self {
            refresh_id,
            step,
            status,
            at,
            trigger: None,
            actor: None,
            slot: None,
            missed: None,
            duration_ms: None,
            source: None,
            connector: None,
            rows: None,
            stale: Vec::new(),
            error: None,
            changes: None,
            revision: None,
            prev: None,
            extra: Map::new(),
        }
    }

    /// Returns how the artifact's refreshes stand once this record is the newest; none if that is as
    /// before: the refresh goes on, or was cancelled.
    #[must_use]
    pub const fn outcome(&self) -> Option<RefreshStatus> {
        if !self.step.is_last() {
            return None;
        }
        match self.status {
            RecordStatus::Succeeded | RecordStatus::SucceededPartially => {
                Some(RefreshStatus::Succeeded)
            }
            // What a person stopped has not failed: all is as it was before it began.
            RecordStatus::Cancelled => None,
            RecordStatus::Running
            | RecordStatus::Failed
            | RecordStatus::TimedOut
            | RecordStatus::Abandoned => Some(RefreshStatus::Failed),
        }
    }

    /// Returns the record as a line, without the newline: canonical JSON.
    #[must_use]
    pub fn to_line(&self) -> Vec<u8> {
        // Strings, integers and JSON only: writing them cannot fail.
        json::canonical_bytes(&serde_json::to_value(self).unwrap_or_default())
    }

    /// Returns the digest the next record carries as `prev`: that of this record's line.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of_bytes(&self.to_line())
    }
}

/// What ran in a step: all that is known of a connector call but its output.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct RecordConnector {
    /// The connector.
    pub connector_id: ConnectorId,
    /// The tool, qualified.
    pub tool_name: ToolName,
    /// The account it ran with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub account_label: Option<String>,
    /// How safe the tool was found to be when it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safety: Option<ToolSafety>,
    /// What the output was, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub output_summary: Option<String>,
    /// What the provider calls the execution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub provider_execution_id: Option<String>,
    /// What was left out of the output or replaced in it.
    #[serde(default, skip_serializing_if = "Redactions::is_empty")]
    pub redactions: Redactions,
    /// What else the connector said about the call.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map,
}

impl RecordConnector {
    /// Returns as much of a call's metadata as a record keeps, entry by entry.
    #[must_use]
    pub fn bounded_metadata(metadata: &Map) -> Map {
        let mut room = RECORD_METADATA.max();
        let mut kept = Map::new();
        for (key, value) in metadata {
            // Quotes, colon and comma of an entry, and the braces around all of them.
            let size =
                json::canonical_size(&Value::from(key.as_str())) + json::canonical_size(value) + 4;
            if size <= room {
                room -= size;
                kept.insert(key.clone(), value.clone());
            }
        }
        kept
    }
}

/// Why a step failed, without payloads.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct CompactError {
    /// Which failure.
    pub code: ErrorCode,
    /// What went wrong, in one sentence.
    #[schemars(length(max = 1024))]
    pub message: String,
    /// The next step that helps, as the refusal said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub suggestion: Option<String>,
}

impl CompactError {
    /// Returns what a record keeps of a failure: no payload, no detail.
    #[must_use]
    pub fn of(failure: &Failure) -> Self {
        Self {
            code: failure.code,
            message: cut(failure.message.clone(), SHORT_TEXT),
            suggestion: Some(cut(failure.suggestion.clone(), SHORT_TEXT)),
        }
    }

    /// Says that someone stopped the refresh.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::of_end(
            ErrorCode::RefreshCancelled,
            "the refresh was cancelled".to_owned(),
            "refresh again when ready",
        )
    }

    /// Says that the refresh ran past its time.
    #[must_use]
    pub fn timed_out() -> Self {
        Self::of_end(
            ErrorCode::RefreshTimedOut,
            format!("the refresh did not end within {} ms", REFRESH_TIMEOUT.allowed),
            "ask the source for less, or refresh again later",
        )
    }

    /// Says that whoever ran the refresh is gone.
    #[must_use]
    pub fn abandoned() -> Self {
        let code = ErrorCode::RefreshAbandoned;
        Self::of_end(code, code.doc().to_owned(), "refresh again")
    }

    fn of_end(code: ErrorCode, message: String, suggestion: &str) -> Self {
        Self { code, message, suggestion: Some(suggestion.to_owned()) }
    }

    /// Returns how a refresh ends that has this error: its code says it.
    #[must_use]
    #[expect(clippy::wildcard_enum_match_arm, reason = "every other code is an ordinary failure")]
    pub const fn status(&self) -> RecordStatus {
        match self.code {
            ErrorCode::RefreshCancelled => RecordStatus::Cancelled,
            ErrorCode::RefreshTimedOut => RecordStatus::TimedOut,
            ErrorCode::RefreshAbandoned => RecordStatus::Abandoned,
            _ => RecordStatus::Failed,
        }
    }
}

impl From<CompactError> for Failure {
    fn from(error: CompactError) -> Self {
        Self::new(error.code, error.message).suggest(error.suggestion.unwrap_or_default())
    }
}

/// What a refresh changed in the data.
#[derive(
    Clone, Debug, Default, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ChangeReport {
    /// How many places changed.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    pub count: u64,
    /// The first 20 of them, as JSON pointers in document order.
    #[schemars(length(max = 20))]
    pub paths: Vec<String>,
}

impl ChangeReport {
    /// Returns whether anything changed.
    #[must_use]
    pub const fn is_changed(&self) -> bool {
        self.count > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_without_metadata_is_read_and_metadata_is_bounded() {
        let old = r#"{"connectorId":"git","toolName":"git.summary"}"#;
        let read: RecordConnector = serde_json::from_str(old).unwrap();
        assert!(read.metadata.is_empty());
        assert_eq!(serde_json::to_string(&read).unwrap(), old, "and written as it was");
        let mut metadata = Map::new();
        metadata.insert("a".to_owned(), 1.into());
        metadata.insert("long".to_owned(), "x".repeat(5_000).into());
        metadata.insert("z".to_owned(), 2.into());
        let kept = RecordConnector::bounded_metadata(&metadata);
        assert_eq!(kept.keys().collect::<Vec<_>>(), ["a", "z"]);
        for i in 0..1_000 {
            metadata.insert(format!("k{i}"), i.into());
        }
        let kept = Value::Object(RecordConnector::bounded_metadata(&metadata));
        assert!(RECORD_METADATA.allows(json::canonical_size(&kept)));
    }

    #[test]
    fn only_a_refresh_that_ended_and_was_not_cancelled_changes_the_status() {
        let outcome = |step, status| {
            let at = Timestamp::from_unix_ms(0);
            RefreshRecord::new(RefreshId::from_number(1), step, status, at).outcome()
        };
        for step in [RecordStep::Started, RecordStep::Source] {
            for status in RecordStatus::ALL {
                assert_eq!(outcome(step, *status), None, "{step} {status}: it goes on");
            }
        }
        let cancelled = RecordStatus::Cancelled;
        assert_eq!(outcome(RecordStep::last(cancelled), cancelled), None);
        for (status, stands) in [
            (RecordStatus::Succeeded, RefreshStatus::Succeeded),
            (RecordStatus::Failed, RefreshStatus::Failed),
            (RecordStatus::TimedOut, RefreshStatus::Failed),
            (RecordStatus::Abandoned, RefreshStatus::Failed),
        ] {
            assert_eq!(outcome(RecordStep::last(status), status), Some(stands), "{status}");
        }
    }
}
