//! The process between the daemon and an agent: it ends everything that the agent started, when the agent
//! ends, when it is told to, and when the daemon is gone, however that went.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use od_core::limits::AGENT_END;
use rustix::process::{
    Pid, Signal, WaitOptions, getpgrp, getppid, kill_process, kill_process_group,
};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::Instant;

/// The hidden verb under which the program is a supervisor. Its arguments are the id of the process that
/// it belongs to, and the command.
pub const SUPERVISOR_VERB: &str = "agent-supervise";

/// The longest time for which a daemon's end goes unnoticed.
const LOOK: Duration = Duration::from_millis(200);
/// The pause between two looks at what still has to end.
const LOOK_SOON: Duration = Duration::from_millis(20);

/// Runs a command until it ends, the parent is gone, or a signal comes; then ends the rest of it. Returns
/// the code to exit with.
///
/// # Errors
///
/// Fails if the command cannot be started.
pub async fn supervise(parent: u32, command: &[OsString]) -> Result<u8, std::io::Error> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(std::io::Error::other("no command to supervise"));
    };
    let mut told = signal(SignalKind::terminate())?;
    let mut hung_up = signal(SignalKind::hangup())?;
    let mut child_ended = signal(SignalKind::child())?;
    // What an agent starts and leaves behind becomes this process's child, and is found again.
    od_platform::adopt_orphans();
    let agent = Command::new(program).args(arguments).spawn()?;
    let agent = i32::try_from(agent.id()).ok().and_then(Pid::from_raw);
    let mut status = None;
    while status.is_none() && is_child_of(parent) {
        tokio::select! {
            _ = told.recv() => break,
            _ = hung_up.recv() => break,
            _ = child_ended.recv() => {}
            () = tokio::time::sleep(LOOK) => {}
        }
        status = reap(agent);
    }
    let ended = end_rest(agent).await;
    Ok(code_of(status.or(ended)))
}

fn is_child_of(parent: u32) -> bool {
    getppid().is_some_and(|own| u32::try_from(own.as_raw_nonzero().get()) == Ok(parent))
}

/// Takes the ends of processes; returns the agent's, if it is among them.
fn reap(agent: Option<Pid>) -> Option<ExitStatus> {
    let mut found = None;
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        if Some(pid) == agent {
            found = Some(ExitStatus::from_raw(status.as_raw()));
        }
    }
    found
}

/// Ends what is left: it is told, and after a while it is killed.
async fn end_rest(agent: Option<Pid>) -> Option<ExitStatus> {
    let mut status = None;
    let mut left = od_platform::children();
    if left.is_empty() {
        return status;
    }
    // This process is in the group too, and listens to the signal; it is on its way out already.
    let _ = kill_process_group(getpgrp(), Signal::TERM);
    let deadline = Instant::now() + AGENT_END.duration();
    while !left.is_empty() {
        let is_late = Instant::now() >= deadline;
        for pid in left.iter().filter_map(|pid| Pid::from_raw(*pid)) {
            // Those that left the group were not told with it.
            let _ = kill_process(pid, if is_late { Signal::KILL } else { Signal::TERM });
        }
        tokio::time::sleep(LOOK_SOON).await;
        status = status.or(reap(agent));
        left = od_platform::children();
        if is_late && !od_platform::finds_orphans() {
            break;
        }
    }
    status
}

fn code_of(status: Option<ExitStatus>) -> u8 {
    let code = status.map_or(1, |status| {
        status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
    });
    u8::try_from(code).unwrap_or(u8::MAX)
}
