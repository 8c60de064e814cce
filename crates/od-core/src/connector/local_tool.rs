//! The tools of this machine: the one place where they are named.

use crate::words::words;

words! {
    /// A tool that reads this machine. A `daemon_tool` source may name each of them, and the
    /// connectors of this machine have exactly these.
    LocalTool {
        /// Finds lines in the project's text files.
        SearchFiles = "project_files.search",
        /// Reads one JSON file of the project.
        ReadJson = "project_files.read_json",
        /// Reads the JSON files of one folder of the project.
        ReadJsonFolder = "project_files.read_json_folder",
        /// Reads rows from a CSV, TSV, JSON or JSON Lines file of the project.
        ReadTable = "project_files.read_table",
        /// Reads a JSON, YAML or TOML file of the project.
        ReadData = "project_files.read_data",
        /// Reads rows of a SQLite database of the project by one SELECT.
        SqliteQuery = "sqlite.query",
        /// Lists the tables and columns of a SQLite database of the project.
        SqliteSchema = "sqlite.schema",
        /// Summarises the project's repository.
        GitSummary = "git.summary",
        /// Lists commits of the project's repository.
        GitLog = "git.log",
        /// Lists the commits that changed one file.
        GitFileHistory = "git.file_history",
        /// Counts the lines of one file by author.
        GitBlameSummary = "git.blame_summary",
        /// Counts words such as TODO in committed files.
        GitCodeSearch = "git.code_search",
    }
}

impl LocalTool {
    /// Returns the connector the tool belongs to.
    #[must_use]
    pub const fn connector(self) -> &'static str {
        match self {
            Self::SearchFiles
            | Self::ReadJson
            | Self::ReadJsonFolder
            | Self::ReadTable
            | Self::ReadData => "project_files",
            Self::SqliteQuery | Self::SqliteSchema => "sqlite",
            Self::GitSummary
            | Self::GitLog
            | Self::GitFileHistory
            | Self::GitBlameSummary
            | Self::GitCodeSearch => "git",
        }
    }
}

impl LocalTool {
    /// Returns the tool that reads a file of this name, for sources that name only the file.
    #[must_use]
    pub fn of_file(path: &str) -> Self {
        match extension(path).as_deref() {
            Some("csv" | "tsv" | "tab" | "jsonl" | "ndjson") => Self::ReadTable,
            Some("yaml" | "yml" | "toml") => Self::ReadData,
            Some(_) | None => Self::ReadJson,
        }
    }

    /// Returns whether a file is a SQLite database by its extension: it is read by a query, not whole.
    #[must_use]
    pub fn is_database(path: &str) -> bool {
        matches!(extension(path).as_deref(), Some("db" | "db3" | "sqlite" | "sqlite3"))
    }
}

fn extension(path: &str) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_by_its_extension() {
        for (path, tool) in [
            ("data/report.json", LocalTool::ReadJson),
            ("x.csv/report", LocalTool::ReadJson),
            ("logs/Access.CSV", LocalTool::ReadTable),
            ("events.jsonl", LocalTool::ReadTable),
            ("okr.yml", LocalTool::ReadData),
            ("Cargo.toml", LocalTool::ReadData),
        ] {
            assert_eq!(LocalTool::of_file(path), tool, "{path}");
        }
    }

    #[test]
    fn a_tool_is_qualified_by_its_connector() {
        for tool in LocalTool::ALL {
            let prefix = format!("{}.", tool.connector());
            assert!(tool.as_str().starts_with(&prefix), "{tool}");
        }
    }
}
