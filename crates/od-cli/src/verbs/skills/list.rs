//! `od skills list` and `show`

use std::path::{Path, PathBuf};

use od_core::error::ErrorCode;
use serde_json::{Value, json};

use crate::local;
use crate::output::{Answer, CommandError, Style, Text};
use crate::settings::Settings;
use crate::skills::{self, BUILTIN_FILES, BUILTIN_NAME, Form, GALLERY, Severity, SkillFile};

/// Shows what an agent started in the directory would see.
pub(crate) fn list(
    directory: Option<PathBuf>,
    settings: &Settings,
) -> Result<Answer, CommandError> {
    let start = local::existing_directory(directory)?;
    let found = skills::discover(settings.upward(&start), settings.user_home.as_deref());
    let mut text = Text::new();
    let is_installed = found.iter().any(|skill| skill.directory == BUILTIN_NAME);
    if !is_installed {
        text = text
            .pieces(&[
                (Style::Bold, BUILTIN_NAME),
                (Style::Dim, "  (built in, not installed here)"),
            ])
            .line("  `od skills install` adds it.")
            .gap();
    }
    let mut listed = Vec::new();
    for skill in &found {
        let (errors, warnings) = faults(skill);
        text = text.then(entry(skill, errors, warnings));
        listed.push(row(skill, errors, warnings));
    }
    let builtin = json!({ "name": BUILTIN_NAME, "installed": is_installed });
    Ok(Answer::new(json!({ "directory": start, "builtin": builtin, "skills": listed }), text))
}

fn faults(skill: &SkillFile) -> (usize, usize) {
    let Some(source) = &skill.text else { return (1, 0) };
    let beside = skill.path.parent().unwrap_or(Path::new(".")).to_owned();
    let findings =
        skills::check(source, Some(&skill.directory), &|path| beside.join(path).exists());
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    (errors, findings.len() - errors)
}

fn description(skill: &SkillFile) -> String {
    match &skill.head {
        Ok(head) => head.description().unwrap_or_default(),
        Err(error) => format!("unreadable: {error}"),
    }
}

fn entry(skill: &SkillFile, errors: usize, warnings: usize) -> Text {
    let mut marks = Vec::new();
    if skill.shadowed {
        marks.push("hidden by a nearer one".to_owned());
    }
    if errors > 0 || warnings > 0 {
        marks.push(format!(
            "{errors} errors, {warnings} warnings: `od skills check {}`",
            skill.path.display()
        ));
    }
    let mark = if marks.is_empty() { String::new() } else { format!("  ({})", marks.join("; ")) };
    let style = if errors > 0 { Style::Bad } else { Style::Warn };
    let mut text = Text::new()
        .pieces(&[(Style::Bold, skill.name()), (style, &mark)])
        .styled(Style::Dim, &format!("  {}", skill.path.display()))
        .line(&format!("  {}", description(skill)));
    if let Ok(head) = &skill.head
        && !head.triggers().is_empty()
    {
        text = text.line(&format!("  triggers: {}", head.triggers().join(", ")));
    }
    text.gap()
}

fn row(skill: &SkillFile, errors: usize, warnings: usize) -> Value {
    let (form, triggers) = match &skill.head {
        Ok(head) => {
            let form = match head.form {
                Form::AgentSkills => "agent_skills",
                Form::OpenDesign => "open_design",
            };
            (Some(form), head.triggers())
        }
        Err(_) => (None, Vec::new()),
    };
    json!({
        "name": skill.name(),
        "description": description(skill),
        "path": skill.path,
        "form": form,
        "triggers": triggers,
        "shadowed": skill.shadowed,
        "errors": errors,
        "warnings": warnings,
    })
}

/// Prints a skill: the one on disk that an agent would see, else the built-in one.
pub(crate) fn show(name: &str, settings: &Settings) -> Result<Answer, CommandError> {
    let start = local::existing_directory(None)?;
    let found = skills::discover(settings.upward(&start), settings.user_home.as_deref());
    let on_disk = found.iter().find(|skill| skill.name() == name && skill.text.is_some());
    let (path, text) = match on_disk {
        Some(skill) => (Some(&skill.path), skill.text.as_deref().unwrap_or_default()),
        None if name == BUILTIN_NAME => (None, BUILTIN_FILES[0].text),
        None => {
            let message = format!("no skill `{name}` is installed here");
            return Err(CommandError::new(ErrorCode::NotFound, message)
                .suggest("`od skills list` shows what is; the built-in one is `live-artifact`"));
        }
    };
    let json = json!({ "name": name, "path": path, "builtIn": path.is_none(), "text": text });
    Ok(Answer::new(json, Text::new().block(text)))
}

/// Lists the templates of the built-in skill.
pub(crate) fn list_templates() -> Answer {
    let rows: Vec<_> =
        GALLERY.iter().map(|(name, purpose)| json!({ "name": name, "purpose": purpose })).collect();
    let text = GALLERY.iter().fold(Text::new(), |text, (name, purpose)| {
        text.pieces(&[(Style::Bold, name), (Style::Plain, ": "), (Style::Plain, purpose)])
    });
    Answer::new(json!({ "templates": rows }), text)
}

/// Prints one template of the built-in skill; as JSON also its sample data.
pub(crate) fn show_template(name: &str) -> Result<Answer, CommandError> {
    let file = |suffix: &str| {
        let path = format!("assets/templates/{name}.{suffix}");
        BUILTIN_FILES.iter().find(|file| file.path == path).map(|file| file.text)
    };
    let (Some(html), Some(data)) = (file("html"), file("data.json")) else {
        let message = format!("there is no template `{name}`");
        let suggestion = "`od skills show live-artifact --templates` lists them";
        return Err(CommandError::new(ErrorCode::NotFound, message).suggest(suggestion));
    };
    let data: Value = serde_json::from_str(data).unwrap_or_default();
    let json = json!({ "name": name, "format": "html_template_v2", "templateHtml": html, "dataJson": data });
    Ok(Answer::new(json, Text::new().block(html)))
}
