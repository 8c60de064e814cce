//! The live-artifact skill, embedded in the binary.

/// One file of the built-in skill.
#[derive(Clone, Copy, Debug)]
pub struct BuiltinFile {
    /// Its path inside the skill's directory.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// The built-in skill's name.
pub const BUILTIN_NAME: &str = "live-artifact";

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        &[$(BuiltinFile {
            path: $path,
            text: include_str!(concat!("../../../../skills/live-artifact/", $path)),
        }),*]
    };
}

/// Every file of the built-in skill, SKILL.md first.
pub const BUILTIN_FILES: &[BuiltinFile] = files![
    "SKILL.md",
    "references/artifact-schema.md",
    "references/connector-policy.md",
    "references/refresh-contract.md",
    "assets/templates/dashboard.html",
    "assets/templates/dashboard.data.json",
    "assets/templates/report.html",
    "assets/templates/report.data.json",
];
