//! The one way to run a tool, for an agent's preview and for a refresh alike.

use std::sync::Arc;
use std::time::Duration;

use od_core::artifact::{OutputMapping, SourcePin};
use od_core::connector::{
    ContractParts, Origin, ProtectError, Protected, Purpose, Tool, ToolSafety, check_input,
    contract_digest, protect_output, protect_text,
};
use od_core::credential::{Redactions, Scrubber};
use od_core::error::Issue;
use od_core::ids::{ConnectorId, ProjectId, ToolName};
use od_core::json::{BoundedJson, BoundedObject, Map, Value};
use od_core::limits::{CONNECTOR_OUTPUT, INTAKE_SOURCE, SHORT_TEXT, SOURCE_TIMEOUT, cut};
use od_ports::connector_provider::{
    CatalogEntry, ConnectorProvider, ProviderError, RawOutput, ToolCall,
};
use od_ports::credential_vault::{Secret, Standing, VaultError};
use serde::Serialize;

use super::catalog::{link, provider, safety_of};
use super::denied::{self, Denied};
use super::state::{OverLimit, Payer};
use crate::app::App;

/// A tool to run.
#[derive(Clone, Debug)]
pub struct ExecuteTool {
    /// Whose files, for tools that read a project.
    pub project: ProjectId,
    /// Which connector.
    pub connector: ConnectorId,
    /// The tool, qualified or in its short form.
    pub tool: String,
    /// Its input.
    pub input: BoundedObject,
    /// Why it is run.
    pub purpose: Purpose,
    /// Whose count the call goes on.
    pub payer: Payer,
    /// The parts of the output that will be used; everything if there is none.
    pub mapping: Option<OutputMapping>,
    /// What the call has to find unchanged, if a source was saved.
    pub expected: Option<Expected>,
}

/// What was true when a source was saved.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The account the connector was connected to.
    pub account_label: Option<String>,
    /// The tool as it was, unless it need not be the same.
    pub pin: Option<SourcePin>,
}

/// What a tool gave, after protection: this value, and no other, is shown and stored.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Executed {
    /// Which connector.
    pub connector_id: ConnectorId,
    /// Whose data it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_label: Option<String>,
    /// The tool, qualified.
    pub tool_name: ToolName,
    /// The safety that applied.
    pub safety: ToolSafety,
    /// The protected output.
    pub output: BoundedJson,
    /// What was left out of it or replaced in it.
    #[serde(skip_serializing_if = "Redactions::is_empty")]
    pub redactions: Redactions,
    /// The output in a few words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_summary: Option<String>,
    /// The provider's name for this execution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_execution_id: Option<String>,
    /// What may be recorded about it.
    pub metadata: Map,
}

/// Why a tool gave nothing. Every message was scrubbed of the secrets the daemon holds.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    /// There is no such connector.
    #[error("no connector `{connector}`")]
    ConnectorNotFound {
        /// The id asked for.
        connector: ConnectorId,
    },
    /// A person switched it off.
    #[error("connector `{connector}` is switched off")]
    Disabled {
        /// The connector.
        connector: ConnectorId,
    },
    /// It is not connected.
    #[error("connector `{connector}` is not connected")]
    NotConnected {
        /// The connector.
        connector: ConnectorId,
    },
    /// It is connected to another account than the saved one.
    #[error("connector `{connector}` is connected to another account than the saved one")]
    AccountChanged {
        /// The connector.
        connector: ConnectorId,
        /// The account that was saved.
        saved: Option<String>,
        /// The account it is connected to.
        connected: Option<String>,
    },
    /// It has no such tool, or the tool is not on its allow-list.
    #[error("connector `{connector}` has no tool `{tool}` that may be called")]
    ToolNotFound {
        /// The connector.
        connector: ConnectorId,
        /// The name asked for.
        tool: String,
        /// The tools that may be called.
        allowed: Vec<ToolName>,
    },
    /// The tool does not only read.
    #[error("tool `{tool}` does not only read: {}", safety.reason)]
    Unsafe {
        /// The tool.
        tool: ToolName,
        /// What was found.
        safety: ToolSafety,
    },
    /// The tool is no longer the one that was saved.
    #[error("tool `{tool}` is no longer what it was when the source was set")]
    ContractChanged {
        /// The tool.
        tool: ToolName,
        /// The parts that changed.
        changes: Vec<&'static str>,
    },
    /// The input does not fit.
    #[error("the input does not fit the schema of `{tool}`")]
    Input {
        /// The tool.
        tool: ToolName,
        /// Every fault.
        issues: Vec<Issue>,
    },
    /// Too many calls.
    #[error("too many connector calls")]
    OverLimit(OverLimit),
    /// It took too long.
    #[error("tool `{tool}` did not answer within {allowed_ms} ms")]
    TimedOut {
        /// The tool.
        tool: ToolName,
        /// How long it had.
        allowed_ms: u64,
    },
    /// The provider failed or refused.
    #[error("{fault}")]
    Provider {
        /// The tool.
        tool: ToolName,
        /// What it said, in its adapter's own words.
        fault: ProviderError,
    },
    /// Keys that are never stored are left out of the output, and then nothing is left to use.
    #[error("the output of `{tool}` cannot be used without keys that are never stored")]
    Denied {
        /// The tool.
        tool: ToolName,
        /// Why leaving them out does not help.
        found: Denied,
    },
    /// The output cannot be used.
    #[error("the output of `{tool}` cannot be used: {fault}")]
    Output {
        /// The tool.
        tool: ToolName,
        /// Why not.
        fault: ProtectError,
    },
    /// The vault cannot be read.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

/// Runs a tool, if everything that has to hold does.
///
/// The checks in order: known, not disabled, connected, same account as saved, in the allow-list,
/// safe, input, rate. Then the call, under a deadline; then scrubbing, redaction and bounds.
pub async fn execute(app: &App, request: ExecuteTool) -> Result<Executed, ExecuteError> {
    let checked = check(app, &request).await?;
    let now = app.ports.clock.now();
    app.connectors.rate.take(&request.payer, now).map_err(ExecuteError::OverLimit)?;
    let secrets = app.ports.vault.secrets().await?;
    let secret = app.ports.vault.secret(&request.connector).await?;
    // The secret of this very call may have been put or replaced between the two questions.
    let scrubber = Arc::new(Scrubber::new(secrets.iter().chain(&secret).map(Secret::expose)));
    let result = call(app, &checked, &request, secret, &scrubber).await;
    note(app, &request.connector, &result);
    let tool = checked.tool.name.clone();
    let raw = result.map_err(|err| scrubbed(err, &scrubber))?;
    let value = whole_output(&raw, &tool)?;
    if let Some(found) = denied::find_mapped(&value, request.mapping.as_ref(), &scrubber) {
        return Err(ExecuteError::Denied { tool, found });
    }
    let before = denied::size(&value);
    let executed = protect(checked, value, raw, &scrubber)
        .map_err(|fault| ExecuteError::Output { tool: tool.clone(), fault })?;
    if denied::is_all_denied(before, executed.output.value()) {
        return Err(ExecuteError::Denied { tool, found: Denied::Everything });
    }
    Ok(executed)
}

/// A call that passed every check but the rate.
pub(super) struct Checked {
    pub(super) provider: Arc<dyn ConnectorProvider>,
    pub(super) tool: Tool,
    pub(super) safety: ToolSafety,
    pub(super) account_label: Option<String>,
}

/// Makes every check that needs no call.
pub(super) async fn check(app: &App, request: &ExecuteTool) -> Result<Checked, ExecuteError> {
    let connector = &request.connector;
    let provider = provider(app, connector)
        .ok_or_else(|| ExecuteError::ConnectorNotFound { connector: connector.clone() })?;
    let entry = provider.catalog();
    let link = link(&entry, &app.ports.vault.connections().await?);
    match link.standing {
        Standing::Disabled => {
            return Err(ExecuteError::Disabled { connector: connector.clone() });
        }
        Standing::Disconnected => {
            return Err(ExecuteError::NotConnected { connector: connector.clone() });
        }
        Standing::Connected => {}
    }
    if let Some(expected) = &request.expected
        && expected.account_label != link.account_label
    {
        return Err(ExecuteError::AccountChanged {
            connector: connector.clone(),
            saved: expected.account_label.clone(),
            connected: link.account_label,
        });
    }
    let tool = find_tool(&entry, &request.tool).ok_or_else(|| ExecuteError::ToolNotFound {
        connector: connector.clone(),
        tool: request.tool.clone(),
        allowed: entry.allowed_tool_names.clone(),
    })?;
    let safety = safety_of(&tool);
    if !safety.runs() {
        return Err(ExecuteError::Unsafe { tool: tool.name, safety });
    }
    check_contract(&tool, request.expected.as_ref())?;
    check_input(&tool, request.input.value())
        .map_err(|issues| ExecuteError::Input { tool: tool.name.clone(), issues })?;
    Ok(Checked { provider, tool, safety, account_label: link.account_label })
}

fn check_contract(tool: &Tool, expected: Option<&Expected>) -> Result<(), ExecuteError> {
    let Some(pin) = expected.and_then(|expected| expected.pin.as_ref()) else { return Ok(()) };
    if pin.contract_digest == contract_digest(tool) {
        return Ok(());
    }
    let mut changes = match &pin.contract_parts {
        Some(saved) => saved.changes(&ContractParts::of(tool)),
        None => Vec::new(),
    };
    if pin.tool_name != tool.name {
        changes.push("name");
    }
    Err(ExecuteError::ContractChanged { tool: tool.name.clone(), changes })
}

/// Finds an allowed tool by its qualified name, or by its short one.
pub(super) fn find_tool(entry: &CatalogEntry, name: &str) -> Option<Tool> {
    let qualified = format!("{}.{name}", entry.id);
    entry
        .tools
        .iter()
        .find(|tool| tool.name.as_str() == name || tool.name.as_str() == qualified)
        .filter(|tool| entry.allowed_tool_names.contains(&tool.name))
        .cloned()
}

async fn call(
    app: &App,
    checked: &Checked,
    request: &ExecuteTool,
    secret: Option<Secret>,
    scrubber: &Arc<Scrubber>,
) -> Result<RawOutput, ExecuteError> {
    let tool = &checked.tool.name;
    let call = ToolCall {
        project: request.project.clone(),
        tool: tool.clone(),
        input: request.input.object().clone(),
        secret,
        scrubber: Arc::clone(scrubber),
    };
    let allowed_ms = SOURCE_TIMEOUT.allowed;
    tokio::select! {
        biased;
        answer = checked.provider.execute(call) => {
            answer.map_err(|fault| ExecuteError::Provider { tool: tool.clone(), fault })
        }
        () = app.ports.clock.sleep(Duration::from_millis(allowed_ms)) => {
            Err(ExecuteError::TimedOut { tool: tool.clone(), allowed_ms })
        }
    }
}

/// Remembers a refused credential, which makes the connector's status `error` until a call succeeds.
fn note(app: &App, connector: &ConnectorId, result: &Result<RawOutput, ExecuteError>) {
    match result {
        Ok(_) => app.connectors.note(connector, None),
        Err(ExecuteError::Provider { fault: ProviderError::CredentialRefused, .. }) => {
            let message = ProviderError::CredentialRefused.to_string();
            app.connectors.note(connector, Some(message));
        }
        Err(_) => {}
    }
}

/// Builds the output as one value, unless it is certainly larger than an output may be.
fn whole_output(raw: &RawOutput, tool: &ToolName) -> Result<Value, ExecuteError> {
    // Texts that are still to be cut may be long.
    let most = if raw.clips.is_empty() { 4 * CONNECTOR_OUTPUT.max() } else { INTAKE_SOURCE.max() };
    if raw.output.json_size() > most {
        let fault = ProviderError::TooLarge { allowed: CONNECTOR_OUTPUT.allowed };
        return Err(ExecuteError::Provider { tool: tool.clone(), fault });
    }
    Ok(raw.output.to_value())
}

fn protect(
    checked: Checked,
    value: Value,
    raw: RawOutput,
    scrubber: &Scrubber,
) -> Result<Executed, ProtectError> {
    let RawOutput { output: _, summary, execution_id, metadata, clips } = raw;
    let entry = checked.provider.catalog();
    let clean = |text: String| cut(protect_text(&text, scrubber), SHORT_TEXT);
    // The adapter's own words about the call are no answer that could hide an error.
    let metadata = protect_output(Value::Object(metadata), Origin::Local, &[], scrubber)?;
    let metadata = metadata.output.value().as_object().cloned().unwrap_or_default();
    let Protected { output, redactions } =
        protect_output(value, entry.access.origin(), clips, scrubber)?;
    Ok(Executed {
        connector_id: entry.id,
        account_label: checked.account_label,
        tool_name: checked.tool.name,
        safety: checked.safety,
        output,
        redactions,
        output_summary: summary.map(clean),
        provider_execution_id: execution_id.map(clean),
        metadata,
    })
}

/// Takes the secrets out of an adapter's own words too: it may have been fooled into repeating one.
fn scrubbed(error: ExecuteError, scrubber: &Scrubber) -> ExecuteError {
    let ExecuteError::Provider { tool, fault } = error else { return error };
    let clean = |text: String| protect_text(&text, scrubber);
    let fault = match fault {
        ProviderError::Input { pointer, message } => {
            ProviderError::Input { pointer: clean(pointer), message: clean(message) }
        }
        ProviderError::Missing { message } => ProviderError::Missing { message: clean(message) },
        ProviderError::Forbidden { message } => {
            ProviderError::Forbidden { message: clean(message) }
        }
        ProviderError::Malformed { message } => {
            ProviderError::Malformed { message: clean(message) }
        }
        ProviderError::OutOfBounds { message } => {
            ProviderError::OutOfBounds { message: clean(message) }
        }
        ProviderError::Unavailable { message } => {
            ProviderError::Unavailable { message: clean(message) }
        }
        fault @ (ProviderError::UnknownTool { .. }
        | ProviderError::TooLarge { .. }
        | ProviderError::CredentialRefused
        | ProviderError::RateLimited { .. }) => fault,
    };
    ExecuteError::Provider { tool, fault }
}
