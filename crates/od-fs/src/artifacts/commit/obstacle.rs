//! Things that od did not write, in the places where it has to write.
//!
//! A directory called `artifact.json.tmp` or a file called `pending` makes every commit fail, across
//! restarts, while all that is served is sound. So their kinds are part of an artifact's health, and a
//! repair moves them aside.

use od_core::ids::{ArtifactId, RefreshId};

use super::aside;
use super::pending::{self, FIRST, LAST_GOOD, PENDING};
use super::pointer::POINTER_FILE;
use crate::artifacts::history::{COMMITS, OBJECTS, ROTATED, SNAPSHOTS};
use crate::data_dir::LOCKS;
use crate::disk::{Dir, DiskError, EntryKind};

/// Something that od did not write, where od has to write.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Obstacle {
    /// The directory it lies in, below the artifact's own or beside it; empty for that itself.
    within: &'static str,
    name: String,
    place: Place,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Place {
    /// Below the artifact's directory.
    Artifact,
    /// Below `.live-artifacts`, where the locks of all artifacts are.
    Project,
}

impl Obstacle {
    /// Returns where it stands, as a person looks for it.
    pub(crate) fn path(&self) -> String {
        if self.within.is_empty() {
            self.name.clone()
        } else {
            format!("{}/{}", self.within, self.name)
        }
    }
}

/// Finds everything that keeps od from writing an artifact.
pub(crate) fn find(
    live: &Dir,
    artifact: &Dir,
    id: &ArtifactId,
) -> Result<Vec<Obstacle>, DiskError> {
    let mut found = Vec::new();
    let commit_lock = format!("{id}.commit");
    for (within, name, wanted) in
        [("", LOCKS, EntryKind::Directory), (LOCKS, commit_lock.as_str(), EntryKind::Regular)]
    {
        let path = if within.is_empty() { name.to_owned() } else { format!("{within}/{name}") };
        if live.stat(&path)?.is_some_and(|stat| stat.kind != wanted) {
            found.push(Obstacle { within, name: name.to_owned(), place: Place::Project });
        }
    }
    // One listing instead of a look at each name: reading an artifact is on the way of every list.
    for (name, kind) in artifact.entries()? {
        match (wanted_kind(&name), kind) {
            (Some(wanted), kind) if wanted != kind => {
                found.push(Obstacle { within: "", name, place: Place::Artifact });
            }
            (Some(EntryKind::Directory), _) if name == PENDING => {
                found.extend(wrong_entries(artifact, PENDING, |name| {
                    pending::is_frame_name(name).then_some(EntryKind::Regular)
                })?);
            }
            (Some(EntryKind::Directory), _) if name == SNAPSHOTS => {
                found.extend(wrong_entries(artifact, SNAPSHOTS, |name| {
                    let id = name.strip_suffix(".tmp").unwrap_or(name);
                    id.parse::<RefreshId>().is_ok().then_some(EntryKind::Directory)
                })?);
            }
            (Some(_) | None, _) => {}
        }
    }
    Ok(found)
}

/// Returns whether something of a kind may not stand under a name of an artifact's directory.
pub(crate) fn is_obstacle(name: &str, kind: EntryKind) -> bool {
    wanted_kind(name).is_some_and(|wanted| wanted != kind)
}

/// Returns the kind that od writes under a name, `None` where it writes nothing or gets past anything.
fn wanted_kind(name: &str) -> Option<EntryKind> {
    match name {
        PENDING | SNAPSHOTS | OBJECTS | aside::ASIDE => Some(EntryKind::Directory),
        FIRST | LAST_GOOD | ROTATED | COMMITS => Some(EntryKind::Regular),
        // The visible copies and what is swapped for them are not here: whatever stands there is moved
        // aside by the commit itself.
        _ if name.strip_suffix(".tmp") == Some(POINTER_FILE) => Some(EntryKind::Regular),
        _ => None,
    }
}

fn wrong_entries(
    artifact: &Dir,
    within: &'static str,
    wanted: impl Fn(&str) -> Option<EntryKind>,
) -> Result<Vec<Obstacle>, DiskError> {
    let entries = match artifact.child(within) {
        Ok(dir) => dir.entries()?,
        // Removed meanwhile.
        Err(err) if err.is_missing() => Vec::new(),
        Err(err) => return Err(err),
    };
    let is_wrong = |(name, kind): &(String, EntryKind)| wanted(name).is_some_and(|it| it != *kind);
    let obstacle = |(name, _)| Obstacle { within, name, place: Place::Artifact };
    Ok(entries.into_iter().filter(is_wrong).map(obstacle).collect())
}

/// Moves obstacles of the artifact's locks aside: without them no lock can be taken.
pub(crate) fn clear_locks(live: &Dir, artifact: &Dir, id: &ArtifactId) -> Result<usize, DiskError> {
    let found = find(live, artifact, id)?;
    clear(live, artifact, found.iter().filter(|found| found.place == Place::Project))
}

/// Moves every obstacle aside. The caller holds the commit lock.
pub(crate) fn clear_all(live: &Dir, artifact: &Dir, id: &ArtifactId) -> Result<usize, DiskError> {
    let found = find(live, artifact, id)?;
    clear(live, artifact, found.iter())
}

fn clear<'o>(
    live: &Dir,
    artifact: &Dir,
    obstacles: impl Iterator<Item = &'o Obstacle>,
) -> Result<usize, DiskError> {
    let mut cleared = 0;
    let (asides, others): (Vec<_>, Vec<_>) =
        obstacles.partition(|obstacle| obstacle.within.is_empty() && obstacle.name == aside::ASIDE);
    // First what stands where the others are to go.
    for _ in asides {
        let spare = format!(".{}-moved", aside::ASIDE);
        artifact.rename(aside::ASIDE, artifact, &spare)?;
        aside::keep_entry(artifact, artifact, &spare, aside::ASIDE)?;
        cleared += 1;
    }
    for obstacle in others {
        let root = match obstacle.place {
            Place::Artifact => artifact,
            Place::Project => live,
        };
        let known = obstacle.path().replace('/', "-");
        let from =
            if obstacle.within.is_empty() { None } else { Some(root.child(obstacle.within)?) };
        aside::keep_entry(artifact, from.as_ref().unwrap_or(root), &obstacle.name, &known)?;
        cleared += 1;
    }
    if cleared > 0 {
        artifact.sync()?;
    }
    Ok(cleared)
}
