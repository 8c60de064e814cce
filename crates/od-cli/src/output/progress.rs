//! A sign of life for anything that takes longer than half a second.

use std::io::Write;
use std::time::Duration;

use super::escape::escape;
use super::sink::Sink;

const PATIENCE: Duration = Duration::from_millis(500);
const BEAT: Duration = Duration::from_millis(120);
const FRAMES: [char; 4] = ['|', '/', '-', '\\'];

/// Awaits the work, and tells a person at a terminal what is going on once it takes long.
pub async fn with_progress<F: Future>(sink: Sink, what: &str, work: F) -> F::Output {
    let mut work = std::pin::pin!(work);
    if !sink.live {
        return work.await;
    }
    if let Ok(done) = tokio::time::timeout(PATIENCE, &mut work).await {
        return done;
    }
    let what = escape(what);
    for frame in FRAMES.iter().cycle() {
        // A closed stderr must not end the work.
        let _closed = write!(std::io::stderr(), "\r{frame} {what} ");
        if let Ok(done) = tokio::time::timeout(BEAT, &mut work).await {
            let blank = " ".repeat(what.chars().count() * 2 + 4);
            let _closed = write!(std::io::stderr(), "\r{blank}\r");
            return done;
        }
    }
    work.await
}
