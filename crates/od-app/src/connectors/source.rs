//! The call that a saved source makes, and whether it may.

use od_core::artifact::{FILE_SELECTORS, Source, SourcePin, SourceType};
use od_core::connector::{ContractParts, DatabaseTable, LocalTool, Purpose, Tool, contract_digest};
use od_core::credential::is_secret_path;
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ConnectorId, ProjectId, RelPath};
use od_core::intake::sample;
use od_core::json::{BoundedJson, BoundedObject, Value};
use od_ports::connector_provider::ConnectorAccess;
use serde_json::json;

use super::catalog::provider;
use super::execute::{self, ExecuteError, ExecuteTool, Executed, Expected};
use super::nearest;
use super::rate_limit::Payer;
use crate::app::App;

/// Why a source can only fail.
#[derive(Debug, thiserror::Error)]
pub enum SourceRefused {
    /// It names no tool, or a tool of no connector.
    #[error("the source names no tool: {want}")]
    NoTool {
        /// What it should say.
        want: &'static str,
    },
    /// It names no file inside the project.
    #[error("the source names no file of the project: {reason}")]
    NoFile {
        /// What is wrong with it.
        reason: String,
    },
    /// A daemon tool has to be a local one.
    #[error("`{connector}` is not one of the daemon's local tools")]
    NotLocal {
        /// The connector it names.
        connector: ConnectorId,
    },
    /// The tool makes no sense as a source.
    #[error("tool `{tool}` is not meant for refreshes")]
    NotEligible {
        /// The tool.
        tool: String,
    },
    /// The call would be refused.
    #[error(transparent)]
    Call(#[from] ExecuteError),
}

/// Checks everything about a source that a refresh would check, short of running it, and pins it.
pub async fn check_source(
    app: &App,
    project: &ProjectId,
    source: &Source,
) -> Result<SourcePin, SourceRefused> {
    // Nothing is run, so nobody pays.
    let mut call = source_call(app, project, Payer::Project(project.clone()), source)?;
    let saved = source.connector.as_ref().and_then(|connector| connector.account_label.clone());
    call.expected = saved.map(|label| Expected { account_label: Some(label), pin: None });
    let checked = execute::check(app, &call).await?;
    if !checked.tool.refresh_eligible {
        return Err(SourceRefused::NotEligible { tool: checked.tool.name.to_string() });
    }
    Ok(pin(call.connector, checked.tool, checked.account_label))
}

/// The content of a file as a source reads it: a document, or tables.
#[derive(Clone, Debug)]
pub(crate) struct FileContent {
    /// The document; of rows their columns with types, the first ones and how many there are.
    pub(crate) content: Option<BoundedJson>,
    /// The tables with their columns.
    pub(crate) tables: Vec<DatabaseTable>,
}

/// Reads a file of a project as a refresh would: through the same checks, bounds and redaction.
pub(crate) async fn read_file(
    app: &App,
    project: &ProjectId,
    path: &RelPath,
) -> Result<FileContent, SourceRefused> {
    let is_database = LocalTool::is_database(path.as_str());
    let tool =
        if is_database { LocalTool::SqliteSchema } else { LocalTool::of_file(path.as_str()) };
    let call = ExecuteTool {
        project: project.clone(),
        connector: id(tool.connector())?,
        tool: tool.as_str().to_owned(),
        input: path_input(path)?,
        purpose: Purpose::ArtifactRefresh,
        payer: Payer::Project(project.clone()),
        mapping: None,
        expected: None,
    };
    if is_database {
        let output = execute::take(app, call).await?.intake.to_value();
        return Ok(FileContent { content: None, tables: DatabaseTable::gather(&output) });
    }
    if tool != LocalTool::ReadTable {
        let content = Some(execute::execute(app, call).await?.output);
        return Ok(FileContent { content, tables: Vec::new() });
    }
    let shape = sample(&execute::take(app, call).await?.intake);
    let table = DatabaseTable::of_shape(shape.value());
    Ok(FileContent { content: Some(shape), tables: vec![table] })
}

/// Returns the pin of a source that has just run.
pub(crate) fn pin_of(app: &App, executed: &Executed) -> Option<SourcePin> {
    let entry = provider(app, &executed.connector_id)?.catalog();
    let tool = execute::find_tool(&entry, executed.tool_name.as_str())?;
    Some(pin(executed.connector_id.clone(), tool, executed.account_label.clone()))
}

fn pin(connector_id: ConnectorId, tool: Tool, account_label: Option<String>) -> SourcePin {
    SourcePin {
        connector_id,
        contract_digest: contract_digest(&tool),
        contract_parts: Some(ContractParts::of(&tool)),
        tool_name: tool.name,
        account_label,
    }
}

/// Works out the call that a source stands for.
pub(crate) fn source_call(
    app: &App,
    project: &ProjectId,
    payer: Payer,
    source: &Source,
) -> Result<ExecuteTool, SourceRefused> {
    let (connector, tool, input) = match source.kind {
        SourceType::LocalFile => {
            let path = file_path(source)?;
            let tool = LocalTool::of_file(path.as_str());
            (id(tool.connector())?, tool.as_str().to_owned(), file_input(source, &path, tool)?)
        }
        SourceType::DaemonTool => {
            let (connector, tool) = daemon_tool(app, source)?;
            (connector, tool, source.input.clone())
        }
        SourceType::ConnectorTool => {
            let want = "`connector` with `connectorId` and `toolName`";
            let connector = source.connector.as_ref().ok_or(SourceRefused::NoTool { want })?;
            let tool = connector.tool_name.to_string();
            (connector.connector_id.clone(), tool, source.input.clone())
        }
    };
    refuse_secrets(&tool, &input)?;
    Ok(ExecuteTool {
        project: project.clone(),
        connector,
        tool,
        input,
        purpose: Purpose::ArtifactRefresh,
        payer,
        mapping: source.output_mapping.clone(),
        expected: None,
    })
}

fn daemon_tool(app: &App, source: &Source) -> Result<(ConnectorId, String), SourceRefused> {
    let want = "a qualified `toolName` such as `project_files.search`";
    let tool = source.tool_name.as_ref().ok_or(SourceRefused::NoTool { want })?.as_str();
    let (connector, _) = tool.split_once('.').ok_or(SourceRefused::NoTool { want })?;
    let connector = id(connector)?;
    let access = provider(app, &connector).map(|provider| provider.catalog().access);
    match access {
        Some(ConnectorAccess::Local) => Ok((connector, tool.to_owned())),
        Some(
            ConnectorAccess::Registered(_)
            | ConnectorAccess::OptionalSecret
            | ConnectorAccess::RequiredSecret,
        ) => Err(SourceRefused::NotLocal { connector }),
        None => Err(nearest::connector_not_found(app, &connector).into()),
    }
}

fn file_path(source: &Source) -> Result<RelPath, SourceRefused> {
    let input = source.input.object();
    let named = FILE_SELECTORS.iter().find_map(|field| input.get(*field)).and_then(Value::as_str);
    let Some(path) = named else {
        return Err(SourceRefused::NoFile { reason: "`input.path` is missing".to_owned() });
    };
    path.parse().map_err(|err: od_core::ids::ParseIdError| SourceRefused::NoFile {
        reason: err.to_string(),
    })
}

/// Refuses a source of secrets, whichever kind of source names it, so that it is never saved.
fn refuse_secrets(tool: &str, input: &BoundedObject) -> Result<(), SourceRefused> {
    let (field, what) = match LocalTool::from_word(tool) {
        Some(
            LocalTool::ReadJson
            | LocalTool::ReadTable
            | LocalTool::ReadData
            | LocalTool::SqliteQuery
            | LocalTool::SqliteSchema
            | LocalTool::GitLog
            | LocalTool::GitFileHistory
            | LocalTool::GitBlameSummary
            | LocalTool::GitCodeSearch,
        ) => ("path", "file"),
        Some(LocalTool::ReadJsonFolder) => ("folder", "folder"),
        Some(LocalTool::SearchFiles | LocalTool::GitSummary) | None => return Ok(()),
    };
    match input.object().get(field).and_then(Value::as_str) {
        Some(path) if is_secret_path(path) => Err(SourceRefused::NoFile {
            reason: format!("`{path}` is a {what} of secrets by its name"),
        }),
        Some(_) | None => Ok(()),
    }
}

/// What a source may say about a file of rows besides its path.
const TABLE_CHOICES: [&str; 3] = ["delimiter", "decimal", "header"];

/// Returns the input that reads a source's file: of rows with the source's choices.
fn file_input(
    source: &Source,
    path: &RelPath,
    tool: LocalTool,
) -> Result<BoundedObject, SourceRefused> {
    let mut input = json!({ "path": path.as_str() });
    if tool == LocalTool::ReadTable {
        let given = source.input.object();
        for choice in TABLE_CHOICES {
            if let Some(value) = given.get(choice) {
                input[choice] = value.clone();
            }
        }
    }
    BoundedObject::check(input)
        .map_err(|faults| SourceRefused::NoFile { reason: faults.to_string() })
}

fn path_input(path: &RelPath) -> Result<BoundedObject, SourceRefused> {
    BoundedObject::check(json!({ "path": path.as_str() }))
        .map_err(|faults| SourceRefused::NoFile { reason: faults.to_string() })
}

fn id(connector: &str) -> Result<ConnectorId, SourceRefused> {
    connector.parse().map_err(|_| SourceRefused::NoTool { want: "a connector's id" })
}

impl From<SourceRefused> for Failure {
    fn from(err: SourceRefused) -> Self {
        let message = err.to_string();
        let unavailable = |suggestion: &str| {
            Self::new(ErrorCode::LiveArtifactRefreshUnavailable, message).suggest(suggestion)
        };
        match err {
            SourceRefused::NoTool { want } => unavailable(&format!("give {want}")),
            SourceRefused::NoFile { .. } => {
                unavailable("give `input.path`: a path below the project's root, without `..`")
            }
            SourceRefused::NotLocal { .. } => {
                unavailable("use `connector_tool` for tools of other connectors")
            }
            SourceRefused::NotEligible { .. } => unavailable("use a tool that is refreshEligible"),
            SourceRefused::Call(err) => Self::from(err),
        }
    }
}
