//! One fault of an input.

/// One broken rule: where, which, what was found, what is allowed, and how to repair it.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Issue {
    /// Where: a JSON pointer into the request (`/input/title`), or `template.html:LINE:COLUMN`.
    #[schemars(length(max = 1024))]
    pub path: String,
    /// Which rule: a short stable name in snake case, or an error code of the contract.
    #[schemars(length(max = 128))]
    pub code: String,
    /// What is wrong, in one sentence.
    #[schemars(length(max = 2048))]
    pub message: String,
    /// What was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub got: Option<String>,
    /// What is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub want: Option<String>,
    /// A concrete change that repairs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    pub fix: Option<String>,
}

impl Issue {
    /// Makes an issue without the optional parts.
    #[must_use]
    pub fn new(
        path: impl Into<String>,
        code: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            path: path.into(),
            code: code.into(),
            message: message.into(),
            got: None,
            want: None,
            fix: None,
        }
    }

    /// Adds what was found, cut to a readable length.
    #[must_use]
    pub fn got(mut self, got: impl AsRef<str>) -> Self {
        self.got = Some(shorten(got.as_ref()));
        self
    }

    /// Adds what is allowed.
    #[must_use]
    pub fn want(mut self, want: impl Into<String>) -> Self {
        self.want = Some(want.into());
        self
    }

    /// Adds a concrete change that repairs it.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// Moves the issue below a pointer: `/title` under `/input` is `/input/title`.
    #[must_use]
    pub fn under(mut self, prefix: &str) -> Self {
        self.path.insert_str(0, prefix);
        self
    }
}

/// Cuts a found text so that a refusal never repeats a whole document, nor control characters.
fn shorten(text: &str) -> String {
    const SHOWN: usize = 120;
    let mut short: String = text
        .chars()
        .take(SHOWN)
        .map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c })
        .collect();
    if text.chars().nth(SHOWN).is_some() {
        short.push('…');
    }
    short
}

/// Returns the known name nearest to a given one, if it is near enough to be meant.
#[must_use]
pub fn nearest_name<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given: Vec<char> = folded(given);
    // Distance costs the product of the lengths: a hostile name is not measured.
    if given.is_empty() || given.len() > 64 {
        return None;
    }
    known
        .into_iter()
        .map(|name| {
            let folded_name = folded(name);
            (distance(&given, &folded_name), folded_name.len().max(given.len()), name)
        })
        .filter(|(steps, longest, _)| *steps * 2 <= *longest && *steps <= 4)
        .min_by_key(|(steps, _, _)| *steps)
        .map(|(_, _, name)| name)
}

fn folded(name: &str) -> Vec<char> {
    name.chars()
        .filter(|c| !matches!(c, '-' | '_'))
        .map(|c| c.to_ascii_lowercase())
        .take(65)
        .collect()
}

/// Counts the single-letter edits between two words (Levenshtein).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_ignores_case_and_separators() {
        let known = ["title", "slug", "sourceJson", "dataJson"];
        assert_eq!(nearest_name("source_json", known), Some("sourceJson"));
        assert_eq!(nearest_name("titel", known), Some("title"));
        assert_eq!(nearest_name("Slug", known), Some("slug"));
        assert_eq!(nearest_name("colour", known), None);
        assert_eq!(nearest_name("", known), None);
        assert_eq!(nearest_name(&"x".repeat(5000), known), None);
    }

    #[test]
    fn found_text_is_cut_and_plain() {
        let issue = Issue::new("/a", "x", "m").got(format!("\u{1b}[31m{}", "é".repeat(500)));
        let got = issue.got.unwrap();
        assert!(!got.contains('\u{1b}'));
        assert_eq!(got.chars().count(), 121);
    }

    #[test]
    fn absent_parts_are_not_written() {
        let issue = Issue::new("/title", "required", "`title` is missing").under("/input");
        assert_eq!(
            serde_json::to_string(&issue).unwrap(),
            r#"{"path":"/input/title","code":"required","message":"`title` is missing"}"#
        );
    }
}
