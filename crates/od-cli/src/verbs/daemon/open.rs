//! `od open`, `od artifacts open`

use od_core::ids::{ArtifactId, ProjectId};
use serde_json::json;

use super::browser::open_browser;
use super::process::{ensure, person_client, running};
use crate::args::{Open, OpenArtifact};
use crate::output::{Answer, CommandError, Sink, Style, Text, with_progress};
use crate::settings::Settings;
use crate::verbs::artifacts::find;

/// Opens the console.
pub(crate) async fn open_console(
    settings: &Settings,
    args: &Open,
    sink: Sink,
) -> Result<Answer, CommandError> {
    open(settings, args, None, sink).await
}

/// Opens one artifact in the console.
pub(crate) async fn open_artifact(
    settings: &Settings,
    args: &OpenArtifact,
    sink: Sink,
) -> Result<Answer, CommandError> {
    let (_, address) = find(settings, &args.artifact).await?;
    let wanted = Open { print: args.print, dry_run: args.artifact.dry_run };
    let place = address.project.map(|project| (project, address.artifact));
    open(settings, &wanted, place, sink).await
}

async fn open(
    settings: &Settings,
    args: &Open,
    artifact: Option<(ProjectId, ArtifactId)>,
    sink: Sink,
) -> Result<Answer, CommandError> {
    if args.dry_run {
        let running = running(settings).await.map(|found| found.url);
        let text = match &running {
            Some(url) => Text::new().line(&format!("Would open the console at {url}.")),
            None => Text::new().line("Would start the daemon and open its console."),
        };
        return Ok(Answer::new(json!({ "dryRun": true, "running": running }), text));
    }
    let daemon = with_progress(sink, "starting the daemon", ensure(settings, None)).await?;
    let client = person_client(settings, &daemon)?;
    let made = client.session_code().await?;
    let url = match artifact {
        // In the fragment, which a browser neither sends nor writes into a Referer header. With the code
        // goes the name of the daemon's key: without it a new browser trusts nobody and is not signed in.
        Some((project, artifact)) => {
            let sign_in = made.url.split_once("/#").map_or("", |(_, fragment)| fragment);
            format!("{}/#/p/{project}/live/{artifact}/preview?{sign_in}", daemon.url)
        }
        None => made.url,
    };
    if args.print {
        return Ok(Answer::new(json!({ "url": url, "opened": false }), Text::new().line(&url)));
    }
    if open_browser(&url, settings).await {
        let text = Text::new().line(&format!("Opened the console at {}.", daemon.url));
        return Ok(Answer::new(json!({ "url": daemon.url, "opened": true }), text));
    }
    let text = Text::new()
        .styled(
            Style::Warn,
            "There is no browser to start here. Open this address within 60 seconds:",
        )
        .line(&url);
    Ok(Answer::new(json!({ "url": url, "opened": false }), text))
}
