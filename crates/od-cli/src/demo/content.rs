//! What the demo consists of, embedded in the binary.

/// In which project an artifact of the demo lives.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Home {
    /// The one over the demo's own files.
    Files,
    /// The one over a git repository.
    Repository,
}

/// One artifact of the demo.
#[derive(Debug)]
pub(crate) struct DemoArtifact {
    pub(crate) home: Home,
    /// As in its artifact.json.
    pub(crate) slug: &'static str,
    /// What to change in order to see it change.
    pub(crate) source: &'static str,
    pub(crate) artifact: &'static str,
    pub(crate) template: &'static str,
    pub(crate) data: &'static str,
}

/// The demo's artifacts, in the order they are made.
pub(crate) const ARTIFACTS: &[DemoArtifact] = &[
    DemoArtifact {
        home: Home::Repository,
        slug: "repository",
        source: "any file or commit of the repository",
        artifact: include_str!("../../demo/repository/artifact.json"),
        template: include_str!("../../demo/repository/template.html"),
        data: include_str!("../../demo/repository/data.json"),
    },
    DemoArtifact {
        home: Home::Files,
        slug: "quarterly-report",
        source: "teams/*.json",
        artifact: include_str!("../../demo/report/artifact.json"),
        template: include_str!("../../demo/report/template.html"),
        data: include_str!("../../demo/report/data.json"),
    },
    DemoArtifact {
        home: Home::Files,
        slug: "relaunch",
        source: "metrics.json",
        artifact: include_str!("../../demo/dashboard/artifact.json"),
        template: include_str!("../../../../skills/live-artifact/assets/templates/dashboard.html"),
        data: METRICS,
    },
];

/// The dashboard's source, and its first data.
const METRICS: &str = include_str!("../../demo/files/metrics.json");

/// The files that the demo's sources read.
pub(super) const FILES: &[(&str, &str)] = &[
    ("metrics.json", METRICS),
    ("teams/accounts.json", include_str!("../../demo/files/teams/accounts.json")),
    ("teams/payments.json", include_str!("../../demo/files/teams/payments.json")),
    ("teams/platform.json", include_str!("../../demo/files/teams/platform.json")),
    ("teams/search.json", include_str!("../../demo/files/teams/search.json")),
];

/// A team that reports late.
pub(super) const LATE_TEAM: (&str, &str) = (
    "teams/design.json",
    "{\n  \"name\": \"Design\",\n  \"lead\": \"Sam Rivera\",\n  \"status\": \"On time\",\n  \
     \"headline\": \"One set of components for every product\",\n  \
     \"text\": \"Forty screens moved over; the last six follow in May.\",\n  \
     \"done\": 11,\n  \"planned\": 12\n}\n",
);

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::skills::check_page;

    #[test]
    fn every_page_of_the_demo_is_valid_with_its_first_data() {
        for artifact in ARTIFACTS {
            check_page(artifact.template, artifact.data);
        }
    }

    #[test]
    fn every_input_of_the_demo_is_one_that_create_accepts() {
        for artifact in ARTIFACTS {
            let mut input: Value = serde_json::from_str(artifact.artifact).unwrap();
            input["document"]["dataJson"] = serde_json::from_str(artifact.data).unwrap();
            let body = json!({ "input": input, "templateHtml": artifact.template });
            let request = od_core::artifact::CreateRequest::parse(&body).unwrap();
            assert_eq!(request.input.heading.slug.as_str(), artifact.slug);
        }
    }
}
