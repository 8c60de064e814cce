//! Makes safe what a tool gave: outputs of any size, and the words of adapters.

use std::sync::Arc;

use od_core::artifact::OutputMapping;
use od_core::connector::{Clip, protect_text, protect_value};
use od_core::credential::{Redactions, Scrubber};
use od_core::intake::{Intake, IntakeFault, ProtectedIntake};
use od_core::limits::CONNECTOR_OUTPUT;
use od_ports::connector_provider::ProviderError;

use super::denied_keys::{self, DeniedKeys};
use super::execute::{Checked, ExecuteError};

/// Works on an intake where it holds nobody up: a large one away from the threads that serve requests.
pub(super) async fn blocking<T: Send + 'static>(
    intake: &Arc<Intake>,
    work: fn(&Arc<Intake>) -> T,
) -> T {
    if intake.json_size() <= WHOLE_MAX {
        return work(intake);
    }
    let shared = Arc::clone(intake);
    // Only a runtime that shuts down gives no answer; then nobody waits for this one either.
    match tokio::task::spawn_blocking(move || work(&shared)).await {
        Ok(done) => done,
        Err(_) => work(intake),
    }
}

/// An output up to this size is built as one value; a larger one is walked as text.
pub(super) const WHOLE_MAX: usize = 4 * CONNECTOR_OUTPUT.max();

/// Protects an output: a small document as a value, in which errors in disguise are found and texts are
/// clipped; anything else in one pass over its text or its cells.
pub(super) async fn protect(
    checked: &Checked,
    mapping: Option<&OutputMapping>,
    output: Intake,
    clips: &[Clip],
    scrubber: &Arc<Scrubber>,
) -> Result<(Intake, Redactions), ExecuteError> {
    let tool = &checked.tool.name;
    let too_large = |fault: IntakeFault| ExecuteError::Provider {
        tool: tool.clone(),
        fault: ProviderError::from(fault),
    };
    let is_document = match &output {
        // Texts that are still to be cut may be long.
        Intake::Json(_) => output.json_size() <= WHOLE_MAX || !clips.is_empty(),
        Intake::Table(_) => false,
    };
    if !is_document {
        let is_large = output.json_size() > WHOLE_MAX;
        let secrets = Arc::clone(scrubber);
        let work = move || output.protect(&secrets);
        let protected = if is_large {
            let stopped = |_| ExecuteError::Provider {
                tool: tool.clone(),
                fault: ProviderError::Unavailable { message: "od is stopping".to_owned() },
            };
            tokio::task::spawn_blocking(work).await.map_err(stopped)?
        } else {
            work()
        };
        let ProtectedIntake { intake, redactions } = protected.map_err(too_large)?;
        return Ok((intake, redactions));
    }
    let value = output.to_value();
    if let Some(found) = denied_keys::find_mapped(&value, mapping, scrubber) {
        return Err(ExecuteError::Denied { tool: tool.clone(), found });
    }
    let before = denied_keys::size(&value);
    let origin = checked.provider.catalog().access.origin();
    let (value, redactions) = protect_value(value, origin, clips, scrubber)
        .map_err(|fault| ExecuteError::Output { tool: tool.clone(), fault })?;
    if denied_keys::is_all_denied(before, &value) {
        return Err(ExecuteError::Denied { tool: tool.clone(), found: DeniedKeys::Everything });
    }
    Ok((Intake::try_from(&value).map_err(too_large)?, redactions))
}

/// Takes the secrets out of an adapter's own words too: it may have been fooled into repeating one.
pub(super) fn scrubbed(error: ExecuteError, scrubber: &Scrubber) -> ExecuteError {
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
        ProviderError::OutOfBounds { message, limit } => {
            ProviderError::OutOfBounds { message: clean(message), limit }
        }
        ProviderError::Unavailable { message } => {
            ProviderError::Unavailable { message: clean(message) }
        }
        ProviderError::TimedOut { message } => ProviderError::TimedOut { message: clean(message) },
        fault @ (ProviderError::UnknownTool { .. }
        | ProviderError::TooLarge { .. }
        | ProviderError::CredentialRefused
        | ProviderError::RateLimited { .. }) => fault,
    };
    ExecuteError::Provider { tool, fault }
}
