//! Reading what strace wrote.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// What a call that succeeded did to which file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Touched {
    /// Opened it to read.
    Read(PathBuf),
    /// Opened it to write, or made, moved or removed it.
    Written(PathBuf),
}

/// Returns every successful open, and every successful change of a directory.
pub(crate) fn read_trace(text: &str) -> Vec<Touched> {
    let mut begun: HashMap<&str, String> = HashMap::new();
    let mut touched = Vec::new();
    for line in text.lines() {
        let Some((pid, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        // Calls of several threads are printed in two halves.
        if let Some(half) = rest.strip_suffix("<unfinished ...>") {
            begun.insert(pid, half.to_owned());
            continue;
        }
        let whole = match rest.strip_prefix("<... ").and_then(|rest| rest.split_once("resumed>")) {
            Some((_, half)) => begun.remove(pid).unwrap_or_default() + half,
            None => rest.to_owned(),
        };
        touched.extend(read_call(&whole));
    }
    touched
}

fn read_call(line: &str) -> Vec<Touched> {
    let Some((call, rest)) = line.split_once('(') else { return Vec::new() };
    let Some((arguments, result)) = rest.rsplit_once(") = ") else { return Vec::new() };
    if result.starts_with('-') || result.starts_with('?') {
        return Vec::new();
    }
    match call {
        "open" | "openat" | "openat2" | "creat" => {
            let Some(path) = annotated(result) else { return Vec::new() };
            let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"]
                .iter()
                .any(|flag| arguments.contains(flag));
            vec![if writes { Touched::Written(path) } else { Touched::Read(path) }]
        }
        "rename" | "renameat" | "renameat2" | "unlink" | "unlinkat" | "mkdir" | "mkdirat"
        | "rmdir" | "link" | "linkat" | "symlink" | "symlinkat" | "chmod" | "fchmodat"
        | "chown" | "fchownat" | "truncate" | "mknod" | "mknodat" | "utimensat" => {
            named(arguments).into_iter().map(Touched::Written).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the path behind a descriptor as strace shows it: `7</some/path>`.
fn annotated(text: &str) -> Option<PathBuf> {
    let (_, rest) = text.split_once('<')?;
    let (path, _) = rest.rsplit_once('>')?;
    Some(PathBuf::from(path.trim_end_matches("(deleted)").trim_end()))
}

/// Returns every name among arguments, resolved against the descriptor before it.
fn named(arguments: &str) -> Vec<PathBuf> {
    let (mut base, mut names) = (PathBuf::new(), Vec::new());
    for argument in arguments.split(", ").map(str::trim) {
        if let Some(text) = argument.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
            names.push(folded(&base.join(text)));
        } else if argument.contains('<') {
            base = annotated(argument).unwrap_or_default();
        }
    }
    names
}

/// Takes `.` and `..` out by the letter, so that a name that climbs out is seen outside.
fn folded(path: &Path) -> PathBuf {
    let mut folded = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                folded.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                folded.push(component);
            }
        }
    }
    folded
}

#[test]
fn calls_are_read_as_strace_writes_them() {
    let text = "\
7 openat2(9</x/root>, \"sub/b.json\", {flags=O_RDONLY, resolve=RESOLVE_BENEATH}, 24) = 10</x/root/sub/b.json>
7 openat(AT_FDCWD</x>, \"/etc/passwd\", O_RDONLY) = -1 ENOENT (No such file or directory)
8 renameat(5</x/data>, \"a.tmp\", 5</x/data>, \"../out\" <unfinished ...>
7 openat(5</x/data>, \"n\", O_WRONLY|O_CREAT, 0600) = 11</x/data/n>
8 <... renameat resumed>) = 0
9 stat(\"/x\", 0x7ffd) = 0
";
    assert_eq!(
        read_trace(text),
        [
            Touched::Read("/x/root/sub/b.json".into()),
            Touched::Written("/x/data/n".into()),
            Touched::Written("/x/data/a.tmp".into()),
            Touched::Written("/x/out".into()),
        ]
    );
}
