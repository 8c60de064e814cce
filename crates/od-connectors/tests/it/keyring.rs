//! The keyring is asked for through every source, tool and file route, and never given.

use std::fs;

use od_app::connectors::execute::ExecuteTool;
use od_app::connectors::{Payer, check_source, execute};
use od_core::artifact::Source;
use od_core::connector::Purpose;
use od_core::ids::{ProjectId, RelPath};
use od_ports::project_registry::Project;
use serde_json::{Value, json};

use crate::world::{World, object};

/// A project whose root holds everything: the home, the data directory, and links to both.
async fn lay_open(world: &World) -> ProjectId {
    let place = world.place().to_path_buf();
    let id: ProjectId = "everything".parse().unwrap();
    let created_at = world.app.ports.clock.now();
    let project = Project {
        id: id.clone(),
        name: "Everything".to_owned(),
        root: Some(place.clone()),
        created_at,
        allow_schedules: false,
    };
    world.app.ports.projects.create(project).await.unwrap();
    let keyring = place.join("home/keys/keyring.json");
    std::os::unix::fs::symlink(place.join("home"), place.join("linked-home")).unwrap();
    std::os::unix::fs::symlink(&keyring, place.join("linked.json")).unwrap();
    fs::hard_link(&keyring, place.join("hard.json")).unwrap();
    fs::create_dir(place.join(".git")).unwrap();
    fs::copy(&keyring, place.join(".git/copy.json")).unwrap();
    fs::create_dir(place.join("root/.live-artifacts")).unwrap();
    fs::copy(&keyring, place.join("root/.live-artifacts/copy.json")).unwrap();
    fs::write(place.join("allowed.json"), r#"{ "fine": true }"#).unwrap();
    id
}

const PATHS: [&str; 14] = [
    "home/keys/keyring.json",
    "linked-home/keys/keyring.json",
    "linked.json",
    "hard.json",
    ".git/copy.json",
    "root/.live-artifacts/copy.json",
    "root/store/daemon.json",
    "root/store/projects/web/project.json",
    "../home/keys/keyring.json",
    "root/../home/keys/keyring.json",
    "/proc/self/root/etc/passwd",
    "home/connectors/vault.key",
    "home/connectors/credentials.enc",
    "root/store/.gitignore",
];

#[tokio::test(flavor = "multi_thread")]
async fn no_source_or_tool_gives_the_keyring() {
    let world = World::new().await;
    let project = lay_open(&world).await;
    let keyring: Value =
        serde_json::from_slice(&fs::read(world.place().join("home/keys/keyring.json")).unwrap())
            .unwrap();
    let key = keyring["current"].as_str().map_or_else(|| keyring.to_string(), str::to_owned);
    let mut asked = 0;
    for path in PATHS {
        for (tool, input) in [
            ("read_json", json!({ "path": path })),
            ("search", json!({ "query": "e", "globs": [path] })),
            ("search", json!({ "query": key.chars().take(40).collect::<String>() })),
        ] {
            let given = run(&world, &project, "project_files", tool, input).await;
            asked += 1;
            match given {
                Ok(text) => {
                    assert!(!text.contains(&key), "{tool} {path}");
                    assert!(text.contains(r#""count":0"#), "{tool} {path}: {text}");
                }
                Err(text) => assert!(!text.contains(&key), "{tool} {path}"),
            }
        }
        for source in [
            json!({ "type": "local_file", "input": { "path": path } }),
            json!({ "type": "local_file", "input": { "file": path } }),
            json!({ "type": "local_file", "input": { "name": path } }),
            json!({
                "type": "daemon_tool", "toolName": "project_files.read_json",
                "input": { "path": path },
            }),
            json!({
                "type": "connector_tool", "input": { "path": path },
                "connector": { "connectorId": "project_files", "toolName": "project_files.read_json" },
            }),
        ] {
            let source: Source = serde_json::from_value(source).unwrap();
            // A source that is stored gives nothing when it runs; most are refused before.
            if check_source(&world.app, &project, &source).await.is_ok() {
                let input = json!({ "path": path });
                let given = run(&world, &project, "project_files", "read_json", input).await;
                assert!(given.is_err(), "{path}: {given:?}");
            }
        }
        if let Ok(path) = path.parse::<RelPath>() {
            let read = world.app.ports.files.read(&project, &path, 1 << 20).await;
            assert!(read.is_err(), "{path}");
        }
        world.clock.advance_ms(600_000);
    }
    assert_eq!(asked, 42);
    let git = run(&world, &project, "git", "summary", json!({})).await;
    let is_none = git.as_ref().is_ok_and(|given| given.contains(r#""isRepository":false"#));
    assert!(is_none, "{git:?}");
    let fine =
        run(&world, &project, "project_files", "read_json", json!({ "path": "allowed.json" }));
    assert!(fine.await.unwrap().contains("fine"));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_listing_shows_it() {
    let world = World::new().await;
    let project = lay_open(&world).await;
    let listing = world.app.ports.files.list(&project, 1000).await.unwrap();
    let paths: Vec<&str> = listing.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["allowed.json"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_root_inside_the_home_or_the_data_directory_gives_nothing() {
    let world = World::new().await;
    let projects = world.place().join("root/store/projects");
    std::os::unix::fs::symlink(projects, world.place().join("linked")).unwrap();
    for (name, root) in [
        ("h", "home"),
        ("k", "home/keys"),
        ("d", "root/store"),
        ("p", "root/store/projects"),
        ("l", "linked"),
    ] {
        let id: ProjectId = name.parse().unwrap();
        let root = Some(world.place().join(root));
        let created_at = world.app.ports.clock.now();
        let project = Project {
            id: id.clone(),
            name: name.to_owned(),
            root,
            created_at,
            allow_schedules: false,
        };
        world.app.ports.projects.create(project).await.unwrap();
        for (connector, tool, input) in [
            ("project_files", "search", json!({ "query": "e" })),
            ("project_files", "read_json", json!({ "path": "keyring.json" })),
            ("project_files", "read_json", json!({ "path": "keys/keyring.json" })),
            ("git", "summary", json!({})),
        ] {
            let given = run(&world, &id, connector, tool, input).await;
            assert!(given.is_err(), "{name} {connector}.{tool}: {given:?}");
        }
        assert!(world.app.ports.files.list(&id, 10).await.is_err());
    }
}

async fn run(
    world: &World,
    project: &ProjectId,
    connector: &str,
    tool: &str,
    input: Value,
) -> Result<String, String> {
    world.clock.advance_ms(61_000);
    let request = ExecuteTool {
        project: project.clone(),
        connector: connector.parse().unwrap(),
        tool: tool.to_owned(),
        input: object(input),
        purpose: Purpose::AgentPreview,
        payer: Payer::Artifact(project.clone(), "la-x".parse().unwrap()),
        mapping: None,
        expected: None,
    };
    match execute(&world.app, request).await {
        Ok(executed) => Ok(serde_json::to_string(&executed).unwrap()),
        Err(err) => Err(format!("{err} {err:?}")),
    }
}
