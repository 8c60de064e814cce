//! Projects: who may make and see them.

use od_app::Caller;
use od_app::artifacts::{self, Address, ListArtifacts, ListTrash};
use od_app::projects::{self, CreateProject};
use od_core::error::{ErrorCode, Failure};
use od_core::limits;

use crate::world::{World, agent, id};

fn named(name: &str) -> CreateProject {
    CreateProject { id: None, name: name.to_owned(), root: None }
}

#[tokio::test]
async fn a_project_gets_an_id_from_its_name_and_keeps_it() {
    let world = World::empty();
    let made =
        projects::create(&world.app, &Caller::Person, named("  Quarterly Plan ")).await.unwrap();
    assert_eq!(made.name, "Quarterly Plan");
    assert!(made.id.as_str().starts_with("quarterly-plan-"), "{}", made.id);
    let other =
        projects::create(&world.app, &Caller::Person, named("Quarterly Plan")).await.unwrap();
    assert_ne!(other.id, made.id, "one name, two projects");
    let rooted =
        projects::rebind(&world.app, &Caller::Person, &made.id, "/elsewhere".into()).await.unwrap();
    assert_eq!((&rooted.id, &rooted.name), (&made.id, &made.name));
    let found = projects::get(&world.app, &Caller::Person, made.id.clone()).await.unwrap();
    assert_eq!(found, rooted);
}

#[tokio::test]
async fn a_name_is_neither_empty_nor_too_long_and_an_id_is_used_once() {
    let world = World::empty();
    let longest = "x".repeat(usize::try_from(limits::TITLE.allowed).unwrap());
    for name in ["", " \t\n", &format!("{longest}x")] {
        let err = projects::create(&world.app, &Caller::Person, named(name)).await.unwrap_err();
        let failure = Failure::from(err);
        assert_eq!(failure.code, ErrorCode::BadRequest);
        assert_eq!(failure.details.unwrap()["issues"][0]["path"], "/name");
    }
    projects::create(&world.app, &Caller::Person, named(&longest)).await.unwrap();
    world.create_project("web").await;
    let again = CreateProject { id: Some(id("web")), ..named("Web") };
    let err = projects::create(&world.app, &Caller::Person, again).await.unwrap_err();
    assert_eq!(Failure::from(err).code, ErrorCode::Conflict);
    let gone = projects::rebind(&world.app, &Caller::Person, &id("none"), "/x".into()).await;
    assert_eq!(Failure::from(gone.unwrap_err()).code, ErrorCode::ProjectNotFound);
    for name in ["", &format!("{longest}x")] {
        let err = projects::rename(&world.app, &Caller::Person, &id("web"), name).await;
        assert_eq!(Failure::from(err.unwrap_err()).code, ErrorCode::BadRequest);
    }
    let renamed =
        projects::rename(&world.app, &Caller::Person, &id("web"), " Site ").await.unwrap();
    assert_eq!((renamed.id, renamed.name.as_str()), (id("web"), "Site"));
}

#[tokio::test]
async fn an_agent_sees_its_own_project_only_and_makes_none() {
    let world = World::new().await;
    world.create_project("app").await;
    let caller = agent("web");
    let seen = projects::list(&world.app, &caller).await.unwrap();
    assert_eq!(seen.iter().map(|project| project.id.as_str()).collect::<Vec<_>>(), ["web"]);
    assert_eq!(projects::list(&world.app, &Caller::Person).await.unwrap().len(), 2);
    projects::get(&world.app, &caller, id("web")).await.unwrap();
    for hidden in ["app", "none"] {
        let err = projects::get(&world.app, &caller, id(hidden)).await.unwrap_err();
        assert_eq!(Failure::from(err).code, ErrorCode::ProjectNotFound, "as if it were not there");
        let err = projects::files(&world.app, &caller, id(hidden)).await.unwrap_err();
        assert_eq!(Failure::from(err).code, ErrorCode::ProjectNotFound);
    }
    let err = projects::create(&world.app, &caller, named("Mine")).await.unwrap_err();
    assert_eq!(Failure::from(err).code, ErrorCode::Forbidden);
}

#[tokio::test]
async fn a_damaged_project_hides_no_other_and_says_what_is_wrong() {
    let world = World::new().await;
    world.create_project("app").await;
    world.projects.damage(&id("app"));
    let seen = projects::list(&world.app, &Caller::Person).await.unwrap();
    assert_eq!(seen.len(), 1);
    let err = projects::get(&world.app, &Caller::Person, id("app")).await.unwrap_err();
    let failure = Failure::from(err);
    assert_eq!(failure.code, ErrorCode::LiveArtifactStorageFailed);
    assert!(failure.suggestion.contains("project.json"), "{}", failure.suggestion);
}

#[tokio::test]
async fn files_of_secrets_are_not_listed() {
    let world = World::new().await;
    for path in [".env", "a/.env.local", ".ssh/config", "tls/server.pem", "data.json"] {
        world.files.put(&id("web"), path.parse().unwrap(), "{}");
    }
    let listing = projects::files(&world.app, &Caller::Person, id("web")).await.unwrap();
    let paths: Vec<&str> = listing.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["data.json"]);
}

#[tokio::test]
async fn files_are_listed_with_their_bound() {
    let world = World::new().await;
    let none = CreateProject { id: Some(id("bare")), ..named("Bare") };
    projects::create(&world.app, &Caller::Person, none).await.unwrap();
    let listing = projects::files(&world.app, &Caller::Person, id("bare")).await.unwrap();
    assert!(listing.files.is_empty(), "without a root there are no files");
    for number in 0..2_001 {
        let path = format!("f{number:04}.json").parse().unwrap();
        world.files.put(&id("web"), path, "{}");
    }
    let listing = projects::files(&world.app, &agent("web"), id("web")).await.unwrap();
    assert_eq!((listing.files.len(), listing.truncated), (2_000, true));
}

#[tokio::test]
async fn a_removed_project_is_gone_until_one_of_its_artifacts_comes_back() {
    let world = World::new().await;
    let artifact = world.create_artifact("Fleet").await;
    for caller in [agent("web"), agent("app")] {
        let refused = projects::remove(&world.app, &caller, &id("web")).await.unwrap_err();
        assert_eq!(Failure::from(refused).code, ErrorCode::Forbidden);
    }
    let removed = projects::remove(&world.app, &Caller::Person, &id("web")).await.unwrap();
    assert_eq!(removed.trashed, std::slice::from_ref(&artifact));
    assert_eq!(projects::list(&world.app, &Caller::Person).await.unwrap(), []);
    let all = artifacts::list(&world.app, &Caller::Person, ListArtifacts::default()).await.unwrap();
    assert!(all.is_empty());
    let again = projects::remove(&world.app, &Caller::Person, &id("web")).await.unwrap_err();
    assert_eq!(Failure::from(again).code, ErrorCode::ProjectNotFound);
    let trash = artifacts::trash(&world.app, &Caller::Person, ListTrash::default()).await.unwrap();
    assert_eq!(trash[0].trashed.artifact_id, artifact);
    let address = Address { project: None, artifact: artifact.clone() };
    artifacts::restore(&world.app, &Caller::Person, address).await.unwrap();
    let back = projects::list(&world.app, &Caller::Person).await.unwrap();
    assert_eq!(back, [removed.project]);
}
