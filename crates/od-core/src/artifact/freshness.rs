//! The one word for how current an artifact's page is: the badge of the console and of every list.

use super::record::ArtifactSummary;
use super::status::RefreshStatus;
use crate::ids::Timestamp;
use crate::limits;
use crate::schedule::Interval;
use crate::words::words;

words! {
    /// How current the page of an artifact is.
    Freshness {
        /// No refresh changes it: it has no source, or refresh is not allowed.
        Static = "static",
        /// It may be refreshed, and never was: its values are those its author wrote.
        Never = "never",
        /// A refresh read its source a short while ago.
        Fresh = "fresh",
        /// The last refresh that succeeded was too long ago to call its values current.
        Stale = "stale",
        /// The last refresh failed: its values are those of the refresh before.
        Failed = "failed",
    }
}

impl Freshness {
    /// Returns the word for an artifact at a time.
    #[must_use]
    pub fn of(artifact: &ArtifactSummary, now: Timestamp) -> Self {
        match (artifact.refresh_status, artifact.last_refreshed_at) {
            // A failure is told even if refresh was switched off after it: nobody has mended it.
            (RefreshStatus::Failed, _) => Self::Failed,
            _ if !artifact.refreshable => Self::Static,
            (_, None) => Self::Never,
            (_, Some(at)) if now.ms_since(at) > Self::max_age_ms(artifact) => Self::Stale,
            (_, Some(_)) => Self::Fresh,
        }
    }

    /// Returns the age at which the page of an artifact is stale: what its schedule says, else a day,
    /// or twice the pace of a schedule that is slower than that.
    #[must_use]
    pub fn max_age_ms(artifact: &ArtifactSummary) -> u64 {
        let schedule = artifact.schedule.as_ref().map(|line| &line.refresh);
        let asked = schedule.and_then(|refresh| refresh.max_age).map(Interval::ms);
        let pace = schedule.and_then(|refresh| refresh.every).map_or(0, Interval::ms);
        asked.unwrap_or_else(|| limits::FRESH_FOR.allowed.max(pace.saturating_mul(2)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const DAY: i64 = 86_400_000;

    /// The word for an artifact that was refreshed at the epoch, if it ever was.
    fn word(status: &str, refreshable: bool, refreshed: bool, now_ms: i64) -> Freshness {
        scheduled_word(status, refreshable, refreshed, now_ms, None)
    }

    /// As [`word`], with a schedule.
    fn scheduled_word(
        status: &str,
        refreshable: bool,
        refreshed: bool,
        now_ms: i64,
        refresh: Option<serde_json::Value>,
    ) -> Freshness {
        let at = Timestamp::from_unix_ms(0);
        let mut line = json!({
            "id": "la-x-0123456789ab", "projectId": "web", "title": "X", "slug": "x",
            "status": "active", "pinned": false, "refreshStatus": status,
            "preview": { "type": "html", "entry": "index.html" }, "createdAt": at,
            "updatedAt": at, "revision": 1, "hasDocument": true, "refreshable": refreshable,
            "health": { "state": "healthy" },
        });
        if refreshed {
            line["lastRefreshedAt"] = json!(at);
        }
        if let Some(refresh) = refresh {
            line["schedule"] = json!({ "refresh": refresh, "state": "proposed" });
        }
        Freshness::of(&serde_json::from_value(line).unwrap(), Timestamp::from_unix_ms(now_ms))
    }

    #[test]
    fn a_schedule_says_when_a_page_is_stale() {
        let word = |now_ms: i64, refresh: serde_json::Value| {
            scheduled_word("succeeded", true, true, now_ms, Some(refresh))
        };
        let hour = json!({ "every": "15m", "maxAge": "1h" });
        assert_eq!(word(3_600_000, hour.clone()), Freshness::Fresh);
        assert_eq!(word(3_600_001, hour), Freshness::Stale);
        assert_eq!(word(DAY + 1, json!({ "every": "15m" })), Freshness::Stale);
        assert_eq!(word(13 * DAY, json!({ "every": "7d" })), Freshness::Fresh, "twice the pace");
    }

    #[test]
    fn only_a_recent_refresh_that_succeeded_makes_a_page_fresh() {
        assert_eq!(word("succeeded", true, true, DAY), Freshness::Fresh);
        assert_eq!(word("succeeded", true, true, DAY + 1), Freshness::Stale);
        assert_eq!(word("running", true, true, DAY + 1), Freshness::Stale);
        assert_eq!(word("idle", true, false, DAY), Freshness::Never);
        assert_eq!(word("never", true, false, 0), Freshness::Never);
        assert_eq!(word("idle", false, false, 0), Freshness::Static);
        assert_eq!(word("succeeded", false, true, 0), Freshness::Static);
        assert_eq!(word("failed", true, true, 0), Freshness::Failed);
        assert_eq!(word("failed", false, false, 0), Freshness::Failed);
    }

    #[test]
    fn a_clock_that_went_back_makes_nothing_stale() {
        assert_eq!(word("succeeded", true, true, -DAY * 30), Freshness::Fresh);
    }
}
