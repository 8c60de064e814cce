//! The causes of refreshes.

use crate::words::words;

words! {
    /// What started a refresh.
    Trigger {
        /// A person, or an agent, asked for it.
        Manual = "manual",
        /// A slot of its schedule came.
        Schedule = "schedule",
        /// A file that a source reads has changed.
        Change = "change",
        /// A person opened its page when it was older than its `maxAge`.
        Open = "open",
        /// `od refresh --due` found a slot of its schedule, or its age.
        Command = "command",
    }
}
