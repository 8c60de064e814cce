//! A connector that does what a test says.

use std::fmt;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use od_core::connector::{Approval, Category, SideEffect, Tool, ToolSafety};
use od_ports::connector_provider::{
    CatalogEntry, ConnectorAccess, ConnectorProvider, ProviderError, RawOutput, ToolCall,
};
use od_ports::credential_vault::Secret;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

/// What a call does.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Give(Value),
    Fail(ProviderError),
    /// Never answers.
    Hang,
    /// Answers when the gate has a permit.
    Wait(Arc<Semaphore>, Value),
}

/// A connector named `script` with the one tool `script.list_things`.
pub(crate) struct Scripted {
    catalog: Mutex<CatalogEntry>,
    act: Mutex<Act>,
    calls: Mutex<u64>,
    account: Mutex<String>,
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scripted")
    }
}

impl Scripted {
    pub(crate) fn new() -> Self {
        let name = "script.list_things".parse().unwrap();
        Self {
            catalog: Mutex::new(CatalogEntry {
                id: "script".parse().unwrap(),
                name: "Script",
                provider: "test",
                category: Category::Custom,
                description: "Does what it is told.",
                access: ConnectorAccess::OptionalSecret,
                anonymous_label: Some("public"),
                tools: vec![tool("script.list_things", "List things")],
                allowed_tool_names: vec![name],
                featured_tool_names: Vec::new(),
            }),
            act: Mutex::new(Act::Give(json!({ "title": "scripted" }))),
            calls: Mutex::new(0),
            account: Mutex::new("ada".to_owned()),
        }
    }

    pub(crate) fn set(&self, act: Act) {
        *self.act.lock().unwrap() = act;
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut CatalogEntry)) {
        change(&mut self.catalog.lock().unwrap());
    }

    pub(crate) fn calls(&self) -> u64 {
        *self.calls.lock().unwrap()
    }

    pub(crate) fn set_account(&self, account: &str) {
        *self.account.lock().unwrap() = account.to_owned();
    }
}

pub(crate) fn tool(name: &str, title: &str) -> Tool {
    Tool {
        name: name.parse().unwrap(),
        title: title.to_owned(),
        description: None,
        input_schema: json!({
            "type": "object",
            "properties": { "topic": { "type": "string", "maxLength": 100 } },
            "additionalProperties": false,
        }),
        safety: ToolSafety {
            side_effect: SideEffect::Read,
            approval: Approval::Auto,
            reason: "it only gives".to_owned(),
        },
        refresh_eligible: true,
    }
}

#[async_trait]
impl ConnectorProvider for Scripted {
    fn catalog(&self) -> CatalogEntry {
        self.catalog.lock().unwrap().clone()
    }

    async fn identify(&self, _: &Secret) -> Result<String, ProviderError> {
        Ok(self.account.lock().unwrap().clone())
    }

    async fn execute(&self, _: ToolCall) -> Result<RawOutput, ProviderError> {
        *self.calls.lock().unwrap() += 1;
        let act = self.act.lock().unwrap().clone();
        let value = match act {
            Act::Give(value) => value,
            Act::Fail(fault) => return Err(fault),
            Act::Hang => std::future::pending().await,
            Act::Wait(gate, value) => {
                gate.acquire().await.unwrap().forget();
                value
            }
        };
        Ok(RawOutput { value, summary: Some("scripted".to_owned()), ..RawOutput::default() })
    }
}
