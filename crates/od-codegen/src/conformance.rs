//! docs/technical/conformance.md: every rule that a stranger to the daemon can test, and the cases that do.
//!
//! The rules are the codes of the catalogue, the rows of the table of limits, and the sections of
//! `spec/rules.json`. A rule that no case proves and that `spec/elsewhere.json` does not explain fails the
//! generator, and with it the test command; so does an explanation whose test is gone, or that is not needed
//! any more.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use od_core::error::ErrorCode;
use od_core::limits::{ALL, INTERNAL, Limit};
use serde::Deserialize;

use super::generators::GeneratedFile;
use crate::root;

/// The part of a case that the matrix reads; the program that plays it reads the rest.
#[derive(Deserialize)]
struct Case {
    call: String,
    gives: String,
    #[serde(default)]
    proves: Vec<String>,
    #[serde(default)]
    holds: serde_json::Map<String, serde_json::Value>,
    #[serde(default)]
    says: Vec<String>,
    #[serde(default)]
    counts: serde_json::Map<String, serde_json::Value>,
    #[serde(default)]
    most: serde_json::Map<String, serde_json::Value>,
    meanwhile: Option<(String, String)>,
}

/// A rule that no door shows.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Elsewhere {
    /// The reason why no case of a door proves it.
    why: String,
    /// `file::function` of the test that does.
    test: Option<String>,
}

/// One section of the contract.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    name: String,
    says: String,
}

/// Everything that the matrix is made of.
struct Matrix {
    /// Cases by the rule that they prove.
    cases: BTreeMap<String, Vec<String>>,
    elsewhere: BTreeMap<String, Elsewhere>,
    sections: Vec<Section>,
}

/// Renders the matrix, or names every rule that nothing proves.
pub(super) fn render() -> Result<Vec<GeneratedFile>, String> {
    let matrix = Matrix::read(&root())?;
    let faults = matrix.faults(&root());
    if faults.is_empty() {
        let path = "docs/technical/conformance.md".to_owned();
        Ok(vec![GeneratedFile { path, text: matrix.page() }])
    } else {
        Err(faults.join("\n"))
    }
}

impl Matrix {
    fn read(root: &Path) -> Result<Self, String> {
        let mut cases: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for folder in ["spec/cases", "fixtures/doors"] {
            let entries =
                fs::read_dir(root.join(folder)).map_err(|err| format!("{folder}: {err}"))?;
            let mut files: Vec<_> = entries
                .flatten()
                .map(|entry| entry.path())
                .filter(|path| path.extension().is_some_and(|end| end == "json"))
                .collect();
            files.sort();
            for file in files {
                let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                for case in json::<Vec<Case>>(&file)? {
                    let told = format!("`{name}`: {}", case.call);
                    for rule in case.rules() {
                        cases.entry(rule).or_default().push(told.clone());
                    }
                }
            }
        }
        Ok(Self {
            cases,
            elsewhere: json(&root.join("spec/elsewhere.json"))?,
            sections: json(&root.join("spec/rules.json"))?,
        })
    }

    fn rules(&self) -> Vec<String> {
        let codes = ErrorCode::ALL.iter().map(|code| format!("code:{code}"));
        let limits = ALL.iter().chain(INTERNAL).map(|limit| format!("limit:{}", limit.name));
        let sections = self.sections.iter().map(|section| format!("contract:{}", section.name));
        codes.chain(limits).chain(sections).collect()
    }

    fn faults(&self, root: &Path) -> Vec<String> {
        let rules = self.rules();
        let known: BTreeSet<&String> = rules.iter().collect();
        let mut faults = Vec::new();
        for rule in &rules {
            match (self.cases.contains_key(rule), self.elsewhere.contains_key(rule)) {
                (false, false) => faults.push(format!("no case proves {rule}")),
                (true, true) => {
                    faults.push(format!("{rule} has a case, and an excuse for having none"));
                }
                (true, false) | (false, true) => {}
            }
        }
        let named = self.cases.keys().chain(self.elsewhere.keys());
        faults.extend(
            named.filter(|rule| !known.contains(rule)).map(|rule| format!("{rule} is no rule")),
        );
        for (rule, Elsewhere { why, test }) in &self.elsewhere {
            if why.is_empty() {
                faults.push(format!("{rule} has no reason"));
            }
            if rule.starts_with("contract:") {
                faults.push(format!("{rule}: a section of the contract is proven at a door"));
            }
            if let Some(test) = test.as_ref().filter(|test| !is_there(root, test)) {
                faults.push(format!("{rule}: there is no test {test}"));
            }
        }
        faults
    }

    fn page(&self) -> String {
        let limits = || ALL.iter().chain(INTERNAL);
        let at_doors = limits().filter(|limit| self.cases.contains_key(&rule_of(limit))).count();
        let tested = self.elsewhere.values().filter(|marker| marker.test.is_some()).count();
        let mut page = format!(
            "<!-- Generated by `cargo xtask codegen` from spec/, fixtures/doors and the tables of od-core. Do not edit. -->\n\n\
             # Conformance\n\n\
             `od-conformance` plays the cases of `spec/cases` and `fixtures/doors` against any `od`, over HTTP and by the command line;\n\
             [spec/README.md](../../spec/README.md) says how a case is written and how it is played. A refusal that proves a limit has to print the limit.\n\
             Of {} limits a case at a door proves {at_doors}; of {} rules that no door shows, {tested} name the test that proves them.\n\
             A rule without either fails the test command.\n\n\
             ## Error codes\n\n| code | cases |\n|---|---|\n",
            limits().count(),
            self.elsewhere.len(),
        );
        // Writing to a String cannot fail.
        for code in ErrorCode::ALL {
            let _ = writeln!(page, "| `{code}` | {} |", self.proof(&format!("code:{code}")));
        }
        page.push_str("\n## Limits\n\n| limit | allowed | cases |\n|---|---|---|\n");
        for limit in limits() {
            let allowed = format!("{} {}", limit.allowed, limit.unit);
            let _ = writeln!(
                page,
                "| `{}` | {} | {} |",
                limit.name,
                allowed.trim_end(),
                self.proof(&rule_of(limit))
            );
        }
        page.push_str("\n## The contract\n\n| section | says | cases |\n|---|---|---|\n");
        for Section { name, says } in &self.sections {
            let _ =
                writeln!(page, "| {name} | {says} | {} |", self.proof(&format!("contract:{name}")));
        }
        page
    }

    /// Returns the first cases of a rule and the number of the rest, or the reason why there is none.
    fn proof(&self, rule: &str) -> String {
        const SHOWN: usize = 3;
        if let Some(cases) = self.cases.get(rule) {
            let shown = cases.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("; ");
            return match cases.len().saturating_sub(SHOWN) {
                0 => shown,
                more => format!("{shown}; and {more} more"),
            };
        }
        self.elsewhere.get(rule).map_or_else(String::new, |Elsewhere { why, test }| match test {
            Some(test) => {
                let (file, function) = test.split_once("::").unwrap_or((test, ""));
                format!("not at a door: {why}; [`{function}`](../../{file})")
            }
            None => format!("not at a door, and without a test: {why}"),
        })
    }
}

impl Case {
    /// Returns the rules that the case proves.
    fn rules(&self) -> Vec<String> {
        // Nobody waits two minutes for the end of a refresh's time; the doors' own test moves the clock.
        if self.meanwhile.as_ref().is_some_and(|(_, what)| what == "late") {
            return Vec::new();
        }
        let asserts = ![
            self.holds.is_empty(),
            self.says.is_empty(),
            self.counts.is_empty(),
            self.most.is_empty(),
        ]
        .iter()
        .all(|is_empty| *is_empty);
        let refused = self.gives != "ok";
        // An answer that nothing is said of proves no limit.
        let stated =
            self.proves.iter().filter(|rule| refused || asserts || !rule.starts_with("limit:"));
        // `found` and a bare status are no codes of the catalogue.
        let code = self.gives.parse::<ErrorCode>().ok().map(|code| format!("code:{code}"));
        code.into_iter().chain(stated.cloned()).collect()
    }
}

fn rule_of(limit: &Limit) -> String {
    format!("limit:{}", limit.name)
}

/// Returns whether a file holds a function of the name.
fn is_there(root: &Path, test: &str) -> bool {
    let Some((file, function)) = test.split_once("::") else { return false };
    fs::read_to_string(root.join(file)).is_ok_and(|text| text.contains(&format!("fn {function}(")))
}

fn json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, String> {
    let told = |err: String| format!("{}: {err}", path.display());
    let text = fs::read_to_string(path).map_err(|err| told(err.to_string()))?;
    serde_json::from_str(&text).map_err(|err| told(err.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(cases: &[(&str, &str)], elsewhere: &str) -> Matrix {
        let cases = cases.iter().map(|(rule, case)| ((*rule).to_owned(), vec![(*case).to_owned()]));
        Matrix {
            cases: cases.collect(),
            elsewhere: serde_json::from_str(elsewhere).unwrap(),
            sections: vec![Section { name: "tokens".to_owned(), says: "x".to_owned() }],
        }
    }

    #[test]
    fn a_rule_without_a_case_is_named() {
        let faults = matrix(&[("code:CONFLICT", "c")], "{}").faults(&root());
        assert!(faults.contains(&"no case proves limit:json_depth".to_owned()));
        assert!(faults.contains(&"no case proves contract:tokens".to_owned()));
        assert!(!faults.iter().any(|fault| fault.contains("code:CONFLICT")), "{faults:?}");
    }

    #[test]
    fn an_excuse_that_is_not_needed_or_names_no_test_is_a_fault() {
        let excuses = r#"{
            "code:CONFLICT": { "why": "none" },
            "limit:json_depth": { "why": "none", "test": "Cargo.toml::nothing" },
            "limit:depth": { "why": "none" }
        }"#;
        let faults = matrix(&[("code:CONFLICT", "c")], excuses).faults(&root());
        for told in [
            "code:CONFLICT has a case, and an excuse for having none",
            "limit:json_depth: there is no test Cargo.toml::nothing",
            "limit:depth is no rule",
        ] {
            assert!(faults.contains(&told.to_owned()), "{faults:?}");
        }
    }

    #[test]
    fn an_answer_that_nothing_is_said_of_proves_no_limit() {
        let case = |text: &str| serde_json::from_str::<Case>(text).unwrap().rules();
        assert_eq!(case(r#"{"call":"c","gives":"ok","proves":["limit:title"]}"#), [""; 0]);
        assert_eq!(
            case(r#"{"call":"c","gives":"CONFLICT","proves":["limit:title"]}"#),
            ["code:CONFLICT", "limit:title"]
        );
    }
}
