//! A sign of life for anything that takes longer than half a second.

use std::io::Write;
use std::time::Duration;

use super::escape::escape;
use super::sink::Sink;

const PATIENCE: Duration = Duration::from_millis(500);
const BEAT: Duration = Duration::from_millis(120);
const FRAMES: [char; 4] = ['|', '/', '-', '\\'];

/// How the wait is told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Manner {
    /// A line that turns and goes away: someone is watching.
    Turning,
    /// One line that stays: stderr goes to a file or another program.
    OneLine,
    /// Nothing: stderr is kept for one JSON document.
    Silent,
}

/// Awaits the work, and tells on stderr what is going on once it takes long.
pub async fn with_progress<F: Future>(sink: Sink, what: &str, work: F) -> F::Output {
    let manner = match (sink.live, sink.json) {
        (true, _) => Manner::Turning,
        (false, false) => Manner::OneLine,
        (false, true) => Manner::Silent,
    };
    told(manner, &mut std::io::stderr(), what, work).await
}

async fn told<F: Future>(
    manner: Manner,
    stderr: &mut impl Write,
    what: &str,
    work: F,
) -> F::Output {
    let mut work = std::pin::pin!(work);
    if manner == Manner::Silent {
        return work.await;
    }
    if let Ok(done) = tokio::time::timeout(PATIENCE, &mut work).await {
        return done;
    }
    let what = escape(what);
    if manner == Manner::OneLine {
        // A closed stderr must not end the work.
        let _closed = writeln!(stderr, "… {what}");
        return work.await;
    }
    for frame in FRAMES.iter().cycle() {
        let _closed = write!(stderr, "\r{frame} {what} ");
        if let Ok(done) = tokio::time::timeout(BEAT, &mut work).await {
            let blank = " ".repeat(what.chars().count() * 2 + 4);
            let _closed = write!(stderr, "\r{blank}\r");
            return done;
        }
    }
    work.await
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn said(manner: Manner, takes_ms: u64) -> String {
        let mut stderr = Vec::new();
        let work = tokio::time::sleep(Duration::from_millis(takes_ms));
        told(manner, &mut stderr, "refreshing \u{1b}x", work).await;
        String::from_utf8(stderr).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn half_a_second_is_waited_in_silence_and_no_more() {
        for manner in [Manner::Turning, Manner::OneLine, Manner::Silent] {
            assert_eq!(said(manner, 499).await, "", "{manner:?}");
        }
        assert_eq!(said(Manner::OneLine, 501).await, "… refreshing \\u{1b}x\n");
        assert_eq!(said(Manner::Silent, 5_000).await, "");
        let turning = said(Manner::Turning, 700).await;
        assert!(turning.starts_with("\r| refreshing \\u{1b}x \r/ refreshing"), "{turning:?}");
        assert!(turning.ends_with(" \r"), "the line is wiped: {turning:?}");
    }
}
