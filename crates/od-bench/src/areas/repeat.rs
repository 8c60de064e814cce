//! One kind of write, so many times and nothing else: for `strace -f -c`, whose counts of two numbers of
//! times differ by what one write calls the system for.

use std::fs;

use od_app::artifacts::{self, Address, Reading, UpdateArtifact};
use od_app::{Caller, Mode};
use od_core::ids::ArtifactId;
use serde_json::json;

use super::refresh::{content, refreshable, refreshed};
use crate::world::{Outcome, World, large, page, told};

/// Does the write of a name so many times.
pub(crate) fn run(name: &str, times: usize) -> Outcome<()> {
    let world = World::make()?.with_fast_clock()?;
    match name {
        "create" => (0..times).try_for_each(|number| world.create(page(number, 4)).map(drop)),
        "unchanged" => refresh(&world, times, false),
        "changed" => refresh(&world, times, true),
        "title" => {
            let artifact = world.create(large(0))?;
            (0..times).try_for_each(|number| retitle(&world, &artifact, number))
        }
        _ => Err(format!("`{name}` is none of create, unchanged, changed, title")),
    }
}

fn refresh(world: &World, times: usize, changes: bool) -> Outcome<()> {
    let (source, request) = refreshable(world)?;
    let artifact = world.create(request)?;
    (0..times).try_for_each(|number| {
        if changes {
            fs::write(&source, content(number)).map_err(told)?;
        }
        refreshed(world, &artifact).map(drop)
    })
}

fn retitle(world: &World, artifact: &ArtifactId, number: usize) -> Outcome<()> {
    let body = json!({ "input": { "title": format!("Title {number}") } });
    let address = Address { project: Some(world.project.clone()), artifact: artifact.clone() };
    let request =
        UpdateArtifact { target: address.into(), body: body.into(), reading: Reading::Now };
    let done = world.run(artifacts::update(&world.app, &Caller::Person, request, Mode::Commit));
    done.map(drop).map_err(told)
}
