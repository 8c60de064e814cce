//! `cargo xtask count`: figures of size and style, as a standing report. Nothing fails by them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Crates whose `src` holds tests and benchmarks.
const TEST_CRATES: [&str; 3] = ["od-bench", "od-e2e", "od-oracle"];
/// Folders of a crate's `src` that only tests use.
const TEST_FOLDERS: [&str; 2] = ["contract", "fakes"];
/// A file below this many lines is usually part of its neighbour's story.
const FILE_LINES_MIN: usize = 60;
/// A folder with more files wants subfolders.
const FOLDER_FILES_MAX: usize = 15;
/// First words of a doc comment that does not say what the item does or is.
const RIDDLES: [&str; 6] = ["What", "Who", "Whoever", "Whose", "How", "Its"];
/// Further question words; "Whether" is the custom for a boolean.
const QUESTIONS: [&str; 5] = ["Where", "Which", "When", "Why", "Whether"];

/// Counts a tree and prints the table.
#[expect(clippy::print_stdout, reason = "the table is what was asked for")]
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let mut figures = Figures::default();
    let mut folders: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for base in ["crates", "xtask"] {
        visit(&root.join(base), &mut |path| {
            let folder = path.parent().unwrap_or(root).to_owned();
            *folders.entry(folder).or_default() += 1;
            if is_production(path.strip_prefix(root).unwrap_or(path)) {
                figures.add(&fs::read_to_string(path)?);
            }
            Ok(())
        })
        .map_err(|err| format!("{}: {err}", root.join(base).display()))?;
    }
    let crowded = folders.values().filter(|count| **count > FOLDER_FILES_MAX).count();
    print!("{}", figures.table(crowded));
    Ok(())
}

fn visit(
    folder: &Path,
    file: &mut impl FnMut(&Path) -> std::io::Result<()>,
) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if !path.is_dir() {
            file(&path)?;
        } else if path.file_name().is_some_and(|name| name != "target" && name != "node_modules") {
            visit(&path, file)?;
        }
    }
    Ok(())
}

fn is_production(path: &Path) -> bool {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    let name = parts.last().copied().unwrap_or_default();
    let has = |words: &[&str]| parts.iter().any(|part| words.contains(part));
    name.ends_with(".rs")
        && !name.ends_with("_tests.rs")
        && has(&["src"])
        && !has(&TEST_CRATES)
        && !has(&TEST_FOLDERS)
}

/// Sums over files.
#[derive(Debug, Default, PartialEq, Eq)]
struct Figures {
    files: usize,
    lines: usize,
    code_lines: usize,
    short_files: usize,
    body_comments: usize,
    docs: usize,
    riddles: usize,
    questions: usize,
    private_fns: usize,
    used_once: usize,
    largest_trait: (usize, String),
}

impl Figures {
    fn add(&mut self, text: &str) {
        // Tests stand at the end of a file.
        let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        self.files += 1;
        self.lines += lines.len();
        self.short_files += usize::from(lines.len() < FILE_LINES_MIN);
        self.add_comments(&lines);
        let code: Vec<&str> = lines.iter().map(|line| without_comment(line)).collect();
        self.code_lines += code.iter().filter(|line| !line.trim().is_empty()).count();
        self.add_functions(&code);
    }

    /// Counts doc comments by their first word, and paragraphs of comments in bodies.
    fn add_comments(&mut self, lines: &[&str]) {
        let mut before = Comment::None;
        for line in lines.iter().map(|line| line.trim_start()) {
            let kind = Comment::of(line);
            match kind {
                Comment::Doc if kind != before => {
                    self.docs += 1;
                    let first = identifiers(line).next().unwrap_or_default();
                    self.riddles += usize::from(RIDDLES.contains(&first));
                    self.questions += usize::from(QUESTIONS.contains(&first));
                }
                Comment::Body if kind != before => self.body_comments += 1,
                Comment::Doc | Comment::Body | Comment::None => {}
            }
            before = kind;
        }
    }

    /// Counts private functions that are named once besides their definition, and a trait's methods.
    fn add_functions(&mut self, code: &[&str]) {
        let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
        for word in code.iter().flat_map(|line| identifiers(line)) {
            *uses.entry(word).or_default() += 1;
        }
        let mut block = "";
        let mut methods = 0;
        for line in code {
            // The format makes sure that a block of the file begins and ends in the first column.
            if !line.starts_with([' ', '}']) && !line.is_empty() {
                (block, methods) = (line, 0);
            }
            let Some(name) = function_name(line.trim_start()) else { continue };
            if let Some(of_trait) = trait_name(block) {
                methods += 1;
                if methods > self.largest_trait.0 {
                    self.largest_trait = (methods, of_trait.to_owned());
                }
            } else if !(block.starts_with("impl") && block.contains(" for ")) {
                self.private_fns += 1;
                self.used_once += usize::from(uses.get(name) == Some(&2));
            }
        }
    }

    fn table(&self, crowded: usize) -> String {
        let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        let (methods, name) = &self.largest_trait;
        let (once, all) = (share(self.used_once, self.private_fns), self.private_fns);
        let riddles = share(self.riddles, self.docs);
        let questions = share(self.riddles + self.questions, self.docs);
        let rows = [
            ("production lines", format!("{} in {} files", self.lines, self.files)),
            ("files under 60 lines", self.short_files.to_string()),
            ("folders over 15 files (with tests and web)", crowded.to_string()),
            ("private functions used once", format!("{once:.1} % of {all}")),
            (
                "comments in bodies per 100 lines of code",
                format!("{:.2}", share(self.body_comments, self.code_lines)),
            ),
            ("docs opening What/Who/How/Its", format!("{riddles:.1} % of {}", self.docs)),
            ("… or Where/Which/When/Why/Whether", format!("{questions:.1} %")),
            ("largest trait", format!("{methods} methods ({name})")),
        ];
        let lines = rows.iter().map(|(figure, value)| format!("| {figure} | {value} |\n"));
        format!("| figure | value |\n|---|---|\n{}", lines.collect::<String>())
    }
}

/// The kind of comment that a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comment {
    Doc,
    Body,
    None,
}

impl Comment {
    fn of(line: &str) -> Self {
        match line.get(..3) {
            Some("///" | "//!") => Self::Doc,
            Some(_) | None if line.starts_with("//") => Self::Body,
            Some(_) | None => Self::None,
        }
    }
}

/// Cuts a comment off; slashes inside a string literal, as of an address, stay.
fn without_comment(line: &str) -> &str {
    let at = line.match_indices("//").map(|(at, _)| at);
    let comment = at.into_iter().find(|at| line[..*at].matches('"').count().is_multiple_of(2));
    &line[..comment.unwrap_or(line.len())]
}

fn identifiers(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Returns the name of the function without `pub` that a line defines.
fn function_name(line: &str) -> Option<&str> {
    let mut rest = line;
    while let Some(next) = ["const ", "async "].iter().find_map(|word| rest.strip_prefix(word)) {
        rest = next;
    }
    identifiers(rest.strip_prefix("fn ")?).next()
}

fn trait_name(block: &str) -> Option<&str> {
    let at = block.find("trait ")?;
    let before = identifiers(&block[..at]).all(|word| ["pub", "crate", "super"].contains(&word));
    identifiers(&block[at + "trait ".len()..]).next().filter(|_| before)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"//! How it is counted.

/// Returns one.
///
/// What follows is the same comment.
pub fn one() -> u8 {
    // Why it is one.
    // The same paragraph.
    helper("http://one") + twice() + twice()
}

/// What helps.
fn helper(_: &str) -> u8 { 1 } // helper

const fn twice() -> u8 { 2 }

pub(crate) trait Port {
    /// Whether it is open.
    fn is_open(&self) -> bool;
    async fn close(&self);
}

impl Port for u8 {
    fn is_open(&self) -> bool { true }
    async fn close(&self) {}
}

#[cfg(test)]
mod tests {
    // Not counted.
    fn helper() {}
}
"#;

    #[test]
    fn each_figure_counts_what_it_says() {
        let mut figures = Figures::default();
        figures.add(SOURCE);
        let expected = Figures {
            files: 1,
            lines: 26,
            code_lines: 13,
            short_files: 1,
            body_comments: 1,
            docs: 4,
            riddles: 2,
            questions: 1,
            private_fns: 2,
            used_once: 1,
            largest_trait: (2, "Port".to_owned()),
        };
        assert_eq!(figures, expected);
    }

    #[test]
    fn tests_and_benchmarks_are_no_production_code() {
        let is = |path: &str| is_production(Path::new(path));
        assert!(is("crates/od-core/src/ids/mod.rs") && is("xtask/src/main.rs"));
        assert!(!is("crates/od-core/tests/it/main.rs") && !is("crates/od-e2e/src/lib.rs"));
        assert!(!is("crates/od-ports/src/fakes/mod.rs") && !is("crates/x/src/rule_tests.rs"));
        assert!(!is("crates/od-daemon/web/app.js"));
    }
}
