//! `od connectors …`

use std::io::{self, BufRead, IsTerminal, Read, Write};

use od_app::Caller;
use od_app::connectors::connect::Connect;
use od_core::connector::{Connector, ConnectorStatus};
use od_core::error::ErrorCode;
use od_core::ids::ConnectorId;
use od_ports::access::credential_vault::Secret;
use od_wire::connector::{ConnectConnector, ConnectorAnswer};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use serde_json::json;

use crate::args::{ConnectorArgs, nearest};
use crate::local;
use crate::output::{Answer, CommandError, Sink, Style, Text, with_progress};
use crate::settings::Settings;
use crate::verbs::daemon;

/// Lists every connector with its state and tools.
pub(crate) async fn list(settings: &Settings) -> Result<Answer, CommandError> {
    let connectors = all(settings).await?;
    let mut text = Text::new();
    for connector in &connectors {
        let (style, state) = state(connector);
        let account = connector.account_label.as_deref().map(|label| format!(" as {label}"));
        text = text.pieces(&[
            (Style::Bold, &format!("{:<14} ", connector.id.as_str())),
            (style, &format!("{state}{}", account.unwrap_or_default())),
        ]);
        if let Some(description) = &connector.description {
            text = text.line(&format!("  {description}"));
        }
        for tool in &connector.tools {
            text = text.pieces(&[
                (Style::Plain, &format!("  {:<32} ", tool.name.as_str())),
                (Style::Dim, &tool.title),
            ]);
        }
        text = text.gap();
    }
    Ok(Answer::new(json!({ "connectors": connectors }), text))
}

fn state(connector: &Connector) -> (Style, String) {
    let word = connector.status.to_string();
    match connector.status {
        ConnectorStatus::Connected => (Style::Good, word),
        ConnectorStatus::Available => (Style::Plain, word),
        ConnectorStatus::Error => (Style::Bad, word),
        ConnectorStatus::Disabled => (Style::Warn, word),
    }
}

async fn all(settings: &Settings) -> Result<Vec<Connector>, CommandError> {
    // Where nothing is stored yet every connector stands as it comes; looking makes no directories.
    let scratch = tempfile::tempdir().map_err(|error| {
        CommandError::new(ErrorCode::Internal, format!("there is no temporary directory: {error}"))
    })?;
    let app = match local::open_existing(settings)? {
        Some(app) => app,
        None => local::open_in(scratch.path())?,
    };
    od_app::connectors::list(&app, &Caller::Person).await.map_err(local::failed)
}

/// Finds the connector that a person names.
async fn find(settings: &Settings, named: &str) -> Result<Connector, CommandError> {
    let all = all(settings).await?;
    if let Some(found) = all.iter().find(|connector| connector.id.as_str() == named) {
        return Ok(found.clone());
    }
    let ids: Vec<&str> = all.iter().map(|connector| connector.id.as_str()).collect();
    let hint = match nearest(named, &ids) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`od connectors list` shows them all".to_owned(),
    };
    let message = format!("no connector `{named}`");
    Err(CommandError::new(ErrorCode::ConnectorNotFound, message).suggest(hint))
}

/// Connects a connector, asking for its secret if it takes one.
pub(crate) async fn connect(
    settings: &Settings,
    args: &ConnectorArgs,
    sink: Sink,
) -> Result<Answer, CommandError> {
    let found = find(settings, &args.connector).await?;
    let takes_secret = found.auth.provider != "none";
    if args.dry_run {
        let how =
            if takes_secret { "Would ask for its secret and connect" } else { "Would connect" };
        let json = json!({ "dryRun": true, "connectorId": found.id, "takesSecret": takes_secret });
        return Ok(Answer::new(json, Text::new().line(&format!("{how} {}.", found.id))));
    }
    // Never from an argument: other users see those in the process list, and shells keep them.
    let secret = if takes_secret {
        read_secret(&format!("{} token (not shown)", found.name))?
    } else {
        None
    };
    let work = connect_with(settings, &found.id, secret);
    let answer = with_progress(sink, &format!("connecting {}", found.id), work).await?;
    let account = answer.connector.account_label.as_deref().filter(|label| !label.is_empty());
    let as_whom = account.map(|label| format!(" as {label}")).unwrap_or_default();
    let text = Text::new().pieces(&[
        (Style::Good, "Connected "),
        (Style::Bold, found.id.as_str()),
        (Style::Plain, &as_whom),
    ]);
    Ok(Answer::of(&answer, text))
}

async fn connect_with(
    settings: &Settings,
    connector: &ConnectorId,
    secret: Option<String>,
) -> Result<ConnectorAnswer, CommandError> {
    if let Some(daemon) = daemon::running(settings).await {
        let client = daemon::person_client(settings, &daemon)?;
        return Ok(client.connect(connector, &ConnectConnector { secret }).await?);
    }
    let app = local::open(settings)?;
    let secret = secret.as_deref().map(Secret::parse).transpose().map_err(|error| {
        CommandError::new(ErrorCode::BadRequest, error.to_string())
            .suggest("paste the token alone, without spaces or line breaks inside")
    })?;
    let request = Connect { connector: connector.clone(), secret };
    let done = od_app::connectors::connect(&app, &Caller::Person, request).await;
    Ok(ConnectorAnswer { connector: done.map_err(local::failed)? })
}

/// Disconnects a connector and forgets its secret.
pub(crate) async fn disconnect(
    settings: &Settings,
    args: &ConnectorArgs,
) -> Result<Answer, CommandError> {
    let found = find(settings, &args.connector).await?;
    if args.dry_run {
        let json = json!({ "dryRun": true, "connectorId": found.id });
        let text = format!("Would disconnect {}; nothing would run it then.", found.id);
        return Ok(Answer::new(json, Text::new().line(&text)));
    }
    let answer = match daemon::running(settings).await {
        Some(daemon) => {
            let client = daemon::person_client(settings, &daemon)?;
            client.disconnect(&found.id).await?
        }
        None => {
            let app = local::open(settings)?;
            let done = od_app::connectors::disconnect(&app, &Caller::Person, &found.id).await;
            ConnectorAnswer { connector: done.map_err(local::failed)? }
        }
    };
    let takes_secret = found.auth.provider != "none";
    let forgotten = if takes_secret { " and forgot its secret" } else { "" };
    let text = Text::new()
        .pieces(&[
            (Style::Good, "Disconnected "),
            (Style::Bold, found.id.as_str()),
            (Style::Plain, forgotten),
        ])
        .styled(
            Style::Dim,
            &format!("Nothing runs it until `od connectors connect {}`.", found.id),
        );
    Ok(Answer::of(&answer, text))
}

/// The bytes that are read of a secret: one more than it may have, or a longer one would be cut and
/// kept as if it were whole.
const SECRET_BYTES_READ: u64 = od_core::limits::CREDENTIAL.allowed + 1;

/// Reads a secret; `None` if the person gave an empty one.
pub(crate) fn read_secret(prompt: &str) -> Result<Option<String>, CommandError> {
    let stdin = io::stdin();
    let mut text = String::new();
    let read = if stdin.is_terminal() {
        without_echo(prompt, &mut text)
    } else {
        stdin.lock().take(SECRET_BYTES_READ).read_to_string(&mut text).map(|_| ())
    };
    read.map_err(|error| {
        CommandError::new(ErrorCode::BadRequest, format!("cannot read the secret: {error}"))
            .suggest("type it at a terminal, or give it on stdin")
    })?;
    let secret = text.trim();
    Ok((!secret.is_empty()).then(|| secret.to_owned()))
}

/// Reads one line with echo switched off, and switches it on again whatever happens.
fn without_echo(prompt: &str, text: &mut String) -> io::Result<()> {
    let stdin = io::stdin();
    let before = tcgetattr(&stdin)?;
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&stdin, OptionalActions::Flush, &silent)?;
    let mut stderr = io::stderr();
    let read = write!(stderr, "{prompt}: ")
        .and_then(|()| stderr.flush())
        .and_then(|()| stdin.lock().read_line(text).map(|_| ()));
    tcsetattr(&stdin, OptionalActions::Flush, &before)?;
    writeln!(stderr)?;
    read
}
