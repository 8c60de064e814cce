//! What providers say about themselves, joined with what a person decided.

use std::sync::Arc;

use od_core::connector::{
    Connector, ConnectorAuth, ConnectorStatus, MinimumApproval, Tool, ToolFacts, ToolSafety,
    classify, stricter,
};
use od_core::ids::ConnectorId;
use od_ports::connector_provider::{CatalogEntry, ConnectorAccess, ConnectorProvider};
use od_ports::credential_vault::{Connection, Standing};

use crate::app::App;

/// How a connector stands at this moment.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Link {
    /// What was decided, or what holds until something is.
    pub(super) standing: Standing,
    /// Whose data it gives.
    pub(super) account_label: Option<String>,
    /// Whether that was decided by a person.
    pub(super) is_decided: bool,
}

/// Finds the provider of a connector.
pub(super) fn provider(app: &App, id: &ConnectorId) -> Option<Arc<dyn ConnectorProvider>> {
    app.ports.connectors.iter().find(|provider| provider.catalog().id == *id).cloned()
}

/// Works out how a connector stands, from the vault's entry if there is one.
pub(super) fn link(entry: &CatalogEntry, connections: &[Connection]) -> Link {
    if let Some(connection) = connections.iter().find(|held| held.connector == entry.id) {
        return Link {
            standing: connection.standing,
            account_label: connection.account_label.clone(),
            is_decided: true,
        };
    }
    let standing = match entry.access {
        ConnectorAccess::Local | ConnectorAccess::OptionalSecret => Standing::Connected,
        ConnectorAccess::RequiredSecret => Standing::Disconnected,
    };
    let account_label = entry.anonymous_label.map(str::to_owned);
    Link { standing, account_label, is_decided: false }
}

/// Puts a connector together as clients see it.
pub(super) fn describe(app: &App, entry: CatalogEntry, link: &Link) -> Connector {
    let last_error = app.connectors.last_error(&entry.id);
    let status = match (link.standing, &last_error) {
        (Standing::Disabled, _) => ConnectorStatus::Disabled,
        (Standing::Disconnected, _) => ConnectorStatus::Available,
        (Standing::Connected, Some(_)) => ConnectorStatus::Error,
        (Standing::Connected, None) => ConnectorStatus::Connected,
    };
    let is_anonymous = link.account_label.as_deref() == entry.anonymous_label;
    let auth = match entry.access {
        ConnectorAccess::Local => ConnectorAuth { provider: "none".to_owned(), configured: true },
        ConnectorAccess::OptionalSecret | ConnectorAccess::RequiredSecret => ConnectorAuth {
            provider: "token".to_owned(),
            configured: link.standing == Standing::Connected && link.is_decided && !is_anonymous,
        },
    };
    Connector {
        id: entry.id,
        name: entry.name.to_owned(),
        provider: entry.provider.to_owned(),
        category: entry.category,
        description: Some(entry.description.to_owned()),
        status,
        account_label: link.account_label.clone(),
        last_error,
        tools: entry.tools.into_iter().map(judged).collect(),
        allowed_tool_names: entry.allowed_tool_names,
        featured_tool_names: entry.featured_tool_names,
        minimum_approval: MinimumApproval::ReadOnlyAuto,
        auth,
    }
}

/// Replaces a tool's catalog safety with the one that applies.
fn judged(mut tool: Tool) -> Tool {
    tool.safety = safety_of(&tool);
    tool.refresh_eligible &= tool.safety.runs();
    tool
}

/// Judges a tool afresh; the stricter of the catalog's word and the tool's own words holds.
pub(super) fn safety_of(tool: &Tool) -> ToolSafety {
    let scopes: Vec<&str> = tool.scopes.iter().map(String::as_str).collect();
    let facts = ToolFacts {
        name: tool.name.as_str(),
        title: &tool.title,
        description: tool.description.as_deref().unwrap_or_default(),
        scopes: &scopes,
    };
    stricter(&tool.safety, &classify(&facts))
}
