//! The nearest known word to a mistyped one.

/// Returns the candidate that a person most probably meant, if one is near enough.
///
/// Near enough is one slip for every three letters, at most three; a transposition is one slip,
/// and so is a word that only lacks its end.
#[must_use]
pub fn nearest<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (given.chars().count() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let slips = slips(given, candidate);
            let cut_short = given.len() >= 3 && candidate.starts_with(given);
            (slips <= allowed || cut_short).then_some((slips, candidate))
        })
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, candidate)| candidate)
}

/// Counts insertions, deletions, substitutions and transpositions of neighbours between two words.
fn slips(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().take(64).collect();
    let right: Vec<char> = right.chars().take(64).collect();
    let mut before = vec![0; right.len() + 1];
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, a) in left.iter().enumerate() {
        let mut now = vec![row + 1];
        for (column, b) in right.iter().enumerate() {
            let replaced = last[column] + usize::from(a != b);
            let mut best = replaced.min(last[column + 1] + 1).min(now[column] + 1);
            let swapped = row > 0 && column > 0 && *a == right[column - 1] && left[row - 1] == *b;
            if swapped {
                best = best.min(before[column - 1] + 1);
            }
            now.push(best);
        }
        before = last;
        last = now;
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, expected: Option<&str>) {
        let known = ["json", "input", "artifact-id", "dry-run", "project", "format"];
        assert_eq!(nearest(given, known), expected, "{given}");
    }

    #[test]
    fn a_slip_finds_the_word_and_a_stranger_finds_none() {
        check("jsno", Some("json"));
        check("imput", Some("input"));
        check("artifact_id", Some("artifact-id"));
        check("artifactid", Some("artifact-id"));
        check("dryrun", Some("dry-run"));
        check("proj", Some("project"));
        check("zzz", None);
        check("", None);
    }
}
