//! Webhooks.

use od_core::connector::ServiceName;
use od_core::notification::{Webhook, WebhookUrl};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Registers a webhook, or changes the one of its name.
#[derive(Clone, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddWebhook {
    /// Its name.
    pub name: ServiceName,
    /// Where notifications are sent.
    pub url: WebhookUrl,
    /// Whether its host may be in a private network; not if absent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
    /// The secret that signs what is sent; kept in the vault, given back to nobody.
    #[schemars(length(min = 8, max = 4096))]
    pub secret: String,
}

impl std::fmt::Debug for AddWebhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AddWebhook").field("name", &self.name).finish_non_exhaustive()
    }
}

/// `{ webhook }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct WebhookAnswer {
    /// The webhook, without its secret.
    pub webhook: Webhook,
    /// The status that it answered, when it was tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 200, max = 299))]
    pub answered: Option<u16>,
}

/// `{ webhooks }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct WebhooksAnswer {
    /// The webhooks, by name.
    #[schemars(length(max = 20))]
    pub webhooks: Vec<Webhook>,
}
