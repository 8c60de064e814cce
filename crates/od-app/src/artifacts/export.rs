//! Exporting: one artifact as a file to take away.

use od_core::artifact::Health;
use od_core::error::{ErrorCode, Failure};
use od_core::export::{ExportFormat, ExportRefused, ExportedFile};
use od_core::ids::ArtifactId;

use super::read::{Address, FindError, get};
use crate::{App, Caller, failure};

/// Makes a file of an artifact as it is now. Nothing is stored, and no secret is read: a file has what
/// the page and its data have.
pub async fn export(
    app: &App,
    caller: &Caller,
    request: ExportArtifact,
) -> Result<ExportedFile, ExportError> {
    let ExportArtifact { address, format, table } = request;
    let artifact = address.artifact.clone();
    let stored = get(app, caller, address).await?;
    let Some(state) = stored.state.as_deref() else {
        return Err(ExportError::NotHealthy { artifact, health: stored.health });
    };
    Ok(od_core::export::export(state, format, table.as_deref())?)
}

/// The file to make.
#[derive(Clone, Debug)]
pub struct ExportArtifact {
    /// The artifact.
    pub address: Address,
    /// The form.
    pub format: ExportFormat,
    /// The table of a CSV file: a path in the data, or `chart:1`.
    pub table: Option<String>,
}

/// Why there is no file.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// There is no such artifact.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The artifact is damaged: its data cannot be vouched for.
    #[error("artifact `{artifact}` is damaged")]
    NotHealthy {
        /// The artifact.
        artifact: ArtifactId,
        /// The damage.
        health: Health,
    },
    /// The artifact has no such file.
    #[error(transparent)]
    Refused(#[from] ExportRefused),
}

impl From<ExportError> for Failure {
    fn from(err: ExportError) -> Self {
        match err {
            ExportError::Find(err) => err.into(),
            ExportError::NotHealthy { artifact, health } => failure::not_healthy(&artifact, health),
            ExportError::Refused(refused) => {
                let message = refused.to_string();
                match refused {
                    ExportRefused::Page(_) => Self::new(ErrorCode::TemplateBindingInvalid, message)
                        .suggest("change the template or the data so that they fit each other"),
                    ExportRefused::NoTable { .. } => Self::new(ErrorCode::BadRequest, message)
                        .suggest("name one of the tables, such as --csv rows or --csv chart:1"),
                }
            }
        }
    }
}
