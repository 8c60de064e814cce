//! `od skills show`

use od_core::error::ErrorCode;

use serde_json::json;

use crate::output::{Answer, Refusal, Text};
use crate::settings::Settings;
use crate::skills::{self, BUILTIN_FILES, BUILTIN_NAME};

/// Prints a skill: the one on disk that an agent would see, else the built-in one.
pub(crate) fn show(name: &str, settings: &Settings) -> Result<Answer, Refusal> {
    let start = super::skills_install::resolve(None)?;
    let found = skills::discover(settings.upward(&start), settings.user_home.as_deref());
    let on_disk = found.iter().find(|skill| skill.name() == name && skill.text.is_some());
    let (path, text) = match on_disk {
        Some(skill) => (Some(&skill.path), skill.text.as_deref().unwrap_or_default()),
        None if name == BUILTIN_NAME => (None, BUILTIN_FILES[0].text),
        None => {
            let message = format!("no skill `{name}` is installed here");
            return Err(Refusal::new(ErrorCode::NotFound, message).suggesting(
                "`od skills list` shows what is; the built-in one is `live-artifact`",
            ));
        }
    };
    let json = json!({ "name": name, "path": path, "builtIn": path.is_none(), "text": text });
    Ok(Answer::new(json, Text::new().block(text)))
}
