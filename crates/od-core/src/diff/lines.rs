//! The difference between two texts, line by line.

use crate::limits::{DIFF_LINE, DIFF_LINES, cut};

/// Pairs of lines beyond which the part between the first and the last difference is told as replaced as
/// a whole: the table of the search takes as many cells.
const PAIRS_MAX: usize = 4_000_000;

/// The difference between two texts.
#[derive(
    Clone, Debug, Default, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct LineDiff {
    /// How many lines were taken out.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    pub removed: u64,
    /// How many lines were put in.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    pub added: u64,
    /// The first of them, in order.
    #[schemars(length(max = DIFF_LINES.allowed))]
    pub hunks: Vec<Hunk>,
}

impl LineDiff {
    /// Returns whether the texts are equal.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.removed == 0 && self.added == 0
    }
}

/// Lines that were replaced by others.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    /// The number of the first line before that it is about, from 1.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    pub from_line: u64,
    /// The number of the first line afterwards that it is about, from 1.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    pub to_line: u64,
    /// The lines taken out.
    #[schemars(length(max = DIFF_LINES.allowed))]
    pub removed: Vec<String>,
    /// The lines put in.
    #[schemars(length(max = DIFF_LINES.allowed))]
    pub added: Vec<String>,
}

/// Compares two texts.
#[must_use]
pub fn diff_lines(before: &str, after: &str) -> LineDiff {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let same = |(one, other): &(&&str, &&str)| one == other;
    let head = before.iter().zip(&after).take_while(same).count();
    let (was, is) = (&before[head..], &after[head..]);
    let tail = was.iter().rev().zip(is.iter().rev()).take_while(same).count();
    let (was, is) = (&was[..was.len() - tail], &is[..is.len() - tail]);
    let kept = kept_pairs(was, is);
    let mut diff = LineDiff::default();
    let (mut from, mut to) = (0, 0);
    for (was_at, is_at) in kept.into_iter().chain([(was.len(), is.len())]) {
        diff.note(head, (from, &was[from..was_at]), (to, &is[to..is_at]));
        (from, to) = (was_at + 1, is_at + 1);
    }
    diff
}

/// Returns the pairs of lines that stay, in order: a longest common subsequence.
fn kept_pairs(was: &[&str], is: &[&str]) -> Vec<(usize, usize)> {
    if was.is_empty() || is.is_empty() || was.len().saturating_mul(is.len()) > PAIRS_MAX {
        return Vec::new();
    }
    let width = is.len() + 1;
    // The length of the longest common subsequence of what begins at each pair.
    let mut lengths = vec![0_u32; (was.len() + 1) * width];
    for i in (0..was.len()).rev() {
        for j in (0..is.len()).rev() {
            lengths[i * width + j] = if was[i] == is[j] {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    let mut pairs = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < was.len() && j < is.len() {
        if was[i] == is[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

impl LineDiff {
    fn note(&mut self, head: usize, was: (usize, &[&str]), is: (usize, &[&str])) {
        let ((from, removed), (to, added)) = (was, is);
        if removed.is_empty() && added.is_empty() {
            return;
        }
        let shown = usize::try_from(self.removed + self.added).unwrap_or(usize::MAX);
        let mut room = DIFF_LINES.max().saturating_sub(shown);
        self.removed += removed.len() as u64;
        self.added += added.len() as u64;
        let mut show = |lines: &[&str]| {
            let taken = lines.len().min(room);
            room -= taken;
            let shown = lines.iter().take(taken);
            shown.map(|line| cut(line.trim_end_matches('\n').to_owned(), DIFF_LINE)).collect()
        };
        let (removed, added): (Vec<String>, Vec<String>) = (show(removed), show(added));
        if !removed.is_empty() || !added.is_empty() {
            let line = |at: usize| (head + at + 1) as u64;
            self.hunks.push(Hunk { from_line: line(from), to_line: line(to), removed, added });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn changed_lines_are_told_with_their_numbers() {
        let diff = diff_lines("a\nb\nc\nd\n", "a\nB\nc\nd\ne\n");
        assert_eq!((diff.removed, diff.added), (1, 2));
        let told: Vec<(u64, u64)> =
            diff.hunks.iter().map(|hunk| (hunk.from_line, hunk.to_line)).collect();
        assert_eq!(told, [(2, 2), (5, 5)]);
        assert_eq!(
            (&diff.hunks[0].removed[..], &diff.hunks[0].added[..]),
            (&["b".to_owned()][..], &["B".to_owned()][..])
        );
        assert!(!diff_lines("a", "a\n").is_empty(), "a line end is a difference");
    }

    #[test]
    fn what_is_shown_is_bounded_and_the_rest_counted() {
        let text = |word: &str| (0..3_000).map(|n| format!("{word}{n}\n")).collect::<String>();
        let diff = diff_lines(&text("a"), &text("b"));
        assert_eq!((diff.removed, diff.added), (3_000, 3_000));
        let shown: usize =
            diff.hunks.iter().map(|hunk| hunk.removed.len() + hunk.added.len()).sum();
        assert_eq!(shown, 1_000);
        let diff = diff_lines("", &"x".repeat(10_000));
        assert_eq!(diff.hunks[0].added[0].len(), 512);
    }

    proptest! {
        #[test]
        fn the_hunks_lead_from_one_text_to_the_other(
            before in prop::collection::vec("[abc]", 0..12),
            after in prop::collection::vec("[abc]", 0..12),
        ) {
            let text = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
            let diff = diff_lines(&text(&before), &text(&after));
            prop_assert_eq!(diff.is_empty(), before == after);
            let mut made = before.clone();
            for hunk in diff.hunks.iter().rev() {
                let at = usize::try_from(hunk.from_line).unwrap() - 1;
                made.splice(at..at + hunk.removed.len(), hunk.added.iter().cloned());
            }
            prop_assert_eq!(made, after);
        }
    }
}
