//! The safety of a tool: its classes, and the classification from the words of the tool.

use crate::words::words;

/// The words a tool is judged by.
#[derive(Clone, Copy, Debug)]
pub struct ToolFacts<'a> {
    /// The name.
    pub name: &'a str,
    /// The title.
    pub title: &'a str,
    /// The description, looked at only if name, title and scopes say nothing.
    pub description: &'a str,
    /// The scopes it needs.
    pub scopes: &'a [&'a str],
}

const DESTRUCTIVE: &[&str] = &[
    "delete",
    "destroy",
    "destructive",
    "drop",
    "erase",
    "irreversible",
    "kill",
    "overwrite",
    "purge",
    "remove",
    "reset",
    "revoke",
    "terminate",
    "trash",
    "truncate",
    "uninstall",
    "unpublish",
    "wipe",
];

const WRITE: &[&str] = &[
    "add",
    "admin",
    "append",
    "approve",
    "archive",
    "assign",
    "ban",
    "cancel",
    "close",
    "copy",
    "create",
    "disable",
    "edit",
    "enable",
    "execute",
    "fork",
    "grant",
    "import",
    "insert",
    "install",
    "invite",
    "lock",
    "manage",
    "merge",
    "modify",
    "move",
    "mutate",
    "patch",
    "pay",
    "post",
    "publish",
    "push",
    "put",
    "rename",
    "replace",
    "reply",
    "restore",
    "rotate",
    "run",
    "save",
    "schedule",
    "send",
    "set",
    "share",
    "start",
    "stop",
    "submit",
    "subscribe",
    "sync",
    "transfer",
    "trigger",
    "unlock",
    "unsubscribe",
    "update",
    "upload",
    "upsert",
    "write",
];

const READ: &[&str] = &[
    "browse",
    "count",
    "describe",
    "fetch",
    "find",
    "get",
    "inspect",
    "list",
    "lookup",
    "query",
    "read",
    "readonly",
    "retrieve",
    "search",
    "show",
    "summarize",
    "summary",
    "view",
];

/// Judges a tool by the words of its name, title and scopes and, only if those say nothing, of its
/// description. What nothing is known of is taken to write.
#[must_use]
pub fn classify(facts: &ToolFacts<'_>) -> ToolSafety {
    let scopes = facts.scopes.iter().copied();
    judge([facts.name, facts.title].into_iter().chain(scopes), Voice::Command)
        .or_else(|| judge([facts.description], Voice::Prose))
        .unwrap_or_else(|| ToolSafety {
            side_effect: SideEffect::Write,
            approval: Approval::Confirm,
            reason: "nothing says that it only reads".to_owned(),
        })
}

/// The forms in which verbs appear in a text.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Voice {
    /// `list_updates`: after a reading verb, `updates` and `updated` are what is read.
    Command,
    /// "Lists pages and updates them": every form may be the verb.
    Prose,
}

/// Returns the strictest thing any word says.
fn judge<'a>(texts: impl IntoIterator<Item = &'a str>, voice: Voice) -> Option<ToolSafety> {
    let mut strictest: Option<(SideEffect, String)> = None;
    for text in texts {
        // For each text anew: the verb of the name says nothing of how the title's words are meant.
        let mut reads = false;
        for word in split_words(text) {
            let base_only = reads && voice == Voice::Command;
            let Some(effect) = judge_word(&word, base_only) else { continue };
            reads |= effect == SideEffect::Read;
            if strictest.as_ref().is_none_or(|(found, _)| rank(effect) > rank(*found)) {
                strictest = Some((effect, word));
            }
        }
    }
    let (side_effect, word) = strictest?;
    let approval = match side_effect {
        SideEffect::Read => Approval::Auto,
        SideEffect::Write | SideEffect::Unknown => Approval::Confirm,
        SideEffect::Destructive => Approval::Disabled,
    };
    Some(ToolSafety { side_effect, approval, reason: format!("the word `{word}`") })
}

/// Returns what one word says: as a verb in any of its forms, or in its base form only.
fn judge_word(word: &str, base_only: bool) -> Option<SideEffect> {
    let says = |verbs: &[&str]| {
        // The lists are sorted: only verbs with the word's first letter are looked at.
        let first = word.as_bytes().first();
        let start = verbs.partition_point(|verb| verb.as_bytes().first() < first);
        verbs[start..]
            .iter()
            .take_while(|verb| verb.as_bytes().first() == first)
            .any(|verb| word == *verb || (!base_only && is_form_of(word, verb)))
    };
    if says(DESTRUCTIVE) {
        Some(SideEffect::Destructive)
    } else if says(WRITE) {
        Some(SideEffect::Write)
    } else if says(READ) {
        Some(SideEffect::Read)
    } else {
        None
    }
}

/// Returns whether a word is `verb` with `s`, `ed` or `ing`, as English spells them.
fn is_form_of(word: &str, verb: &str) -> bool {
    if let Some(ending) = word.strip_prefix(verb) {
        let is_doubled = ending.chars().next() == verb.chars().next_back()
            && matches!(ending.get(1..), Some("ed" | "ing"));
        return is_doubled || matches!(ending, "s" | "es" | "d" | "ed" | "ing");
    }
    let without_last =
        |last: char| verb.strip_suffix(last).and_then(|stem| word.strip_prefix(stem));
    without_last('e') == Some("ing") || matches!(without_last('y'), Some("ies" | "ied"))
}

/// Splits at case and punctuation: `listOpenPRs` is `list`, `open`, `p`, `rs`.
fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    // A description comes from a server that nobody here wrote.
    let chars: Vec<char> = text.chars().take(4_096).collect();
    for (i, &c) in chars.iter().enumerate() {
        let before = i.checked_sub(1).map(|i| chars[i]);
        let after = chars.get(i + 1);
        let begins = c.is_uppercase()
            && (before.is_some_and(|b| !b.is_uppercase())
                || after.is_some_and(|a| a.is_lowercase()));
        if !c.is_alphabetic() || begins {
            words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
        }
        if c.is_alphabetic() {
            word.extend(c.to_lowercase());
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

/// Returns the stricter of two judgements, part by part; the reason is that of the stricter effect.
#[must_use]
pub fn stricter(a: &ToolSafety, b: &ToolSafety) -> ToolSafety {
    let b_decides = rank(b.side_effect) > rank(a.side_effect)
        || (b.side_effect == a.side_effect && need(b.approval) > need(a.approval));
    let decides = if b_decides { b } else { a };
    let approval = if need(b.approval) > need(a.approval) { b.approval } else { a.approval };
    ToolSafety { side_effect: decides.side_effect, approval, reason: decides.reason.clone() }
}

const fn rank(effect: SideEffect) -> u8 {
    match effect {
        SideEffect::Read => 0,
        SideEffect::Unknown => 1,
        SideEffect::Write => 2,
        SideEffect::Destructive => 3,
    }
}

const fn need(approval: Approval) -> u8 {
    match approval {
        Approval::Auto => 0,
        Approval::Confirm => 1,
        Approval::Disabled => 2,
    }
}

words! {
    /// What a tool may do to the world.
    SideEffect {
        /// Nothing: it only reads.
        Read = "read",
        /// It changes something.
        Write = "write",
        /// It removes something, or cannot be undone.
        Destructive = "destructive",
        /// Nobody knows.
        Unknown = "unknown",
    }
}

words! {
    /// What a tool needs before it runs.
    Approval {
        /// Nothing.
        Auto = "auto",
        /// A person's word, each time.
        Confirm = "confirm",
        /// It does not run.
        Disabled = "disabled",
    }
}

/// How safe a tool is, and why.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ToolSafety {
    /// What it may do to the world.
    pub side_effect: SideEffect,
    /// What it needs before it runs.
    pub approval: Approval,
    /// Why, in one sentence.
    #[schemars(length(max = 1024))]
    pub reason: String,
}

impl ToolSafety {
    /// Returns whether the tool runs for agents and refreshes: read-only, without asking.
    #[must_use]
    pub fn runs(&self) -> bool {
        self.side_effect == SideEffect::Read && self.approval == Approval::Auto
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn effect(name: &str, title: &str, description: &str, scopes: &[&str]) -> SideEffect {
        classify(&ToolFacts { name, title, description, scopes }).side_effect
    }

    #[test]
    fn names_decide() {
        use SideEffect::{Destructive, Read, Write};
        for (name, want) in [
            ("github.list_releases", Read),
            ("project_files.read_json", Read),
            ("project_files.search", Read),
            ("git.summary", Read),
            ("github.public_repo_summary", Read),
            ("list_workflow_runs", Read),
            ("listRecentlyUpdatedPages", Read),
            ("search_posts", Read),
            ("get_or_create_user", Write),
            ("createIssue", Write),
            ("post_message", Write),
            ("MANAGE-team", Write),
            ("updating", Write),
            ("applies_patch", Write),
            ("delete_repo", Destructive),
            ("list_and_delete", Destructive),
            ("dropping", Destructive),
            ("HTTPRemove", Destructive),
            ("frobnicate", Write),
            ("", Write),
        ] {
            assert_eq!(effect(name, "", "", &[]), want, "{name}");
        }
    }

    #[test]
    fn scopes_and_title_count_and_the_description_only_when_they_are_silent() {
        assert_eq!(effect("list_x", "List X", "", &["repo:write"]), SideEffect::Write);
        assert_eq!(effect("list_x", "Delete X", "", &[]), SideEffect::Destructive);
        assert_eq!(effect("list_x", "", "also deletes", &[]), SideEffect::Read);
        assert_eq!(effect("x", "X", "Lists things and deletes them", &[]), SideEffect::Destructive);
        assert_eq!(effect("x", "X", "Lists things", &[]), SideEffect::Read);
    }

    #[test]
    fn only_read_without_asking_runs() {
        for name in ["list_x", "create_x", "delete_x", "x"] {
            let safety = classify(&ToolFacts { name, title: "", description: "", scopes: &[] });
            assert_eq!(safety.runs(), name == "list_x", "{name}");
        }
    }

    #[test]
    fn the_lists_are_sorted() {
        for list in [DESTRUCTIVE, WRITE, READ] {
            assert!(list.is_sorted());
        }
    }

    fn safety() -> impl Strategy<Value = ToolSafety> {
        (0..4_usize, 0..3_usize).prop_map(|(effect, approval)| ToolSafety {
            side_effect: SideEffect::ALL[effect],
            approval: Approval::ALL[approval],
            reason: String::new(),
        })
    }

    proptest! {
        #[test]
        fn the_stricter_wins_whichever_comes_first(a in safety(), b in safety()) {
            let both = stricter(&a, &b);
            prop_assert_eq!(&stricter(&b, &a), &both);
            prop_assert!(rank(both.side_effect) >= rank(a.side_effect).max(rank(b.side_effect)));
            prop_assert!(need(both.approval) >= need(a.approval).max(need(b.approval)));
            prop_assert_eq!(both.runs(), a.runs() && b.runs());
        }

        #[test]
        fn a_writing_word_anywhere_is_seen(i in 0..WRITE.len(), noise in "[a-z]{0,6}") {
            let name = format!("list_{noise}_{}", WRITE[i]);
            let safety = classify(&ToolFacts { name: &name, title: "", description: "", scopes: &[] });
            prop_assert!(!safety.runs());
        }
    }
}
