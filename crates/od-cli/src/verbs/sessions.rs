//! `od sessions …`: the browsers that may open the console.

use od_app::sessions::{self, Revoke};
use od_app::{Caller, Mode};
use od_core::error::ErrorCode;
use od_core::ids::ConsoleSessionId;
use od_wire::session::{RevokedAnswer, SessionLine, SessionsAnswer};

use crate::args::RevokeSession;
use crate::local;
use crate::output::{Answer, CommandError, Exit, Style, Table, Text};
use crate::settings::Settings;
use crate::verbs::daemon;

/// Lists the browsers that may open the console.
pub(crate) fn list(settings: &Settings) -> Result<Answer, CommandError> {
    let found = match local::open_existing(settings)? {
        Some(app) => sessions::list(&app, &Caller::Person).map_err(local::failed)?,
        None => Vec::new(),
    };
    let answer = SessionsAnswer { sessions: found.iter().map(SessionLine::from).collect() };
    if answer.sessions.is_empty() {
        let text = Text::new().line("No browser has a session. `od open` signs one in.");
        return Ok(Answer::of(&answer, text));
    }
    let text = table(&answer.sessions).gap().line("`od sessions revoke ID` ends one.");
    Ok(Answer::of(&answer, text))
}

/// Ends one session, or all of them.
pub(crate) async fn revoke(
    settings: &Settings,
    args: &RevokeSession,
) -> Result<Answer, CommandError> {
    let which = which(args)?;
    let mode = if args.dry_run { Mode::DryRun } else { Mode::Commit };
    // The daemon itself ends what is open at this moment.
    let answer = match daemon::running(settings).await {
        Some(daemon) => {
            let client = daemon::person_client(settings, &daemon)?;
            match &which {
                Revoke::One(id) => client.revoke_session(id, args.dry_run).await?,
                Revoke::All => client.revoke_sessions(args.dry_run).await?,
            }
        }
        None => {
            let app = local::open(settings)?;
            let revoked = sessions::revoke(&app, &Caller::Person, &which, mode);
            let revoked = revoked.map_err(local::failed)?;
            RevokedAnswer { revoked: revoked.iter().map(SessionLine::from).collect() }
        }
    };
    let verb = if args.dry_run { "Would end" } else { "Ended" };
    let text = match answer.revoked.len() {
        0 => Text::new().line("There is no session to end."),
        1 => Text::new().pieces(&[(Style::Good, verb), (Style::Plain, " 1 session:")]),
        count => Text::new()
            .pieces(&[(Style::Good, verb), (Style::Plain, &format!(" {count} sessions:"))]),
    };
    let text = answer.revoked.iter().fold(text, |text, SessionLine { id, browser, .. }| {
        text.line(&format!("  {id}  {}", browser.as_str()))
    });
    let answer = Answer::of(&answer, text);
    Ok(if args.dry_run { answer.dry() } else { answer })
}

fn which(args: &RevokeSession) -> Result<Revoke, CommandError> {
    let usage = |problem: &str, fix: &str| {
        CommandError::new(ErrorCode::BadRequest, problem).suggest(fix).ending(Exit::Usage)
    };
    match (&args.session, args.all) {
        (None, true) => Ok(Revoke::All),
        (Some(id), false) => {
            let id: Result<ConsoleSessionId, _> = id.parse();
            id.map(Revoke::One)
                .map_err(|error| usage(&error.to_string(), "`od sessions list` shows the ids"))
        }
        (Some(_), true) => Err(usage("an id and --all contradict each other", "give one of them")),
        (None, false) => {
            Err(usage("no session is named", "give an id of `od sessions list`, or --all"))
        }
    }
}

fn table(sessions: &[SessionLine]) -> Text {
    let mut table = Table::new(&["ID", "BROWSER", "SINCE", "LAST USED", "ENDS"]);
    for SessionLine { id, browser, created_at, last_used_at, expires_at } in sessions {
        // To the minute: nobody looks for the second.
        let [since, used, ends] =
            [created_at, last_used_at, expires_at].map(|at| at.to_string()[..16].replace('T', " "));
        table.row(&[
            (Style::Bold, id.as_str()),
            (Style::Plain, browser.as_str()),
            (Style::Dim, &since),
            (Style::Plain, &used),
            (Style::Dim, &ends),
        ]);
    }
    table.shrinking(&[1]).lay_out()
}
