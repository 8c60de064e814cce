//! The commands of `od webhooks`.

use super::command::SourceArgs;
use super::matches::Matches;

/// `od webhooks …`
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum WebhooksCommand {
    /// `od webhooks add`
    Add(AddWebhookArgs),
    /// `od webhooks list`
    List,
    /// `od webhooks test`
    Test {
        /// The webhook.
        name: String,
    },
    /// `od webhooks remove`
    Remove(SourceArgs),
}

/// `od webhooks add`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AddWebhookArgs {
    /// Its name.
    pub name: String,
    /// Where notifications are sent.
    pub url: String,
    /// Whether its host may be in a private network.
    pub private: bool,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for AddWebhookArgs {
    fn from(mut given: Matches) -> Self {
        let (private, dry_run) = (given.has("private"), given.dry_run());
        let url = given.required_argument();
        Self { name: given.required_argument(), url, private, dry_run }
    }
}
