//! No path leaves a project's root, and the daemon's own files are never given.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use od_core::ids::{ProjectId, RelPath};
use od_fs::{DataDir, DiskProjectFiles, FileProjectRegistry};
use od_ports::contract::sample;
use od_ports::project_files::{FilesError, ProjectFiles, RefusedPath};
use od_ports::project_registry::{Project, ProjectError, ProjectRegistry};

struct Files {
    _home: tempfile::TempDir,
    root: std::path::PathBuf,
    files: DiskProjectFiles,
    project: ProjectId,
}

/// A root with the data directory inside it, as `od init` makes it.
async fn files() -> Files {
    let home = tempfile::tempdir().expect("a directory");
    let root = home.path().join("root");
    fs::create_dir_all(root.join("sub/.git")).expect("directories");
    fs::create_dir_all(root.join(".live-artifacts")).expect("directories");
    for (name, text) in [
        ("a.json", "{}"),
        ("sub/b.json", "[1]"),
        ("sub/.git/config", "private"),
        (".live-artifacts/x", "private"),
    ] {
        fs::write(root.join(name), text).expect("a file");
    }
    fs::write(home.path().join("outside"), "outside").expect("a file");
    let data_dir = DataDir::open(&root.join("store")).expect("a data directory");
    fs::write(root.join("store/keyring.json"), "key").expect("a file");
    let registry = Arc::new(FileProjectRegistry::new(data_dir.clone()));
    let project: ProjectId = "p1".parse().expect("a good id");
    registry
        .create(Project {
            id: project.clone(),
            name: "One".to_owned(),
            root: Some(root.clone()),
            created_at: sample::now(),
            allow_schedules: false,
        })
        .await
        .expect("a project");
    Files { _home: home, root, files: DiskProjectFiles::new(registry, data_dir), project }
}

impl Files {
    async fn read(&self, path: &str) -> Result<Vec<u8>, FilesError> {
        let path: RelPath = path.parse().expect("a relative path");
        self.files.read(&self.project, &path, 1024).await
    }

    async fn refusal(&self, path: &str) -> Option<RefusedPath> {
        match self.read(path).await {
            Err(FilesError::Refused { reason, .. }) => Some(reason),
            Ok(_) | Err(_) => None,
        }
    }
}

#[tokio::test]
async fn regular_files_below_the_root_are_listed_and_read() {
    let files = files().await;
    let listing = files.files.list(&files.project, 100).await.expect("a listing");
    let paths: Vec<&str> = listing.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["a.json", "sub/b.json"], "and no others");
    assert_eq!(files.read("sub/b.json").await.expect("a file"), b"[1]");
    assert!(matches!(files.read("none.json").await, Err(FilesError::NotFound { .. })));
    let tight = files.files.read(&files.project, &"a.json".parse().expect("a path"), 1).await;
    assert!(matches!(tight, Err(FilesError::TooLarge { .. })));
}

#[tokio::test]
async fn what_is_not_the_projects_is_refused() {
    let files = files().await;
    for path in ["sub/.git/config", ".live-artifacts/x", ".od/keyring.json"] {
        assert!(path.parse::<RelPath>().is_err(), "{path} is no path of a project");
    }
    for path in ["store/keyring.json", "store/projects/p1/project.json"] {
        assert_eq!(files.refusal(path).await, Some(RefusedPath::DataDirectory), "{path}");
    }
    fs::rename(files.root.join("store"), files.root.join("renamed")).expect("a rename");
    symlink(files.root.join("renamed"), files.root.join("store")).expect("a link");
    let by_identity = files.refusal("renamed/keyring.json").await;
    assert_eq!(by_identity, Some(RefusedPath::DataDirectory), "by identity, not by name");
    assert_eq!(files.refusal("sub").await, Some(RefusedPath::NotRegular));
}

#[tokio::test]
async fn no_path_and_no_link_leads_out() {
    let files = files().await;
    let outside = Path::new("../outside");
    symlink(outside, files.root.join("link")).expect("a link");
    symlink("/etc", files.root.join("etc")).expect("a link");
    symlink("sub", files.root.join("inner")).expect("a link");
    for path in ["link", "etc/passwd", "inner/b.json"] {
        assert_eq!(files.refusal(path).await, Some(RefusedPath::Escapes), "{path}");
    }
    for path in ["../outside", "/etc/passwd", "sub/../../outside", "a/./b", "", "sub//b.json"] {
        assert!(path.parse::<RelPath>().is_err(), "{path:?} is no relative path");
    }
    let listing = files.files.list(&files.project, 100).await.expect("a listing");
    assert!(listing.files.iter().all(|file| !file.path.as_str().contains("link")));
}

#[tokio::test]
async fn swapping_a_directory_for_a_link_gains_nothing() {
    let files = files().await;
    let secret = files.root.parent().expect("a parent").join("secret");
    fs::create_dir(&secret).expect("a directory");
    fs::write(secret.join("b.json"), "outside").expect("a file");
    let (sub, aside) = (files.root.join("sub"), files.root.join("aside"));
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let swapping = std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                fs::rename(&sub, &aside).expect("a rename");
                symlink(&secret, &sub).expect("a link");
                fs::remove_file(&sub).expect("a removal");
                fs::rename(&aside, &sub).expect("a rename");
            }
        }
    });
    for _ in 0..2_000 {
        if let Ok(bytes) = files.read("sub/b.json").await {
            assert_eq!(bytes, b"[1]", "only the file inside is ever read");
        }
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    swapping.join().expect("the swapper ends");
}

#[tokio::test]
async fn a_data_directory_beside_a_project_names_no_directory_outside_it() {
    let place = tempfile::tempdir().expect("a directory");
    let place = place.path().canonicalize().expect("a path");
    let clone = place.join("clone");
    fs::create_dir_all(clone.join("sub")).expect("directories");
    fs::create_dir_all(place.join("clone-beside")).expect("a directory");
    symlink("/", clone.join("link")).expect("a link");
    for (name, roots_of) in [(".od", false), ("named", true)] {
        let data_dir = DataDir::open(&clone.join(name)).expect("a data directory");
        let registry = Arc::new(FileProjectRegistry::new(data_dir.clone()));
        let files = DiskProjectFiles::new(registry.clone(), data_dir);
        for (id, root, inside) in [
            ("a", clone.clone(), true),
            ("b", clone.join("sub"), true),
            ("c", place.clone(), false),
            ("d", place.join("clone-beside"), false),
            ("e", clone.join("link"), false),
            ("f", clone.join("sub/../.."), false),
        ] {
            let id: ProjectId = id.parse().expect("an id");
            let project = |root| Project {
                id: id.clone(),
                name: "P".to_owned(),
                root,
                created_at: sample::now(),
                allow_schedules: false,
            };
            let expected = inside || roots_of;
            let bound = registry.create(project(Some(root.clone()))).await;
            assert_eq!(bound.is_ok(), expected, "{id} in {name}: {bound:?}");
            if !expected {
                registry.create(project(None)).await.expect("a project");
                let changed = registry.update(project(Some(root.clone()))).await;
                assert!(matches!(changed, Err(ProjectError::RootOutside { .. })), "{changed:?}");
                // As a repository brings it.
                let path = clone.join(name).join("projects").join(id.as_str()).join("project.json");
                let mut file = serde_json::to_value(project(Some(root))).expect("a document");
                file["schemaVersion"] = 1.into();
                fs::write(path, file.to_string()).expect("a file");
            }
            let given = files.root(&id).await;
            assert_eq!(given.is_ok(), expected, "{id} in {name}: {given:?}");
            let refused = matches!(given, Err(FilesError::RootOutside { .. }));
            assert_eq!(refused, !expected, "{id} in {name}");
        }
    }
}
