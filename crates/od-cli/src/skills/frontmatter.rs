//! The head of a SKILL.md, in both of its forms.

use super::yaml::{Entry, Node};

/// The longest frontmatter that is read, in bytes.
const FRONTMATTER_BYTES_MAX: usize = 16 * 1024;

/// A position in the file, from 1.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Position {
    /// The line.
    pub line: u64,
    /// The column.
    pub column: u64,
}

/// The form of a frontmatter.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// The six keys of the Agent Skills format.
    AgentSkills,
    /// The older form of Open Design, with `triggers` and `od` at the top.
    OpenDesign,
}

/// The head of a SKILL.md.
#[derive(Clone, Debug)]
pub struct Frontmatter {
    pub(super) entries: Vec<Entry>,
    /// The form.
    pub form: Form,
    /// The text after the frontmatter.
    pub body: String,
    /// The line of the file on which the body starts.
    pub body_line: u64,
}

/// A file has no readable frontmatter.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum FrontmatterError {
    /// The first line is not `---`.
    #[error("the file does not start with a line `---`")]
    Missing,
    /// There is no closing `---`.
    #[error("the frontmatter has no closing line `---`")]
    Unclosed,
    /// Too long.
    #[error("the frontmatter has {bytes} bytes, at most {FRONTMATTER_BYTES_MAX} are read")]
    TooLong {
        /// The length.
        bytes: usize,
    },
    /// Not YAML.
    #[error("{message}")]
    Yaml {
        /// The position in the file.
        at: Position,
        /// The YAML reader's own words.
        message: String,
    },
    /// YAML, but not a mapping.
    #[error("the frontmatter is {kind}, not a mapping of keys to values")]
    NotAMapping {
        /// The kind of value that stands there.
        kind: &'static str,
    },
}

impl Frontmatter {
    /// Returns the skill's name.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.scalar("name")
    }

    /// Returns the skill's description, on one line.
    #[must_use]
    pub fn description(&self) -> Option<String> {
        let text = self.scalar("description")?;
        Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Returns the triggers of the older form.
    #[must_use]
    pub fn triggers(&self) -> Vec<&str> {
        match self.entry("triggers").map(|entry| &entry.value) {
            Some(Node::List(items)) => items.iter().filter_map(Node::scalar).collect(),
            Some(Node::Text(text)) => vec![text],
            Some(Node::Other(_) | Node::Empty | Node::Map(_)) | None => Vec::new(),
        }
    }

    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    fn scalar(&self, key: &str) -> Option<&str> {
        self.entry(key).and_then(|entry| entry.value.scalar())
    }
}

/// Reads a SKILL.md.
///
/// # Errors
///
/// The frontmatter is missing, unclosed, too long, or not a YAML mapping.
pub fn read(text: &str) -> Result<Frontmatter, FrontmatterError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    if lines.next().map(str::trim_end) != Some("---") {
        return Err(FrontmatterError::Missing);
    }
    let mut yaml = String::new();
    let mut body_line = 1;
    let mut closed = false;
    for line in lines.by_ref() {
        body_line += 1;
        if line.trim_end() == "---" {
            closed = true;
            break;
        }
        yaml.push_str(line);
    }
    if !closed {
        return Err(FrontmatterError::Unclosed);
    }
    if yaml.len() > FRONTMATTER_BYTES_MAX {
        return Err(FrontmatterError::TooLong { bytes: yaml.len() });
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_nodes: 1_000, max_depth: 16, max_aliases: 16, max_documents: 1 },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 1_000 },
    };
    let node: Node = serde_saphyr::from_str_with_options(&yaml, options).map_err(|error| {
        let at = error
            .location()
            .map(|location| Position { line: location.line() + 1, column: location.column() })
            .unwrap_or(Position { line: 2, column: 1 });
        let message = error.to_string().lines().next().unwrap_or_default().to_owned();
        FrontmatterError::Yaml { at, message }
    })?;
    let entries = match node {
        Node::Map(entries) => entries,
        Node::Empty => Vec::new(),
        Node::Text(_) | Node::Other(_) | Node::List(_) => {
            return Err(FrontmatterError::NotAMapping { kind: node.kind() });
        }
    };
    let older = entries.iter().any(|entry| matches!(entry.key.as_str(), "triggers" | "od"));
    Ok(Frontmatter {
        entries,
        form: if older { Form::OpenDesign } else { Form::AgentSkills },
        body: lines.collect(),
        body_line: body_line + 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        let older = read("---\nname: live-artifact\ndescription: |\n  Create refreshable\n  artifacts.\ntriggers:\n  - live artifact\n  - 可刷新\nod:\n  mode: prototype\n---\nBody\n").unwrap();
        assert_eq!(older.form, Form::OpenDesign);
        assert_eq!(older.description().as_deref(), Some("Create refreshable artifacts."));
        assert_eq!(older.triggers(), ["live artifact", "可刷新"]);
        assert_eq!((older.body.as_str(), older.body_line), ("Body\n", 12));

        let newer = read(
            "---\r\nname: a\r\ndescription: \"x: y\"\r\nmetadata:\r\n  v: \"1\"\r\n---\r\nBody",
        )
        .unwrap();
        assert_eq!(newer.form, Form::AgentSkills);
        assert_eq!(newer.description().as_deref(), Some("x: y"));
        assert_eq!(newer.entry("metadata").unwrap().at, (3, 1));
    }

    #[test]
    fn a_broken_head_says_where() {
        assert_eq!(read("# Title\n").unwrap_err(), FrontmatterError::Missing);
        assert_eq!(read("---\nname: a\n").unwrap_err(), FrontmatterError::Unclosed);
        assert!(matches!(
            read("---\n- a\n---\n").unwrap_err(),
            FrontmatterError::NotAMapping { .. }
        ));
        let FrontmatterError::Yaml { at, .. } =
            read("---\nname: a\nmetadata: [\n---\n").unwrap_err()
        else {
            panic!("not a YAML error")
        };
        assert!(at.line >= 3, "{at:?}");
        let long = format!("---\nname: {}\n---\n", "a".repeat(17_000));
        assert!(matches!(read(&long).unwrap_err(), FrontmatterError::TooLong { .. }));
    }

    #[test]
    fn aliases_cannot_blow_up() {
        let bomb = "---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n---\n";
        assert!(matches!(read(bomb).unwrap_err(), FrontmatterError::Yaml { .. }));
    }
}
