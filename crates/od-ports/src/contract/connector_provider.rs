//! The contract suite of every connector.

use std::collections::BTreeSet;
use std::future::Future as _;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use od_core::connector::{
    Origin, ToolFacts, check_input, classify, contract_digest, only_widens, protect_output,
    stricter,
};
use od_core::credential::Scrubber;
use od_core::ids::{ProjectId, ToolName};
use od_core::json::{Map, Value};
use serde_json::json;

use crate::access::credential_vault::Secret;
use crate::connector_provider::{
    CatalogEntry, ConnectorAccess, ConnectorProvider, ProviderError, RawOutput, ToolCall,
};

/// A call that succeeds, to put a connector through its contract with.
#[derive(Clone, Debug)]
pub struct ConnectorTrial {
    /// The project the call is for.
    pub project: ProjectId,
    /// The tool.
    pub tool: ToolName,
    /// The input.
    pub input: Map,
    /// The connector's secret, if it takes one.
    pub secret: Option<Secret>,
}

/// Puts a connector through the contract of [`ConnectorProvider`].
///
/// # Panics
///
/// When the connector breaks the contract.
pub async fn check_connector_provider(provider: &dyn ConnectorProvider, trial: &ConnectorTrial) {
    let entry = provider.catalog();
    check_catalog(&entry);
    assert_eq!(
        fingerprint(&entry),
        fingerprint(&provider.catalog()),
        "a catalog says the same until the provider changes"
    );
    check_trial_input(&entry, trial);
    check_unknown_tool(provider, &entry, trial).await;
    check_odd_inputs(provider, &entry, trial).await;

    let first = provider.execute(trial.call()).await.expect("the trial's call succeeds");
    check_output(&first, trial);
    stop_early(provider, trial);
    let second = provider.execute(trial.call()).await.expect("it succeeds after a dropped one");
    assert_eq!(first.output, second.output, "a call changes nothing");
    assert_eq!(fingerprint(&entry), fingerprint(&provider.catalog()), "nor does it here");
    check_identity(provider, &entry, trial).await;
}

impl ConnectorTrial {
    fn call(&self) -> ToolCall {
        self.call_of(self.tool.clone(), self.input.clone())
    }

    fn call_of(&self, tool: ToolName, input: Map) -> ToolCall {
        let scrubber = Arc::new(Scrubber::new(self.secret.iter().map(Secret::expose)));
        let (project, secret) = (self.project.clone(), self.secret.clone());
        ToolCall { project, tool, input, secret, scrubber }
    }

    #[track_caller]
    fn assert_untold(&self, what: &str, text: &str) {
        if let Some(secret) = &self.secret {
            assert!(!text.contains(secret.expose()), "{what} tells the secret");
        }
    }
}

fn fingerprint(entry: &CatalogEntry) -> Vec<String> {
    let tools = entry.tools.iter().map(|tool| contract_digest(tool).to_string());
    std::iter::once(entry.id.to_string()).chain(tools).collect()
}

fn check_catalog(entry: &CatalogEntry) {
    let names: BTreeSet<&str> = entry.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names.len(), entry.tools.len(), "no two tools have one name");
    assert!(!entry.allowed_tool_names.is_empty(), "a connector has a tool that may be called");
    for tool in &entry.tools {
        let name = tool.name.as_str();
        assert!(name.starts_with(&format!("{}.", entry.id)), "`{name}` is qualified");
        assert_eq!(tool.input_schema["type"], "object", "the input of `{name}` is an object");
        assert_eq!(
            tool.input_schema["additionalProperties"], false,
            "`{name}` takes nothing it does not know"
        );
        for former in &tool.former_input_schemas {
            assert!(only_widens(former, &tool.input_schema), "`{name}` takes all it ever took");
        }
    }
    for name in &entry.allowed_tool_names {
        let tool = entry.tools.iter().find(|tool| tool.name == *name);
        let tool = tool.unwrap_or_else(|| unknown(name));
        let scopes: Vec<&str> = tool.scopes.iter().map(String::as_str).collect();
        let facts = ToolFacts {
            name: tool.name.as_str(),
            title: &tool.title,
            description: tool.description.as_deref().unwrap_or_default(),
            scopes: &scopes,
        };
        let safety = stricter(&tool.safety, &classify(&facts));
        assert!(safety.runs(), "`{name}` only reads: {}", safety.reason);
    }
    for name in &entry.featured_tool_names {
        assert!(entry.allowed_tool_names.contains(name), "`{name}` may be called");
    }
}

#[expect(clippy::panic, reason = "a broken contract is told by panicking")]
fn unknown<T>(name: &ToolName) -> T {
    panic!("`{name}` is allowed and there is no such tool")
}

fn check_trial_input(entry: &CatalogEntry, trial: &ConnectorTrial) {
    let tool = entry.tools.iter().find(|tool| tool.name == trial.tool);
    let tool = tool.unwrap_or_else(|| unknown(&trial.tool));
    let mut input = trial.input.clone();
    assert_eq!(check_input(tool, &Value::Object(input.clone())), Ok(()), "the input fits");
    input.insert("noSuchField".to_owned(), json!(1));
    assert!(check_input(tool, &Value::Object(input)).is_err(), "an unknown field does not");
}

async fn check_unknown_tool(
    provider: &dyn ConnectorProvider,
    entry: &CatalogEntry,
    trial: &ConnectorTrial,
) {
    let tool: ToolName =
        format!("{}.no_such_tool", entry.id).parse().expect("the name fits the alphabet");
    let refused = provider.execute(trial.call_of(tool.clone(), trial.input.clone())).await;
    let refused = refused.map(|output| output.output);
    assert_eq!(refused, Err(ProviderError::UnknownTool { tool }), "an unknown tool is said so");
}

/// Inputs never come unchecked; if one does, it is refused in the adapter's own words.
async fn check_odd_inputs(
    provider: &dyn ConnectorProvider,
    entry: &CatalogEntry,
    trial: &ConnectorTrial,
) {
    for tool in &entry.tools {
        let fields = tool.input_schema["properties"].as_object().cloned().unwrap_or_default();
        let odd = [json!(null), json!(-1), json!("../../\u{0}\u{1b}[31m"), json!([[]])];
        for value in odd {
            let input = fields.keys().map(|name| (name.clone(), value.clone())).collect();
            if let Err(fault) = provider.execute(trial.call_of(tool.name.clone(), input)).await {
                trial.assert_untold("an error", &format!("{fault} {fault:?}"));
                assert!(!fault.to_string().is_empty(), "`{}` says why not", tool.name);
            }
        }
    }
}

fn check_output(output: &RawOutput, trial: &ConnectorTrial) {
    let scrubber = Scrubber::new(std::iter::empty::<&str>());
    let protect = |value, clips| protect_output(value, Origin::Remote, clips, &scrubber);
    let value = output.output.to_value();
    protect(value.clone(), output.clips).expect("the output can be used");
    protect(Value::Object(output.metadata.clone()), &[]).expect("so can the metadata");
    trial.assert_untold("the output", &value.to_string());
    trial.assert_untold("the metadata", &Value::Object(output.metadata.clone()).to_string());
    trial.assert_untold("the summary", output.summary.as_deref().unwrap_or_default());
    trial.assert_untold("the execution's id", output.execution_id.as_deref().unwrap_or_default());
}

/// Starts a call and drops it: the next one must not notice.
fn stop_early(provider: &dyn ConnectorProvider, trial: &ConnectorTrial) {
    let mut work = pin!(provider.execute(trial.call()));
    // However far it came is fine; what counts is that nothing waits for it any more.
    let _ = work.as_mut().poll(&mut Context::from_waker(Waker::noop()));
}

async fn check_identity(
    provider: &dyn ConnectorProvider,
    entry: &CatalogEntry,
    trial: &ConnectorTrial,
) {
    let some = trial.secret.clone();
    let secret = some.unwrap_or_else(|| Secret::parse("unused-secret").expect("well formed"));
    let told = provider.identify(&secret).await;
    match entry.access {
        ConnectorAccess::Local | ConnectorAccess::Registered(_) => {
            assert_eq!(told, Err(ProviderError::CredentialRefused), "it takes no secret");
        }
        ConnectorAccess::OptionalSecret | ConnectorAccess::RequiredSecret => {
            let label = told.expect("the trial's secret is somebody's");
            assert!(!label.is_empty(), "an account has a label");
            trial.assert_untold("the label", &label);
        }
    }
}
