//! docs/errors.md and docs/limits.md, from the tables of od-core.

use super::table::GeneratedFile;

/// Renders both pages.
pub(super) fn render() -> Result<Vec<GeneratedFile>, String> {
    let page = |path: &str, text: String| GeneratedFile { path: path.to_owned(), text };
    Ok(vec![
        page("docs/errors.md", od_core::error::catalogue_markdown()),
        page("docs/limits.md", od_core::limits::limits_markdown()),
    ])
}
