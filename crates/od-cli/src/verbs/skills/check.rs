//! `od skills check`

use od_core::error::ErrorCode;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::local;
use crate::output::{Answer, CommandError, Exit, Style, Text};
use crate::settings::Settings;
use crate::skills::{self, Finding, Severity, SkillFile};

/// Checks SKILL.md files; those that an agent here would see, if none are named.
pub(crate) fn check(paths: &[PathBuf], settings: &Settings) -> Result<Answer, CommandError> {
    let files = if paths.is_empty() {
        let start = local::existing_directory(None)?;
        skills::discover(settings.upward(&start), settings.user_home.as_deref())
    } else {
        paths.iter().map(|path| named(path)).collect::<Result<_, _>>()?
    };
    if files.is_empty() {
        return Err(CommandError::new(ErrorCode::NotFound, "there is no skill here to check")
            .suggest("name a SKILL.md, or install one with `od skills install`"));
    }
    let mut text = Text::new();
    let mut rows = Vec::new();
    let (mut errors, mut warnings) = (0, 0);
    for file in &files {
        let findings = findings(file);
        for finding in &findings {
            match finding.severity {
                Severity::Error => errors += 1,
                Severity::Warning => warnings += 1,
            }
            text = text.then(shown(&file.path, finding));
        }
        rows.push(json!({
            "path": file.path,
            "name": file.name(),
            "findings": findings.iter().map(|finding| json!({
            "severity": match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            "line": finding.at.line,
            "column": finding.at.column,
            "message": finding.message,
            "fix": finding.fix,
        })).collect::<Vec<_>>(),
        }));
    }
    let style = if errors > 0 { Style::Bad } else { Style::Good };
    text = text
        .styled(style, &format!("{} checked, {errors} errors, {warnings} warnings", files.len()));
    let json = json!({ "skills": rows, "errors": errors, "warnings": warnings });
    let exit = if errors > 0 { Exit::Found } else { Exit::Ok };
    Ok(Answer::new(json, text).ending(exit))
}

fn named(path: &Path) -> Result<SkillFile, CommandError> {
    let file = if path.is_dir() { path.join("SKILL.md") } else { path.to_owned() };
    // An absolute path, so that `od skills check SKILL.md` knows the name of its directory.
    let file = std::fs::canonicalize(&file).map_err(|error| {
        CommandError::new(ErrorCode::NotFound, format!("{}: {error}", file.display()))
            .suggest("name a SKILL.md or the directory it lies in")
    })?;
    Ok(skills::load(&file))
}

fn findings(file: &SkillFile) -> Vec<Finding> {
    let beside = file.path.parent().unwrap_or(Path::new(".")).to_owned();
    skills::check(file.text.as_deref().unwrap_or_default(), Some(&file.directory), &|path| {
        beside.join(path).exists()
    })
}

fn shown(path: &Path, finding: &Finding) -> Text {
    let (style, word) = match finding.severity {
        Severity::Error => (Style::Bad, "error"),
        Severity::Warning => (Style::Warn, "warning"),
    };
    Text::new()
        .pieces(&[
            (
                Style::Bold,
                &format!("{}:{}:{}: ", path.display(), finding.at.line, finding.at.column),
            ),
            (style, word),
            (Style::Plain, ": "),
            (Style::Plain, &finding.message),
        ])
        .pieces(&[(Style::Dim, "  fix: "), (Style::Plain, &finding.fix)])
}
