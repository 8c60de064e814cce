//! One page of a list of artifacts: what is asked for, which rows it has, where the next one begins.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::artifact::{ArtifactSummary, Freshness, HealthState, RefreshStatus, Status};
use crate::ids::{ArtifactId, ParseIdError, Timestamp};
use crate::limits;
use crate::schedule::{Outlook, ScheduleState, ScheduleSummary};
use crate::words::words;

/// The part of a list that is asked for.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ListQuery {
    /// Only artifacts whose title, description, slug, id, project or source has these words, in any case.
    pub query: Option<SearchText>,
    /// Only these.
    pub show: Shown,
    /// Only what comes after this row.
    pub cursor: Option<ListCursor>,
}

words! {
    /// The artifacts that a list has.
    Shown {
        /// Every one.
        All = "all",
        /// Those that are not archived.
        Active = "active",
        /// Those that are archived.
        Archived = "archived",
        /// Those at the top of the console's lists.
        Pinned = "pinned",
        /// Those that need a person: damaged, with checks that do not hold, stale, or waiting for a
        /// permission.
        Attention = "attention",
    }
}

#[expect(clippy::derivable_impls, reason = "`words!` writes the enum, and derives no default")]
impl Default for Shown {
    fn default() -> Self {
        Self::All
    }
}

impl Shown {
    /// Returns whether an artifact is among them at a time.
    #[must_use]
    pub fn includes(self, summary: &ArtifactSummary, now: Timestamp) -> bool {
        let is_archived = summary.heading.status == Status::Archived;
        match self {
            Self::All => true,
            Self::Active => !is_archived,
            Self::Archived => is_archived,
            Self::Pinned => summary.pinned,
            Self::Attention => !is_archived && needs_attention(summary, now),
        }
    }
}

impl FromStr for Shown {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        Self::from_word(text).ok_or(ParseIdError {
            what: "show",
            want: "`all`, `active`, `archived`, `pinned` or `attention`",
        })
    }
}

fn needs_attention(summary: &ArtifactSummary, now: Timestamp) -> bool {
    let waits = |schedule: &ScheduleSummary| match schedule.state {
        ScheduleState::Proposed
        | ScheduleState::Changed
        | ScheduleState::Elsewhere
        | ScheduleState::Blocked => true,
        ScheduleState::Active | ScheduleState::Off => false,
    };
    !summary.health.is_healthy()
        || summary.checks.as_ref().is_some_and(|checks| checks.failing > 0 || checks.unknown > 0)
        || matches!(Freshness::of(summary, now), Freshness::Failed | Freshness::Stale)
        || summary.granted_elsewhere
        || summary.schedule.as_ref().is_some_and(waits)
}

/// One page of a list, the last updated first.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ListPage {
    /// The lines.
    pub lines: Vec<Arc<ArtifactSummary>>,
    /// Where the next page begins, if there is one.
    pub next: Option<ListCursor>,
    /// The number of artifacts that fit the query, on all pages.
    pub total: usize,
}

impl ListPage {
    /// Cuts the page of a query from a whole list that is ordered by [`ListCursor`].
    #[must_use]
    pub fn cut(
        list: &[Arc<ArtifactSummary>],
        query: &ListQuery,
        rows: usize,
        now: Timestamp,
    ) -> Self {
        // Filtered before the page is cut: a page of the whole list might hold nothing that fits.
        let fits = |summary: &&Arc<ArtifactSummary>| {
            query.show.includes(summary, now)
                && query.query.as_ref().is_none_or(|text| text.is_in(summary))
        };
        let fitting: Vec<&Arc<ArtifactSummary>> = list.iter().filter(fits).collect();
        let from = query.cursor.as_ref().map_or(0, |cursor| {
            fitting.partition_point(|summary| ListCursor::of(summary) <= *cursor)
        });
        let lines = fitting.iter().skip(from).take(rows).map(|line| Arc::clone(line)).collect();
        Self::of(lines, fitting.len(), from + rows < fitting.len())
    }

    /// Puts a page together from its lines.
    #[must_use]
    pub fn of(lines: Vec<Arc<ArtifactSummary>>, total: usize, has_more: bool) -> Self {
        let next = lines.last().filter(|_| has_more).map(|last| ListCursor::of(last));
        Self { lines, next, total }
    }

    /// Returns the page in few words, and shorter if it would be more than [`limits::LIST_PAGE`].
    #[must_use]
    pub fn compact(&self, now: Timestamp) -> CompactPage {
        let mut rows = Vec::new();
        let mut bytes = 0;
        for summary in &self.lines {
            let row = ListRow::of(summary, now);
            bytes += row.size();
            // The first row always goes out: a page without rows would never end.
            if !rows.is_empty() && !limits::LIST_PAGE.allows(bytes) {
                break;
            }
            rows.push(row);
        }
        let next = match rows.len().checked_sub(1).and_then(|last| self.lines.get(last)) {
            Some(last) if rows.len() < self.lines.len() => Some(ListCursor::of(last)),
            Some(_) | None => self.next.clone(),
        };
        CompactPage { rows, next, total: self.total }
    }
}

/// A page of rows in few words, the last updated first.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CompactPage {
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

/// The place of a row in a list: its last change, newest first, then its id. A page begins after one, so
/// what comes to the front meanwhile moves no page behind it, and a row that is gone is no end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ListCursor {
    at: Timestamp,
    id: ArtifactId,
}

impl ListCursor {
    /// Returns the place of an artifact by its last commit.
    #[must_use]
    pub fn of(summary: &ArtifactSummary) -> Self {
        Self::at(summary.updated_at, summary.id.clone())
    }

    /// Returns the place of an artifact by a time.
    #[must_use]
    pub const fn at(at: Timestamp, id: ArtifactId) -> Self {
        Self { at, id }
    }
}

impl Ord for ListCursor {
    fn cmp(&self, other: &Self) -> Ordering {
        other.at.cmp(&self.at).then_with(|| self.id.cmp(&other.id))
    }
}

impl PartialOrd for ListCursor {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for ListCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.at.unix_ms(), self.id)
    }
}

impl FromStr for ListCursor {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let fault =
            ParseIdError { what: "cursor", want: "the nextCursor of the page before, unchanged" };
        let (ms, id) = text.split_once('.').ok_or(fault.clone())?;
        match (ms.parse(), id.parse()) {
            (Ok(ms), Ok(id)) => Ok(Self::at(Timestamp::from_unix_ms(ms), id)),
            (Err(_), _) | (_, Err(_)) => Err(fault),
        }
    }
}

/// The number of rows that a page may have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PageRows(usize);

impl PageRows {
    /// The rows of a page for a person who does not say.
    pub const PERSON: Self = Self(limits::LIST_ROWS.max());
    /// The rows of a page for an agent that does not say.
    pub const AGENT: Self = Self(limits::LIST_ROWS.max() / 2);

    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0
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
    /// Returns whether every word stands in the artifact's title, description, slug, id, project or source.
    fn is_in(&self, summary: &ArtifactSummary) -> bool {
        let heading = &summary.heading;
        let fields = [
            heading.title.as_str(),
            heading.description.as_deref().unwrap_or_default(),
            heading.slug.as_str(),
            summary.id.as_str(),
            summary.project_id.as_str(),
            summary.source_label.as_deref().unwrap_or_default(),
        ];
        // A word has no spaces, so it stands in one field; the words may stand in different ones.
        self.0.iter().all(|word| fields.iter().any(|field| has_word(field, word)))
    }
}

/// Returns whether a text has a word that is in lower case, in whatever case the text is.
///
/// A list of fifty thousand is searched at every key that a person presses: nearly every text is ASCII,
/// and needs no copy in lower case.
fn has_word(text: &str, word: &str) -> bool {
    if text.is_ascii() {
        let mut windows = text.as_bytes().windows(word.len().max(1));
        return word.is_empty() || windows.any(|part| part.eq_ignore_ascii_case(word.as_bytes()));
    }
    text.to_lowercase().contains(word)
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
    use crate::artifact::{Heading, Health, HealthReason, ListTally};
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

    fn page(list: &[Arc<ArtifactSummary>], query: &ListQuery) -> ListPage {
        ListPage::cut(list, query, PageRows::AGENT.get(), now())
    }

    #[test]
    fn fifty_rows_of_common_titles_fit_into_8_kib_of_json() {
        let list: Vec<_> =
            (0..60).map(|n| summary(n, "Quarterly revenue and churn, EMEA")).collect();
        let page = page(&list, &ListQuery::default()).compact(now());
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
        let rows = |list: &[_]| page(list, &ListQuery::default()).compact(now()).rows;
        let fresh: Vec<_> = (0..60).map(|n| scheduled(n, 0, "active")).collect();
        let shown = rows(&fresh);
        assert_eq!(shown.len(), 50, "a page of scheduled artifacts is as long as any");
        assert!(serde_json::to_vec(&shown).unwrap().len() <= 8_192);
        assert_eq!((shown[0].stale, shown[0].due.as_deref()), (false, Some("59m")));
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
                let page = page(&list, &query).compact(now());
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
        let query = ListQuery::default();
        let cursor = ListPage::cut(&list, &query, 3, now()).next;
        list.remove(2);
        let rest = page(&list, &ListQuery { cursor, ..query });
        assert_eq!(
            rest.lines.iter().map(|row| &row.id).collect::<Vec<_>>(),
            [&list[2].id, &list[3].id, &list[4].id]
        );
        assert_eq!(rest.next, None);
    }

    #[test]
    fn every_word_of_a_query_has_to_stand_somewhere_in_the_row() {
        let list = [summary(1, "Release Dashboard"), summary(2, "Weekly numbers")];
        let found = |words: &str| {
            let query = ListQuery { query: Some(words.parse().unwrap()), ..ListQuery::default() };
            page(&list, &query).total
        };
        assert_eq!((found("dash RELEASE"), found("e"), found("release numbers")), (1, 2, 0));
    }

    #[test]
    fn a_word_is_found_in_any_case_of_any_alphabet() {
        for (text, word) in [("Éclair Größe", "größe"), ("ÉCLAIR", "éclair"), ("Plain", "lai")]
        {
            assert!(has_word(text, word), "{text}");
        }
        assert!(!has_word("", "x") && !has_word("Grosse", "größe") && has_word("anything", ""));
    }

    #[test]
    fn pages_of_one_instant_neither_repeat_nor_lose_a_row() {
        let mut list: Vec<_> = (0..7)
            .map(|n| Arc::new(ArtifactSummary { updated_at: now(), ..(*summary(n, "T")).clone() }))
            .collect();
        list.sort_by_key(|row| ListCursor::of(row));
        let (mut query, mut seen) = (ListQuery::default(), Vec::new());
        while seen.len() < list.len() {
            let page = ListPage::cut(&list, &query, 2, now());
            seen.extend(page.lines);
            query.cursor = page.next;
        }
        assert_eq!((&seen, query.cursor), (&list, None));
    }

    #[test]
    fn a_list_shows_what_is_archived_pinned_or_needs_attention_and_counts_it() {
        let hurt = Health::unsound(HealthState::CorruptTail, HealthReason::AuditChainBroken);
        let mut list: Vec<ArtifactSummary> = (0..4).map(|n| (*summary(n, "T")).clone()).collect();
        list[0].heading.status = Status::Archived;
        list[1].pinned = true;
        list[2].health = hurt;
        list[3].refresh_status = RefreshStatus::Failed;
        let list: Vec<_> = list.into_iter().map(Arc::new).collect();
        let shown = |show: &str| {
            let query = ListQuery { show: show.parse().unwrap(), ..ListQuery::default() };
            let at = |line: Arc<ArtifactSummary>| list.iter().position(|own| *own == line).unwrap();
            page(&list, &query).lines.into_iter().map(at).collect::<Vec<_>>()
        };
        assert_eq!(shown("all"), [0, 1, 2, 3]);
        assert_eq!(shown("active"), [1, 2, 3]);
        assert_eq!(shown("archived"), [0]);
        assert_eq!(shown("pinned"), [1]);
        assert_eq!(shown("attention"), [2, 3]);
        assert!("stale".parse::<Shown>().is_err());
        let mut tally = ListTally::default();
        list.iter().for_each(|line| tally.add(line));
        assert_eq!((tally.total(), tally.archived, tally.failed), (4, 1, 1));
        assert_eq!(tally.in_health(HealthState::CorruptTail), 1);
        list.iter().for_each(|line| tally.take(line));
        assert_eq!(tally, ListTally::default());
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
