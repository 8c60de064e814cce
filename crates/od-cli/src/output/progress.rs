//! Progress on stderr for anything that takes longer than half a second.

use std::io::Write;
use std::time::Duration;

use super::escape::escape;
use super::sink::Sink;

const PATIENCE: Duration = Duration::from_millis(500);
const BEAT: Duration = Duration::from_millis(120);
const FRAMES: [char; 4] = ['|', '/', '-', '\\'];

/// The notice of a wait that takes long.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Notice {
    /// A spinner that goes away: someone is watching.
    Spinner,
    /// One line that stays: stderr goes to a file or another program.
    OneLine,
    /// Nothing: stderr is kept for one JSON document.
    Silent,
}

/// Awaits the work, and says on stderr what is going on once it takes long.
pub async fn with_progress<F: Future>(sink: Sink, what: &str, work: F) -> F::Output {
    let notice = match (sink.live, sink.json) {
        (true, _) => Notice::Spinner,
        (false, false) => Notice::OneLine,
        (false, true) => Notice::Silent,
    };
    await_with_notice(notice, &mut std::io::stderr(), what, work).await
}

async fn await_with_notice<F: Future>(
    notice: Notice,
    stderr: &mut impl Write,
    what: &str,
    work: F,
) -> F::Output {
    let mut work = std::pin::pin!(work);
    if notice == Notice::Silent {
        return work.await;
    }
    if let Ok(done) = tokio::time::timeout(PATIENCE, &mut work).await {
        return done;
    }
    let what = escape(what);
    if notice == Notice::OneLine {
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

    async fn said(notice: Notice, takes_ms: u64) -> String {
        let mut stderr = Vec::new();
        let work = tokio::time::sleep(Duration::from_millis(takes_ms));
        await_with_notice(notice, &mut stderr, "refreshing \u{1b}x", work).await;
        String::from_utf8(stderr).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn half_a_second_is_waited_in_silence_and_no_more() {
        for notice in [Notice::Spinner, Notice::OneLine, Notice::Silent] {
            assert_eq!(said(notice, 499).await, "", "{notice:?}");
        }
        assert_eq!(said(Notice::OneLine, 501).await, "… refreshing \\u{1b}x\n");
        assert_eq!(said(Notice::Silent, 5_000).await, "");
        let turning = said(Notice::Spinner, 700).await;
        assert!(turning.starts_with("\r| refreshing \\u{1b}x \r/ refreshing"), "{turning:?}");
        assert!(turning.ends_with(" \r"), "the line is wiped: {turning:?}");
    }
}
