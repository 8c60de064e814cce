//! Random interleavings of updates, refreshes, roll backs, edits by hand and new mappings: every path
//! holds what its writer wrote last, and says who that was.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::{PathWriter, Place, adopt, origins};
use crate::artifact::{ArtifactState, Author, Pins, Provenance, UpdateRequest};
use crate::decide::{EarlierState, created, refreshed_with, roll_back, update};
use crate::ids::Timestamp;
use crate::json::{BoundedObject, Value};

/// The paths, in the order of an action's values; the source writes the first two, and the third while
/// it is mapped.
const PATHS: [&str; 5] = ["a", "b.c", "n", "t", "b.d"];

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Who {
    Agent,
    Person,
    Source,
}

#[derive(Clone, Debug)]
enum Action {
    Update([u8; 5]),
    Refresh([u8; 3]),
    RollBack(prop::sample::Index),
    HandEdit([u8; 5]),
    /// Maps the third path, or no longer.
    Remap(bool),
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        prop::array::uniform5(0..4_u8).prop_map(Action::Update),
        prop::array::uniform3(0..4_u8).prop_map(Action::Refresh),
        any::<prop::sample::Index>().prop_map(Action::RollBack),
        prop::array::uniform5(0..4_u8).prop_map(Action::HandEdit),
        any::<bool>().prop_map(Action::Remap),
    ]
}

/// Who wrote which value, path by path.
type Model = BTreeMap<&'static str, (u8, Who)>;

struct World {
    state: ArtifactState,
    /// The data of the last commit, if the state was edited since.
    committed: Option<(BoundedObject, Model)>,
    model: Model,
    is_mapped: bool,
    snapshots: Vec<(BoundedObject, Provenance, Model)>,
    clock: i64,
}

fn data(values: [u8; 5]) -> Value {
    let [a, c, n, t, d] = values;
    json!({ "a": a, "b": { "c": c, "d": d }, "n": n, "t": t })
}

fn source(is_mapped: bool) -> Value {
    let mut paths = vec![json!({ "from": "x", "to": "a" }), json!({ "from": "y", "to": "b.c" })];
    if is_mapped {
        paths.push(json!({ "from": "z", "to": "n" }));
    }
    json!({ "type": "local_file", "input": { "path": "a.json" },
        "outputMapping": { "dataPaths": paths } })
}

impl World {
    fn new() -> Self {
        let body = json!({ "input": { "title": "T", "document": {
            "dataJson": data([0; 5]), "sourceJson": source(false) } },
            "templateHtml": "<p>{{data.a}}</p>" });
        let model = PATHS.map(|path| (path, (0, Who::Agent))).into();
        Self {
            state: created(&body, Author::Agent),
            committed: None,
            model,
            is_mapped: false,
            snapshots: Vec::new(),
            clock: 0,
        }
    }

    fn is_sources(&self, path: &str) -> bool {
        matches!(path, "a" | "b.c") || (path == "n" && self.is_mapped)
    }

    fn author_writes(&mut self, values: [u8; 5], who: Who) {
        for (path, value) in PATHS.into_iter().zip(values) {
            if !self.is_sources(path) && self.model[path].0 != value {
                self.model.insert(path, (value, who));
            }
        }
    }

    fn apply(&mut self, action: &Action) {
        self.clock += 1;
        let at = Timestamp::from_unix_ms(self.clock);
        if let Action::HandEdit(values) = action {
            let now = || (self.state.data.clone(), self.model.clone());
            let committed = self.committed.take().unwrap_or_else(now);
            self.state.data = BoundedObject::check(data(*values)).unwrap();
            // Only what differs from the commit is an edit.
            self.model = committed.1.clone();
            self.committed = Some(committed);
            self.author_writes(*values, Who::Person);
            return;
        }
        if let Some((committed, _)) = self.committed.take() {
            self.state = adopt(&self.state, &committed, at).0;
        }
        let decision = match action {
            Action::HandEdit(_) => unreachable!("done above"),
            Action::Update(values) => {
                let input = json!({ "document": { "dataJson": data(*values) } });
                let request = UpdateRequest::parse(&json!({ "input": input })).unwrap();
                self.author_writes(*values, Who::Agent);
                Some(update(&self.state, &request, &Pins::new(), Author::Agent, at).unwrap())
            }
            Action::Remap(is_mapped) => {
                self.is_mapped = *is_mapped;
                let input = json!({ "document": { "sourceJson": source(*is_mapped) } });
                let request = UpdateRequest::parse(&json!({ "input": input })).unwrap();
                Some(update(&self.state, &request, &Pins::new(), Author::Agent, at).unwrap())
            }
            Action::Refresh([x, y, z]) => {
                for (path, value) in [("a", x), ("b.c", y), ("n", z)] {
                    if self.is_sources(path) {
                        self.model.insert(path, (*value, Who::Source));
                    }
                }
                let output = json!({ "x": x, "y": y, "z": z });
                refreshed_with(&self.state, &output, self.clock).unwrap()
            }
            Action::RollBack(index) => {
                if self.snapshots.is_empty() {
                    return;
                }
                let (data, provenance, then) =
                    self.snapshots[index.index(self.snapshots.len())].clone();
                for path in PATHS {
                    if !self.is_sources(path) || then[path].1 == Who::Source {
                        self.model.insert(path, then[path]);
                    }
                }
                let to =
                    EarlierState { data, provenance, design: None, revision: None, state_of: at };
                roll_back(&self.state, to, at).unwrap()
            }
        };
        if let (None, Action::Refresh(_)) = (&decision, action) {
            // As the log of refreshes tells it.
            self.state.artifact.last_refreshed_at = Some(at);
        }
        if let Some(decision) = decision {
            self.state = decision.state_at(self.state.artifact.revision.next());
            if let Action::Refresh(_) = action {
                let ArtifactState { data, provenance, .. } = self.state.clone();
                self.snapshots.push((data, provenance, self.model.clone()));
            }
        }
    }

    /// Compares what is committed with the model; edits by hand are judged once they are adopted.
    fn check(&self) -> Result<(), TestCaseError> {
        if self.committed.is_some() {
            return Ok(());
        }
        let found = origins(&self.state, None);
        for (path, (value, who)) in &self.model {
            let place = path.split('.').fold(Place::root(), |place, step| place.key(step));
            prop_assert_eq!(place.find(self.state.data.value()), Some(&json!(value)), "{}", path);
            let holds = found.iter().filter(|origin| place.is_within(&origin.path));
            let origin = holds.max_by_key(|origin| origin.path.depth()).unwrap();
            let wrote = match (origin.by, &origin.label) {
                (Some(Author::Agent), _) => Who::Agent,
                (Some(Author::Person), _) => Who::Person,
                (None, Some(_)) => Who::Source,
                (None, None) => panic!("{path}: nobody wrote it: {}", origin.says),
            };
            prop_assert_eq!(wrote, *who, "{}: {}", path, origin.says);
            let is_sources = origin.writer == PathWriter::Source;
            prop_assert_eq!(is_sources, self.is_sources(path), "{}", path);
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn every_path_holds_what_its_writer_wrote_last(
        actions in prop::collection::vec(action(), 1..24)
    ) {
        let mut world = World::new();
        for action in &actions {
            world.apply(action);
            world.check()?;
        }
    }
}
