//! Reads files of the project: JSON, folders of JSON, tables, documents.

use od_core::credential::is_secret_path;
use od_core::ids::RelPath;
use od_core::intake::{DecimalMark, Intake, JsonText};
use od_core::json::{Map, Value};
use od_core::limits::{DATA_FILE, INTAKE_SOURCE};
use od_ports::connector_provider::{ProviderError, RawOutput, ToolCall};
use od_ports::project_files::{FileEntry, ProjectFiles};

use super::provider::text;
use crate::formats::{DataFormat, Delimited, FormatFault, TableFormat, delimiter_of};

/// Files listed below the root before the folder's own are chosen.
const LISTED_MAX: usize = od_core::limits::JSON_FOLDER_LISTED.max();
/// Files read from one folder.
const FILES_MAX: usize = od_core::limits::JSON_FOLDER_FILES.max();

/// Reads one JSON file.
pub(super) async fn read_json(
    files: &dyn ProjectFiles,
    call: &ToolCall,
) -> Result<RawOutput, ProviderError> {
    let path = call.path("path")?;
    let bytes = files.read(&call.project, &path, INTAKE_SOURCE.allowed).await?;
    let output = DataFormat::Json.read(&bytes).map_err(|fault| fault.of(path.as_str()))?;
    Ok(described(RawOutput { output, ..RawOutput::default() }, &path, bytes.len()))
}

/// Reads every `*.json` directly in a folder, by name. One that cannot be read fails the call: a
/// report with a silent gap is worse than none.
pub(super) async fn read_json_folder(
    files: &dyn ProjectFiles,
    call: &ToolCall,
) -> Result<RawOutput, ProviderError> {
    let folder = &call.path("folder")?;
    let listing = files.list(&call.project, LISTED_MAX).await?;
    let is_inside = |file: &FileEntry| {
        let path = file.path.as_str().strip_prefix(folder.as_str());
        path.and_then(|rest| rest.strip_prefix('/')).is_some_and(|name| {
            !name.contains('/') && name.ends_with(".json") && !is_secret_path(name)
        })
    };
    let inside: Vec<FileEntry> = listing.files.into_iter().filter(is_inside).collect();
    if inside.is_empty() {
        return Err(ProviderError::Missing {
            message: format!("there is no JSON file in the folder `{folder}`"),
        });
    }
    let count = inside.len();
    // Put together as text: a tree of all files would take many times their bytes.
    let mut text = String::from("{\"files\":[");
    let mut total = 0;
    for (i, file) in inside.iter().take(FILES_MAX).enumerate() {
        let bytes = files.read(&call.project, &file.path, INTAKE_SOURCE.allowed).await?;
        total += bytes.len();
        if !INTAKE_SOURCE.allows(total) {
            return Err(ProviderError::TooLarge { allowed: INTAKE_SOURCE.allowed });
        }
        let of_file = |fault| FormatFault::Intake(fault).of(file.path.as_str());
        let value = JsonText::parse(&bytes).map_err(of_file)?;
        let path = Value::from(file.path.as_str());
        let comma = if i == 0 { "" } else { "," };
        text.push_str(&format!("{comma}{{\"path\":{path},\"value\":"));
        text.push_str(value.as_str());
        text.push('}');
    }
    text.push_str(&format!("],\"count\":{count},\"truncated\":{}}}", count > FILES_MAX));
    let output = JsonText::parse(text.as_bytes());
    let output = output.map_err(|fault| FormatFault::Intake(fault).of(folder.as_str()))?;
    let mut metadata = Map::new();
    metadata.insert("folder".to_owned(), Value::from(folder.as_str()));
    let summary = Some(format!("{count} JSON files in {folder}"));
    Ok(RawOutput { summary, metadata, output: Intake::Json(output), ..RawOutput::default() })
}

/// Reads the rows of a CSV, TSV, JSON or JSON Lines file.
pub(super) async fn read_table(
    files: &dyn ProjectFiles,
    call: &ToolCall,
) -> Result<RawOutput, ProviderError> {
    let path = call.path("path")?;
    let delimiter = match text(&call.input, "delimiter") {
        None => None,
        Some(given) => Some(delimiter_of(given).ok_or_else(|| ProviderError::Input {
            pointer: "/delimiter".to_owned(),
            message: "a delimiter is one ASCII character, or `tab`".to_owned(),
        })?),
    };
    let has_no_header = call.input.get("header").and_then(Value::as_bool) == Some(false);
    let bytes = files.read(&call.project, &path, INTAKE_SOURCE.allowed).await?;
    let format = TableFormat::of(path.as_str(), &bytes);
    let decimal = match text(&call.input, "decimal") {
        Some(",") => DecimalMark::Comma,
        Some(_) | None => DecimalMark::Point,
    };
    let options = Delimited { delimiter, has_no_header, decimal };
    let output = format.read(&bytes, &options).map_err(|fault| fault.of(path.as_str()))?;
    let (rows, commas) = match &output {
        Intake::Table(table) => {
            (Some(table.len()), table.comma_columns().into_iter().map(str::to_owned).collect())
        }
        Intake::Json(_) => (None, Vec::new()),
    };
    let mut raw = described(RawOutput { output, ..RawOutput::default() }, &path, bytes.len());
    if let Some(rows) = rows {
        raw.metadata.insert("rows".to_owned(), rows.into());
        raw.summary = Some(format!("{path}, {rows} rows{}", comma_remark(&commas)));
    }
    Ok(raw)
}

/// Says which columns stay texts for their decimal comma.
fn comma_remark(columns: &[String]) -> String {
    let Some(first) = columns.first() else { return String::new() };
    let more = match columns.len() {
        1 => String::new(),
        several => format!(" and {} more", several - 1),
    };
    format!("; `{first}`{more} hold numbers with a decimal comma as texts: give decimal \",\"")
}

/// Reads one JSON, YAML or TOML file.
pub(super) async fn read_data(
    files: &dyn ProjectFiles,
    call: &ToolCall,
) -> Result<RawOutput, ProviderError> {
    let path = call.path("path")?;
    let format = DataFormat::of(path.as_str()).ok_or_else(|| ProviderError::Input {
        pointer: "/path".to_owned(),
        message: format!(
            "`{path}` ends with none of .json, .yaml, .yml and .toml; read_table reads rows"
        ),
    })?;
    let bytes_max = match format {
        DataFormat::Json => INTAKE_SOURCE.allowed,
        DataFormat::Yaml | DataFormat::Toml => DATA_FILE.allowed,
    };
    let bytes = files.read(&call.project, &path, bytes_max).await?;
    let output = format.read(&bytes).map_err(|fault| fault.of(path.as_str()))?;
    Ok(described(RawOutput { output, ..RawOutput::default() }, &path, bytes.len()))
}

/// Says which file an output is from.
fn described(mut raw: RawOutput, path: &RelPath, bytes: usize) -> RawOutput {
    raw.summary = Some(format!("{path}, {bytes} bytes"));
    raw.metadata.insert("path".to_owned(), path.as_str().into());
    raw.metadata.insert("bytes".to_owned(), bytes.into());
    raw
}
