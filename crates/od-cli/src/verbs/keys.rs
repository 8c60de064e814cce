//! `od keys status`, `rotate`

use std::path::Path;

use od_core::error::ErrorCode;
use od_fs::{FileTokenAuthority, SystemEntropy, shell_quoted};
use od_ports::token_authority::KeyringError;
use serde_json::json;

use crate::output::{Answer, CommandError, Style, Text};
use crate::settings::Settings;

/// Shows whether there are keys, never the keys.
pub(crate) fn status(settings: &Settings) -> Result<Answer, CommandError> {
    let path = settings.home.join("keys/keyring.json");
    // Opening would make one, and looking must change nothing.
    if !path.exists() {
        let text = Text::new().line("No keyring yet; the first daemon or `od init` makes one.");
        return Ok(Answer::new(
            json!({ "path": path, "exists": false, "hasPrevious": false }),
            text,
        ));
    }
    let authority = open(settings)?;
    let has_previous = authority.has_previous().map_err(|error| refused(settings, &error))?;
    let previous = if has_previous {
        "a previous key is still accepted; the next rotation drops it"
    } else {
        "no previous key"
    };
    let text = Text::new()
        .pieces(&[(Style::Good, "ok "), (Style::Plain, &path.display().to_string())])
        .line("  one current key signs")
        .line(&format!("  {previous}"));
    Ok(Answer::new(json!({ "path": path, "exists": true, "hasPrevious": has_previous }), text))
}

/// Makes a new current key and keeps the one before for checking.
pub(crate) fn rotate(settings: &Settings, dry_run: bool) -> Result<Answer, CommandError> {
    if dry_run {
        let text = Text::new().line(
            "Would make a new signing key. Tokens of the present one stay valid until the next rotation.",
        );
        return Ok(Answer::new(json!({ "dryRun": true }), text));
    }
    let authority = open(settings)?;
    authority.rotate(&SystemEntropy::new()).map_err(|error| refused(settings, &error))?;
    let text = Text::new().line(
        "A new key signs from now on. Running agents go on with the one before; rotate again to shut it out.",
    );
    Ok(Answer::new(json!({ "rotated": true }), text))
}

fn open(settings: &Settings) -> Result<FileTokenAuthority, CommandError> {
    FileTokenAuthority::open(&settings.home, &SystemEntropy::new())
        .map_err(|error| refused(settings, &error))
}

fn refused(settings: &Settings, error: &KeyringError) -> CommandError {
    CommandError::new(ErrorCode::Internal, error.to_string()).suggest(fix(&settings.home, error))
}

/// Says what makes the keyring of a home usable.
pub(crate) fn fix(home: &Path, error: &KeyringError) -> String {
    let path = home.join("keys/keyring.json");
    match error {
        KeyringError::Untrusted { fix, .. } => fix.clone(),
        KeyringError::TooOpen => format!("chmod 600 {}", shell_quoted(&path)),
        KeyringError::Damaged => format!(
            "move {} away: a new one is made, and running agents have to be started again",
            path.display()
        ),
        KeyringError::NoEntropy | KeyringError::Io { .. } => {
            format!("check permissions and free space of {}", path.display())
        }
    }
}
