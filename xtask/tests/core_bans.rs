//! The bans of `od-core/clippy.toml` catch what they are meant to catch.

use std::fs;
use std::path::Path;
use std::process::Command;

/// One planted violation a line; each must be reported by name.
const PLANTED: &[(&str, &str)] = &[
    ("std::fs::read", "let _ = std::fs::read(\"x\");"),
    ("std::fs::File", "let _ = std::fs::File::open(\"x\");"),
    ("std::net::TcpStream", "let _ = std::net::TcpStream::connect(\"127.0.0.1:1\");"),
    ("std::env::var", "let _ = std::env::var(\"HOME\");"),
    ("std::time::SystemTime::now", "let _ = std::time::SystemTime::now();"),
    ("std::time::Instant::now", "let _ = std::time::Instant::now();"),
    ("std::process::Command", "let _ = std::process::Command::new(\"true\");"),
    ("std::thread::sleep", "std::thread::sleep(core::time::Duration::ZERO);"),
];

#[test]
fn a_planted_impurity_in_the_core_is_refused_by_clippy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let planted = std::env::temp_dir().join(format!("xtask-core-bans-{}", std::process::id()));
    fs::create_dir_all(planted.join("src")).unwrap();
    fs::copy(root.join("crates/od-core/clippy.toml"), planted.join("clippy.toml")).unwrap();
    fs::write(
        planted.join("Cargo.toml"),
        "[package]\nname = \"planted\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n",
    )
    .unwrap();
    let bodies: String = PLANTED.iter().map(|(_, line)| format!("    {line}\n")).collect();
    fs::write(planted.join("src/lib.rs"), format!("pub fn impure() {{\n{bodies}}}\n")).unwrap();

    let output = Command::new(env!("CARGO"))
        .args(["clippy", "--offline", "--quiet", "--", "-D", "warnings"])
        .current_dir(&planted)
        .env("CARGO_TARGET_DIR", planted.join("target"))
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    fs::remove_dir_all(&planted).unwrap();

    assert!(!output.status.success());
    for (banned, _) in PLANTED {
        assert!(report.contains(&format!("`{banned}`")), "{banned} was not caught:\n{report}");
    }
}
