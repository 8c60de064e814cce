//! The check of a SKILL.md against the Agent Skills format, with positions and fixes.

use std::path::Path;

use super::frontmatter::{Form, Frontmatter, FrontmatterError, Position, read};
use super::yaml::{Entry, Node};
use crate::args::nearest;

/// The keys that the format allows.
const KEYS: [&str; 6] =
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];
const NAME_MAX: usize = 64;
const DESCRIPTION_MAX: usize = 1024;
const COMPATIBILITY_MAX: usize = 500;
const BODY_LINES_MAX: usize = 500;
const BODY_TOKENS_MAX: usize = 5_000;

/// The weight of a finding.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Severity {
    /// Agents will not load the skill, or not as meant.
    Error,
    /// It works, and could be better.
    Warning,
}

/// One finding.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The weight.
    pub severity: Severity,
    /// The position in the file.
    pub at: Position,
    /// The fault, in one sentence.
    pub message: String,
    /// The remedy, in one sentence.
    pub fix: String,
}

/// Checks the text of a SKILL.md.
///
/// `directory` is the name of the directory it lies in, `exists` says whether a relative path
/// beside it does.
#[must_use]
pub fn check(text: &str, directory: Option<&str>, exists: &dyn Fn(&Path) -> bool) -> Vec<Finding> {
    let head = match read(text) {
        Ok(head) => head,
        Err(error) => return vec![unreadable(&error)],
    };
    let mut findings = Vec::new();
    check_name(&head, directory, &mut findings);
    check_description(&head, &mut findings);
    check_optional(&head, &mut findings);
    check_unknown(&head, &mut findings);
    check_body(&head, exists, &mut findings);
    findings.sort_by_key(|finding| finding.at);
    findings
}

fn unreadable(error: &FrontmatterError) -> Finding {
    let (at, fix) = match error {
        FrontmatterError::Missing => (
            Position { line: 1, column: 1 },
            "start the file with `---`, `name: …`, `description: …`, `---`",
        ),
        FrontmatterError::Unclosed => (
            Position { line: 1, column: 1 },
            "close the frontmatter with a line `---` before the body",
        ),
        FrontmatterError::TooLong { .. } => (
            Position { line: 1, column: 1 },
            "move the long text from the frontmatter into the body",
        ),
        FrontmatterError::Yaml { at, .. } => (
            *at,
            "give each key once, put text with `: ` or `#` or a leading `[`, `{`, `*`, `&` in double quotes, and indent with spaces",
        ),
        FrontmatterError::NotAMapping { .. } => {
            (Position { line: 2, column: 1 }, "write one `key: value` on each line")
        }
    };
    Finding { severity: Severity::Error, at, message: error.to_string(), fix: fix.to_owned() }
}

fn position(entry: &Entry) -> Position {
    // The YAML starts on the second line of the file.
    Position { line: entry.at.0 + 1, column: entry.at.1 }
}

fn error(at: Position, message: impl Into<String>, fix: impl Into<String>) -> Finding {
    Finding { severity: Severity::Error, at, message: message.into(), fix: fix.into() }
}

fn warning(at: Position, message: impl Into<String>, fix: impl Into<String>) -> Finding {
    Finding { severity: Severity::Warning, at, message: message.into(), fix: fix.into() }
}

fn check_name(head: &Frontmatter, directory: Option<&str>, findings: &mut Vec<Finding>) {
    let Some(entry) = head.entry("name") else {
        let name = directory.unwrap_or("my-skill");
        findings.push(error(
            Position { line: 2, column: 1 },
            "`name` is missing",
            format!("add `name: {name}`"),
        ));
        return;
    };
    let Some(name) = entry.value.scalar().filter(|name| !name.is_empty()) else {
        let kind = entry.value.kind();
        findings.push(error(
            position(entry),
            format!("`name` is {kind}"),
            "write one word: `name: my-skill`",
        ));
        return;
    };
    let legal = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    let neat = !name.starts_with('-') && !name.ends_with('-') && !name.contains("--");
    if !legal || !neat || name.len() > NAME_MAX {
        let better: String = name
            .to_lowercase()
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("-");
        findings.push(error(
            position(entry),
            format!(
                "`name` is `{name}`; it takes 1 to {NAME_MAX} of a-z, 0-9 and single inner hyphens"
            ),
            format!("write `name: {}`", better.chars().take(NAME_MAX).collect::<String>()),
        ));
    } else if let Some(directory) = directory.filter(|directory| *directory != name) {
        findings.push(error(
            position(entry),
            format!("`name` is `{name}` but the directory is `{directory}`"),
            format!("rename the directory to `{name}`, or write `name: {directory}`"),
        ));
    }
}

fn check_description(head: &Frontmatter, findings: &mut Vec<Finding>) {
    let Some(entry) = head.entry("description") else {
        findings.push(error(
            Position { line: 2, column: 1 },
            "`description` is missing: agents choose skills by it",
            "add `description: \"What it does. Use when …\"`",
        ));
        return;
    };
    let Some(text) = entry.value.scalar().filter(|text| !text.trim().is_empty()) else {
        let kind = entry.value.kind();
        findings.push(error(
            position(entry),
            format!("`description` is {kind}"),
            "write one line of text",
        ));
        return;
    };
    let length = text.chars().count();
    if length > DESCRIPTION_MAX {
        findings.push(error(
            position(entry),
            format!("`description` has {length} characters, at most {DESCRIPTION_MAX} are allowed"),
            "say what it does and when to use it; move the rest into the body",
        ));
    }
    if text.trim_end().contains('\n') {
        findings.push(warning(
            position(entry),
            "`description` has several lines; some agents read only the first",
            "write it on one line, in double quotes",
        ));
    }
}

fn check_optional(head: &Frontmatter, findings: &mut Vec<Finding>) {
    for key in ["license", "compatibility", "allowed-tools"] {
        let Some(entry) = head.entry(key) else { continue };
        match &entry.value {
            Node::Text(text)
                if key == "compatibility" && text.chars().count() > COMPATIBILITY_MAX =>
            {
                findings.push(error(
                    position(entry),
                    format!("`compatibility` has {} characters, at most {COMPATIBILITY_MAX} are allowed", text.chars().count()),
                    "name only what the skill needs from its environment",
                ));
            }
            Node::Text(_) => {}
            Node::List(items) => {
                let words: Vec<&str> = items.iter().filter_map(Node::scalar).collect();
                findings.push(error(
                    position(entry),
                    format!("`{key}` is a list, the format takes text"),
                    format!("write `{key}: {}`", words.join(" ")),
                ));
            }
            Node::Other(_) | Node::Empty | Node::Map(_) => findings.push(error(
                position(entry),
                format!("`{key}` is {}, the format takes text", entry.value.kind()),
                format!("write `{key}: \"…\"`, or remove it"),
            )),
        }
    }
    if let Some(entry) = head.entry("metadata") {
        check_metadata(entry, findings);
    }
}

fn check_metadata(entry: &Entry, findings: &mut Vec<Finding>) {
    let Node::Map(items) = &entry.value else {
        let kind = entry.value.kind();
        findings.push(error(
            position(entry),
            format!("`metadata` is {kind}, the format takes a mapping of text to text"),
            "write `metadata:` and indented `key: \"value\"` lines",
        ));
        return;
    };
    for item in items {
        let fix = match &item.value {
            Node::Text(_) => continue,
            Node::Other(text) => format!("write `{}: \"{text}\"`", item.key),
            Node::Empty => format!("write `{}: \"\"`, or remove it", item.key),
            Node::List(values) => {
                let words: Vec<&str> = values.iter().filter_map(Node::scalar).collect();
                format!("write `{}: \"{}\"`", item.key, words.join(", "))
            }
            Node::Map(values) => {
                let keys: Vec<String> =
                    values.iter().map(|value| format!("`{}-{}`", item.key, value.key)).collect();
                format!("write flat keys: {}", keys.join(", "))
            }
        };
        findings.push(error(
            position(item),
            format!("`metadata.{}` is {}, the format takes text", item.key, item.value.kind()),
            fix,
        ));
    }
}

fn check_unknown(head: &Frontmatter, findings: &mut Vec<Finding>) {
    for entry in &head.entries {
        if KEYS.contains(&entry.key.as_str()) {
            continue;
        }
        let fix = match (head.form, entry.key.as_str()) {
            (Form::OpenDesign, "triggers") => {
                format!("name the triggers in `description` (\"Use when … {}\") and remove the key", head.triggers().join(", "))
            }
            (Form::OpenDesign, "od") => "move its settings under `metadata` with flat text keys, such as `od-mode: prototype`".to_owned(),
            (Form::OpenDesign | Form::AgentSkills, key) => match nearest(key, &KEYS) {
                Some(known) => format!("did you mean `{known}`? Anything of your own goes under `metadata`"),
                None => format!("move it under `metadata`: `metadata:` with `  {key}: \"…\"`"),
            },
        };
        findings.push(error(
            position(entry),
            format!("`{}` is not a key of the format ({})", entry.key, KEYS.join(", ")),
            fix,
        ));
    }
}

fn check_body(head: &Frontmatter, exists: &dyn Fn(&Path) -> bool, findings: &mut Vec<Finding>) {
    let start = Position { line: head.body_line, column: 1 };
    if head.body.trim().is_empty() {
        findings.push(error(
            start,
            "the body is empty",
            "write the instructions after the frontmatter",
        ));
    }
    let lines = head.body.lines().count();
    if lines > BODY_LINES_MAX {
        findings.push(warning(
            start,
            format!("the body has {lines} lines, agents are served best below {BODY_LINES_MAX}"),
            "move details into files under references/ and link them",
        ));
    }
    let tokens = tokens(&head.body);
    if tokens > BODY_TOKENS_MAX {
        findings.push(warning(
            start,
            format!(
                "the body has about {tokens} tokens, agents are served best below {BODY_TOKENS_MAX}"
            ),
            "move details into files under references/ and link them",
        ));
    }
    for (target, at) in links(&head.body, head.body_line) {
        if !exists(Path::new(&target)) {
            findings.push(error(
                at,
                format!("the link to `{target}` leads nowhere"),
                "add the file, or correct the path (relative to SKILL.md)",
            ));
        }
    }
}

/// Returns a rough count of model tokens: a quarter of the ASCII bytes, one for any other character.
pub(super) fn tokens(text: &str) -> usize {
    let ascii = text.chars().filter(char::is_ascii).count();
    ascii.div_ceil(4) + (text.chars().count() - ascii)
}

/// Returns the relative targets of Markdown links outside code blocks.
fn links(body: &str, first_line: u64) -> Vec<(String, Position)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (line, number) in body.lines().zip(first_line..) {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        for (at, _) in line.match_indices("](") {
            let Some(target) = line[at + 2..].split(')').next() else { continue };
            let target = target.split('#').next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:") {
                let column = line[..at + 2].chars().count() as u64 + 1;
                found.push((target.to_owned(), Position { line: number, column }));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skills::{BUILTIN_FILES, BUILTIN_NAME};

    #[track_caller]
    fn findings(text: &str) -> Vec<String> {
        check(text, Some("a-skill"), &|path| path == Path::new("references/x.md"))
            .into_iter()
            .map(|finding| {
                format!(
                    "{}:{} {} | {}",
                    finding.at.line, finding.at.column, finding.message, finding.fix
                )
            })
            .collect()
    }

    #[test]
    fn the_built_in_skill_has_no_finding() {
        let exists = |path: &Path| BUILTIN_FILES.iter().any(|file| Path::new(file.path) == path);
        assert_eq!(check(BUILTIN_FILES[0].text, Some(BUILTIN_NAME), &exists), []);
    }

    #[test]
    fn the_older_form_is_told_what_to_move_where() {
        let text = "---\nname: a-skill\ndescription: Does it.\ntriggers:\n  - live\n  - 可刷新\nod:\n  mode: prototype\n---\nBody\n";
        assert_eq!(
            findings(text),
            [
                "4:1 `triggers` is not a key of the format (name, description, license, compatibility, metadata, allowed-tools) | name the triggers in `description` (\"Use when … live, 可刷新\") and remove the key",
                "7:1 `od` is not a key of the format (name, description, license, compatibility, metadata, allowed-tools) | move its settings under `metadata` with flat text keys, such as `od-mode: prototype`",
            ]
        );
    }

    #[test]
    fn every_fault_is_named_with_its_place() {
        let text = "---\nname: A Skill\ndescripton: x\nallowed-tools: [Bash, Read]\nmetadata:\n  version: 1.0\n  od:\n    mode: x\n---\nSee [x](references/x.md) and [y](references/y.md#z), [w](https://example.com).\n```\n[no](code.md)\n```\n";
        assert_eq!(
            findings(text),
            [
                "2:1 `name` is `A Skill`; it takes 1 to 64 of a-z, 0-9 and single inner hyphens | write `name: a-skill`",
                "2:1 `description` is missing: agents choose skills by it | add `description: \"What it does. Use when …\"`",
                "3:1 `descripton` is not a key of the format (name, description, license, compatibility, metadata, allowed-tools) | did you mean `description`? Anything of your own goes under `metadata`",
                "4:1 `allowed-tools` is a list, the format takes text | write `allowed-tools: Bash Read`",
                "6:3 `metadata.version` is a number or boolean, the format takes text | write `version: \"1\"`",
                "7:3 `metadata.od` is a mapping, the format takes text | write flat keys: `od-mode`",
                "10:34 the link to `references/y.md` leads nowhere | add the file, or correct the path (relative to SKILL.md)",
            ]
        );
    }

    #[test]
    fn a_long_body_is_a_warning() {
        let text =
            format!("---\nname: a-skill\ndescription: x\n---\n{}", "word word\n".repeat(3_000));
        let found = check(&text, Some("a-skill"), &|_| true);
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|finding| finding.severity == Severity::Warning));
    }
}
