//! The lines of a project's list, in their order and counted, kept as they change.
//!
//! A list of fifty thousand takes a tenth of a second to gather and sort; here a change costs what the
//! changed line costs, and a page what its rows cost.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use od_core::artifact::{ArtifactSummary, ListCursor, ListTally};
use od_ports::store::{Page, PageRequest};

/// The lines that are known, with their counts.
#[derive(Debug, Default)]
pub(super) struct OrderedLines {
    lines: BTreeMap<ListCursor, Arc<ArtifactSummary>>,
    tally: ListTally,
    /// All of them as they were last asked for, until one changes.
    whole: Option<Arc<[Arc<ArtifactSummary>]>>,
}

impl OrderedLines {
    /// Puts the line of an artifact in the place of the one that it had before.
    pub(super) fn replace(
        &mut self,
        before: Option<&Arc<ArtifactSummary>>,
        after: Option<&Arc<ArtifactSummary>>,
    ) {
        if before == after {
            return;
        }
        self.whole = None;
        if let Some(before) = before
            && let Some(known) = self.lines.remove(&ListCursor::of(before))
        {
            self.tally.take(&known);
        }
        if let Some(after) = after {
            self.tally.add(after);
            self.lines.insert(ListCursor::of(after), Arc::clone(after));
        }
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn tally(&self) -> ListTally {
        self.tally
    }

    pub(super) fn page(&self, request: &PageRequest) -> Page {
        let from = request.after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let lines = self.lines.range((from, Bound::Unbounded)).map(|(_, line)| line);
        Page::take(lines, request, self.tally)
    }

    pub(super) fn whole(&mut self) -> Arc<[Arc<ArtifactSummary>]> {
        let lines = &self.lines;
        Arc::clone(self.whole.get_or_insert_with(|| lines.values().map(Arc::clone).collect()))
    }
}

impl FromIterator<Arc<ArtifactSummary>> for OrderedLines {
    fn from_iter<I: IntoIterator<Item = Arc<ArtifactSummary>>>(summaries: I) -> Self {
        let mut lines = Self::default();
        summaries.into_iter().for_each(|summary| lines.replace(None, Some(&summary)));
        lines
    }
}

#[cfg(test)]
mod tests {
    use od_core::artifact::Status;
    use od_core::ids::Timestamp;
    use od_ports::contract::sample;

    use super::*;

    fn line(number: u32, at: i64) -> Arc<ArtifactSummary> {
        let project = "web".parse().expect("an id");
        let state = sample::state(&project, &sample::id(number), "page");
        let summary = state.artifact.summary(od_core::artifact::Health::HEALTHY);
        Arc::new(ArtifactSummary { updated_at: Timestamp::from_unix_ms(at), ..summary })
    }

    #[test]
    fn a_line_that_changes_goes_to_its_new_place_and_is_counted_once() {
        let all = [line(1, 10), line(2, 20), line(3, 30)];
        let mut lines: OrderedLines = all.iter().cloned().collect();
        assert_eq!(lines.whole().as_ref(), [&all[2], &all[1], &all[0]].map(Arc::clone));
        let mut moved =
            ArtifactSummary { updated_at: Timestamp::from_unix_ms(40), ..(*all[0]).clone() };
        moved.heading.status = Status::Archived;
        let moved = Arc::new(moved);
        lines.replace(Some(&all[0]), Some(&moved));
        assert_eq!(lines.whole().as_ref(), [&moved, &all[2], &all[1]].map(Arc::clone));
        assert_eq!((lines.len(), lines.tally().total(), lines.tally().archived), (3, 3, 1));
        lines.replace(Some(&moved), None);
        assert_eq!((lines.len(), lines.tally().total(), lines.tally().archived), (2, 2, 0));
    }

    #[test]
    fn pages_go_on_behind_their_cursor_whatever_comes_to_the_front() {
        let all: Vec<_> = (1..=5).map(|n| line(n, i64::from(n) * 10)).collect();
        let mut lines: OrderedLines = all.iter().cloned().collect();
        let first = lines.page(&PageRequest { rows: 2, ..PageRequest::default() });
        assert_eq!(
            (first.lines.as_slice(), first.has_more),
            ([&all[4], &all[3]].map(Arc::clone).as_slice(), true)
        );
        lines.replace(None, Some(&line(9, 90)));
        lines.replace(Some(&all[3]), None);
        let after = first.lines.last().map(|last| ListCursor::of(last));
        let second = lines.page(&PageRequest { rows: 3, after, only_active: true });
        assert_eq!(second.lines, [&all[2], &all[1], &all[0]].map(Arc::clone));
        assert!(!second.has_more);
    }
}
