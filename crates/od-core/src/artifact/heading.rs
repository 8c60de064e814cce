//! The fields of an artifact that its author writes and every answer shows.

use super::Status;
use crate::ids::Slug;
use crate::input::{Title, input, one_of, parsed};
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
        /// The title as part of names.
        default(Slug::from_title(&title), "made from the title if absent") slug: Slug
            = "slug", parsed(), "the title as part of names";
        /// Whether it is in use.
        // `error` is the daemon's word.
        default(Status::Active) status: Status
            = "status", one_of(&[Status::Active, Status::Archived]), "active if absent; archived puts it away";
    }
}

impl Heading {
    /// Makes the heading of an artifact in use of which no more than the title is known.
    #[must_use]
    pub fn of_title(title: impl Into<String>) -> Self {
        let title = title.into();
        Self { slug: Slug::from_title(&title), title, status: Status::Active }
    }
}
