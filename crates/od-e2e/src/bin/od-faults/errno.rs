//! Every call of every operation fails once, in four ways.

use crate::Extent;
use crate::check;
use crate::kill::{self, Scenario};
use crate::score::{Score, Violation};
use crate::strace::{self, Fault, Point};
use crate::world;

const ERRNOS: [&str; 4] = ["EIO", "ENOSPC", "EROFS", "EMFILE"];

pub(crate) fn run(score: &mut Score, root: &std::path::Path, extent: Extent) {
    let scratch = world::scratch_in(root);
    for scenario in kill::scenarios(scratch.path()) {
        let mut tries: Vec<(Point, &'static str)> = Vec::new();
        for (number, point) in kill::points(scratch.path(), &scenario).into_iter().enumerate() {
            for (which, errno) in ERRNOS.into_iter().enumerate() {
                // Less than the whole tries each point in one way.
                if extent == Extent::Whole || number % ERRNOS.len() == which {
                    tries.push((point, errno));
                }
            }
        }
        kill::sample(&mut tries, extent.points_per_scenario());
        let tried = kill::parallel(scratch.path(), &tries, score, |dir, (point, errno)| {
            one(dir, &scenario, *point, errno)
        });
        score.errno_points += tried;
        println!("errno: {tried} points in {}", scenario.operation);
    }
    unreadable(score, scratch.path());
    if extent == Extent::Whole {
        let own = scratch.path().join("old-kernels");
        std::fs::create_dir_all(&own).expect("a directory");
        old_kernels(score, &own);
    }
}

/// Every operation on a kernel or a mount without the newer calls: it works, and nothing differs.
fn old_kernels(score: &mut Score, scratch: &std::path::Path) {
    let lacks = [
        ("openat2", "ENOSYS"),
        ("openat2", "EPERM"),
        ("renameat2", "ENOSYS"),
        ("renameat2", "EINVAL"),
    ];
    let mut tried = 0;
    for scenario in kill::scenarios(scratch) {
        for (call, errno) in lacks {
            let dir = scratch.join("old-kernel");
            world::copy_world(&scenario.base, &dir);
            let ending = strace::without_call(scenario.operation, &dir, call, errno);
            tried += 1;
            let seen = if ending.acknowledged {
                check::full(&dir, kill::expectation(&scenario, &ending))
            } else {
                Err(Violation::Torn(format!("it does not work: {ending:?}")))
            };
            if let Err(violation) = seen {
                let place = format!("{} without {call} ({errno})", scenario.operation);
                score.record(&place, violation);
            }
        }
    }
    score.errno_points += tried;
    println!("errno: {tried} operations on kernels without openat2 or renameat2");
}

/// One file of one artifact lies on a bad sector.
fn unreadable(score: &mut Score, scratch: &std::path::Path) {
    let dir = scratch.join("unreadable");
    world::build(&dir);
    let subject = world::open(&dir).ok().and_then(|app| world::find(&app, world::SUBJECT));
    let subject = world::artifact_dir(&dir, &subject.expect("the subject is listed"));
    for name in ["artifact.json", "data.json", "template.html"] {
        let ending = strace::without_file("look", &dir, &subject.join(name));
        score.errno_points += 1;
        if !ending.acknowledged {
            score.record(&format!("{name} cannot be read"), Violation::Torn(ending.stderr));
        }
    }
}

fn one(
    dir: &std::path::Path,
    scenario: &Scenario,
    point: Point,
    errno: &'static str,
) -> Result<(), Violation> {
    world::copy_world(&scenario.base, dir);
    let ending = strace::inject(scenario.operation, dir, point, Fault::Errno(errno));
    if ending.stderr.contains("panicked") || !ending.exited {
        return Err(Violation::Other(format!("the program died: {}", ending.stderr)));
    }
    let loading = ending.stderr.contains("loading shared libraries");
    match (&ending.refused, ending.acknowledged) {
        (None, true) => {}
        (Some(code), false) if code == "LIVE_ARTIFACT_STORAGE_FAILED" || code == "OPEN" => {}
        // What the disk does not give is not written.
        (Some(code), false) if code == "LIVE_ARTIFACT_NOT_HEALTHY" && errno == "EIO" => {}
        // The list before the operation did not find the subject because it could not read it.
        (Some(code), false) if code == "LIVE_ARTIFACT_NOT_FOUND" || code == "NOT_FOUND" => {}
        (Some(code), _) => return Err(Violation::Other(format!("{errno} became {code}"))),
        (None, false) if loading || point.call == "write" => {}
        (None, false) => return Err(Violation::Other(format!("{errno}: neither answer"))),
    }
    check::full(dir, kill::expectation(scenario, &ending))
}
