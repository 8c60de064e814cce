//! docs/errors.md and docs/limits.md, from the tables of od-core.

use super::skill_references::schema_keywords;
use super::table::GeneratedFile;

/// What a schema of data may ask.
fn schemas() -> Result<String, String> {
    Ok(format!(
        "## `document.dataSchemaJson`\n\nA strict subset of JSON Schema, enforced at create, at update, at every refresh and at a roll back:\n\n{}\n\n\
         `title`, `description`, `default`, `examples`, `$schema` and `$comment` are read and ask nothing. Any other keyword is\n\
         refused: a rule that is not checked must not look as if it were.\n",
        schema_keywords()?
    ))
}

/// Renders both pages.
pub(super) fn render() -> Result<Vec<GeneratedFile>, String> {
    let page = |path: &str, text: String| GeneratedFile { path: path.to_owned(), text };
    Ok(vec![
        page("docs/errors.md", od_core::error::catalogue_markdown()),
        page("docs/limits.md", format!("{}\n{}", od_core::limits::limits_markdown(), schemas()?)),
    ])
}
