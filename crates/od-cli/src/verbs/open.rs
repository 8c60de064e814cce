//! `od open`, `od artifacts open`

use od_core::ids::{ArtifactId, ProjectId};
use serde_json::json;

use super::artifacts_show::find;
use crate::args::{OneArtifact, Open};
use crate::browser;
use crate::daemon_process;
use crate::output::{Answer, Refusal, Sink, Style, Text, with_progress};
use crate::settings::Settings;

/// Opens the console.
pub(crate) async fn console(
    settings: &Settings,
    asked: &Open,
    sink: Sink,
) -> Result<Answer, Refusal> {
    open(settings, asked, None, sink).await
}

/// Opens one artifact in the console.
pub(crate) async fn artifact(
    settings: &Settings,
    asked: &OneArtifact,
    print: bool,
    sink: Sink,
) -> Result<Answer, Refusal> {
    let (_, address) = find(settings, asked).await?;
    let wanted = Open { print, dry_run: asked.dry_run };
    let place = address.project.map(|project| (project, address.artifact));
    open(settings, &wanted, place, sink).await
}

async fn open(
    settings: &Settings,
    asked: &Open,
    artifact: Option<(ProjectId, ArtifactId)>,
    sink: Sink,
) -> Result<Answer, Refusal> {
    if asked.dry_run {
        let running = daemon_process::running(settings).await.map(|found| found.url);
        let text = match &running {
            Some(url) => Text::new().line(&format!("Would open the console at {url}.")),
            None => Text::new().line("Would start the daemon and open its console."),
        };
        return Ok(Answer::new(json!({ "dryRun": true, "running": running }), text));
    }
    let daemon =
        with_progress(sink, "starting the daemon", daemon_process::ensure(settings, None)).await?;
    let client = daemon_process::person(settings, &daemon)?;
    let made = client.session_code().await?;
    let url = match artifact {
        Some((project, artifact)) => {
            format!("{}/#/p/{project}/live/{artifact}/preview?code={}", daemon.url, made.code)
        }
        None => made.url,
    };
    if asked.print {
        return Ok(Answer::new(json!({ "url": url, "opened": false }), Text::new().line(&url)));
    }
    if browser::open(&url, &settings.data_dir).await {
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
