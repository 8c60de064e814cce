//! Cases as files: `fixtures/templates/<rule>/<case>.html`, with `<case>.json` (or the shared
//! `data.json`), and beside them what is expected: the page and the warnings, or the issues and the
//! template after their fixes. The folders whose names begin with `v2-` hold `html_template_v2`.
//!
//! `OD_BLESS=1` writes the expected files; read the difference before committing it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use od_core::template::{Fix, Grammar, Template, TemplateIssue, Warnings};
use serde_json::Value;

use crate::template_differential::{Outcome, compare};

const ROUNDS_MAX: usize = 4;

struct Case {
    name: String,
    path: PathBuf,
    html: String,
    data: Value,
    grammar: Grammar,
}

impl Case {
    fn compile(&self, html: &str) -> Result<(Template, Warnings), Vec<TemplateIssue>> {
        Template::compile_as(html, self.grammar)
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/templates")
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let shared = fs::read(root().join("data.json")).unwrap();
    for rule in sorted(&root()).into_iter().filter(|path| path.is_dir()) {
        let rule_name = rule.file_name().unwrap().to_string_lossy().into_owned();
        let grammar = if rule_name.starts_with("v2-") { Grammar::V2 } else { Grammar::V1 };
        for path in sorted(&rule) {
            let name =
                path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            if !name.ends_with(".html") || name.ends_with(".page.html") {
                continue;
            }
            let data = fs::read(path.with_extension("json")).unwrap_or_else(|_| shared.clone());
            cases.push(Case {
                name: format!("{rule_name}/{name}"),
                grammar,
                html: fs::read_to_string(&path).unwrap(),
                data: serde_json::from_slice(&data).unwrap(),
                path,
            });
        }
    }
    cases
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn every_case_comes_out_as_its_file_says() {
    let cases = cases();
    assert!(cases.len() >= 150, "{} cases", cases.len());
    let bless = std::env::var_os("OD_BLESS").is_some();
    let mut faults = Vec::new();
    for case in &cases {
        let found = outcome(case);
        for (suffix, text) in
            ["page.html", "warnings.txt", "issues.txt", "error.txt"].into_iter().zip(found)
        {
            let path = case.path.with_extension(suffix);
            if bless {
                match &text {
                    Some(text) => fs::write(&path, text).unwrap(),
                    None => drop(fs::remove_file(&path)),
                }
            }
            if fs::read_to_string(&path).ok() != text {
                faults.push(format!(
                    "{}: {suffix} differs; OD_BLESS=1 writes it\n{}",
                    case.name,
                    text.unwrap_or_default()
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The page, the warnings, the issues, the error of rendering: those that there are.
fn outcome(case: &Case) -> [Option<String>; 4] {
    match case.compile(&case.html) {
        Ok((template, warnings)) => {
            let mut page = Vec::new();
            let rendered = template.render(&case.data, &mut page);
            let page = rendered.is_ok().then(|| String::from_utf8(page).unwrap());
            let error = rendered.err().map(|error| format!("{error}\n"));
            [page, print_warnings(&warnings), None, error]
        }
        Err(issues) => [None, None, Some(print_issues(&case.html, &issues)), None],
    }
}

fn print_warnings(warnings: &Warnings) -> Option<String> {
    let mut out = String::new();
    for warning in warnings {
        let (code, found) = (warning.code.as_str(), warning.found.escape_debug());
        writeln!(
            out,
            "{}:{} {code}: {found}\n    {}",
            warning.line, warning.column, warning.message
        )
        .unwrap();
    }
    (!out.is_empty()).then_some(out)
}

fn print_issues(html: &str, issues: &[TemplateIssue]) -> String {
    let mut out = String::new();
    for issue in issues {
        let found = issue.found.escape_debug();
        writeln!(out, "{}:{} {}: {found}", issue.line, issue.column, issue.code).unwrap();
        writeln!(out, "    {}", issue.message).unwrap();
        writeln!(out, "    allowed: {}", issue.allowed()).unwrap();
        writeln!(out, "    fix: {}", issue.fix.summary).unwrap();
    }
    let fixed = Fix::apply(html, issues.iter().map(|issue| &issue.fix));
    writeln!(out, "--- after the fixes\n{}", fixed.trim_end().escape_default_except_lines())
        .unwrap();
    out
}

trait EscapeLines {
    fn escape_default_except_lines(&self) -> String;
}

impl EscapeLines for str {
    /// Shows NUL and carriage returns, which editors hide.
    fn escape_default_except_lines(&self) -> String {
        self.replace('\0', "\\0").replace('\r', "\\r")
    }
}

#[test]
fn every_fix_alone_removes_its_refusal() {
    for case in cases() {
        let Err(issues) = case.compile(&case.html) else { continue };
        for issue in &issues {
            assert!(!issue.fix.edits.is_empty(), "{}: {issue} has no edits", case.name);
            assert!(!issue.fix.summary.is_empty(), "{}: {issue} has no summary", case.name);
            let fixed = Fix::apply(&case.html, [&issue.fix]);
            let at = moved(issue);
            let left = case.compile(&fixed).err().unwrap_or_default();
            let same = left.iter().find(|other| {
                other.code == issue.code && other.offset == at && other.found == issue.found
            });
            assert!(same.is_none(), "{}: {issue} is still there:\n{fixed}", case.name);
        }
    }
}

/// Where the offending text stands after the fix.
fn moved(issue: &TemplateIssue) -> usize {
    let before = issue.fix.edits.iter().filter(|edit| edit.end <= issue.offset);
    before.fold(issue.offset, |at, edit| at + edit.text.len() - (edit.end - edit.start))
}

#[test]
fn all_fixes_together_make_a_good_template() {
    for case in cases() {
        let mut html = case.html.clone();
        for round in 0.. {
            let Err(issues) = case.compile(&html) else { break };
            assert!(round < ROUNDS_MAX, "{}: still refused\n{html}\n{issues:#?}", case.name);
            html = Fix::apply(&html, issues.iter().map(|issue| &issue.fix));
        }
    }
}

#[test]
fn every_accepted_case_keeps_its_tree() {
    for case in cases() {
        if let Outcome::Differs { page, expected, actual } =
            compare(&case.html, case.grammar, &case.data)
        {
            panic!("{}\n{page}\n--- expected\n{expected}\n--- actual\n{actual}", case.name);
        }
    }
}

#[test]
fn every_code_has_a_case() {
    let mut codes: Vec<_> = od_core::template::IssueCode::ALL.to_vec();
    for case in cases() {
        for issue in case.compile(&case.html).err().unwrap_or_default() {
            codes.retain(|code| *code != issue.code);
        }
    }
    // These need a template larger than a fixture should be, or what `od-core` cannot hold yet.
    codes.retain(|code| {
        !matches!(
            code.as_str(),
            "template_too_large" | "too_deep" | "too_many_attributes" | "credential"
        )
    });
    assert!(codes.is_empty(), "no case for {codes:?}");
}
