//! The rule: a place belongs to the source that maps to it, else to the author.

use super::place::Place;
use super::writes::{PathWrite, WrittenBy, author_wrote, known_writes};
use crate::artifact::{ArtifactState, OutputMapping, Provenance};
use crate::ids::{MappingPath, Timestamp};
use crate::json::{BoundedObject, Map, Value};

/// The id of the one source of an artifact that has its source in `sourceJson`.
pub const ROOT_SOURCE: &str = "source";

/// A source or a query of an artifact, and the places it writes to.
#[derive(Clone, Copy, Debug)]
pub enum Writer<'a> {
    /// A source.
    Source {
        /// Its id.
        id: &'a str,
        /// Its mapping; without paths it writes the keys of its output.
        mapping: Option<&'a OutputMapping>,
    },
    /// A query.
    Query {
        /// The one place it writes.
        to: &'a MappingPath,
    },
}

/// The writer of a place.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Owner<'a> {
    /// Agents and persons, by create, update and edits by hand.
    Author,
    /// The source with this id, by refreshes.
    Source(&'a str),
    /// A query, by refreshes.
    Query,
}

/// The places of the data that belong to sources and queries; all others are the author's.
#[derive(Clone, Debug, Default)]
pub struct Ownership<'a> {
    owned: Vec<(Place, Owner<'a>)>,
}

impl<'a> Ownership<'a> {
    /// Works out the owners of an artifact's data.
    #[must_use]
    pub fn of_state(state: &'a ArtifactState) -> Self {
        let writers = state.artifact.writers();
        let writes = &known_writes(state);
        let mut ownership = Self::new(&writers, writes);
        // An artifact of before writes were remembered: every key may be the source's, and a value
        // of a source that went back would be worse than an author who has to refresh first.
        if writes.is_empty() && state.artifact.last_refreshed_at.is_some() {
            for writer in writers.iter().filter(|writer| writer.maps_whole_output()) {
                let keys = state.data.object().keys();
                let owner = writer.owner();
                ownership.owned.extend(keys.map(|key| (Place::root().key(key), owner)));
            }
        }
        ownership
    }

    /// Works out the owners from the sources' mappings. A source that maps its whole output owns the
    /// keys that it has written: which ones it gives is known only once it ran.
    #[must_use]
    pub fn new(writers: &[Writer<'a>], writes: &[PathWrite]) -> Self {
        let mut owned = Vec::new();
        for writer in writers {
            let owner = writer.owner();
            match *writer {
                Writer::Query { to } => owned.push((Place::from(to), owner)),
                Writer::Source { id, mapping } => match paths(mapping) {
                    Some(paths) => owned.extend(paths.map(|to| (to, owner))),
                    None => {
                        let is_its = |write: &&PathWrite| {
                            write.path.depth() == 1
                                && write.read().is_some_and(|read| read.id == id)
                        };
                        let keys = writes.iter().filter(is_its).map(|write| write.path.clone());
                        owned.extend(keys.map(|key| (key, owner)));
                    }
                },
            }
        }
        Self { owned }
    }

    /// Returns the writer of a place.
    #[must_use]
    pub fn owner(&self, place: &Place) -> Owner<'a> {
        let owned = self.owned.iter().find(|(owned, _)| place.is_within(owned));
        owned.map_or(Owner::Author, |(_, owner)| *owner)
    }

    /// Returns the places of sources and queries, each with its owner.
    pub fn places(&self) -> impl Iterator<Item = (&Place, Owner<'a>)> {
        self.owned.iter().map(|(place, owner)| (place, *owner))
    }

    /// Returns the places that belong to a source or query here and in `other`: those that a change of
    /// the sources does not hand over.
    #[must_use]
    pub fn shared_with(&self, other: &Ownership<'_>) -> Vec<Place> {
        let is_shared = |place: &&Place| other.owner(place) != Owner::Author;
        self.owned.iter().map(|(place, _)| place).filter(is_shared).cloned().collect()
    }
}

impl<'a> Writer<'a> {
    /// Returns whether it writes the keys of its output, whichever those are.
    #[must_use]
    pub fn maps_whole_output(&self) -> bool {
        match self {
            Self::Source { mapping, .. } => paths(*mapping).is_none(),
            Self::Query { .. } => false,
        }
    }

    const fn owner(&self) -> Owner<'a> {
        match self {
            Self::Source { id, .. } => Owner::Source(id),
            Self::Query { .. } => Owner::Query,
        }
    }
}

fn paths<'a>(mapping: Option<&'a OutputMapping>) -> Option<impl Iterator<Item = Place> + use<'a>> {
    let paths = mapping?.data_paths.as_ref()?;
    Some(paths.iter().map(|path| Place::from(&path.to)))
}

/// Returns the state after a person edited its data by hand since `committed`, and the places at which
/// the edit is not taken over: a source writes them, and has what it gave.
#[must_use]
pub fn adopt(
    state: &ArtifactState,
    committed: &BoundedObject,
    at: Timestamp,
) -> (ArtifactState, Vec<Place>) {
    let ownership = Ownership::of_state(state);
    let owned: Vec<Place> = ownership.places().map(|(place, _)| place.clone()).collect();
    let edited: Vec<Place> = owned
        .iter()
        .filter(|place| place.find(committed.value()) != place.find(state.data.value()))
        .cloned()
        .collect();
    let Kept { data, .. } = Kept::new(committed.value(), state.data.object(), &owned);
    // Data that has no room for what the source gave, or too much of it, stays as it is edited.
    let Ok(data) = BoundedObject::check(Value::Object(data)) else {
        return (state.clone(), Vec::new());
    };
    let revision = state.artifact.revision.next();
    let write = PathWrite { path: Place::root(), by: WrittenBy::Person, revision, at };
    let both = (committed.value(), data.value());
    let paths = author_wrote(&known_writes(state), both, &ownership, &write);
    let provenance = Provenance { paths, ..state.provenance.clone() };
    (ArtifactState { data, provenance, ..state.clone() }, edited)
}

/// Data in which some places kept their values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// The data.
    pub data: Map,
    /// The places at which something else was given.
    pub places: Vec<Place>,
}

impl Kept {
    /// Returns the given data with the present values of some places. A place where nothing stands
    /// yet takes what is given: a source that never ran has nothing to lose. Nor is a place kept that
    /// the given data has no room for: whether that may be is for the check of targets to say.
    #[must_use]
    pub fn new(present: &Value, given: &Map, places: &[Place]) -> Self {
        let mut kept = Self { data: given.clone(), places: Vec::new() };
        for place in places {
            let Some(value) = place.find(present) else { continue };
            let replaced = place.find_in(given);
            if replaced == Some(value) || place.put(&mut kept.data, value.clone()).is_err() {
                continue;
            }
            // Data that leaves a source's places out is what authors should send.
            if replaced.is_some() {
                kept.places.push(place.clone());
            }
        }
        kept
    }
}
