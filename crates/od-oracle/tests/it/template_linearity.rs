//! Doubling a hostile template at most doubles the work, with a little to spare.

use std::process::{Command, Stdio};

use od_oracle::adversary::FAMILIES;

/// `cargo xtask bench --check` reads the whole range, up to the largest template there may be.
const SMALL_BYTES: usize = 32 << 10;
const GROWTH_MAX: f64 = 2.2;

/// Instructions are counted, not time: the same on a busy machine.
#[test]
fn no_family_costs_more_than_its_size() {
    if Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_err() {
        eprintln!("skipped: valgrind is not installed");
        return;
    }
    for family in FAMILIES {
        let small = instructions(family.name, SMALL_BYTES);
        let large = instructions(family.name, 2 * SMALL_BYTES);
        let growth = large as f64 / small as f64;
        assert!(growth <= GROWTH_MAX, "{}: {small}, then {large}: {growth:.2} times", family.name);
    }
}

fn instructions(family: &str, bytes: usize) -> u64 {
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(env!("CARGO_BIN_EXE_template-cost"))
        .args([family, &bytes.to_string()])
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{report}");
    let count = report.lines().find_map(|line| line.split("refs:").nth(1)).unwrap_or_default();
    count.trim().replace(',', "").parse().unwrap_or_else(|_| panic!("no count in {report}"))
}
