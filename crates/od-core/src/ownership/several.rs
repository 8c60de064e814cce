//! Random interleavings of updates and refreshes of an artifact with two sources and a query: every
//! path holds what its writer wrote last, says who that was, and says when it is stale.

use proptest::prelude::*;
use serde_json::json;

use super::{PathWriter, Place, origins};
use crate::artifact::{ArtifactState, Author, Pins, UpdateRequest};
use crate::credential::Redactions;
use crate::decide::{
    FailedSource, Gathered, QueryOutput, RefreshRefused, SourceOutput, created, refresh, update,
};
use crate::error::ErrorCode;
use crate::ids::Timestamp;
use crate::intake::Intake;
use crate::json::Value;

#[derive(Clone, Copy, Debug)]
enum Action {
    /// The author sends all data.
    Update([u8; 4]),
    /// Both sources run; the second may fail.
    Refresh { one: u8, two: Option<u8> },
    /// The query is there, or no longer.
    Query(bool),
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        prop::array::uniform4(0..4_u8).prop_map(Action::Update),
        (0..4_u8, prop::option::of(0..4_u8)).prop_map(|(one, two)| Action::Refresh { one, two }),
        any::<bool>().prop_map(Action::Query),
    ]
}

fn data([a, c, q, t]: [u8; 4]) -> Value {
    json!({ "a": a, "b": { "c": c }, "q": q, "t": t })
}

fn queries(is_there: bool) -> Value {
    let sql = "SELECT one.n + two.n FROM one, two";
    let query = json!({ "to": "q", "sql": sql, "shape": "value" });
    if is_there { json!([query]) } else { Value::Null }
}

/// The value of each path, and whether the second source is stale.
struct World {
    state: ArtifactState,
    values: [u8; 4],
    has_query: bool,
    is_stale: bool,
    clock: i64,
}

impl World {
    fn new() -> Self {
        let source = |id: &str, to: &str| {
            json!({ "id": id, "type": "local_file", "input": { "path": format!("{id}.json") },
                "outputMapping": { "dataPaths": [{ "from": "n", "to": to }] } })
        };
        let mut second = source("two", "b.c");
        second["onFailure"] = json!("keep");
        let body = json!({ "input": { "title": "T", "document": { "dataJson": data([0; 4]),
            "sources": [source("one", "a"), second], "queries": queries(true) } },
            "templateHtml": "<p>{{data.a}}</p>" });
        Self {
            state: created(&body, Author::Agent),
            values: [0; 4],
            has_query: true,
            is_stale: false,
            clock: 0,
        }
    }

    fn refresh(&mut self, one: u8, two: Option<u8>) -> Result<(), RefreshRefused> {
        let at = Timestamp::from_unix_ms(self.clock);
        let state = self.state.clone();
        let sources = state.artifact.sources();
        let outputs = [Some(one), two].map(|n| Intake::try_from(&json!({ "n": n })).unwrap());
        let nothing = Redactions::default();
        let output = |i: usize| SourceOutput {
            source: sources[i],
            output: &outputs[i],
            account_label: None,
            pin: None,
            redactions: &nothing,
        };
        let ran: Vec<_> = (0..if two.is_some() { 2 } else { 1 }).map(output).collect();
        let result = match two {
            Some(two) => QueryOutput::Ran {
                value: json!(one + two),
                tables: vec!["one".to_owned(), "two".to_owned()],
            },
            None => QueryOutput::Kept,
        };
        let failed = match two {
            Some(_) => Vec::new(),
            None => vec![FailedSource { id: "two".to_owned(), code: ErrorCode::SourceUnreadable }],
        };
        let gathered = Gathered { outputs: &ran, results: &[result], failed: &failed };
        let decision = refresh(&state, gathered, at)?;
        let again = refresh(&state, gathered, at)?;
        let bytes = |decision: &Option<crate::decide::Decision>| {
            decision
                .as_ref()
                .map(|it| (it.page.clone(), serde_json::to_vec(&it.state.provenance).ok()))
        };
        assert_eq!(bytes(&decision), bytes(&again), "the same rows have the same bytes");
        match decision {
            Some(decision) => self.state = decision.state_at(state.artifact.revision.next()),
            None => self.state.artifact.last_refreshed_at = Some(at),
        }
        self.values[0] = one;
        self.values[1] = two.unwrap_or(self.values[1]);
        if self.has_query
            && let Some(two) = two
        {
            self.values[2] = one + two;
        }
        self.is_stale = two.is_none();
        Ok(())
    }

    fn apply(&mut self, action: Action) {
        self.clock += 1;
        let at = Timestamp::from_unix_ms(self.clock);
        let document = match action {
            Action::Refresh { one, two } => return self.refresh(one, two).unwrap(),
            Action::Update(values) => {
                let [_, _, q, t] = values;
                self.values[3] = t;
                if !self.has_query {
                    self.values[2] = q;
                }
                json!({ "dataJson": data(values) })
            }
            Action::Query(is_there) => {
                self.has_query = is_there;
                json!({ "queries": queries(is_there) })
            }
        };
        let request = UpdateRequest::parse(&json!({ "input": { "document": document } })).unwrap();
        let decision = update(&self.state, &request, &Pins::new(), Author::Person, at).unwrap();
        self.state = decision.state_at(self.state.artifact.revision.next());
    }

    fn check(&self) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.state.data.value(), &data(self.values));
        let found = origins(&self.state, None);
        let of = |path: &str| {
            let place = Place::try_from(path.to_owned()).unwrap();
            let holds = found.iter().filter(|origin| place.is_within(&origin.path));
            holds.max_by_key(|origin| origin.path.depth()).unwrap()
        };
        let query = if self.has_query { PathWriter::Query } else { PathWriter::Author };
        prop_assert_eq!(of("/a").writer, PathWriter::Source);
        prop_assert_eq!(of("/b/c").writer, PathWriter::Source);
        prop_assert_eq!(of("/q").writer, query);
        prop_assert_eq!(of("/t").writer, PathWriter::Author);
        prop_assert_eq!(of("/a").stale_since, None);
        let is_read = of("/b/c").call.is_some();
        prop_assert_eq!(of("/b/c").stale_since.is_some(), self.is_stale && is_read);
        prop_assert_eq!(self.state.artifact.stale.len(), usize::from(self.is_stale));
        if self.has_query && of("/q").query.is_some() {
            prop_assert_eq!(&of("/q").sources, &["one", "two"]);
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn every_path_of_two_sources_and_a_query_has_one_writer(
        actions in prop::collection::vec(action(), 1..20)
    ) {
        let mut world = World::new();
        for action in actions {
            world.apply(action);
            world.check()?;
        }
    }
}
