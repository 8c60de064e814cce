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
        /// Summarises the project's repository.
        GitSummary = "git.summary",
    }
}

impl LocalTool {
    /// Returns the connector the tool belongs to.
    #[must_use]
    pub const fn connector(self) -> &'static str {
        match self {
            Self::SearchFiles | Self::ReadJson | Self::ReadJsonFolder => "project_files",
            Self::GitSummary => "git",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_qualified_by_its_connector() {
        for tool in LocalTool::ALL {
            let prefix = format!("{}.", tool.connector());
            assert!(tool.as_str().starts_with(&prefix), "{tool}");
        }
    }
}
