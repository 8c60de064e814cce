//! The ignore rules of a project: `.ignore`, `.gitignore` and git's own exclude file.

use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::overrides::Override;
use od_core::credential::is_secret_path;

/// The files with patterns, the one that wins first.
pub(super) const IGNORE_FILES: [&str; 2] = [".ignore", ".gitignore"];

/// The rules of a directory and of those above it.
#[derive(Debug)]
pub(super) struct IgnoreRules {
    /// The patterns of this directory, in the order of [`IGNORE_FILES`].
    own: [Option<Gitignore>; IGNORE_FILES.len()],
    above: Option<Arc<Self>>,
    /// Patterns of the repository's own exclude file.
    excludes: Option<Gitignore>,
}

/// Reads a file of a directory, if it is there.
type ReadFile<'a> = dyn Fn(&str) -> Option<String> + 'a;

impl IgnoreRules {
    /// The repository's own exclude file, which is not part of its sources.
    pub(super) const EXCLUDES: &'static str = ".git/info/exclude";

    /// Reads the rules of the root.
    pub(super) fn of_root(path: &Path, read: &ReadFile<'_>) -> Arc<Self> {
        let excludes = read(Self::EXCLUDES).and_then(|text| patterns(path, &text));
        Arc::new(Self { own: own(path, read), above: None, excludes })
    }

    /// Reads the rules of a directory below; one that has none of its own shares these.
    pub(super) fn below(self: &Arc<Self>, path: &Path, read: &ReadFile<'_>) -> Arc<Self> {
        let own = own(path, read);
        if own.iter().all(Option::is_none) {
            return Arc::clone(self);
        }
        Arc::new(Self { own, above: Some(Arc::clone(self)), excludes: None })
    }

    /// Decides whether an entry is left out. What is asked for only narrows: it opens nothing that is
    /// ignored, hidden, or holds secrets by what it is.
    pub(super) fn leaves_out(&self, globs: &Override, path: &Path, is_directory: bool) -> bool {
        match globs.matched(path, is_directory) {
            Match::Ignore(_) => return true,
            Match::Whitelist(_) | Match::None => {}
        }
        if path.to_str().is_none_or(is_secret_path) {
            return true;
        }
        match self.decision(path, is_directory) {
            Match::Ignore(()) => true,
            Match::Whitelist(()) => false,
            Match::None => path
                .file_name()
                .and_then(|name| name.to_str())
                .is_some_and(|name| name.starts_with('.')),
        }
    }

    /// The nearest directory that says something decides; of two kinds of files the first one wins.
    fn decision(&self, path: &Path, is_directory: bool) -> Match<()> {
        for kind in 0..IGNORE_FILES.len() {
            let mut level = Some(self);
            while let Some(rules) = level {
                let said = rules.own[kind].as_ref().map(|own| own.matched(path, is_directory));
                match said {
                    Some(Match::Ignore(_)) => return Match::Ignore(()),
                    Some(Match::Whitelist(_)) => return Match::Whitelist(()),
                    Some(Match::None) | None => level = rules.above.as_deref(),
                }
            }
        }
        let mut root = self;
        while let Some(above) = &root.above {
            root = above;
        }
        match root.excludes.as_ref().map(|excludes| excludes.matched(path, is_directory)) {
            Some(Match::Ignore(_)) => Match::Ignore(()),
            Some(Match::Whitelist(_)) => Match::Whitelist(()),
            Some(Match::None) | None => Match::None,
        }
    }
}

fn own(path: &Path, read: &ReadFile<'_>) -> [Option<Gitignore>; IGNORE_FILES.len()] {
    IGNORE_FILES.map(|name| read(name).and_then(|text| patterns(path, &text)))
}

/// Builds the patterns of one file. A line that is none is passed over, as git does.
fn patterns(path: &Path, text: &str) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(path);
    for line in text.lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|built| !built.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(files: &[(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        let files: Vec<(String, String)> =
            files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        move |wanted| files.iter().find(|(name, _)| name == wanted).map(|(_, text)| text.clone())
    }

    #[test]
    fn the_nearest_rule_wins_and_ignore_wins_over_gitignore() {
        let root = Path::new("/");
        let top = IgnoreRules::of_root(
            root,
            &rules(&[(".gitignore", "*.log\n/only-here\nbuild/\n"), (".ignore", "!kept.log\n")]),
        );
        let below = top.below(Path::new("/sub"), &rules(&[(".gitignore", "!loud.log\n")]));
        let none = Override::empty();
        let left_out = |rules: &Arc<IgnoreRules>, path: &str, is_directory| {
            rules.leaves_out(&none, Path::new(path), is_directory)
        };
        assert!(left_out(&top, "/a.log", false));
        assert!(!left_out(&top, "/kept.log", false));
        assert!(!left_out(&below, "/sub/kept.log", false));
        assert!(!left_out(&below, "/sub/loud.log", false));
        assert!(left_out(&below, "/sub/other.log", false));
        assert!(left_out(&top, "/only-here", false));
        assert!(!left_out(&below, "/sub/only-here", false), "it was anchored at the root");
        assert!(left_out(&below, "/sub/build", true));
        assert!(!left_out(&below, "/sub/build", false), "a directory was meant");
        assert!(left_out(&top, "/.env", false), "hidden files are left out");
    }

    #[test]
    fn what_is_asked_for_only_narrows_and_a_repositorys_own_excludes_come_last() {
        let root = Path::new("/");
        let top = IgnoreRules::of_root(
            root,
            &rules(&[
                (".git/info/exclude", "secret.txt\nnotes.txt\n"),
                (".gitignore", "!notes.txt\n"),
            ]),
        );
        let none = Override::empty();
        assert!(top.leaves_out(&none, Path::new("/secret.txt"), false));
        assert!(!top.leaves_out(&none, Path::new("/notes.txt"), false));
        let mut asked = ignore::overrides::OverrideBuilder::new("/");
        asked.add("*.txt").unwrap();
        let asked = asked.build().unwrap();
        assert!(top.leaves_out(&asked, Path::new("/secret.txt"), false));
        assert!(top.leaves_out(&asked, Path::new("/.hidden.txt"), false));
        assert!(!top.leaves_out(&asked, Path::new("/notes.txt"), false));
        assert!(top.leaves_out(&asked, Path::new("/code.rs"), false));
        assert!(!top.leaves_out(&asked, Path::new("/folder"), true), "it may hold some");
    }
}
