//! One page of a list of artifacts: what is asked for, which rows it has, where the next one begins.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::{ArtifactSummary, Freshness, HealthState, RefreshStatus, Status};
use crate::ids::{ArtifactId, ParseIdError, Timestamp};
use crate::limits;
use crate::schedule::Outlook;

/// The part of a list that is asked for.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ListQuery {
    /// Only artifacts whose title, description, slug or id has these words, in any case.
    pub query: Option<SearchText>,
    /// Only what comes after this row.
    pub cursor: Option<ListCursor>,
    /// The most rows; as many as a page may have if there is none.
    pub limit: Option<PageRows>,
}

/// One page of a list, the last updated first.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ListPage {
    /// The rows, together at most [`limits::LIST_PAGE`].
    pub rows: Vec<ListRow>,
    /// Where the next page begins, if there is one.
    pub next: Option<ListCursor>,
    /// The number of artifacts that fit the query, on all pages.
    pub total: usize,
}

/// A list's row in as few words as an agent needs to choose one.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ListRow {
    /// The artifact; after the list's base URL it is the address of its page.
    pub id: ArtifactId,
    /// What a person calls it.
    #[schemars(length(max = limits::TITLE.allowed))]
    pub title: String,
    /// Whether it is in use.
    pub status: Status,
    /// Whether a refresh may be started.
    pub refreshable: bool,
    /// The time since its last commit, such as `42s`, `5m`, `3h` or `12d`.
    #[schemars(length(max = 16))]
    pub age: String,
    /// How its last refresh went, if that needs attention.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_status: Option<RefreshStatus>,
    /// Whether its page is older than it should be.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
    /// The time until its next scheduled run, such as `5m`; `0s` if that is overdue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16))]
    pub due: Option<String>,
    /// How sound its files are, if they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<HealthState>,
}

/// Returns the page of a list that is ordered by its last commits, newest first.
#[must_use]
pub fn list_page(list: &[Arc<ArtifactSummary>], query: &ListQuery, now: Timestamp) -> ListPage {
    // Filtered before the page is cut: a page of the whole list might hold nothing that fits.
    let fitting: Vec<&ArtifactSummary> = list
        .iter()
        .map(AsRef::as_ref)
        .filter(|summary| query.query.as_ref().is_none_or(|text| text.is_in(summary)))
        .collect();
    let from = query.cursor.as_ref().map_or(0, |cursor| cursor.position_in(&fitting));
    let limit = query.limit.unwrap_or_default().0;
    let mut rows = Vec::new();
    let mut bytes = 0;
    for summary in fitting.iter().skip(from).take(limit) {
        let row = ListRow::of(summary, now);
        bytes += row.size();
        // The first row always goes out: a page without rows would never end.
        if !rows.is_empty() && !limits::LIST_PAGE.allows(bytes) {
            break;
        }
        rows.push(row);
    }
    let until = from + rows.len();
    let last = until.checked_sub(1).and_then(|at| fitting.get(at));
    let next = last.filter(|_| until < fitting.len() && !rows.is_empty());
    let next = next.map(|last| ListCursor { updated_at: last.updated_at, id: last.id.clone() });
    ListPage { next, total: fitting.len(), rows }
}

impl ListRow {
    fn of(summary: &ArtifactSummary, now: Timestamp) -> Self {
        let refresh_status = match summary.refresh_status {
            status @ (RefreshStatus::Running | RefreshStatus::Failed) => Some(status),
            RefreshStatus::Never | RefreshStatus::Idle | RefreshStatus::Succeeded => None,
        };
        let health = summary.health.state;
        Self {
            id: summary.id.clone(),
            title: summary.heading.title.clone(),
            status: summary.heading.status,
            refreshable: summary.refreshable,
            age: age(now.ms_since(summary.updated_at)),
            refresh_status,
            stale: Freshness::of(summary, now) == Freshness::Stale,
            due: Outlook::of(summary, now).next_due.map(|at| age(at.ms_since(now))),
            health: (health != HealthState::Healthy).then_some(health),
        }
    }

    fn size(&self) -> usize {
        // Texts and words only: writing them cannot fail. One byte is the comma.
        serde_json::to_vec(self).map_or(0, |row| row.len() + 1)
    }
}

/// Writes a time that has passed in its largest whole unit.
fn age(ms: u64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        86_400.. => format!("{}d", seconds / 86_400),
    }
}

/// The row after which a page begins: its last commit and its id, so that a list that changed meanwhile
/// goes on at the same place.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ListCursor {
    updated_at: Timestamp,
    id: ArtifactId,
}

impl ListCursor {
    fn position_in(&self, list: &[&ArtifactSummary]) -> usize {
        let own =
            list.iter().position(|row| row.id == self.id && row.updated_at == self.updated_at);
        match own {
            Some(at) => at + 1,
            // The row was changed or removed: a row of the same instant may come twice, none is lost.
            None => list.partition_point(|row| row.updated_at > self.updated_at),
        }
    }
}

impl fmt::Display for ListCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.updated_at.unix_ms(), self.id)
    }
}

impl FromStr for ListCursor {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let fault =
            ParseIdError { what: "cursor", want: "the nextCursor of the page before, unchanged" };
        let (ms, id) = text.split_once('.').ok_or(fault.clone())?;
        match (ms.parse(), id.parse()) {
            (Ok(ms), Ok(id)) => Ok(Self { updated_at: Timestamp::from_unix_ms(ms), id }),
            (Err(_), _) | (_, Err(_)) => Err(fault),
        }
    }
}

/// The number of rows that a page may have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PageRows(usize);

impl Default for PageRows {
    fn default() -> Self {
        Self(limits::LIST_ROWS.max() / 2)
    }
}

impl FromStr for PageRows {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        match text.parse() {
            Ok(rows) if rows > 0 && limits::LIST_ROWS.allows(rows) => Ok(Self(rows)),
            Ok(_) | Err(_) => {
                Err(ParseIdError { what: "limit", want: "a whole number from 1 to 100" })
            }
        }
    }
}

/// Words that are looked for, in any case.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SearchText(Vec<String>);

impl SearchText {
    /// Returns whether every word stands in the artifact's title, description, slug or id.
    fn is_in(&self, summary: &ArtifactSummary) -> bool {
        let heading = &summary.heading;
        let description = heading.description.as_deref().unwrap_or_default();
        // In one text: the words may stand in different fields.
        let text = format!("{} {description} {} {}", heading.title, heading.slug, summary.id);
        let text = text.to_lowercase();
        self.0.iter().all(|word| text.contains(word))
    }
}

impl FromStr for SearchText {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        if !limits::TITLE.allows(limits::utf16_len(text)) {
            return Err(ParseIdError { what: "query", want: "at most 200 characters" });
        }
        Ok(Self(text.to_lowercase().split_whitespace().map(str::to_owned).collect()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::artifact::{Heading, Health};
    use crate::ids::Revision;

    fn now() -> Timestamp {
        Timestamp::from_unix_ms(1_800_000_000_000)
    }

    fn summary(number: u64, title: &str) -> Arc<ArtifactSummary> {
        let at = Timestamp::from_unix_ms(now().unix_ms() - number.cast_signed() * 60_000);
        let heading = Heading::of_title(title);
        let [.., a, b, c, d, e, f] = number.to_be_bytes();
        let entropy = [a, b, c, d, e, f];
        Arc::new(ArtifactSummary {
            id: ArtifactId::generate(&heading.slug, entropy),
            project_id: "web".parse().unwrap(),
            heading,
            pinned: false,
            preview: serde_json::from_str(r#"{"type":"html","entry":"index.html"}"#).unwrap(),
            refresh_status: RefreshStatus::Idle,
            created_at: at,
            updated_at: at,
            last_refreshed_at: None,
            revision: Revision::first(),
            has_document: true,
            refreshable: true,
            health: Health::HEALTHY,
            created_by_run_id: None,
            source_label: None,
            stale: Vec::new(),
            account_label: None,
            edited: None,
            schedule: None,
            granted_elsewhere: false,
            checks: None,
            restored: None,
        })
    }

    #[test]
    fn fifty_rows_of_common_titles_fit_into_8_kib_of_json() {
        let list: Vec<_> =
            (0..60).map(|n| summary(n, "Quarterly revenue and churn, EMEA")).collect();
        let page = list_page(&list, &ListQuery::default(), now());
        assert_eq!((page.rows.len(), page.total), (50, 60));
        assert!(serde_json::to_vec(&page.rows).unwrap().len() <= 8_192);
    }

    #[test]
    fn rows_say_what_is_stale_and_when_the_next_run_is_due_in_few_bytes() {
        let scheduled = |number: u64, refreshed_ms_ago: i64, state: &str| {
            let mut line = (*summary(number, "Quarterly revenue and churn, EMEA")).clone();
            let at = |ago: i64| Timestamp::from_unix_ms(now().unix_ms() - ago);
            line.last_refreshed_at = Some(at(refreshed_ms_ago));
            let schedule = json!({ "refresh": { "every": "59m" }, "state": state, "since": at(0) });
            line.schedule = Some(serde_json::from_value(schedule).unwrap());
            Arc::new(line)
        };
        let rows = |list: &[_]| list_page(list, &ListQuery::default(), now()).rows;
        let fresh: Vec<_> = (0..60).map(|n| scheduled(n, 0, "active")).collect();
        let page = rows(&fresh);
        assert_eq!(page.len(), 50, "a page of scheduled artifacts is as long as any");
        assert!(serde_json::to_vec(&page).unwrap().len() <= 8_192);
        assert_eq!((page[0].stale, page[0].due.as_deref()), (false, Some("59m")));
        let week = 7 * 86_400_000;
        let stale = &rows(&[scheduled(1, week, "proposed")])[0];
        assert_eq!((stale.stale, stale.due.as_deref()), (true, None), "nobody switched it on");
        let plain = serde_json::to_string(&rows(&[summary(1, "T")])[0]).unwrap();
        assert!(!plain.contains("stale") && !plain.contains("due"), "{plain}");
    }

    #[test]
    fn pages_of_any_titles_are_bounded_and_together_are_the_whole_list() {
        for title in ["T", &"Längster Titel ".repeat(13), &"\"\u{1}".repeat(100)] {
            let list: Vec<_> = (0..230).map(|n| summary(n, title)).collect();
            let (mut seen, mut query) = (Vec::new(), ListQuery::default());
            loop {
                let page = list_page(&list, &query, now());
                let bytes = serde_json::to_vec(&page.rows).unwrap().len();
                assert!(bytes <= limits::LIST_PAGE.max() + 1 && page.rows.len() <= 50, "{bytes}");
                seen.extend(page.rows.into_iter().map(|row| row.id));
                let Some(next) = page.next else { break };
                query.cursor = Some(next.to_string().parse().unwrap());
            }
            assert_eq!(seen, list.iter().map(|row| row.id.clone()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_cursor_whose_row_is_gone_goes_on_after_its_place() {
        let mut list: Vec<_> = (0..6).map(|n| summary(n, "T")).collect();
        let query = ListQuery { limit: Some("3".parse().unwrap()), ..ListQuery::default() };
        let cursor = list_page(&list, &query, now()).next;
        list.remove(2);
        let rest = list_page(&list, &ListQuery { cursor, ..query }, now());
        assert_eq!(
            rest.rows.iter().map(|row| &row.id).collect::<Vec<_>>(),
            [&list[2].id, &list[3].id, &list[4].id]
        );
        assert_eq!(rest.next, None);
    }

    #[test]
    fn every_word_of_a_query_has_to_stand_somewhere_in_the_row() {
        let list = [summary(1, "Release Dashboard"), summary(2, "Weekly numbers")];
        let found = |words: &str| {
            let query = ListQuery { query: Some(words.parse().unwrap()), ..ListQuery::default() };
            list_page(&list, &query, now()).total
        };
        assert_eq!((found("dash RELEASE"), found("e"), found("release numbers")), (1, 2, 0));
    }

    #[test]
    fn ages_are_in_their_largest_whole_unit() {
        let ages = [0, 59_999, 60_000, 3_600_000, 86_399_999, 86_400_000 * 40].map(age);
        assert_eq!(ages, ["0s", "59s", "1m", "1h", "23h", "40d"]);
    }

    #[test]
    fn what_is_no_cursor_or_limit_is_refused() {
        for bad in ["", "1", "x.la-a-0123456789ab", "1.", "1.../a"] {
            assert!(bad.parse::<ListCursor>().is_err(), "{bad}");
        }
        for bad in ["0", "-1", "101", "ten"] {
            assert!(bad.parse::<PageRows>().is_err(), "{bad}");
        }
    }
}
