//! What hostile templates cost, in instructions, from 64 KiB to the largest there may be.

use std::path::Path;
use std::process::Command;

use super::valgrind;

const SMALLEST: u64 = 64 << 10;
const DOUBLINGS: u32 = 4;
/// Doubling the size may double the work, with a little to spare.
const GROWTH_MAX: f64 = 2.2;

/// Counts every family at every size; returns one line for each, or the families that grow too fast.
pub(crate) fn check(program: &Path) -> Result<Vec<String>, String> {
    let names = valgrind::output(Command::new(program).arg("list"))?.0;
    let mut lines = Vec::new();
    let mut broken = Vec::new();
    for name in names.lines() {
        let counts = (0..=DOUBLINGS)
            .map(|step| valgrind::whole_run(program, &[name, &(SMALLEST << step).to_string()]))
            .collect::<Result<Vec<u64>, String>>()?;
        let worst = worst_growth(&counts);
        let line = format!("{name}: at most {worst:.2} times per doubling");
        if worst > GROWTH_MAX {
            broken.push(format!("{line}; allowed is {GROWTH_MAX}: {counts:?}"));
        }
        lines.push(line);
    }
    if broken.is_empty() { Ok(lines) } else { Err(broken.join("\n")) }
}

fn worst_growth(counts: &[u64]) -> f64 {
    let growth = |pair: &[u64]| match pair {
        [before, after] => *after as f64 / (*before).max(1) as f64,
        _ => f64::INFINITY,
    };
    counts.windows(2).map(growth).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_doubling_is_the_one_that_counts() {
        assert!((worst_growth(&[10, 20, 60, 61]) - 3.0).abs() < 1e-9);
    }
}
