//! The whole of a site but the artifacts' own files.

use std::collections::{BTreeMap, HashMap};

use super::line::{SiteChange, SiteFile, SiteLine};
use super::page;
use crate::artifact::ArtifactSummary;
use crate::ids::{ArtifactId, Digest};
use crate::json::pretty_bytes;

/// The file that lists all others with their digests; a later build removes by it what it no longer makes.
pub const SITE_LIST: &str = "site.json";

/// Chooses the name of each artifact's page: its slug, or its id where two have the same or the site has a
/// page of that name.
#[must_use]
pub fn page_names<'s>(
    artifacts: impl Iterator<Item = &'s ArtifactSummary> + Clone,
) -> HashMap<ArtifactId, String> {
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for artifact in artifacts.clone() {
        *uses.entry(artifact.heading.slug.as_str()).or_default() += 1;
    }
    let name = |artifact: &ArtifactSummary| {
        let slug = artifact.heading.slug.as_str();
        let is_free = uses.get(slug) == Some(&1) && !matches!(slug, "index" | "changes");
        let name = if is_free { slug } else { artifact.id.as_str() };
        (artifact.id.clone(), name.to_owned())
    };
    artifacts.map(name).collect()
}

/// Makes index, changes and feed of a site.
#[must_use]
pub fn site_pages(
    name: &str,
    project: &str,
    mut lines: Vec<SiteLine>,
    changes: Vec<SiteChange>,
) -> Vec<SiteFile> {
    lines.sort_by(|one, other| {
        let by_title = one.title.to_lowercase().cmp(&other.title.to_lowercase());
        by_title.then_with(|| one.artifact.cmp(&other.artifact))
    });
    let changes = page::newest(changes);
    let file =
        |path: &str, text: String| SiteFile { path: path.to_owned(), bytes: text.into_bytes() };
    vec![
        file("index.html", page::index(name, &lines)),
        file("changes.html", page::changes(name, &changes)),
        file("feed.xml", page::feed(name, project, &changes)),
    ]
}

/// Makes the list of all files, by path.
#[must_use]
pub fn site_list(digests: &BTreeMap<String, Digest>) -> SiteFile {
    let bytes =
        pretty_bytes(&serde_json::json!({ "format": "od-site", "version": 1, "files": digests }));
    SiteFile { path: SITE_LIST.to_owned(), bytes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{Revision, Timestamp};

    fn line(number: usize) -> SiteLine {
        SiteLine {
            file: format!("page-{number}"),
            artifact: format!("la-page-{number:012x}").parse().unwrap(),
            title: format!("Page <{number}>"),
            description: None,
            as_of: Timestamp::from_unix_ms(0),
            stale_after: Some(Timestamp::from_unix_ms(60_000)),
            faults: Vec::new(),
        }
    }

    #[test]
    fn the_index_of_a_thousand_pages_is_one_request_of_200_kb() {
        let lines: Vec<SiteLine> = (0..1_000).map(line).collect();
        let files = site_pages("Site", "web", lines, Vec::new());
        let index = String::from_utf8(files[0].bytes.clone()).unwrap();
        assert!(index.len() <= 200_000, "{}", index.len());
        assert!(!index.contains("src=") && !index.contains("http:") && !index.contains("https:"));
        assert!(index.contains("Page &lt;7&gt;") && !index.contains("Page <7>"));
    }

    #[test]
    fn descriptions_do_not_make_the_index_larger_than_one_request() {
        let described = |number: usize| SiteLine {
            description: Some("What it shows & <why>. ".repeat(20)),
            ..line(number)
        };
        let index = |count: usize| {
            let files = site_pages("Site", "web", (0..count).map(described).collect(), Vec::new());
            String::from_utf8(files[0].bytes.clone()).unwrap()
        };
        let many = index(1_000);
        assert!(many.len() <= 200_000, "{}", many.len());
        assert!(many.contains("<i>What it shows &amp; "), "something is left of each");
        assert!(!many.contains("&am…") && !many.contains("&l…"), "no half reference");
        assert!(
            index(10).contains(&"What it shows &amp; &lt;why&gt;. ".repeat(20)),
            "few are whole"
        );
    }

    #[test]
    fn a_line_is_stale_after_its_time_and_not_before() {
        assert!(!line(1).is_stale(Timestamp::from_unix_ms(60_000)));
        assert!(line(1).is_stale(Timestamp::from_unix_ms(60_001)));
    }

    #[test]
    fn the_feed_has_the_newest_changes_first_and_escapes_titles() {
        let change = |number: usize, at: i64| SiteChange {
            file: line(number).file,
            artifact: line(number).artifact,
            title: line(number).title,
            revision: Revision::first(),
            at: Timestamp::from_unix_ms(at),
            told: "create".to_owned(),
        };
        let files = site_pages("S", "web", vec![line(1)], vec![change(1, 5), change(2, 9)]);
        let feed = String::from_utf8(files[2].bytes.clone()).unwrap();
        assert!(feed.find("page-2.html").unwrap() < feed.find("page-1.html").unwrap());
        assert!(feed.contains("<title>Page &lt;2&gt;</title>"));
    }
}
