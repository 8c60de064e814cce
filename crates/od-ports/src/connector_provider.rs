//! A source of data outside the store: local files, a program, a service.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use od_core::connector::{Category, Clip, Origin, ServiceKind, Tool};
use od_core::credential::{Scrubber, is_secret_path};
use od_core::ids::{ConnectorId, ParseIdError, ProjectId, RelPath, ToolName};
use od_core::intake::{Intake, IntakeFault};
use od_core::json::{Map, Value};

use crate::access::credential_vault::Secret;
use crate::project_files::FilesError;

/// The way a connector comes to be connected.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ConnectorAccess {
    /// It reads this machine: connected from the start, and disconnecting it switches it off.
    Local,
    /// It reads services of one kind that a person registered by name, each with a secret of its own
    /// or none: connected from the start, and disconnecting it switches it off.
    Registered(ServiceKind),
    /// It gives public data without a secret and more with one.
    OptionalSecret,
    /// It gives nothing without a secret.
    RequiredSecret,
}

impl ConnectorAccess {
    /// Returns whether answers come from this machine or from another one.
    #[must_use]
    pub const fn origin(self) -> Origin {
        match self {
            Self::Local => Origin::Local,
            Self::Registered(_) | Self::OptionalSecret | Self::RequiredSecret => Origin::Remote,
        }
    }
}

/// A provider's description of itself. It is metadata, not authorization.
#[derive(Clone, Debug)]
pub struct CatalogEntry {
    /// Which connector.
    pub id: ConnectorId,
    /// The name, for people.
    pub name: &'static str,
    /// The service behind it.
    pub provider: &'static str,
    /// The kind of data it gives.
    pub category: Category,
    /// The purpose, in a sentence.
    pub description: &'static str,
    /// The way it is connected.
    pub access: ConnectorAccess,
    /// The account of a connection made without a secret; drift is measured against it too.
    pub anonymous_label: Option<&'static str>,
    /// Every tool the provider has, allowed or not.
    pub tools: Vec<Tool>,
    /// The tools that may be called.
    pub allowed_tool_names: Vec<ToolName>,
    /// The tools to show first.
    pub featured_tool_names: Vec<ToolName>,
}

/// One call of a tool, after every check.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// Whose files, for tools that read a project.
    pub project: ProjectId,
    /// The qualified name.
    pub tool: ToolName,
    /// Fits the tool's schema.
    pub input: Map,
    /// The connector's own secret, if it is connected with one.
    pub secret: Option<Secret>,
    /// Takes the secrets the daemon holds out of texts that the adapter has to cut or search; what
    /// it returns whole is scrubbed by its caller.
    pub scrubber: Arc<Scrubber>,
}

impl ToolCall {
    /// Reads the path of a project's file from a field of the input.
    ///
    /// # Errors
    ///
    /// Fails if it is no relative path, or the name of a file of secrets.
    pub fn path(&self, field: &str) -> Result<RelPath, ProviderError> {
        let text = self.input.get(field).and_then(Value::as_str).unwrap_or_default();
        let path: RelPath = text.parse().map_err(|err: ParseIdError| ProviderError::Input {
            pointer: format!("/{field}"),
            message: err.to_string(),
        })?;
        if is_secret_path(path.as_str()) {
            return Err(ProviderError::Forbidden {
                message: format!(
                    "`{path}` is a file of secrets by its name; such files are never read"
                ),
            });
        }
        Ok(path)
    }
}

/// The output of a tool, before protection.
#[derive(Clone, Debug, Default)]
pub struct RawOutput {
    /// The result, within the limits of an intake.
    pub output: Intake,
    /// The result in a few words.
    pub summary: Option<String>,
    /// The provider's name for this execution.
    pub execution_id: Option<String>,
    /// Facts about the execution that may be recorded.
    pub metadata: Map,
    /// Texts of the result to cut, once no secret can be cut in two.
    pub clips: &'static [Clip],
}

impl RawOutput {
    /// Takes a result that is in memory already.
    ///
    /// # Errors
    ///
    /// Fails if the value is beyond the limits of an intake.
    pub fn of(value: &Value) -> Result<Self, ProviderError> {
        Ok(Self { output: Intake::try_from(value)?, ..Self::default() })
    }
}

impl From<IntakeFault> for ProviderError {
    fn from(fault: IntakeFault) -> Self {
        let message = fault.to_string();
        match fault.size_limit() {
            Some(limit) => Self::OutOfBounds { message, limit: limit.want() },
            None => Self::Malformed { message },
        }
    }
}

/// The reason a tool gave nothing.
///
/// Messages are the adapter's own words. They never repeat what a remote side sent.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ProviderError {
    /// The provider has no such tool.
    #[error("the connector has no tool `{tool}`")]
    UnknownTool {
        /// The name asked for.
        tool: ToolName,
    },
    /// The input fits the schema but makes no sense.
    #[error("{message}")]
    Input {
        /// The place in the input, as a JSON pointer.
        pointer: String,
        /// The fault there.
        message: String,
    },
    /// The thing that the input names is not there.
    #[error("{message}")]
    Missing {
        /// The name of what is missing.
        message: String,
    },
    /// The thing that the input names may not be read.
    #[error("{message}")]
    Forbidden {
        /// The name of what was refused.
        message: String,
    },
    /// The output is not what the tool gives: not JSON, or of another shape.
    #[error("{message}")]
    Malformed {
        /// The expectation.
        message: String,
    },
    /// Too much came. What was read so far is thrown away.
    #[error("the answer is larger than {allowed} bytes")]
    TooLarge {
        /// The cap.
        allowed: u64,
    },
    /// More than a limit allows: rows, keys, bytes, memory.
    #[error("{message}")]
    OutOfBounds {
        /// Which limit, measured and allowed.
        message: String,
        /// The limit in words.
        limit: String,
    },
    /// The work took longer than it may. What was read so far is thrown away.
    #[error("{message}")]
    TimedOut {
        /// What took how long.
        message: String,
    },
    /// The provider did not accept the secret.
    #[error("the provider did not accept the credential")]
    CredentialRefused,
    /// The provider asks for fewer calls.
    #[error("the provider limits the rate of calls")]
    RateLimited {
        /// When it says to come back.
        after_ms: u64,
    },
    /// The provider cannot be reached or is at fault itself.
    #[error("{message}")]
    Unavailable {
        /// The action that was tried.
        message: String,
    },
}

impl From<FilesError> for ProviderError {
    fn from(error: FilesError) -> Self {
        let message = error.to_string();
        match error {
            FilesError::ProjectNotFound { .. }
            | FilesError::NoRoot { .. }
            | FilesError::RootMissing { .. }
            | FilesError::NotFound { .. } => Self::Missing { message },
            FilesError::Refused { .. } | FilesError::RootOutside { .. } => {
                Self::Forbidden { message }
            }
            FilesError::TooLarge { allowed, .. } => Self::TooLarge { allowed },
            FilesError::Io { .. } => Self::Unavailable { message },
        }
    }
}

/// Gives data through named, read-only tools.
///
/// # Contract
///
/// - `catalog` is cheap, and says the same until the provider itself changes.
/// - `execute` changes nothing anywhere.
/// - Dropping the future of `execute` or `identify` stops the work: no process, connection or thread outlives it for long.
/// - A text is cut by `clips`, or after `scrubber` went over it: half of a secret is not found.
/// - Memory is bounded whatever the other side sends; the cap is applied while reading.
/// - The secret is sent to the connector's own host only, and is in no error, summary or metadata.
#[async_trait]
pub trait ConnectorProvider: fmt::Debug + Send + Sync {
    /// Describes the connector and its tools.
    fn catalog(&self) -> CatalogEntry;

    /// Asks the provider whose secret it is, and returns the account's label.
    async fn identify(&self, secret: &Secret) -> Result<String, ProviderError>;

    /// Runs one tool.
    async fn execute(&self, call: ToolCall) -> Result<RawOutput, ProviderError>;
}
