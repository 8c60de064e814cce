//! Directories that no connector may reach: known by device and inode, not by name.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Names that are never entered, at any depth.
pub(crate) const HIDDEN_NAMES: [&str; 2] = [".git", ".live-artifacts"];

/// A file or directory, by what it is.
type Node = (u64, u64);

/// Directories that are out of bounds with everything below them: the data directory and the home.
///
/// They are looked up at every use, so a directory that appears later is fenced too.
#[derive(Clone, Debug)]
pub struct Fence {
    closed: Vec<PathBuf>,
}

/// The fence as it stands at one moment.
#[derive(Debug)]
pub(crate) struct FencedNodes {
    nodes: HashSet<Node>,
}

impl Fence {
    /// Makes a fence around directories.
    pub fn around(closed: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { closed: closed.into_iter().collect() }
    }

    /// Looks the directories up, with the secret files straight below them.
    ///
    /// The files are listed because a hard link gives them another name inside a project.
    pub(crate) fn resolve(&self) -> FencedNodes {
        let mut nodes = HashSet::new();
        for root in &self.closed {
            add(&mut nodes, root);
            for place in ["keys", "connectors"] {
                let Ok(entries) = fs::read_dir(root.join(place)) else { continue };
                for entry in entries.flatten() {
                    add(&mut nodes, &entry.path());
                }
            }
        }
        FencedNodes { nodes }
    }
}

fn add(nodes: &mut HashSet<Node>, path: &Path) {
    if let Ok(metadata) = fs::metadata(path) {
        nodes.insert((metadata.dev(), metadata.ino()));
    }
}

impl FencedNodes {
    /// Returns whether this very file or directory is closed.
    pub(crate) fn contains(&self, device: u64, inode: u64) -> bool {
        self.nodes.contains(&(device, inode))
    }

    /// Returns whether a directory is closed or lies below a closed one, by whatever links it is named.
    pub(crate) fn encloses(&self, directory: &Path) -> bool {
        // One that leads nowhere has nothing to give; whoever opens it says so.
        let real = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        real.ancestors().any(|above| {
            fs::metadata(above).is_ok_and(|metadata| self.contains(metadata.dev(), metadata.ino()))
        })
    }
}
