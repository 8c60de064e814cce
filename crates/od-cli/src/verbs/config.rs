//! `od config …`: values of this machine, and where each comes from.

use od_core::error::ErrorCode;
use od_fs::PrivateDir;
use serde_json::{Value, json};

use crate::args::ConfigCommand;
use crate::config::{Config, ConfigError, FILE, Key, Origin};
use crate::local;
use crate::output::{Answer, CommandError, Exit, Style, Table, Text};
use crate::settings::{Settings, config_text};
use crate::verbs::daemon;

/// Lists, shows or changes the configuration.
pub(crate) async fn config(
    settings: &Settings,
    command: ConfigCommand,
) -> Result<Answer, CommandError> {
    match command {
        ConfigCommand::List => list(settings),
        ConfigCommand::Get { key } => get(settings, &key),
        ConfigCommand::Set { key, value, dry_run } => {
            change(settings, &key, Some(&value), dry_run).await
        }
        ConfigCommand::Unset { key, dry_run } => change(settings, &key, None, dry_run).await,
    }
}

fn list(settings: &Settings) -> Result<Answer, CommandError> {
    let mut table = Table::new(&["KEY", "VALUE", "FROM", "VARIABLE"]);
    let mut rows = Vec::new();
    for key in Key::ALL {
        let (value, origin) = settings.configured(key)?;
        let origin_word = origin.to_string();
        table.row(&[
            (Style::Bold, key.name()),
            (Style::Plain, value.as_deref().unwrap_or("–")),
            (Style::Dim, &origin_word),
            (Style::Dim, key.variable()),
        ]);
        rows.push(document(key, value.as_deref(), origin));
    }
    let path = settings.home.join(FILE);
    let shown = local::display_path(&path, settings);
    let text = table
        .shrinking(&[1])
        .sparing(3)
        .lay_out()
        .gap()
        .line(&format!(
            "A flag wins over the environment, that over {shown}, that over the default."
        ))
        .line("`od config set KEY VALUE` writes the file.");
    Ok(Answer::new(json!({ "path": path, "values": rows }), text))
}

fn get(settings: &Settings, key: &str) -> Result<Answer, CommandError> {
    let key = known(key)?;
    let (value, origin) = settings.configured(key)?;
    let text = Text::new().line(value.as_deref().unwrap_or_default());
    Ok(Answer::new(document(key, value.as_deref(), origin), text))
}

fn document(key: Key, value: Option<&str>, origin: Origin) -> Value {
    json!({
        "key": key.name(),
        "value": value,
        "from": origin.to_string(),
        "variable": key.variable(),
        "help": key.help(),
    })
}

async fn change(
    settings: &Settings,
    key: &str,
    value: Option<&str>,
    dry_run: bool,
) -> Result<Answer, CommandError> {
    let path = settings.home.join(FILE);
    let before = config_text(&settings.home)?.unwrap_or_default();
    let (key, name) = (Key::from_name(key), key);
    let after = match (key, value) {
        (Some(key), Some(value)) => {
            // What was typed is not the fault of the file.
            key.parse(value).map_err(|error| mistyped(&error))?;
            Config::edited(&before, key, Some(value))
        }
        (None, Some(_)) => return Err(mistyped(&ConfigError::unknown(name))),
        (_, None) => Config::without(&before, name),
    };
    let after = after.map_err(|error| refused(settings, &error))?;
    if key.is_none() && after == before {
        return Err(mistyped(&ConfigError::unknown(name)));
    }
    let is_changed = before != after;
    if is_changed && !dry_run {
        std::fs::create_dir_all(&settings.home)
            .map_err(|error| CommandError::new(ErrorCode::Internal, error.to_string()))?;
        PrivateDir::open(&settings.home)
            .and_then(|home| home.replace(FILE, after.as_bytes()))
            .map_err(|error| local::untrusted(&error))?;
    }
    let says = match (value, is_changed, dry_run) {
        (_, false, _) => format!("{name} is as it was."),
        (Some(value), true, true) => format!("Would set {name} to {value}."),
        (Some(value), true, false) => format!("Set {name} to {value}."),
        (None, true, true) => format!("Would take {name} away."),
        (None, true, false) => format!("Took {name} away."),
    };
    let mut text = Text::new().line(&says);
    let variable = key.map(Key::variable);
    let shadowing =
        variable.filter(|name| std::env::var_os(name).is_some_and(|text| !text.is_empty()));
    if let Some(variable) = shadowing {
        text = text.styled(Style::Warn, &format!("{variable} is set and wins over the file."));
    }
    let shadowed = shadowing.is_some();
    let needs_restart = is_changed && key.is_some_and(Key::needs_restart);
    let waits = needs_restart && daemon::running(settings).await.is_some();
    if waits {
        text =
            text.line("The running daemon keeps what it started with: `od stop`, then `od open`.");
    }
    let json = json!({ "key": name, "value": value, "path": path, "changed": is_changed,
        "shadowed": shadowed, "restartNeeded": waits });
    let answer = Answer::new(json, text);
    Ok(if dry_run { answer.dry() } else { answer })
}

fn known(name: &str) -> Result<Key, CommandError> {
    Key::from_name(name).ok_or_else(|| mistyped(&ConfigError::unknown(name)))
}

/// Explains what is wrong with what was typed.
fn mistyped(error: &ConfigError) -> CommandError {
    CommandError::new(ErrorCode::BadRequest, error.to_string())
        .suggest(error.fix())
        .ending(Exit::Usage)
}

/// Explains what is wrong with the file.
fn refused(settings: &Settings, error: &ConfigError) -> CommandError {
    let path = settings.home.join(FILE);
    CommandError::new(ErrorCode::BadRequest, format!("{}: {error}", path.display()))
        .suggest(error.fix_of_file())
        .ending(Exit::Usage)
}
