//! One artifact of a site: its files, its line in the index, its changes.

use crate::artifact::{ArtifactState, ArtifactSummary, Freshness, Health};
use crate::export::{self, ExportFormat, ExportRefused};
use crate::ids::{ArtifactId, Revision, Timestamp};
use crate::json::pretty_bytes;
use crate::ledger::{CommitKind, CommitRecord, Part};
use crate::limits::SITE_CHANGES;

/// One file of a site.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SiteFile {
    /// The path below the site's folder.
    pub path: String,
    /// The contents.
    pub bytes: Vec<u8>,
}

/// The line of one artifact in the index.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SiteLine {
    /// The name of its page, without `.html`.
    pub file: String,
    /// The artifact.
    pub artifact: ArtifactId,
    /// What a person calls it.
    pub title: String,
    /// What it shows.
    pub description: Option<String>,
    /// When its data was made.
    pub as_of: Timestamp,
    /// From when on its data is stale, if it has a source.
    pub stale_after: Option<Timestamp>,
    /// What is wrong with it, whatever the time is: checks that do not hold, a refresh that failed.
    pub faults: Vec<String>,
}

/// One commit of an artifact of a site.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SiteChange {
    /// The name of the artifact's page, without `.html`.
    pub file: String,
    /// The artifact.
    pub artifact: ArtifactId,
    /// What a person calls it.
    pub title: String,
    /// The revision.
    pub revision: Revision,
    /// When it was committed.
    pub at: Timestamp,
    /// The change, in a few words.
    pub told: String,
}

/// Makes the files of one artifact: page, data, provenance, and a CSV file of every table and of every
/// chart of more than one value.
///
/// # Errors
///
/// Fails when the template does not fit the data.
pub fn artifact_files(file: &str, state: &ArtifactState) -> Result<Vec<SiteFile>, ExportRefused> {
    let tables = export::tables_of_many(state);
    let mut tables_of = Vec::new();
    for table in &tables {
        let made = export::export(state, ExportFormat::Csv, Some(table))?;
        let name: String = table
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
            .collect();
        // Two paths may come to one name: the first keeps it.
        let path = format!("{file}/{name}.csv");
        if tables_of.iter().all(|(_, other): &(String, SiteFile)| other.path != path) {
            tables_of.push((table.clone(), SiteFile { path, bytes: made.text.into_bytes() }));
        }
    }
    let mut links = vec![
        ("All pages".to_owned(), "index.html".to_owned()),
        ("Data".to_owned(), format!("{file}/data.json")),
        ("Provenance".to_owned(), format!("{file}/provenance.json")),
    ];
    links.extend(tables_of.iter().map(|(table, csv)| (format!("{table} (CSV)"), csv.path.clone())));
    // Strings, times and JSON only: writing them cannot fail.
    let provenance = serde_json::to_value(&state.provenance).unwrap_or_default();
    let page = export::linked_page(state, &links)?;
    let mut files = vec![
        SiteFile { path: format!("{file}.html"), bytes: page.into_bytes() },
        SiteFile { path: format!("{file}/data.json"), bytes: pretty_bytes(state.data.value()) },
        SiteFile { path: format!("{file}/provenance.json"), bytes: pretty_bytes(&provenance) },
    ];
    files.extend(tables_of.into_iter().map(|(_, csv)| csv));
    Ok(files)
}

impl SiteLine {
    /// Makes the line of an artifact; `max_age` is the age that the build allows, in milliseconds.
    #[must_use]
    pub fn new(file: String, state: &ArtifactState, max_age: Option<u64>) -> Self {
        let summary = state.artifact.summary(Health::HEALTHY);
        let as_of = state.provenance.generated_at;
        let age = max_age.unwrap_or_else(|| Freshness::max_age_ms(&summary));
        // A page without a source does not age: nothing would make it newer.
        let ages = state.artifact.has_source() && (max_age.is_some() || summary.refreshable);
        Self {
            file,
            artifact: state.artifact.id.clone(),
            title: summary.heading.title.clone(),
            description: summary.heading.description.clone(),
            as_of,
            stale_after: ages.then(|| read_at(&summary, as_of).plus_ms(age)),
            faults: faults(&summary),
        }
    }

    /// Returns whether its data is too old at a time.
    #[must_use]
    pub fn is_stale(&self, now: Timestamp) -> bool {
        self.stale_after.is_some_and(|after| now > after)
    }
}

/// Returns when its sources were last read: a refresh that found nothing new leaves the data's date.
fn read_at(summary: &ArtifactSummary, as_of: Timestamp) -> Timestamp {
    summary.last_refreshed_at.map_or(as_of, |at| at.max(as_of))
}

fn faults(summary: &ArtifactSummary) -> Vec<String> {
    let mut faults = Vec::new();
    if let Some(checks) = &summary.checks {
        let not_held = checks.failing + checks.unknown;
        if not_held > 0 {
            let told = checks.worst.as_ref().map(|worst| worst.id.to_string()).unwrap_or_default();
            faults.push(format!(
                "{not_held} of {} checks do not hold: {told}",
                not_held + checks.passing
            ));
        }
    }
    if summary.refresh_status == crate::artifact::RefreshStatus::Failed {
        faults.push("the last refresh failed".to_owned());
    }
    faults
}

/// Returns the newest commits of one artifact that changed its page or its data, as changes of a site.
#[must_use]
pub fn changes_of(line: &SiteLine, commits: &[CommitRecord]) -> Vec<SiteChange> {
    let change = |commit: &CommitRecord| {
        let places = commit.changes.as_ref().map_or(0, |changes| changes.count);
        let told = match places {
            0 => commit.kind.to_string(),
            1 => format!("{}: one place of the data", commit.kind),
            _ => format!("{}: {places} places of the data", commit.kind),
        };
        SiteChange {
            file: line.file.clone(),
            artifact: line.artifact.clone(),
            title: line.title.clone(),
            revision: commit.revision,
            at: commit.at,
            told,
        }
    };
    commits.iter().filter(|commit| is_seen(commit)).take(SITE_CHANGES.max()).map(change).collect()
}

/// Returns whether readers see a commit: one that only gives a permission or sets a schedule is nobody's
/// news.
fn is_seen(commit: &CommitRecord) -> bool {
    let is_part = |part: &Part| matches!(part, Part::Template | Part::Data | Part::Details);
    // A record of an earlier version may name no parts.
    let has_places = commit.changes.as_ref().is_some_and(|changes| changes.count > 0);
    commit.kind == CommitKind::Create || has_places || commit.changed.iter().any(is_part)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::artifact::Author;
    use crate::decide::created;

    #[test]
    fn a_list_of_progress_bars_is_not_a_file_for_each() {
        let page = r#"<ul data-od-repeat="g in data.goals"><li>{{g.name}}<div data-od-chart="progress" data-od-y="g.done" data-od-max="g.all" data-od-title="Done"></div></li></ul>"#;
        let goal = |name: &str| json!({ "name": name, "done": 1, "all": 2 });
        let document = json!({ "format": "html_template_v2",
            "dataJson": { "goals": [goal("a"), goal("b"), goal("c")] } });
        let body =
            json!({ "input": { "title": "Goals", "document": document }, "templateHtml": page });
        let files = artifact_files("goals", &created(&body, Author::Agent)).unwrap();
        let tables: Vec<&str> = files
            .iter()
            .map(|file| file.path.as_str())
            .filter(|path| path.ends_with(".csv"))
            .collect();
        assert_eq!(tables, ["goals/goals.csv"]);
    }
}
