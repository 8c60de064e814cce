//! The table of generators.

/// A folder or file that a function derives from the types.
pub(crate) struct Generated {
    /// The generator's name, for messages.
    pub(crate) name: &'static str,
    /// A folder that holds nothing but this generator's files: whatever else lies there is stale.
    pub(crate) owns: Option<&'static str>,
    /// Returns every file of this generator.
    pub(crate) render: fn() -> Result<Vec<GeneratedFile>, String>,
}

/// One derived file.
pub(crate) struct GeneratedFile {
    /// Its path from the root of the repository.
    pub(crate) path: String,
    /// Its whole text.
    pub(crate) text: String,
}

/// Every derived file. A new generator is a new line here.
pub(crate) const GENERATED: &[Generated] = &[
    Generated { name: "cli", owns: None, render: super::cli::render },
    Generated { name: "console", owns: None, render: super::console::render },
    Generated { name: "core docs", owns: None, render: super::core_docs::render },
    Generated { name: "schemas", owns: Some("docs/schemas"), render: super::schemas::render },
    Generated { name: "http api", owns: None, render: super::http_api::render },
    Generated { name: "template guide", owns: None, render: super::templates::render },
    Generated { name: "skill references", owns: None, render: super::skill_references::render },
];
