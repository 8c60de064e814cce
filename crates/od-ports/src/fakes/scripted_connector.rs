//! A connector that does what a test tells it to.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use od_core::connector::{Approval, Category, SideEffect, Tool, ToolSafety};
use od_core::json::Value;
use serde_json::json;

use crate::access::credential_vault::Secret;
use crate::connector_provider::{
    CatalogEntry, ConnectorAccess, ConnectorProvider, ProviderError, RawOutput, ToolCall,
};

/// Makes the work of one call.
type MakeWork = dyn Fn() -> Pin<Box<dyn Future<Output = Value> + Send>> + Send + Sync;

/// The behaviour of a call.
#[derive(Clone)]
pub enum Act {
    /// Gives a value.
    Give(Value),
    /// Fails.
    Fail(ProviderError),
    /// Never answers.
    Hang,
    /// Gives what comes of some work.
    Work(Arc<MakeWork>),
}

impl Act {
    /// Makes an act of work that begins anew with every call.
    pub fn work<F>(make: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Value> + Send + 'static,
    {
        Self::Work(Arc::new(move || Box::pin(make())))
    }
}

struct Script {
    catalog: CatalogEntry,
    act: Act,
    calls: u64,
    account: String,
}

/// A connector named `script` with the one tool `script.list_things`.
pub struct ScriptedConnector {
    script: Mutex<Script>,
}

impl fmt::Debug for ScriptedConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ScriptedConnector")
    }
}

impl Default for ScriptedConnector {
    fn default() -> Self {
        let listing = Self::tool("script.list_things", "List things");
        let catalog = CatalogEntry {
            id: "script".parse().expect("a good id"),
            name: "Script",
            provider: "test",
            category: Category::Custom,
            description: "Does what it is told.",
            access: ConnectorAccess::OptionalSecret,
            anonymous_label: Some("public"),
            allowed_tool_names: vec![listing.name.clone()],
            tools: vec![listing],
            featured_tool_names: Vec::new(),
        };
        let act = Act::Give(json!({ "title": "scripted" }));
        let script = Mutex::new(Script { catalog, act, calls: 0, account: "ada".to_owned() });
        Self { script }
    }
}

impl ScriptedConnector {
    /// Describes a tool that only reads.
    ///
    /// # Panics
    ///
    /// When the name is none.
    pub fn tool(name: &str, title: &str) -> Tool {
        Tool {
            name: name.parse().expect("a good name"),
            title: title.to_owned(),
            description: None,
            input_schema: json!({
                "type": "object",
                "properties": { "topic": { "type": "string", "maxLength": 100 } },
                "additionalProperties": false,
            }),
            former_input_schemas: Vec::new(),
            scopes: Vec::new(),
            safety: ToolSafety {
                side_effect: SideEffect::Read,
                approval: Approval::Auto,
                reason: "it only gives".to_owned(),
            },
            refresh_eligible: true,
        }
    }

    /// Sets what the next calls do.
    pub fn set(&self, act: Act) {
        self.script().act = act;
    }

    /// Changes what the connector says about itself.
    pub fn change(&self, change: impl FnOnce(&mut CatalogEntry)) {
        change(&mut self.script().catalog);
    }

    /// Returns how often it was called.
    pub fn calls(&self) -> u64 {
        self.script().calls
    }

    /// Sets whose secret every secret is.
    pub fn set_account(&self, account: &str) {
        self.script().account = account.to_owned();
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ConnectorProvider for ScriptedConnector {
    fn catalog(&self) -> CatalogEntry {
        self.script().catalog.clone()
    }

    async fn identify(&self, _: &Secret) -> Result<String, ProviderError> {
        Ok(self.script().account.clone())
    }

    async fn execute(&self, call: ToolCall) -> Result<RawOutput, ProviderError> {
        let act = {
            let mut script = self.script();
            script.calls += 1;
            if !script.catalog.tools.iter().any(|tool| tool.name == call.tool) {
                return Err(ProviderError::UnknownTool { tool: call.tool });
            }
            script.act.clone()
        };
        let value = match act {
            Act::Give(value) => value,
            Act::Fail(fault) => return Err(fault),
            Act::Hang => std::future::pending().await,
            Act::Work(make) => make().await,
        };
        Ok(RawOutput { summary: Some("scripted".to_owned()), ..RawOutput::of(&value)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{ConnectorTrial, check_connector_provider};

    #[tokio::test]
    async fn it_keeps_the_contract() {
        let trial = ConnectorTrial {
            project: "web".parse().unwrap(),
            tool: "script.list_things".parse().unwrap(),
            input: serde_json::Map::new(),
            secret: Some(Secret::parse("a-secret-of-the-suite").unwrap()),
        };
        check_connector_provider(&ScriptedConnector::default(), &trial).await;
    }
}
