//! Every call of every operation fails once, in four ways.

use crate::Extent;
use crate::check;
use crate::kill::{self, Scenario};
use crate::score::{Score, Violation};
use crate::strace::{self, Fault, Point};
use crate::world;

const ERRNOS: [&str; 4] = ["EIO", "ENOSPC", "EROFS", "EMFILE"];

pub(crate) fn run(score: &mut Score, extent: Extent) {
    let scratch = world::scratch();
    for scenario in kill::scenarios(scratch.path()) {
        let mut tries: Vec<(Point, &'static str)> = Vec::new();
        for (number, point) in kill::points(scratch.path(), &scenario).into_iter().enumerate() {
            for (which, errno) in ERRNOS.into_iter().enumerate() {
                // The quick run tries each point in one way.
                if extent == Extent::Whole || number % ERRNOS.len() == which {
                    tries.push((point, errno));
                }
            }
        }
        let tried = kill::parallel(scratch.path(), &tries, score, |dir, (point, errno)| {
            one(dir, &scenario, *point, errno)
        });
        score.errno_points += tried;
        println!("errno: {tried} points in {}", scenario.operation);
    }
    unreadable(score, scratch.path());
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
