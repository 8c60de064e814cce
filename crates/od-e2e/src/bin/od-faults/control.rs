//! The control: a commit file by file, as one would write it first. The suite must find it out.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use od_core::ids::ArtifactId;

use crate::check::{self, Expectation};
use crate::disk;
use crate::score::Score;
use crate::strace::{self, Fault};
use crate::world;

/// Replaces each file of the subject by the one of generation `new`, durably, one after the other.
pub(crate) fn file_by_file(data_dir: &Path, id: &ArtifactId) -> io::Result<()> {
    let target = world::artifact_dir(data_dir, id);
    let source = world::artifact_dir(&data_dir.with_extension("new"), id);
    for name in ["template.html", "data.json", "provenance.json", "index.html", "artifact.json"] {
        let temporary = target.join(format!("{name}.tmp"));
        let mut file = File::create(&temporary)?;
        file.write_all(&fs::read(source.join(name))?)?;
        file.sync_all()?;
        fs::rename(&temporary, target.join(name))?;
        File::open(&target)?.sync_all()?;
    }
    Ok(())
}

/// Puts the control through the kill test and complains if it passes.
pub(crate) fn run(score: &mut Score) {
    let scratch = disk::memory();
    let base = scratch.path().join("base");
    world::build(&base);
    let run_dir = scratch.path().join("run");
    let after = run_dir.with_extension("new");
    world::copy_world(&base, &after);
    strace::plain("update", &after);
    // No frame of the real protocol may help the control.
    let prepare = || {
        world::copy_world(&base, &run_dir);
        let app = world::open(&run_dir).expect("the store opens");
        let id = world::find(&app, world::SUBJECT).expect("the subject is there");
        let _ = fs::remove_file(world::artifact_dir(&run_dir, &id).join("last-good"));
    };
    prepare();
    let points = strace::points("file-by-file", &run_dir);
    let mut control = Score::default();
    let mut tried = 0;
    for point in points.iter().filter(|point| point.call != "openat2" && point.call != "flock") {
        prepare();
        let ending = strace::inject("file-by-file", &run_dir, *point, Fault::Kill);
        tried += 1;
        if let Err(violation) = check::quick(&run_dir, Expectation::changed(&ending)) {
            // Counted, not printed: it is meant to fail.
            control.count(violation);
        }
    }
    println!(
        "control, file by file: {} of {tried} kill points bad (must be more than 0)",
        control.faults()
    );
    if control.faults() == 0 {
        score.record(
            "control",
            crate::score::Violation::Other("a commit file by file passed the suite".to_owned()),
        );
    }
}
