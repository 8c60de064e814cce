//! Kill at every call of every operation, and again inside the recovery from it.

#![expect(clippy::panic, reason = "the suite stops where its own set-up fails")]

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Extent;
use crate::check::{self, Effect, Expectation};
use crate::driver::UPDATE_AFTER_CRASH;
use crate::score::{Score, Violation};
use crate::strace::{self, Ending, Fault, Point};
use crate::world;

/// One operation, the state it starts from and what it changes.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) operation: &'static str,
    pub(crate) effect: Effect,
    pub(crate) base: PathBuf,
}

/// Builds the starting states and returns every scenario.
pub(crate) fn scenarios(scratch: &Path) -> Vec<Scenario> {
    let base = scratch.join("base");
    world::build(&base);
    let deleted = scratch.join("deleted");
    world::copy_world(&base, &deleted);
    strace::plain("delete", &deleted);
    let refreshed = scratch.join("refreshed");
    world::copy_world(&base, &refreshed);
    crash_after_commit(&refreshed);
    let scenario =
        |operation, effect, base: &PathBuf| Scenario { operation, effect, base: base.clone() };
    vec![
        scenario("create", Effect::Creates, &base),
        scenario("update", Effect::Changes, &base),
        scenario("refresh", Effect::Changes, &base),
        scenario("refresh-twice", Effect::Changes, &base),
        scenario("delete", Effect::Deletes, &base),
        scenario("restore", Effect::Restores, &deleted),
        scenario("recover", Effect::Changes, &refreshed),
        scenario(UPDATE_AFTER_CRASH, Effect::Changes, &refreshed),
    ]
}

/// Leaves a data directory as a refresh does that was killed right after its commit.
pub(crate) fn crash_after_commit(data_dir: &Path) {
    let fresh = data_dir.with_extension("fresh");
    world::copy_world(data_dir, &fresh);
    // The first write after the acknowledgement is that of a visible copy.
    for nth in 1..200 {
        world::copy_world(&fresh, data_dir);
        let point = Point { call: "write", nth };
        let ending = strace::inject("refresh", data_dir, point, Fault::Kill);
        assert!(!ending.stderr.contains("panicked"), "the driver panicked: {}", ending.stderr);
        assert!(!ending.exited || ending.acknowledged, "the refresh failed: {ending:?}");
        if ending.acknowledged {
            return;
        }
    }
    panic!("no refresh was killed after its acknowledgement");
}

pub(crate) fn run(score: &mut Score, root: &Path, extent: Extent) {
    let scratch = world::scratch_in(root);
    let scenarios = scenarios(scratch.path());
    for scenario in &scenarios {
        let mut points = points(scratch.path(), scenario);
        sample(&mut points, extent.points_per_scenario());
        let tried = parallel(scratch.path(), &points, score, |dir, point| {
            one(dir, scenario, *point).map(|_| ())
        });
        score.kill_points += tried;
        println!("kill: {} points in {}", tried, scenario.operation);
    }
    score.kill_points += repairs(scratch.path(), score, extent);
    let budget = match extent {
        Extent::Whole => 1_700,
        Extent::Sampled => 40,
        Extent::Touched => 6,
        Extent::Quick => 60,
    };
    nested(scratch.path(), &scenarios, score, budget, extent);
}

/// Kills a repair at every point: the next one finishes it.
fn repairs(scratch: &Path, score: &mut Score, extent: Extent) -> usize {
    let damaged = scratch.join("damaged");
    world::build(&damaged);
    let subject = world::open(&damaged).ok().and_then(|app| world::find(&app, world::SUBJECT));
    let subject = subject.expect("the subject is listed");
    let data = world::artifact_dir(&damaged, &subject).join("data.json");
    std::fs::write(data, b"{ no data").expect("a file can be written");
    let base = scratch.join("count");
    world::copy_world(&damaged, &base);
    let mut points = strace::points("repair", &base);
    sample(&mut points, extent.points_per_scenario());
    let tried = parallel(scratch, &points, score, |dir, point| {
        world::copy_world(&damaged, dir);
        let first = strace::inject("repair", dir, *point, Fault::Kill);
        let second = strace::plain("repair", dir);
        if first.stderr.contains("panicked") || !second.acknowledged {
            return Err(Violation::Torn(format!("it cannot be repaired: {first:?}, {second:?}")));
        }
        check::full(dir, Expectation { effect: Effect::Changes, acknowledged: false })
    });
    println!("kill: {tried} points in repair");
    tried
}

pub(crate) fn points(scratch: &Path, scenario: &Scenario) -> Vec<Point> {
    let dir = scratch.join("count");
    world::copy_world(&scenario.base, &dir);
    strace::points(scenario.operation, &dir)
}

/// Kills an operation at one point and checks what is left.
fn one(dir: &Path, scenario: &Scenario, point: Point) -> Result<Ending, Violation> {
    let ending = killed(dir, scenario, point)?;
    check::full(dir, expectation(scenario, &ending))?;
    Ok(ending)
}

fn killed(dir: &Path, scenario: &Scenario, point: Point) -> Result<Ending, Violation> {
    world::copy_world(&scenario.base, dir);
    let ending = strace::inject(scenario.operation, dir, point, Fault::Kill);
    if ending.stderr.contains("panicked") {
        return Err(Violation::Other(ending.stderr));
    }
    Ok(ending)
}

pub(crate) fn expectation(scenario: &Scenario, ending: &Ending) -> Expectation {
    // What starts from a crash after a commit has to keep that, whether it gets anywhere itself or not.
    let after_crash = ["recover", UPDATE_AFTER_CRASH].contains(&scenario.operation);
    let acknowledged = ending.acknowledged || after_crash;
    Expectation { effect: scenario.effect, acknowledged }
}

/// Kills inside the recovery from a kill.
fn nested(
    scratch: &Path,
    scenarios: &[Scenario],
    score: &mut Score,
    budget: usize,
    extent: Extent,
) {
    let mut crashes = Vec::new();
    for (number, scenario) in scenarios.iter().enumerate() {
        // The crashes of one refresh are also those of two, and two of them start from a crash.
        if ["recover", "refresh-twice", UPDATE_AFTER_CRASH].contains(&scenario.operation) {
            continue;
        }
        let mut points = points(scratch, scenario);
        // A crash costs a data directory, and a small disk has room for some.
        sample(&mut points, extent.points_per_scenario());
        for point in points {
            let crashed = scratch.join(format!("crash-{number}-{}-{}", point.call, point.nth));
            let Ok(ending) = killed(&crashed, scenario, point) else { continue };
            let expected = expectation(scenario, &ending);
            crashes.push(Crash { base: crashed, expected, from: scenario.operation, point });
        }
    }
    let mut inner = Vec::new();
    for crash in &crashes {
        let counted = scratch.join("count");
        world::copy_world(&crash.base, &counted);
        inner.extend(strace::points("recover", &counted).into_iter().map(|point| (crash, point)));
    }
    let seed = seed();
    let total = inner.len();
    shuffle(&mut inner, seed);
    inner.truncate(budget);
    let tried = parallel(scratch, &inner, score, |dir, (crash, point)| {
        world::copy_world(&crash.base, dir);
        let ending = strace::inject("recover", dir, *point, Fault::Kill);
        if ending.stderr.contains("panicked") {
            return Err(Violation::Other(ending.stderr));
        }
        check::full(dir, crash.expected).map_err(|violation| with_origin(violation, crash))
    });
    score.kill_points += tried;
    println!(
        "kill: {tried} of {total} points in recovery from {} crashes, seed {seed}",
        crashes.len()
    );
}

#[derive(Debug)]
struct Crash {
    base: PathBuf,
    expected: Expectation,
    from: &'static str,
    point: Point,
}

fn with_origin(violation: Violation, crash: &Crash) -> Violation {
    let from = format!(" after {} killed at {} {}", crash.from, crash.point.call, crash.point.nth);
    match violation {
        Violation::Mixed(what) => Violation::Mixed(what + &from),
        Violation::Lost(what) => Violation::Lost(what + &from),
        Violation::Torn(what) => Violation::Torn(what + &from),
        Violation::Other(what) => Violation::Other(what + &from),
    }
}

/// Returns the seed of this run's samples.
pub(crate) fn seed() -> u64 {
    let given = std::env::var("OD_FAULTS_SEED").ok().and_then(|seed| seed.parse().ok());
    given.unwrap_or_else(|| u64::from(std::process::id()) | 1)
}

/// Keeps a fair sample of so many items, in their order.
pub(crate) fn sample<T>(items: &mut Vec<T>, most: Option<usize>) {
    let Some(most) = most.filter(|most| *most < items.len()) else { return };
    let mut chosen: Vec<usize> = (0..items.len()).collect();
    shuffle(&mut chosen, seed());
    chosen.truncate(most);
    let mut number = 0;
    items.retain(|_| {
        number += 1;
        chosen.contains(&(number - 1))
    });
}

/// Reorders by a seed, so that a part of everything is a fair sample and can be had again.
fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed;
    for at in (1..items.len()).rev() {
        // Xorshift: enough for a sample.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let other = usize::try_from(state % (at as u64 + 1)).unwrap_or(0);
        items.swap(at, other);
    }
}

/// Tries every item, on as many threads as there are cores, each with a directory of its own.
pub(crate) fn parallel<T: Sync + std::fmt::Debug>(
    scratch: &Path,
    items: &[T],
    score: &mut Score,
    attempt: impl Fn(&Path, &T) -> Result<(), Violation> + Sync,
) -> usize {
    let next = AtomicUsize::new(0);
    let faults = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (next, faults, attempt) = (&next, &faults, &attempt);
            scope.spawn(move || {
                let dir = scratch.join(format!("run-{thread}"));
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(violation) = attempt(&dir, item) {
                        let mut faults = faults.lock().expect("no thread panics");
                        faults.push((format!("{item:?}"), violation));
                    }
                }
            });
        }
    });
    for (place, violation) in faults.into_inner().expect("no thread panics") {
        score.record(&place, violation);
    }
    items.len()
}
