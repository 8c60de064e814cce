//! docs/cli.md, from the verb table of `od`.

use super::table::GeneratedFile;

/// Renders the reference of the command line.
pub(super) fn render() -> Result<Vec<GeneratedFile>, String> {
    Ok(vec![GeneratedFile { path: "docs/cli.md".to_owned(), text: od_cli::help::markdown() }])
}
