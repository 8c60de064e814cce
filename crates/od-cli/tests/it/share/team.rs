//! A team's database: copied into, dumped and restored, copied out of.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use od_pgconn::cluster::{Cluster, PASSWORD};
use serde_json::Value;

use crate::bench::Bench;

const ARTIFACTS: usize = 6;
/// Makes the third artifact wait for a lock that the test holds.
const HOLD_THE_THIRD: &str = "CREATE FUNCTION od.hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
    IF (SELECT count(*) FROM od.artifact) = 2 THEN PERFORM pg_advisory_xact_lock(26); END IF; \
    RETURN NEW; END $$; \
    CREATE TRIGGER hold BEFORE INSERT ON od.artifact FOR EACH ROW EXECUTE FUNCTION od.hold()";

fn address(cluster: &Cluster, database: &str) -> String {
    format!("postgres://postgres@127.0.0.1:{}/{database}", cluster.port())
}

/// Gives a machine the password of the database, where PostgreSQL's own programs look for it.
fn admit(bench: &Bench) {
    let path = bench.root().join("user/.pgpass");
    std::fs::write(&path, format!("127.0.0.1:*:*:*:{PASSWORD}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

/// Runs a program of PostgreSQL as its superuser.
fn run(cluster: &Cluster, name: &str, arguments: &[&str]) -> Vec<u8> {
    let mut program = cluster.program(name);
    program.env("PGPASSWORD", PASSWORD).args(["-U", "postgres", "-h", "127.0.0.1"]);
    let output = program.args(["-p", &cluster.port().to_string()]).args(arguments).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Every file of every artifact but the pages, which are made anew, by its path below its project.
fn files(data: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for project in std::fs::read_dir(data.join("projects")).unwrap() {
        let live = project.unwrap().path().join(".live-artifacts");
        // A project without artifacts has no such folder.
        for entry in std::fs::read_dir(&live).into_iter().flatten() {
            let artifact = entry.unwrap().path();
            if artifact.join("artifact.json").is_file() {
                for name in ["template.html", "data.json", "provenance.json", "refreshes.jsonl"] {
                    let path = artifact.join(name);
                    let bytes = std::fs::read(&path).unwrap();
                    files.insert(path.strip_prefix(&live).unwrap().to_owned(), bytes);
                }
            }
        }
    }
    files
}

/// What a person is shown of every artifact and its revisions.
fn shown(bench: &Bench, ids: &[String]) -> Vec<(Value, Value)> {
    let one = |id: &String| {
        let artifact = bench.json(&["artifacts", "show", id])["artifact"].take();
        let revisions = bench.json(&["artifacts", "history", id]);
        assert!(artifact["revision"].is_number() && revisions.is_object(), "{artifact}");
        (artifact, revisions)
    };
    ids.iter().map(one).collect()
}

fn begin(bench: &Bench, from: &str, to: &str) -> Child {
    let mut copy = bench.command(&["store", "copy", "--from", from, "--to", to]);
    copy.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Copies, and returns how many were copied and how many were there.
#[track_caller]
fn copy(bench: &Bench, from: &str, to: &str) -> (usize, usize) {
    let said = bench.json(&["store", "copy", "--from", from, "--to", to]);
    assert_eq!(said["leftOut"].as_array().map(Vec::len), Some(0), "{said}");
    let count = |name: &str| said[name].as_array().unwrap().len();
    (count("copied"), count("unchanged"))
}

/// Dumps the database and restores it as another one; returns that one's address.
fn restored_elsewhere(cluster: &Cluster) -> String {
    let dump = run(cluster, "pg_dump", &["-Fc", "shop"]);
    let readable = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    std::fs::set_permissions(readable.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = readable.path().join("dump");
    std::fs::write(&path, dump).unwrap();
    run(cluster, "createdb", &["second"]);
    run(cluster, "pg_restore", &["-d", "second", path.to_str().unwrap()]);
    address(cluster, "second")
}

#[test]
fn a_copy_that_was_broken_off_goes_on_and_a_dump_restored_elsewhere_is_the_same() {
    let cluster = Cluster::start(env!("CARGO_TARGET_TMPDIR"));
    let (one, team) = (Bench::with_project(), address(&cluster, "shop"));
    admit(&one);
    let mut ids = Vec::new();
    for number in 0..ARTIFACTS {
        let id = one.with_artifact();
        one.write("metrics.json", &format!(r#"{{ "n": {} }}"#, number + 7));
        one.good(&["artifacts", "refresh", &id]);
        ids.push(id);
    }
    let before = shown(&one, &ids);
    one.end_daemon();
    let kept = files(&one.data());
    assert_eq!(kept.len(), ARTIFACTS * 4);
    let home = one.data().display().to_string();
    one.good(&["store", "migrate", "--store", &team]);

    // Broken off while it adds the third.
    cluster.execute(HOLD_THE_THIRD);
    let mut holder = cluster.program("psql");
    let url = cluster.url("postgres");
    let mut holder = holder.args(["-X", "-q", &url]).stdin(Stdio::piped()).spawn().unwrap();
    let mut hold = holder.stdin.take().unwrap();
    std::io::Write::write_all(&mut hold, b"SELECT pg_advisory_lock(26) \\g /dev/null\n").unwrap();
    let waits = |are: &str| cluster.execute(&format!("SELECT count(*) FROM pg_locks WHERE {are}"));
    while waits("locktype = 'advisory' AND granted") != "1" {}
    let mut child = begin(&one, &home, &team);
    while waits("locktype = 'advisory' AND NOT granted") != "1" {
        assert!(child.try_wait().unwrap().is_none(), "it ended before the third");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    drop(hold);
    holder.wait().unwrap();
    cluster.execute("DROP TRIGGER hold ON od.artifact; DROP FUNCTION od.hold()");
    let planned = one.json(&["store", "copy", "--from", &home, "--to", &team, "--dry-run"]);
    assert_eq!(planned["copied"].as_array().map(Vec::len), Some(ARTIFACTS - 2), "{planned}");
    assert_eq!(cluster.execute("SELECT count(*) FROM od.artifact"), "2");
    assert_eq!(copy(&one, &home, &team), (ARTIFACTS - 2, 2));
    assert_eq!(copy(&one, &home, &team), (0, ARTIFACTS));

    // A dump is all of it.
    let second = restored_elsewhere(&cluster);
    for store in [&team, &second] {
        let other = Bench::new();
        admit(&other);
        other.good(&["config", "set", "store", store]);
        assert_eq!(other.json(&["store", "status"])["problem"], Value::Null);
        for (there, here) in shown(&other, &ids).iter().zip(&before) {
            assert_eq!(there.0["revision"], here.0["revision"]);
            assert_eq!(there.0["digests"], here.0["digests"]);
            assert_eq!(there.1, here.1);
        }
        other.good(&["artifacts", "verify"]);
    }

    // And back into files of another machine, ended wherever it is once the first is there.
    let three = Bench::with_project();
    admit(&three);
    three.end_daemon();
    let target = three.data().display().to_string();
    let mut child = begin(&three, &second, &target);
    while count_artifacts(&three.data()) == 0 && child.try_wait().unwrap().is_none() {}
    let _ended = child.kill();
    child.wait().unwrap();
    let there = count_artifacts(&three.data());
    assert!(there > 0, "it ended before the first");
    assert_eq!(copy(&three, &second, &target), (ARTIFACTS - there, there));
    assert_eq!(copy(&three, &second, &target), (0, ARTIFACTS));
    assert_eq!(files(&three.data()), kept, "byte for byte");
    three.good(&["artifacts", "verify"]);
}

fn count_artifacts(data: &Path) -> usize {
    let projects = std::fs::read_dir(data.join("projects")).into_iter().flatten().flatten();
    let live = projects
        .filter_map(|project| std::fs::read_dir(project.path().join(".live-artifacts")).ok());
    live.flatten().flatten().filter(|entry| entry.path().join("artifact.json").is_file()).count()
}

#[test]
fn a_database_that_is_not_ready_is_refused_with_what_helps() {
    let cluster = Cluster::start(env!("CARGO_TARGET_TMPDIR"));
    let (bench, team) = (Bench::with_project(), address(&cluster, "shop"));
    let stranger = bench.od(&["store", "status", "--store", &team]);
    assert_eq!(stranger.status.code(), Some(1), "{stranger:?}");
    assert!(
        String::from_utf8_lossy(&stranger.stdout).contains("asks for a password"),
        "{stranger:?}"
    );
    admit(&bench);
    let absent = bench.od(&["serve", "--port", "0", "--no-code", "--store", &team]);
    let said = String::from_utf8_lossy(&absent.stderr);
    assert!(said.contains("STORE_UNAVAILABLE") && said.contains("od store migrate"), "{absent:?}");
    let home = bench.data().display().to_string();
    let copy = bench.od(&["store", "copy", "--from", &home, "--to", &team]);
    assert!(String::from_utf8_lossy(&copy.stderr).contains("od store migrate"), "{copy:?}");
    bench.good(&["store", "migrate", "--store", &team, "--dry-run"]);
    assert_eq!(cluster.execute("SELECT count(*) FROM pg_namespace WHERE nspname = 'od'"), "0");
    bench.good(&["store", "migrate", "--store", &team]);
    assert!(bench.good(&["store", "migrate", "--store", &team]).contains("already"));
    assert_eq!(bench.json(&["store", "status", "--store", &team])["problem"], Value::Null);
    assert_eq!(bench.json(&["store", "status"])["kind"], "files");
    let same = bench.od(&["store", "copy", "--from", &team, "--to", &team]);
    assert_eq!(same.status.code(), Some(2), "{same:?}");
}
