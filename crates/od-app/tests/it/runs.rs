//! Runs: what a token opens, and when it stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use od_app::projects::ReadProjectError;
use od_app::runs::{self, Authorize, AuthorizeError, MoveRunError, StartRun, StartRunError};
use od_app::{App, Caller};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{RunId, Timestamp, TokenId};
use od_core::ledger::Door;
use od_core::limits;
use od_core::token::{Claims, CliClaims, Endpoint, Operation, ScopeError, ToolClaims};
use od_ports::Ports;
use od_ports::agents::run_store::{Run, RunState, RunStore, RunStoreError};
use od_ports::fakes::MemoryRunStore;

use crate::world::{World, id};

async fn ask(world: &World, token: &str, endpoint: Endpoint) -> Result<Caller, AuthorizeError> {
    let request = Authorize { token: Some(token), endpoint: Some(endpoint) };
    runs::authorize(&world.app, request).await
}

fn code(err: AuthorizeError) -> ErrorCode {
    let failure = Failure::from(err);
    assert!(!failure.suggestion.is_empty(), "{}", failure.message);
    failure.code
}

#[tokio::test]
async fn a_run_starts_with_every_grant_and_its_token_stands_for_it() {
    let world = World::new().await;
    let started = world.start_run().await;
    assert_eq!(started.run.endpoints, Endpoint::ALL);
    assert_eq!(started.run.operations, Operation::ALL);
    let kept = world.runs.get(&started.run.id).await.unwrap();
    assert_eq!(kept, Some(started.run.clone()), "durable before the token is given");
    let record = serde_json::to_string(&kept).unwrap();
    assert!(!record.contains(&started.token), "the token is in no record");
    let expected =
        Caller::Agent { run: started.run.id.clone(), project: id("web"), door: Door::Http };
    for endpoint in Endpoint::ALL {
        assert_eq!(ask(&world, &started.token, *endpoint).await.unwrap(), expected);
    }
    let any = Authorize { token: Some(&started.token), endpoint: None };
    assert_eq!(runs::authorize(&world.app, any).await.unwrap(), expected);
}

#[tokio::test]
async fn a_run_of_a_project_that_is_not_there_does_not_start() {
    let world = World::empty();
    let err =
        runs::start(&world.app, &Caller::Person, StartRun { project: id("web"), agent: None })
            .await
            .unwrap_err();
    assert!(matches!(err, StartRunError::Project(ReadProjectError::NotFound { .. })));
    assert_eq!(Failure::from(err).code, ErrorCode::ProjectNotFound);
    world.create_project("web").await;
    world.projects.damage(&id("web"));
    let err =
        runs::start(&world.app, &Caller::Person, StartRun { project: id("web"), agent: None })
            .await
            .unwrap_err();
    assert_eq!(Failure::from(err).code, ErrorCode::LiveArtifactStorageFailed);
}

#[tokio::test]
async fn a_lease_that_nobody_renews_ends_the_run_for_good() {
    let world = World::new().await;
    let started = world.start_run().await;
    let lease = Duration::from_millis(limits::RUN_LEASE.allowed);
    world.clock.advance(lease - Duration::from_millis(1));
    ask(&world, &started.token, Endpoint::ALL[0]).await.unwrap();
    let renewed = runs::renew(&world.app, &Caller::Person, started.run.id.clone()).await.unwrap();
    let now = world.app.ports.clock.now();
    assert_eq!(renewed.lease_until, now.plus_ms(limits::RUN_LEASE.allowed), "counted from now");
    world.clock.advance(lease);
    let err = ask(&world, &started.token, Endpoint::ALL[0]).await.unwrap_err();
    assert!(matches!(err, AuthorizeError::LeaseLapsed { .. }), "{err:?}");
    assert_eq!(code(err), ErrorCode::ToolTokenExpired);
    let err = runs::renew(&world.app, &Caller::Person, started.run.id).await.unwrap_err();
    assert!(matches!(err, MoveRunError::Over { .. }), "a run does not come back");
    assert_eq!(Failure::from(err).code, ErrorCode::Conflict);
}

#[tokio::test]
async fn a_clock_that_is_set_back_does_not_revive_a_lapsed_lease() {
    let world = World::new().await;
    let (lapsed, other) = (world.start_run().await, world.start_run().await);
    let lease = Duration::from_millis(limits::RUN_LEASE.allowed);
    world.clock.advance(lease);
    let err = ask(&world, &lapsed.token, Endpoint::ALL[0]).await.unwrap_err();
    assert!(matches!(err, AuthorizeError::LeaseLapsed { .. }), "{err:?}");
    world.clock.set_back(lease);
    let err = ask(&world, &lapsed.token, Endpoint::ALL[0]).await.unwrap_err();
    assert!(matches!(err, AuthorizeError::RunEnded { .. }), "it is ended in the store: {err:?}");
    // Nobody had asked for this one meanwhile; the time that was told for the other counts for it.
    let err = ask(&world, &other.token, Endpoint::ALL[0]).await.unwrap_err();
    assert!(matches!(err, AuthorizeError::LeaseLapsed { .. }), "{err:?}");
    assert!(runs::renew(&world.app, &Caller::Person, other.run.id).await.is_err());
}

#[tokio::test]
async fn an_ended_run_stays_ended() {
    let world = World::new().await;
    let started = world.start_run().await;
    let ended = runs::end(&world.app, &Caller::Person, started.run.id.clone()).await.unwrap();
    assert_eq!(ended.state, RunState::Ended);
    world.clock.advance(Duration::from_secs(1));
    let again = runs::end(&world.app, &Caller::Person, started.run.id.clone()).await.unwrap();
    assert_eq!(again, ended, "ending twice changes nothing");
    let err = ask(&world, &started.token, Endpoint::ALL[0]).await.unwrap_err();
    assert!(matches!(err, AuthorizeError::RunEnded { .. }), "{err:?}");
    assert_eq!(code(err), ErrorCode::ToolTokenExpired);
    assert!(runs::renew(&world.app, &Caller::Person, started.run.id).await.is_err());
    let unknown = RunId::generate([3; 16]);
    for moved in [
        runs::end(&world.app, &Caller::Person, unknown.clone()).await,
        runs::renew(&world.app, &Caller::Person, unknown.clone()).await,
    ] {
        assert_eq!(Failure::from(moved.unwrap_err()).code, ErrorCode::NotFound);
    }
}

#[tokio::test]
async fn what_a_runs_record_does_not_grant_its_token_does_not_either() {
    let world = World::new().await;
    let started = world.start_run().await;
    let [allowed, denied] = [Endpoint::ALL[0], Endpoint::ALL[1]];
    let narrowed = Run { endpoints: vec![allowed], ..started.run.clone() };
    world.runs.replace(&started.run, &narrowed).await.unwrap();
    ask(&world, &started.token, allowed).await.unwrap();
    let err = ask(&world, &started.token, denied).await.unwrap_err();
    assert!(matches!(err, AuthorizeError::Scope(ScopeError::EndpointDenied { .. })), "{err:?}");
    assert_eq!(code(err), ErrorCode::ToolEndpointDenied);
    let nothing = Run { operations: Vec::new(), ..narrowed.clone() };
    world.runs.replace(&narrowed, &nothing).await.unwrap();
    let err = ask(&world, &started.token, allowed).await.unwrap_err();
    assert_eq!(code(err), ErrorCode::ToolOperationDenied);
}

#[tokio::test]
async fn only_a_tool_token_of_the_runs_own_project_opens_anything() {
    let world = World::new().await;
    let run = world.start_run().await.run;
    let now = world.app.ports.clock.now();
    let foreign = Claims::Tool(ToolClaims {
        token_id: TokenId::generate([1; 16]),
        run_id: run.id.clone(),
        project_id: id("app"),
        endpoints: Endpoint::ALL.to_vec(),
        operations: Operation::ALL.to_vec(),
        issued_at: now,
        expires_at: now.plus_ms(60_000),
    });
    let terminal = Claims::Cli(CliClaims {
        token_id: TokenId::generate([2; 16]),
        audience: od_core::ids::Audience::of_data_dir([2; 16]),
        issued_at: now,
        expires_at: now.plus_ms(60_000),
    });
    for (claims, expected) in
        [(foreign, ErrorCode::ToolTokenInvalid), (terminal, ErrorCode::ToolTokenInvalid)]
    {
        let token = world.app.ports.tokens.sign(&claims).unwrap();
        let err = ask(&world, &token, Endpoint::ALL[0]).await.unwrap_err();
        assert_eq!(code(err), expected, "{token}");
        let any = Authorize { token: Some(&token), endpoint: None };
        assert!(runs::authorize(&world.app, any).await.is_err());
    }
    let none = Authorize { token: None, endpoint: None };
    let err = runs::authorize(&world.app, none).await.unwrap_err();
    assert_eq!(code(err), ErrorCode::ToolTokenMissing);
    let err = ask(&world, "odt.v1.nonsense", Endpoint::ALL[0]).await.unwrap_err();
    assert_eq!(code(err), ErrorCode::ToolTokenInvalid);
}

#[tokio::test]
async fn keys_that_cannot_be_read_refuse_everything_and_two_rotations_do_too() {
    let world = World::new().await;
    let token = world.start_run().await.token;
    world.tokens.rotate([8; 32]);
    ask(&world, &token, Endpoint::ALL[0]).await.unwrap();
    world.tokens.rotate([9; 32]);
    let err = ask(&world, &token, Endpoint::ALL[0]).await.unwrap_err();
    assert_eq!(code(err), ErrorCode::ToolTokenInvalid);
    let token = world.start_run().await.token;
    world.tokens.lose();
    let err = ask(&world, &token, Endpoint::ALL[0]).await.unwrap_err();
    assert!(matches!(err, AuthorizeError::Keyring(_)), "{err:?}");
    assert_eq!(code(err), ErrorCode::ToolTokenInvalid);
    let err =
        runs::start(&world.app, &Caller::Person, StartRun { project: id("web"), agent: None })
            .await
            .unwrap_err();
    assert!(matches!(err, StartRunError::Keyring(_)), "{err:?}");
}

/// A store in which someone renews the run whenever someone else wants to end it, a few times.
#[derive(Debug)]
struct Contested {
    runs: Arc<MemoryRunStore>,
    renewals_left: AtomicUsize,
}

#[async_trait]
impl RunStore for Contested {
    async fn create(&self, run: &Run) -> Result<(), RunStoreError> {
        self.runs.create(run).await
    }

    async fn get(&self, run: &RunId) -> Result<Option<Run>, RunStoreError> {
        self.runs.get(run).await
    }

    async fn replace(&self, from: &Run, to: &Run) -> Result<(), RunStoreError> {
        let left = self.renewals_left.load(Ordering::Relaxed);
        if to.state == RunState::Ended && left > 0 {
            self.renewals_left.store(left - 1, Ordering::Relaxed);
            let renewed = Run { lease_until: from.lease_until.plus_ms(1), ..from.clone() };
            self.runs.replace(from, &renewed).await?;
        }
        self.runs.replace(from, to).await
    }

    async fn forget(&self, over_at: Timestamp) -> Result<(), RunStoreError> {
        self.runs.forget(over_at).await
    }
}

#[tokio::test]
async fn a_run_that_is_over_is_forgotten_after_seven_days() {
    let world = World::new().await;
    let run = world.start_run().await.run;
    runs::end(&world.app, &Caller::Person, run.id.clone()).await.unwrap();
    world.clock.advance(Duration::from_millis(limits::RUN_RETENTION.allowed - 1));
    let second = world.start_run().await.run;
    assert!(world.runs.get(&run.id).await.unwrap().is_some(), "a week is not over");
    world.clock.advance(Duration::from_millis(1));
    world.start_run().await;
    assert_eq!(world.runs.get(&run.id).await.unwrap(), None);
    assert!(world.runs.get(&second.id).await.unwrap().is_some());
}

#[tokio::test]
async fn ending_wins_over_a_renewal_in_between() {
    let world = World::new().await;
    let run = world.start_run().await.run;
    let contested = Contested { runs: world.runs.clone(), renewals_left: AtomicUsize::new(3) };
    let app = App::new(Ports { runs: Arc::new(contested), ..world.app.ports.clone() });
    let ended = runs::end(&app, &Caller::Person, run.id.clone()).await.unwrap();
    assert_eq!(ended.state, RunState::Ended);
    assert_eq!(ended.lease_until, run.lease_until.plus_ms(3), "all three renewals came between");
    assert_eq!(world.runs.get(&run.id).await.unwrap(), Some(ended));
}

#[tokio::test]
async fn a_run_that_changes_without_end_is_told_instead_of_tried_for_ever() {
    let world = World::new().await;
    let run = world.start_run().await.run;
    let renewals_left = AtomicUsize::new(1_000);
    let contested = Arc::new(Contested { runs: world.runs.clone(), renewals_left });
    let app = App::new(Ports { runs: contested.clone(), ..world.app.ports.clone() });
    let err = runs::end(&app, &Caller::Person, run.id).await.unwrap_err();
    assert!(matches!(err, MoveRunError::Runs(RunStoreError::Changed { .. })), "{err:?}");
    assert!(contested.renewals_left.load(Ordering::Relaxed) > 900);
}

#[tokio::test]
async fn an_agent_starts_renews_and_ends_no_run() {
    let world = World::new().await;
    let started = world.start_run().await;
    let run = started.run.id.clone();
    let agent = Caller::Agent { run: run.clone(), project: id("web"), door: Door::Http };
    let start = runs::start(&world.app, &agent, StartRun { project: id("web"), agent: None }).await;
    assert!(matches!(start, Err(StartRunError::PersonOnly(_))), "{start:?}");
    let renewed = runs::renew(&world.app, &agent, run.clone()).await;
    assert!(matches!(renewed, Err(MoveRunError::PersonOnly(_))), "{renewed:?}");
    let ended = runs::end(&world.app, &agent, run).await;
    assert!(matches!(ended, Err(MoveRunError::PersonOnly(_))), "{ended:?}");
}
