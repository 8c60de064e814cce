//! The contract suites that files and fakes run.

use std::sync::Arc;

use od_ports::contract::{StoreTrial, check_project_registry, check_store};
use od_ports::fakes::MemoryProjectRegistry;
use od_postgres::{Machine, PgProjectRegistry};

use crate::team::Team;

#[tokio::test(flavor = "multi_thread")]
async fn it_keeps_the_contracts_of_the_store() {
    let team = Team::start().await;
    let project = team.project("p1");
    let store = team.machine();
    check_store(&StoreTrial::of(&store, &project)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_machines_keep_them_as_one_does() {
    let team = Team::start().await;
    let project = team.project("p1");
    let (writer, reader) = (team.machine(), team.machine());
    // Reads go through another machine than writes: nothing that one has in memory may be needed.
    let trial = StoreTrial {
        revisions: &reader,
        trash: &reader,
        maintenance: &reader,
        ..StoreTrial::of(&writer, &project)
    };
    check_store(&trial).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn its_projects_keep_the_contract() {
    let team = Team::start().await;
    let local = Arc::new(MemoryProjectRegistry::default());
    let machine = Machine { id: "m1".to_owned(), label: "desk".to_owned() };
    check_project_registry(&PgProjectRegistry::new(&team.machine(), local, machine)).await;
}
