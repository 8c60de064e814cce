//! `od artifacts verify`, `repair`: stored files against what was committed.

use std::io::{BufRead, IsTerminal, Write};

use od_app::Caller;
use od_app::artifacts::{Address, RepairArtifact, VerifyReport};
use od_core::error::ErrorCode;
use od_ports::store::RepairMode;
use serde_json::json;

use super::show::find;
use crate::args::{self, ArtifactArgs, VerifyArtifacts};
use crate::local;
use crate::output::{Answer, CommandError, Exit, Style, Text};
use crate::settings::Settings;

/// Checks one artifact, or all of a project, or all there are.
pub(crate) async fn verify(
    settings: &Settings,
    args: VerifyArtifacts,
) -> Result<Answer, CommandError> {
    let Some(app) = local::open_existing(settings)? else {
        return Err(local::nothing_stored(&settings.data_dir));
    };
    let project = local::project(&app, settings, args.project.as_deref()).await?;
    let mut addresses = Vec::new();
    if let Some(named) = &args.artifact {
        let scope = if args.project.is_some() { project.as_ref() } else { None };
        let (project, artifact) = local::artifact(&app, scope, named).await?;
        addresses.push(Address { project: Some(project), artifact });
    } else {
        let lines = local::artifacts(&app, project.map(|project| project.id)).await?;
        addresses.extend(lines.iter().map(|line| Address {
            project: Some(line.project_id.clone()),
            artifact: line.id.clone(),
        }));
    }
    let mut reports = Vec::new();
    for address in addresses {
        let report = od_app::artifacts::verify(&app, &Caller::Person, address).await;
        reports.push(report.map_err(local::failed)?);
    }
    Ok(verified(&reports))
}

fn verified(reports: &[VerifyReport]) -> Answer {
    let bad = reports.iter().filter(|report| !report.ok).count();
    let mut text = Text::new();
    for report in reports {
        let (style, word) = if report.ok { (Style::Good, "ok") } else { (Style::Bad, "bad") };
        text = text.pieces(&[
            (style, &format!("{word:<4}")),
            (Style::Plain, report.artifact_id.as_str()),
            (
                Style::Dim,
                &format!(
                    "  checked: {}, {}, {}",
                    counted(report.files_checked, "file"),
                    counted(report.records_checked, "record"),
                    counted(report.snapshots_checked, "snapshot"),
                ),
            ),
        ]);
        for finding in &report.findings {
            text = text.line(&format!("      {}: {}", finding.file, finding.problem));
        }
        if !report.health.is_healthy() {
            let fix = format!(
                "      `od artifacts repair {} --dry-run` says what it would do",
                report.artifact_id
            );
            text = text.styled(Style::Warn, &fix);
        }
    }
    text = text.line(&format!("{} checked, {bad} with findings", reports.len()));
    let exit = if bad > 0 { Exit::Found } else { Exit::Ok };
    Answer::new(json!({ "reports": reports, "checked": reports.len(), "bad": bad }), text)
        .ending(exit)
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Says what a repair keeps and drops, asks, and does it.
pub(crate) async fn repair(
    settings: &Settings,
    args: args::RepairArtifact,
) -> Result<Answer, CommandError> {
    let (app, address) = find(settings, &args.artifact).await?;
    let run = async |mode| {
        let request = RepairArtifact { address: address.clone(), mode };
        let done = od_app::artifacts::repair(&app, &Caller::Person, request).await;
        done.map_err(local::failed)
    };
    // Planned even with --yes: the answer names what was dropped.
    let plan = run(RepairMode::Plan).await?;
    let mut text = planned(&plan.report.keeps, &plan.report.drops);
    let mut json = json!({
        "artifactId": address.artifact,
        "keeps": plan.report.keeps,
        "drops": plan.report.drops,
        "healthBefore": plan.health_before,
    });
    if args.artifact.dry_run {
        json["dryRun"] = json!(true);
        return Ok(Answer::new(json, text.line("Nothing was changed.")));
    }
    if plan.health_before.is_healthy() {
        json["applied"] = json!(false);
        return Ok(Answer::new(
            json,
            Text::new().line("It is healthy; there is nothing to repair."),
        ));
    }
    if !args.yes && !confirmed(&args.artifact, &text)? {
        return Err(unconfirmed(&args.artifact, "the repair was not confirmed"));
    }
    let done = run(RepairMode::Apply).await?;
    json["applied"] = json!(done.report.applied);
    json["healthAfter"] = json!(done.health_after);
    text =
        text.line(&format!("Repaired: {} is {} now.", address.artifact, done.health_after.state));
    Ok(Answer::new(json, text))
}

fn planned(keeps: &[String], drops: &[String]) -> Text {
    let mut text = Text::new();
    for (style, word, lines) in [(Style::Good, "keeps", keeps), (Style::Warn, "drops", drops)] {
        for line in lines {
            text = text.pieces(&[(style, word), (Style::Plain, "  "), (Style::Plain, line)]);
        }
    }
    if drops.is_empty() {
        text
    } else {
        text.styled(Style::Dim, "What is dropped stays in the artifact's aside/ directory.")
    }
}

/// Asks at a terminal; anywhere else a person has to say --yes.
fn confirmed(args: &ArtifactArgs, plan: &Text) -> Result<bool, CommandError> {
    // Both: the question goes to stderr, so that stdout holds nothing but the answer.
    let (stdin, mut stderr) = (std::io::stdin(), std::io::stderr());
    if !stdin.is_terminal() || !stderr.is_terminal() {
        return Err(unconfirmed(args, "a repair needs a person's word"));
    }
    let mut line = String::new();
    let answered = write!(stderr, "{}Repair it? [y/N] ", plan.render(false))
        .and_then(|()| stderr.flush())
        .and_then(|()| stdin.lock().read_line(&mut line));
    Ok(answered.is_ok() && matches!(line.trim(), "y" | "Y" | "yes"))
}

fn unconfirmed(args: &ArtifactArgs, message: &str) -> CommandError {
    CommandError::new(ErrorCode::BadRequest, message)
        .suggest(format!(
            "look with `od artifacts repair {0} --dry-run`, then `od artifacts repair {0} --yes`",
            args.artifact
        ))
        .ending(Exit::Confirm)
}
