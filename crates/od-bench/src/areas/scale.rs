//! Fifty thousand artifacts: what a person who opens the console waits for.

use std::time::{Duration, Instant};

use od_app::Caller;
use od_app::artifacts::{self, Address, PageOfList};
use od_app::{App, health};
use od_core::artifact::ListQuery;
use od_core::ids::ArtifactId;

use super::daemon::child::Child;
use super::daemon::http_load::Connection;
use super::store::timed;
use crate::measure;
use crate::row::{Row, Target};
use crate::world::{Outcome, World, page, sized, told};

const ROWS: usize = 50;
const ROUNDS: usize = 51;
/// Records of one history.
const RECORDS: usize = 10_000;

/// Measures lists, health and the start with many artifacts, then a long history.
pub(crate) fn measure() -> Outcome<Vec<Row>> {
    let many = sized(50_000, 200);
    let world = World::make()?;
    world.fill(0, many)?;
    let world = world.settled()?;
    let app = world.reopened()?;
    let ms = |what: String, time: Duration, limit: f64| {
        timed(what, time, 1e3, "ms", Target::AtMost(limit))
    };
    one_page(&world, &app, many)?;
    let warm = median_of(|_| one_page(&world, &app, many))?;
    let searched = median_of(|_| search(&world, &app))?;
    let counted = median_of(|_| count(&world, &app, many))?;
    let mut made = many;
    let after_create = median_of(|_| {
        world.create(page(made, 1))?;
        made += 1;
        one_page(&world, &app, made)
    })?;
    drop(app);
    let world = world.settled()?;
    let start = median_of_few(|| first_answer(&world))?;
    Ok(vec![
        ms(format!("page of {ROWS} from {many} artifacts, warm"), warm, 1.0),
        ms(format!("page of {ROWS} from {many} artifacts, after one create"), after_create, 1.0),
        timed(format!("search of {many} artifacts"), searched, 1e3, "ms", Target::None),
        ms(format!("health with {many} artifacts"), counted, 1.0),
        ms(format!("from process start to the first 200, {many} artifacts"), start, 150.0),
        history()?,
    ])
}

/// Takes the time of the second half of each piece of work: what it returns is how long that took.
fn median_of(mut work: impl FnMut(usize) -> Outcome<Duration>) -> Outcome<Duration> {
    let readings = (0..ROUNDS).map(&mut work).collect::<Outcome<Vec<_>>>();
    Ok(measure::median(&mut readings?))
}

fn median_of_few(mut work: impl FnMut() -> Outcome<Duration>) -> Outcome<Duration> {
    let readings = (0..5).map(|_| work()).collect::<Outcome<Vec<_>>>();
    Ok(measure::median(&mut readings?))
}

fn one_page(world: &World, app: &App, total: usize) -> Outcome<Duration> {
    let request = PageOfList {
        project: Some(world.project.clone()),
        query: ListQuery::default(),
        rows: ROWS,
    };
    let began = Instant::now();
    let page = world.run(artifacts::page(app, &Caller::Person, request)).map_err(told)?;
    let time = began.elapsed();
    if (page.lines.len(), page.total) == (ROWS, total) {
        Ok(time)
    } else {
        Err(format!("a page of {} of {} where {total} are", page.lines.len(), page.total))
    }
}

fn search(world: &World, app: &App) -> Outcome<Duration> {
    let query = "page 17".parse().map_err(told)?;
    let query = ListQuery { query: Some(query), ..ListQuery::default() };
    let request = PageOfList { project: Some(world.project.clone()), query, rows: ROWS };
    let began = Instant::now();
    let found = world.run(artifacts::page(app, &Caller::Person, request)).map_err(told)?;
    if found.total == 0 { Err("nothing was found".to_owned()) } else { Ok(began.elapsed()) }
}

fn count(world: &World, app: &App, total: usize) -> Outcome<Duration> {
    let began = Instant::now();
    let found = world.run(health::report(app));
    let time = began.elapsed();
    if found.tally.total() == total {
        Ok(time)
    } else {
        Err(format!("health counts {:?} where {total} are", found.tally))
    }
}

fn first_answer(world: &World) -> Outcome<Duration> {
    let began = Instant::now();
    let child = Child::spawn(world.path())?;
    let answer = Connection::open(child.api)
        .and_then(|mut connection| connection.exchange(&child.get("/api/health", None)));
    match answer.map_err(told)? {
        (200, _) => Ok(began.elapsed()),
        (status, _) => Err(format!("the first answer was {status}")),
    }
}

/// The first page of a long history, twice: what the second asker waits for.
fn history() -> Outcome<Row> {
    let records = sized(RECORDS, 100);
    let world = World::make()?.with_fast_clock()?;
    let artifact = world.create(page(0, 1))?;
    (0..records / 2).try_for_each(|_| one_refresh(&world, &artifact))?;
    let world = world.settled()?;
    // What changed just now is not remembered: a filesystem's clock may tick every other second only.
    std::thread::sleep(Duration::from_secs(4));
    let address = || Address { project: Some(world.project.clone()), artifact: artifact.clone() };
    let time = median_of(|_| {
        let began = Instant::now();
        let found = world.run(artifacts::history(&world.app, &Caller::Person, address()));
        let shown = found.map_err(told)?.records.iter().take(ROWS).count();
        if shown == ROWS { Ok(began.elapsed()) } else { Err(format!("{shown} records")) }
    })?;
    let what = format!("history page of {ROWS} of {records} records");
    Ok(timed(what, time, 1e3, "ms", Target::AtMost(1.0)))
}

/// Leaves the two records of a refresh that was cancelled as it began.
fn one_refresh(world: &World, artifact: &ArtifactId) -> Outcome<()> {
    use od_core::ledger::RefreshStart;
    use od_core::refresh::{RecordStatus, RecordStep, RefreshRecord};
    let log = &world.app.ports.refresh_log;
    let now = world.app.ports.clock.now();
    let begun = world.run(log.begin_refresh(&world.project, artifact, RefreshStart::manual(now)));
    let status = RecordStatus::Cancelled;
    let begun = begun.map_err(told)?;
    let record = RefreshRecord::new(begun.id.clone(), RecordStep::last(status), status, now);
    world.run(log.append_record(&world.project, artifact, record)).map_err(told)
}
