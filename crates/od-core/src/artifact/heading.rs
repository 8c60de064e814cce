//! The fields of an artifact that its author writes and every answer shows.

use super::Status;
use crate::error::Issue;
use crate::ids::Slug;
use crate::input::{Issues, Reader, input, one_of, parsed, schema, text};
use crate::json::{Pointer, Value};
use crate::limits;

input! {
    /// The fields of an artifact that its author writes and every answer shows: whole, in a list,
    /// and to an agent.
    ///
    /// A row is the whole of a field: create and update read it, every answer carries it, and the
    /// schemas, the documentation and the console's types follow.
    #[derive(
        Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
    )]
    #[serde(rename_all = "camelCase")]
    pub struct Heading "what an artifact is called",
    patch HeadingPatch "changes of what an artifact is called" applied {
        /// What a person calls it.
        #[schemars(length(min = 1, max = limits::TITLE.allowed))]
        required title: String = "title", Title, "what a person calls it";
        /// What it shows, in a sentence or two.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(max = limits::SHORT_TEXT.allowed))]
        optional description: String
            = "description", text(&limits::SHORT_TEXT), "what it shows, in a sentence or two";
        /// The title as part of names.
        default(Slug::from_title(&title), "made from the title if absent") slug: Slug
            = "slug", SlugText, "the title as part of names";
        /// Whether it is in use.
        // `error` is the daemon's word.
        default(Status::Active) status: Status
            = "status", one_of(&[Status::Active, Status::Archived]), "active if absent; archived puts it away";
    }
}

/// Reads a title: a text that is not blank.
struct Title;

impl Reader for Title {
    type Value = String;

    fn read(&self, value: &Value, at: &Pointer, issues: &mut Issues) -> Option<String> {
        let title = text(&limits::TITLE).read(value, at, issues)?;
        if title.trim().is_empty() {
            issues.push(
                Issue::new(at.as_str(), "empty", "the title is empty")
                    .want(format!("1 to {} UTF-16 code units", limits::TITLE.allowed))
                    .fix("give the artifact a title"),
            );
            return None;
        }
        Some(title)
    }

    fn schema(&self, description: &str) -> Value {
        schema::text(description, 1, &limits::TITLE)
    }
}

/// Reads a slug; a text that is none is made one, with a remark.
struct SlugText;

impl Reader for SlugText {
    type Value = Slug;

    fn read(&self, value: &Value, at: &Pointer, issues: &mut Issues) -> Option<Slug> {
        let given = text(&limits::SHORT_TEXT).read(value, at, issues)?;
        if given.trim().is_empty() || given.parse::<Slug>().is_ok() {
            return parsed().read(value, at, issues);
        }
        let slug = Slug::from_title(&given);
        issues.warn(
            Issue::new(at.as_str(), "slug_normalised", format!("the slug is stored as `{slug}`"))
                .got(&given)
                .fix(slug.as_str()),
        );
        Some(slug)
    }

    fn schema(&self, description: &str) -> Value {
        schema::typed::<Slug>(description)
    }
}

impl Heading {
    /// Makes the heading of an artifact in use of which no more than the title is known.
    #[must_use]
    pub fn of_title(title: impl Into<String>) -> Self {
        let title = title.into();
        let slug = Slug::from_title(&title);
        Self { title, description: None, slug, status: Status::Active }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::input::Input as _;

    #[test]
    fn a_callers_slug_is_normalised_with_a_remark() {
        let read =
            |slug: &str| Heading::read_whole(&json!({ "title": "T", "slug": slug })).unwrap();
        let (heading, warnings) = read("My Great Páge!");
        assert_eq!(heading.slug.as_str(), "my-great-page");
        assert_eq!(warnings[0].code, "slug_normalised");
        assert!(read("fine-slug").1.is_empty());
        assert!(Heading::read_whole(&json!({ "title": "T", "slug": 7 })).is_err());
    }

    #[track_caller]
    fn codes(description: &Value) -> Vec<String> {
        let read = Heading::read_whole(&json!({ "title": "T", "description": description }));
        read.err().unwrap_or_default().into_iter().map(|issue| issue.code).collect()
    }

    #[test]
    fn a_description_is_a_short_text_without_credentials() {
        assert_eq!(codes(&json!("x".repeat(1024))), [""; 0]);
        assert_eq!(codes(&json!("x".repeat(1025))), ["too_long"]);
        assert_eq!(codes(&json!(7)), ["wrong_type"]);
        let key = ["gh", "p_abcdefghij0123456789klmnopqrst"].concat();
        assert_eq!(codes(&json!(key)), ["REDACTION_REQUIRED"]);
    }

    #[test]
    fn a_heading_without_a_description_does_not_mention_it() {
        let written = serde_json::to_value(Heading::of_title("T")).unwrap();
        assert_eq!(written, json!({ "title": "T", "slug": "t", "status": "active" }));
    }

    #[test]
    fn an_update_sets_keeps_and_removes_a_description() {
        let mut heading = Heading::of_title("T");
        let mut update = |patch: Value| {
            HeadingPatch::read_whole(&patch).unwrap().0.apply(&mut heading);
            heading.description.clone()
        };
        assert_eq!(update(json!({ "description": "D" })).as_deref(), Some("D"));
        assert_eq!(update(json!({ "title": "U" })).as_deref(), Some("D"));
        assert_eq!(update(json!({ "description": null })), None);
    }
}
