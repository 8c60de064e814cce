//! `od artifacts check`, `verify`, `repair`: checks on the data, and stored files against what was committed.

use od_app::artifacts::{Address, CheckReport, RepairArtifact, VerifyReport};
use od_app::{App, Caller};
use od_core::checks::{CheckState, Severity};
use od_core::error::ErrorCode;
use od_ports::store::{RepairMode, RepairReport};
use serde_json::json;

use super::show::find;
use crate::args::{self, ArtifactArgs, VerifyArtifacts};
use crate::local;
use crate::output::{Answer, CommandError, Exit, Style, Text, ask, counted};
use crate::settings::Settings;

/// Works out the checks of one artifact, or of all of a project, or of all there are.
pub(crate) async fn check(
    settings: &Settings,
    args: VerifyArtifacts,
) -> Result<Answer, CommandError> {
    let (app, addresses) = addressed(settings, args).await?;
    let mut reports = Vec::new();
    for address in addresses {
        let report = od_app::artifacts::check(&app, &Caller::Person, address).await;
        reports.push(report.map_err(local::failed)?);
    }
    Ok(checked(&reports))
}

fn checked(reports: &[CheckReport]) -> Answer {
    let mut text = Text::new();
    let (mut all, mut open) = (0, 0);
    for (report, result) in
        reports.iter().flat_map(|report| report.checks.iter().map(move |result| (report, result)))
    {
        let style = match (result.state, result.severity) {
            (CheckState::Passing, _) => Style::Good,
            (CheckState::Failing, Severity::Critical) => Style::Bad,
            (CheckState::Failing | CheckState::Unknown, _) => Style::Warn,
        };
        all += 1;
        open += usize::from(result.state != CheckState::Passing);
        let found = result.found.as_deref().unwrap_or("nothing there");
        text = text.pieces(&[
            (style, &format!("{:<8}", result.state.as_str())),
            (Style::Plain, &format!("{} {}: {}", report.artifact_id, result.id, result.message)),
            (Style::Dim, &format!("  ({found}, {})", result.severity)),
        ]);
    }
    text = match (all, open) {
        (0, _) => text.line("No checks. An artifact has them in `document.checks`."),
        (all, 0) => text.line(&format!("{} hold.", counted(all, "check"))),
        (all, open) => text.line(&format!("{open} of {} do not hold.", counted(all, "check"))),
    };
    let exit = if open == 0 { Exit::Ok } else { Exit::Found };
    Answer::new(json!({ "ok": open == 0, "artifacts": reports }), text).ending(exit)
}

/// Returns the artifact that was named, or all of the project, or all there are.
async fn addressed(
    settings: &Settings,
    args: VerifyArtifacts,
) -> Result<(App, Vec<Address>), CommandError> {
    let Some(app) = local::open_existing(settings)? else {
        return Err(local::nothing_stored(&settings.data_dir));
    };
    let mut addresses = Vec::new();
    if let Some(named) = &args.artifact {
        let (project, artifact) =
            local::artifact(&app, settings, args.project.as_deref(), named).await?;
        addresses.push(Address { project: Some(project), artifact });
    } else {
        let project = local::project(&app, settings, args.project.as_deref()).await?;
        let lines = local::artifacts(&app, project.map(|project| project.id)).await?;
        addresses.extend(lines.iter().map(|line| Address {
            project: Some(line.project_id.clone()),
            artifact: line.id.clone(),
        }));
    }
    Ok((app, addresses))
}

/// Checks one artifact, or all of a project, or all there are.
pub(crate) async fn verify(
    settings: &Settings,
    args: VerifyArtifacts,
) -> Result<Answer, CommandError> {
    let (app, addresses) = addressed(settings, args).await?;
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
        // Only artifacts from before every revision was kept have any.
        let snapshots = match report.snapshots_checked {
            0 => String::new(),
            some => format!(", {}", counted(some, "snapshot")),
        };
        text = text.pieces(&[
            (style, &format!("{word:<4}")),
            (Style::Plain, report.artifact_id.as_str()),
            (
                Style::Dim,
                &format!(
                    "  checked: {}, {}, {}{snapshots}",
                    counted(report.files_checked, "file"),
                    counted(report.records_checked, "record"),
                    counted(report.revisions_checked, "revision"),
                ),
            ),
        ]);
        for finding in &report.findings {
            text = text.line(&format!("      {}: {}", finding.file, finding.problem));
        }
        // Nothing brings a lost content back; the page and every other revision are whole.
        let is_only_history = report.health.is_healthy()
            && report.findings.iter().all(|finding| finding.file.starts_with("objects/"));
        if !report.ok {
            let fix = if is_only_history {
                "      only these revisions are lost; the artifact itself is whole".to_owned()
            } else {
                let id = &report.artifact_id;
                format!("      `od artifacts repair {id} --dry-run` says what it would do")
            };
            text = text.styled(Style::Warn, &fix);
        }
    }
    text = text.line(&format!("{} checked, {bad} with findings", reports.len()));
    let exit = if bad > 0 { Exit::Found } else { Exit::Ok };
    Answer::new(json!({ "reports": reports, "checked": reports.len(), "bad": bad }), text)
        .ending(exit)
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
    // A commit that nobody finishes is served like any other, so it is healthy and there is work.
    let is_whole = plan.health_before.is_healthy() && plan.report == RepairReport::default();
    if is_whole {
        text = text.line("It is healthy; there is nothing to repair.");
    }
    if args.artifact.dry_run {
        json["dryRun"] = json!(true);
        return Ok(Answer::new(json, text.line("Nothing was changed.")));
    }
    if is_whole {
        json["applied"] = json!(false);
        return Ok(Answer::new(json, text));
    }
    if !args.yes && ask(&text, "Repair it?") != Some(true) {
        return Err(unconfirmed(&args.artifact, "a repair needs a person's word"));
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

fn unconfirmed(args: &ArtifactArgs, message: &str) -> CommandError {
    CommandError::new(ErrorCode::BadRequest, message)
        .suggest(format!(
            "look with `od artifacts repair {0} --dry-run`, then `od artifacts repair {0} --yes`",
            args.artifact
        ))
        .ending(Exit::Confirm)
}

#[cfg(test)]
mod tests {
    use od_app::artifacts::Finding;
    use od_core::artifact::Health;

    use super::*;

    #[test]
    fn a_lost_revision_is_not_said_to_be_repairable() {
        let report = |file: &str| VerifyReport {
            artifact_id: "la-x-0123456789ab".parse().unwrap(),
            health: Health::HEALTHY,
            ok: false,
            findings: vec![Finding { file: file.to_owned(), problem: "it is damaged".to_owned() }],
            files_checked: 4,
            records_checked: 1,
            snapshots_checked: 0,
            revisions_checked: 2,
        };
        let said = |file| verified(&[report(file)]).text.render(false);
        assert!(said("objects/ab").contains("only these revisions are lost"));
        assert!(said("index.html").contains("`od artifacts repair la-x-0123456789ab --dry-run`"));
    }
}
