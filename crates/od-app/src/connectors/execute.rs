//! The one way to run a tool, for an agent's preview and for a refresh alike.

use std::sync::Arc;
use std::time::Duration;

use od_core::artifact::{OutputMapping, SourcePin};
use od_core::connector::{
    ContractParts, Origin, ProtectError, Purpose, Tool, ToolSafety, check_input, is_contract_of,
    protect_output, protect_text,
};
use od_core::credential::{Redactions, Scrubber};
use od_core::error::Issue;
use od_core::ids::{ConnectorId, ProjectId, ToolName};
use od_core::intake::{Intake, sample};
use od_core::json::{BoundedJson, BoundedObject, Map, Value};
use od_core::limits::{SHORT_TEXT, SOURCE_TIMEOUT, cut};
use od_ports::access::credential_vault::{Secret, Standing, VaultError};
use od_ports::connector_provider::{
    CatalogEntry, ConnectorProvider, ProviderError, RawOutput, ToolCall,
};
use serde::Serialize;

use super::catalog::{link, provider, safety_of};
use super::denied_keys::DeniedKeys;
use super::nearest::{connector_not_found, nearest_tool};
use super::protect::{WHOLE_MAX, blocking, protect, scrubbed};
use super::rate_limit::{OverLimit, Payer};
use crate::app::App;
use crate::services::note_request;

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

/// The account and tool as they were when a source was saved.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The account the connector was connected to.
    pub account_label: Option<String>,
    /// The tool as it was, unless it need not be the same.
    pub pin: Option<SourcePin>,
}

/// The protected output of a tool, as large as it was read: mappings and queries pick from it.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    /// The call: everything but the output.
    pub(crate) call: Executed,
    /// The protected output.
    pub(crate) intake: Arc<Intake>,
}

/// The protected output of a tool: this value, and no other, is shown and stored.
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
    /// The protected output; of one that is larger than an answer may be, its shape and first rows.
    pub output: BoundedJson,
    /// Whether the output is only the shape and the first rows of what the tool gave.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
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
        /// The one that was probably meant.
        nearest: Option<ConnectorId>,
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
        /// The one of them that was probably meant.
        nearest: Option<ToolName>,
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
        /// The input.
        input: BoundedObject,
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
        found: DeniedKeys,
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

/// Runs a tool for someone who looks at what it gives: an output that is larger than an answer may be is
/// answered with its shape and its first rows.
pub async fn execute(app: &App, request: ExecuteTool) -> Result<Executed, ExecuteError> {
    let Taken { call, intake } = take(app, request).await?;
    if intake.json_size() <= WHOLE_MAX {
        match BoundedJson::check(intake.to_value()) {
            Ok(output) => return Ok(Executed { output, ..call }),
            Err(faults) if faults.is_size() => {}
            Err(faults) => {
                let fault = ProtectError::Unacceptable { faults };
                return Err(ExecuteError::Output { tool: call.tool_name, fault });
            }
        }
    }
    let output = blocking(&intake, sample).await;
    Ok(Executed { output, truncated: true, ..call })
}

/// Runs a tool, if everything that has to hold does.
///
/// The checks in order: known, not disabled, connected, same account as saved, in the allow-list,
/// safe, input, rate. Then the call, under a deadline; then scrubbing and redaction. What is stored of
/// it has limits of its own.
pub(crate) async fn take(app: &App, request: ExecuteTool) -> Result<Taken, ExecuteError> {
    let checked = check(app, &request).await?;
    let now = app.ports.clock.now();
    let payer = request.payer.clone().of_tool(&checked.tool.name);
    // After every check: a call that would be refused anyway must not use up what the run may ask for.
    app.connectors.rate.take(&payer, now).map_err(ExecuteError::OverLimit)?;
    // All of them, not only this connector's: a provider may echo what another one's page or log held.
    let secrets = app.ports.vault.secrets().await?;
    let secret = app.ports.vault.secret(&request.connector).await?;
    // The secret of this very call may have been put or replaced between the two questions.
    let scrubber = Arc::new(Scrubber::new(secrets.iter().chain(&secret).map(Secret::expose)));
    let result = call(app, &checked, &request, secret, &scrubber).await;
    note(app, &request.connector, &result);
    if let (Err(ExecuteError::Provider { fault: ProviderError::Missing { .. }, .. }), true) =
        (&result, matches!(request.purpose, Purpose::AgentPreview))
    {
        note_request(app, &request, checked.provider.catalog().access).await;
    }
    // Scrubbed before anything else looks at the answer: bounds clip texts, and a secret that was cut in two is
    // one that nobody recognises any more.
    let tool = checked.tool.name.clone();
    let raw = result.map_err(|err| scrubbed(err, &scrubber))?;
    let mapping = request.mapping.as_ref();
    let (intake, redactions) = protect(&checked, mapping, raw.output, raw.clips, &scrubber).await?;
    let entry = checked.provider.catalog();
    let clean = |text: String| cut(protect_text(&text, &scrubber), SHORT_TEXT);
    // The adapter's own words about the call are no answer that could hide an error.
    let metadata = protect_output(Value::Object(raw.metadata), Origin::Local, &[], &scrubber)
        .map_err(|fault| ExecuteError::Output { tool: tool.clone(), fault })?;
    let call = Executed {
        connector_id: entry.id,
        account_label: checked.account_label,
        tool_name: tool,
        safety: checked.safety,
        output: BoundedObject::default().into(),
        truncated: false,
        redactions,
        output_summary: raw.summary.map(clean),
        provider_execution_id: raw.execution_id.map(clean),
        metadata: metadata.output.value().as_object().cloned().unwrap_or_default(),
    };
    Ok(Taken { call, intake: Arc::new(intake) })
}

/// Makes every check of a call and counts it, without running anything: a refresh that would be refused
/// is refused before it leaves a trace.
pub(crate) async fn admit(app: &App, request: &ExecuteTool) -> Result<(), ExecuteError> {
    let checked = check(app, request).await?;
    let now = app.ports.clock.now();
    let payer = request.payer.clone().of_tool(&checked.tool.name);
    app.connectors.rate.take(&payer, now).map_err(ExecuteError::OverLimit)
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
    let provider = provider(app, connector).ok_or_else(|| connector_not_found(app, connector))?;
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
        nearest: nearest_tool(&request.tool, &entry.allowed_tool_names),
    })?;
    // Classified again at every call: a catalog may have changed since the source was saved, and what it says of
    // itself is only one of the two opinions, of which the stricter one counts.
    let safety = safety_of(&tool);
    if !safety.runs() {
        return Err(ExecuteError::Unsafe { tool: tool.name, safety });
    }
    check_contract(&tool, request.expected.as_ref())?;
    check_input(&tool, request.input.value()).map_err(|issues| ExecuteError::Input {
        tool: tool.name.clone(),
        issues,
        input: request.input.clone(),
    })?;
    Ok(Checked { provider, tool, safety, account_label: link.account_label })
}

fn check_contract(tool: &Tool, expected: Option<&Expected>) -> Result<(), ExecuteError> {
    let Some(pin) = expected.and_then(|expected| expected.pin.as_ref()) else { return Ok(()) };
    if is_contract_of(tool, &pin.contract_digest) {
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
        // The answer first: one that is there when the time ends is taken.
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
