//! One request, three doors: the command line, HTTP and MCP say the same about it.
//!
//! The corpus is in `fixtures/doors`; `scene.rs` says what of an answer may differ and why.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod cli_door;
mod client;
mod corpus;
mod counted_clock;
mod http_door;
mod mcp_door;
mod provider;
mod scene;
mod standing;
mod world;

use std::collections::BTreeSet;

use corpus::{DoorName, Scene};
use world::Store;

macro_rules! scenes {
    ($($name:ident)*) => {
        const SCENES: &[&str] = &[$(stringify!($name)),*];
        $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            scene::play(Scene::read(stringify!($name)), Store::Files).await;
        })*
        /// The same calls, and the same answers, where a database keeps the artifacts.
        #[cfg(feature = "real-postgres")]
        mod on_postgres {
            use super::*;
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                scene::play(Scene::read(stringify!($name)), Store::Postgres).await;
            })*
        }
    };
}

scenes! { connectors create create_refused ownership reading refresh some_doors tokens update }

#[test]
fn the_corpus_is_played_whole_and_has_at_least_60_calls_that_every_door_can_say() {
    let files: BTreeSet<String> = corpus::files();
    assert_eq!(files, SCENES.iter().map(|name| (*name).to_owned()).collect());
    let scenes: Vec<Scene> = SCENES.iter().map(|name| Scene::read(name)).collect();
    let calls = || scenes.iter().flat_map(|scene| &scene.calls);
    let by_all = calls().filter(|call| call.doors == DoorName::ALL);
    let (good, refused): (Vec<_>, Vec<_>) = by_all.partition(|call| call.gives == "ok");
    assert!(good.len() + refused.len() >= 60, "{} and {}", good.len(), refused.len());
    assert!(good.len() >= 25 && refused.len() >= 25, "{} and {}", good.len(), refused.len());
    let names: BTreeSet<&str> = calls().map(|call| call.tool.as_str()).collect();
    assert_eq!(names.len(), 9, "{names:?}");
}
