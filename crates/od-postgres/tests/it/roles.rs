//! The roles that docs/team.md describes: enough for od, and for nothing else.

use od_pgconn::cluster::{Cluster, PASSWORD};
use od_ports::contract::{StoreTrial, check_store};
use od_ports::store::{StoreError, StoreMaintenance as _};

use crate::team::Team;

const ROLES: &str = include_str!("../../src/schema/roles.sql");
const GRANTS: &str = include_str!("../../src/schema/grants.sql");

/// Starts a server on which the owner has migrated and `ada` is a member.
async fn team_of_members() -> Team {
    let cluster = Cluster::start(env!("CARGO_TARGET_TMPDIR"));
    cluster.execute(ROLES);
    cluster.execute(&format!("ALTER ROLE od_owner PASSWORD '{PASSWORD}'"));
    let team = Team::bare(cluster);
    team.machine_at(team.cluster.port(), "od_owner").migrate().await.unwrap();
    team.cluster.execute(&format!("SET ROLE od_owner; {GRANTS}"));
    team.cluster.execute(&format!("CREATE ROLE ada LOGIN PASSWORD '{PASSWORD}' IN ROLE od_member"));
    team
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_can_do_all_that_od_does() {
    let team = team_of_members().await;
    let project = team.project("p1");
    let store = team.machine_at(team.cluster.port(), "ada");
    check_store(&StoreTrial::of(&store, &project)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_can_do_nothing_else() {
    let team = team_of_members().await;
    for sql in [
        "CREATE TABLE od.mine(x int)",
        "CREATE SCHEMA mine",
        "ALTER TABLE od.artifact ADD COLUMN x int",
        "DROP TABLE od.blob",
        "TRUNCATE od.record",
        "UPDATE od.record SET line = ''",
        "UPDATE od.revision SET pointer = ''",
        "DELETE FROM od.project",
        "UPDATE od.project SET id = 'x'",
        "DELETE FROM od.store",
        "INSERT INTO od.schema_version VALUES (99)",
        "UPDATE od.schema_version SET version = 99",
        "DELETE FROM od.aside",
        "SELECT rolpassword FROM pg_authid",
        "COPY od.project TO PROGRAM 'cat'",
        "SELECT pg_read_file('PG_VERSION')",
        "SET ROLE od_owner",
        "CREATE ROLE more",
    ] {
        let refused = team.refused_as("ada", sql);
        assert!(
            refused.contains("permission denied") || refused.contains("must be"),
            "{sql}: {refused}"
        );
    }
    let migrate = team.machine_at(team.cluster.port(), "ada").migrate().await;
    assert!(migrate.is_ok(), "the tables are those of this program: there is nothing to do");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_another_version_is_refused_with_the_command_that_helps() {
    let team = Team::bare(Cluster::start(env!("CARGO_TARGET_TMPDIR")));
    let refusal = |refused: Result<Vec<_>, StoreError>| refused.unwrap_err().to_string();
    let absent = refusal(team.machine().recover().await);
    assert!(absent.contains("od store migrate"), "{absent}");
    team.machine().migrate().await.unwrap();
    team.machine().recover().await.unwrap();
    team.cluster.execute("INSERT INTO od.schema_version(version) VALUES (99)");
    let newer = refusal(team.machine().recover().await);
    assert!(newer.contains("version 99") && newer.contains("install"), "{newer}");
    let migrated = team.machine().migrate().await.unwrap_err().to_string();
    assert!(migrated.contains("version 99"), "{migrated}");
}

#[test]
fn the_page_for_teams_shows_the_roles_that_are_tested() {
    let page = include_str!("../../../../docs/team.md");
    assert!(page.contains(ROLES.trim()) && page.contains(GRANTS.trim()));
}
