//! What the daemon really opens, renames and removes, as the kernel saw it.
//!
//! The daemon runs under strace while paths that lead out are asked for in every way and directories
//! are swapped for links under it. Every call that succeeded must have ended inside the roots.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::daemon::{Daemon, Place, file_source};
use crate::trace::{Touched, read_trace};

/// Paths that lead out, or to what is not the project's.
const LEADING_OUT: [&str; 18] = [
    "../outside/secret.json",
    "sub/../../outside/secret.json",
    "./../outside/secret.json",
    "..",
    "/etc/passwd",
    "//etc/passwd",
    "/proc/self/environ",
    "link.json",
    "linked/secret.json",
    "sub/up/outside/secret.json",
    "absolute/passwd",
    "sub/b.json",
    "%2e%2e/outside/secret.json",
    "..\\outside\\secret.json",
    "sub/./b.json",
    "sub//b.json",
    "\u{2025}/outside/secret.json",
    "a.json\u{0}.txt",
];

struct Scene {
    place: Place,
}

impl Scene {
    fn new() -> Self {
        let place = Place::new();
        place.write("a.json", r#"{ "title": "inside" }"#);
        place.write("sub/b.json", r#"{ "title": "inside" }"#);
        let outside = place.path().join("outside");
        std::fs::create_dir_all(&outside).unwrap();
        std::fs::write(outside.join("secret.json"), r#"{ "title": "outside" }"#).unwrap();
        std::fs::write(outside.join("b.json"), r#"{ "title": "outside" }"#).unwrap();
        let root = place.root();
        symlink(outside.join("secret.json"), root.join("link.json")).unwrap();
        symlink(&outside, root.join("linked")).unwrap();
        symlink(root.join(".."), root.join("sub/up")).unwrap();
        symlink("/etc", root.join("absolute")).unwrap();
        place.init();
        Self { place }
    }

    fn strace(&self) -> Command {
        let mut command = Command::new("strace");
        command.args(["-f", "-y", "-qqq", "-e", "trace=%file", "-o"]).arg(self.trace_file());
        command
    }

    fn trace_file(&self) -> PathBuf {
        self.place.path().join("trace")
    }

    /// Says what is wrong with a call, if anything is.
    fn fault(&self, touched: &Touched) -> Option<String> {
        let own = [self.place.home(), self.place.data()];
        let is_own = |path: &Path| own.iter().any(|root| path.starts_with(root));
        match touched {
            Touched::Read(path) if is_own(path) || path.starts_with(self.place.root()) => None,
            Touched::Read(path) if is_of_the_system(path) => None,
            Touched::Written(path) if is_own(path) || path == Path::new("/dev/null") => None,
            Touched::Read(_) | Touched::Written(_) => Some(format!("{touched:?}")),
        }
    }

    fn faults(&self) -> (usize, Vec<String>) {
        let touched = read_trace(&std::fs::read_to_string(self.trace_file()).unwrap());
        let mut faults: Vec<String> =
            touched.iter().filter_map(|touched| self.fault(touched)).collect();
        faults.sort();
        faults.dedup();
        (touched.len(), faults)
    }
}

/// What a program and its libraries read on their own.
fn is_of_the_system(path: &Path) -> bool {
    let prefixes =
        ["/usr", "/lib", "/lib64", "/etc/ssl", "/sys/fs/cgroup", "/sys/devices/system/cpu"];
    let files = [
        "/etc/ld.so.cache",
        "/etc/localtime",
        "/etc/hosts",
        "/etc/resolv.conf",
        "/etc/nsswitch.conf",
        "/etc/host.conf",
        "/etc/gai.conf",
        "/dev/null",
        "/dev/urandom",
        "/proc/stat",
        "/proc/meminfo",
        "/proc/sys/vm/overcommit_memory",
        "/proc/sys/kernel/random/boot_id",
    ];
    let of_the_process = ["maps", "cgroup", "mountinfo", "stat", "limits", "status"];
    let is_proc = path.starts_with("/proc")
        && path.file_name().is_some_and(|name| of_the_process.iter().any(|known| name == *known));
    prefixes.iter().any(|prefix| path.starts_with(prefix))
        || files.iter().any(|file| path == Path::new(file))
        || path == Path::new(env!("CARGO_BIN_EXE_od"))
        || is_proc
}

/// Swaps a directory for a link to the outside and back, until told to stop.
fn swap(
    directory: PathBuf,
    outside: PathBuf,
    stop: Arc<AtomicBool>,
) -> std::thread::JoinHandle<u64> {
    std::thread::spawn(move || {
        let aside = directory.with_extension("aside");
        let mut swaps = 0;
        while !stop.load(Ordering::Relaxed) {
            if std::fs::rename(&directory, &aside).is_ok() {
                let _ = symlink(&outside, &directory);
                let _ = std::fs::remove_file(&directory);
                std::fs::rename(&aside, &directory).unwrap();
                swaps += 1;
                std::thread::yield_now();
            }
        }
        swaps
    })
}

/// Asks for a path through tools, sources, ids and listings.
fn ask(daemon: &Daemon, path: &str) {
    let execute = |tool: &str, input: Value| {
        let body = json!({ "connectorId": "project_files", "toolName": tool, "input": input });
        let answer = daemon.call_as_agent("/api/tools/connectors/execute", &body);
        assert!(!answer.text().contains("outside\""), "{path}: {}", answer.text());
    };
    execute("project_files.read_json", json!({ "path": path }));
    execute("project_files.read_json_folder", json!({ "folder": path }));
    execute("project_files.read_table", json!({ "path": path }));
    execute("project_files.read_data", json!({ "path": path }));
    execute("project_files.search", json!({ "query": "title", "globs": [path] }));
    let encoded: String = path.bytes().map(|byte| format!("%{byte:02X}")).collect();
    for target in [
        format!("/api/projects/{encoded}/files"),
        format!("/api/live-artifacts/{encoded}"),
        format!("/api/live-artifacts/{encoded}/preview"),
        format!("/api/live-artifacts/la-x/snapshots/{encoded}"),
        "/api/projects/web/files".to_owned(),
    ] {
        daemon.call("GET", &target, None);
    }
    daemon.call("DELETE", &format!("/api/live-artifacts/{encoded}"), None);
    daemon.call("POST", &format!("/api/live-artifacts/{encoded}/restore"), None);
    daemon.call("POST", &format!("/api/runs/{encoded}/renew"), None);
}

#[test]
fn no_call_that_succeeds_ends_outside_the_roots() {
    if let Err(error) = Command::new("strace").arg("-V").output() {
        println!("skipped: strace does not start here: {error}");
        return;
    }
    let scene = Scene::new();
    let mut command = scene.strace();
    command.arg(env!("CARGO_BIN_EXE_od"));
    let daemon = Daemon::start_under(&scene.place, "http://127.0.0.1:9", command);
    let artifact = daemon.create(&file_source("sub/b.json"));
    for path in LEADING_OUT {
        ask(&daemon, path);
    }
    // Now the ground moves: a folder of the project, and an artifact's own directory.
    let stop = Arc::new(AtomicBool::new(false));
    let outside = scene.place.path().join("outside");
    let swapping = [scene.place.root().join("sub"), scene.place.artifact(&artifact)]
        .map(|directory| swap(directory, outside.clone(), Arc::clone(&stop)));
    for round in 0..15 {
        let target = format!("/api/live-artifacts/{artifact}");
        daemon.refresh(&artifact);
        daemon.call("GET", &format!("{target}/preview"), None);
        let change = json!({ "input": { "title": format!("Round {round}") } });
        daemon.call("PATCH", &target, Some(&change));
        ask(&daemon, "sub/b.json");
        daemon.call("GET", "/api/live-artifacts?projectId=web", None);
    }
    stop.store(true, Ordering::Relaxed);
    let swaps: u64 = swapping.into_iter().map(|thread| thread.join().unwrap()).sum();
    daemon.stop_traced(&scene.place);

    let (calls, faults) = scene.faults();
    println!("{calls} successful calls during {swaps} swaps: {} outside the roots", faults.len());
    assert!(calls > 1_000 && swaps > 10, "{calls} calls, {swaps} swaps");
    assert_eq!(faults, Vec::<String>::new());
    let left: Vec<_> = std::fs::read_dir(&outside).unwrap().flatten().collect();
    assert_eq!(left.len(), 2, "nothing was written there: {left:?}");

    // The control: programs that do it carelessly are found out.
    for script in ["cat root/link.json", "echo x > root/linked/new", "mv root/a.json root/c.json"] {
        let mut traced = scene.strace();
        traced.args(["sh", "-c", script]).current_dir(scene.place.path());
        assert!(traced.output().unwrap().status.success(), "{script}");
        let (_, faults) = scene.faults();
        let is_told =
            faults.iter().any(|fault| fault.contains("outside") || fault.contains("root"));
        assert!(is_told, "`{script}` was not noticed: {faults:?}");
    }
}
