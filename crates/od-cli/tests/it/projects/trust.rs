//! What others put in the way: foreign directories, links of a repository, a dead daemon's port.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bench::{Bench, exit_code, refusal};

#[track_caller]
fn check(output: &Output, message: &str, fix: &str) {
    let said = refusal(output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said["error"]["message"].as_str().unwrap().contains(message), "{said}");
    assert!(said["error"]["suggestion"].as_str().unwrap().contains(fix), "{said}");
}

fn doctor(bench: &Bench) -> Value {
    let said: Value = serde_json::from_slice(&bench.od(&["doctor", "--json"]).stdout).unwrap();
    let checks = said["checks"].as_array().unwrap();
    checks.iter().find(|check| check["check"] == "data directory").unwrap().clone()
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_data_directory_upward_that_others_can_write_to_is_an_error_and_not_passed_by() {
    let bench = Bench::new();
    let planted = bench.root().join(".od");
    fs::create_dir(&planted).unwrap();
    mode(&planted, 0o777);
    for words in [["init", "--json"], ["open", "--json"], ["serve", "--json"]] {
        check(&bench.od(&words), "other users can write to", "chmod go-w");
    }
    let found = doctor(&bench);
    assert_eq!(found["verdict"], "bad", "{found}");
    assert_eq!(found["fix"], format!("chmod 700 '{}'", planted.display()), "{found}");
    mode(&planted, 0o755);
    bench.good(&["init"]);
    assert!(planted.join("projects").is_dir(), "the nearest one is used once it is private");
}

#[test]
fn a_data_directory_upward_that_is_another_users_is_an_error_and_told_no_token() {
    let bench = Bench::new();
    let planted = bench.root().join(".od");
    fs::create_dir(&planted).unwrap();
    // Without the right to give it away there is one of the system's to name.
    let given = std::os::unix::fs::chown(&planted, Some(12_345), None).is_ok();
    let mut words = vec!["connectors", "list", "--json"];
    if !given {
        fs::remove_dir(&planted).unwrap();
        words.extend(["--data-dir", "/usr"]);
    }
    check(&bench.od(&words), "belongs to user", "OD_DATA_DIR");
    if given {
        let found = doctor(&bench);
        assert_eq!(found["verdict"], "bad", "{found}");
        assert!(found["fix"].as_str().unwrap().contains("OD_DATA_DIR"), "{found}");
    }
}

#[test]
fn a_home_that_others_can_write_to_is_refused() {
    let bench = Bench::with_project();
    mode(&bench.root().join("home"), 0o770);
    check(&bench.od(&["artifacts", "list", "--json"]), "other users can write to", "chmod go-w");
}

#[test]
fn a_directory_of_keys_that_others_can_write_to_is_told_with_its_own_fix() {
    let bench = Bench::with_project();
    let keys = bench.root().join("home/keys");
    mode(&keys, 0o770);
    let fix = format!("chmod go-w '{}'", keys.display());
    for words in [["keys", "status", "--json"], ["artifacts", "list", "--json"]] {
        check(&bench.od(&words), "other users can write to", &fix);
    }
}

#[test]
fn an_agent_that_is_another_user_than_the_data_directorys_owner_is_let_through_by_its_token() {
    let bench = Bench::with_project();
    let theirs = bench.root().join("theirs");
    fs::create_dir(&theirs).unwrap();
    // Without the right to give it away there is one of the system's to name.
    let given = std::os::unix::fs::chown(&theirs, Some(12_345), None).is_ok();
    let theirs = if given { theirs } else { "/usr".into() };
    let output = bench.agent(&format!(
        "OD_DATA_DIR='{}' exec \"$OD_BIN\" tools live-artifacts list",
        theirs.display()
    ));
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_repositorys_links_are_refused_and_what_they_lead_to_stays() {
    let bench = Bench::new();
    let kept = bench.root().join("kept");
    fs::write(&kept, "mine\n").unwrap();
    let data = bench.project().join(".od");
    for name in ["daemon.lock", "daemon.log", "daemon.json", "daemon.json.new"] {
        fs::create_dir(&data).unwrap();
        bench.good(&["init"]);
        symlink(&kept, data.join(name)).unwrap();
        let output = bench.od(&["open", "--print", "--json"]);
        let replaced = name.starts_with("daemon.json");
        assert_eq!(output.status.success(), replaced, "{name}: {output:?}");
        assert_eq!(fs::read_to_string(&kept).unwrap(), "mine\n", "{name}");
        end_daemon(&data);
        fs::remove_dir_all(&data).unwrap();
    }
    symlink(bench.root().join("user"), &data).unwrap();
    for named in [".od", ".od/", ".od/."] {
        let output = bench.od(&["init", "--json", "--data-dir", named]);
        check(&output, "is a symbolic link", &format!("rm '{}'", data.display()));
    }
}

#[test]
fn a_data_directory_beside_a_project_registers_nothing_outside_it() {
    let bench = Bench::new();
    bench.good(&["init", "--dry-run", "--data-dir", "../web/.od"]);
    fs::create_dir(bench.project().join(".od")).unwrap();
    let outside = bench.root().join("other");
    fs::create_dir(&outside).unwrap();
    for words in [["init", "../other", "--json"], ["init", "../other", "--dry-run"]] {
        let mut words = words.to_vec();
        words.push("--json");
        check(&bench.od(&words), &format!("`{}` is outside", outside.display()), "OD_DATA_DIR=");
    }
    bench.good(&["init"]);
    bench.good(&["init", "../other", "--data-dir", bench.data().to_str().unwrap()]);
}

#[test]
fn a_whole_home_and_the_whole_disk_are_no_project() {
    let bench = Bench::with_project();
    for (folder, what) in [("../user", "is your whole home"), ("/", "is the whole disk")] {
        check(&bench.od(&["init", folder, "--json"]), what, "in the folder whose files");
    }
    let known = bench.good(&["projects", "list", "--json"]);
    assert!(!known.contains("/user\""), "{known}");
}

#[test]
fn an_installed_skill_is_written_below_the_directory_and_through_no_link() {
    let bench = Bench::new();
    let (project, outside) = (bench.project(), bench.root().join("user"));
    let kept = outside.join("kept.md");
    fs::write(&kept, "mine\n").unwrap();
    let skill = project.join(".claude/skills/live-artifact");
    for link in [".claude", ".claude/skills", ".claude/skills/live-artifact"] {
        let link = project.join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&outside, &link).unwrap();
        let output = bench.od(&["skills", "install", "--agent", "claude", "--force", "--json"]);
        let said = refusal(&output);
        let message = format!("{} is a symbolic link", link.display());
        assert!(said["error"]["message"].as_str().unwrap().starts_with(&message), "{said}");
        let fix = said["error"]["suggestion"].as_str().unwrap();
        assert!(fix.starts_with("name another directory"), "{fix}");
        fs::remove_file(&link).unwrap();
    }
    fs::create_dir_all(&skill).unwrap();
    symlink(&kept, skill.join("SKILL.md")).unwrap();
    let output = bench.od(&["skills", "install", "--agent", "claude", "--force", "--json"]);
    assert_eq!(output.status.code(), Some(3), "{}", refusal(&output));
    fs::remove_file(skill.join("SKILL.md")).unwrap();
    symlink(&kept, skill.join("SKILL.od-new")).unwrap();
    bench.good(&["skills", "install", "--agent", "claude"]);
    assert_eq!(fs::read_to_string(&kept).unwrap(), "mine\n");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1, "nothing else landed there");
    let mode = fs::metadata(skill.join("SKILL.md")).unwrap().permissions().mode() & 0o777;
    let plain = project.join("plain");
    fs::write(&plain, "x").unwrap();
    assert_eq!(mode, fs::metadata(&plain).unwrap().permissions().mode() & 0o777);
}

#[test]
fn an_installed_skill_follows_a_link_that_stays_below_the_directory() {
    let bench = Bench::new();
    let project = bench.project();
    fs::create_dir_all(project.join(".agents/skills")).unwrap();
    fs::create_dir(project.join(".claude")).unwrap();
    symlink("../.agents/skills", project.join(".claude/skills")).unwrap();
    bench.good(&["skills", "install", "--agent", "claude"]);
    assert!(project.join(".agents/skills/live-artifact/SKILL.md").is_file());
    assert!(project.join(".claude/skills").is_symlink());
    // Where one leads that leads nowhere yet is not known.
    fs::remove_file(project.join(".claude/skills")).unwrap();
    symlink("../missing", project.join(".claude/skills")).unwrap();
    let output = bench.od(&["skills", "install", "--agent", "claude", "--json"]);
    assert_eq!(output.status.code(), Some(3), "{}", refusal(&output));
}

/// Ends the daemon of a data directory and waits until it has gone.
fn end_daemon(data: &Path) {
    let Ok(text) = fs::read(data.join("daemon.json")) else { return };
    let Ok(said) = serde_json::from_slice::<Value>(&text) else { return };
    let pid = rustix::process::Pid::from_raw(said["pid"].as_i64().unwrap() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    // Nobody may have waited for it yet; what is left then has no program any more.
    wait_until(|| fs::read_link(format!("/proc/{}/exe", said["pid"])).is_err());
}

#[track_caller]
fn wait_until(done: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !done() {
        assert!(Instant::now() < deadline, "it does not come");
        std::thread::yield_now();
    }
}

/// Takes a dead daemon's port; tells every line that is sent there.
fn take_port(url: &str) -> Receiver<String> {
    let address = url.strip_prefix("http://").unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    let listener = loop {
        match TcpListener::bind(address) {
            Ok(listener) => break listener,
            Err(error) => assert!(Instant::now() < deadline, "{error}"),
        }
    };
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let sender = sender.clone();
            std::thread::spawn(move || listen(stream, &sender));
        }
    });
    receiver
}

fn listen(mut stream: TcpStream, heard: &std::sync::mpsc::Sender<String>) {
    let mut text = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut text) {
        let _enough = heard.send(String::from_utf8_lossy(&text[..count]).into_owned());
        let body = json!({ "service": "od" }).to_string();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length:";
        let _gone = write!(stream, "{head} {}\r\n\r\n{body}", body.len());
    }
}

#[test]
fn whoever_takes_a_dead_daemons_port_is_shown_neither_the_runs_token_nor_the_persons() {
    let bench = Bench::with_project();
    bench.write(
        "agent.sh",
        "echo ready; read go\n\"$OD_BIN\" tools live-artifacts list 2> said; echo $? > code\n",
    );
    let mut run = bench
        .command(&["run", "--", "sh", "agent.sh"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(run.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let (url, _) = bench.daemon().unwrap();
    end_daemon(&bench.data());
    let heard = take_port(&url);
    run.stdin.take().unwrap().write_all(b"go\n").unwrap();
    // The run cannot be told to be over: the lease ends it.
    assert_eq!(exit_code(run), Some(0));
    let said = fs::read_to_string(bench.project().join("said")).unwrap();
    assert_eq!(fs::read_to_string(bench.project().join("code")).unwrap().trim(), "9", "{said}");
    for text in heard.try_iter() {
        assert!(!text.to_lowercase().contains("authorization"), "{text}");
    }
}
