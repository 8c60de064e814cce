//! The processes below this one.

use crate::uses_linux_calls;

/// Makes this process the parent of whatever its descendants leave behind. Where the system cannot, such
/// processes are the system's own, and only those of the group are found again.
pub fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    if uses_linux_calls() {
        let own = Some(rustix::process::getpid());
        // Old kernels have none of it.
        let _ = rustix::process::set_child_subreaper(own);
    }
}

/// Returns whether [`children`] finds what descendants left behind.
#[must_use]
pub fn finds_orphans() -> bool {
    uses_linux_calls()
}

/// Returns the ids of this process's children that still run.
#[must_use]
pub fn children() -> Vec<i32> {
    if uses_linux_calls() { linux_children() } else { listed_children() }
}

fn linux_children() -> Vec<i32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let own = i64::from(std::process::id());
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid: &i32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            // The name before it may hold anything, spaces and brackets too.
            let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
            let mut fields = rest.split_ascii_whitespace();
            let (state, parent) = (fields.next(), fields.next());
            state != Some("Z") && parent.and_then(|parent| parent.parse().ok()) == Some(own)
        })
        .collect()
}

/// Returns the children as `ps` lists them, which is one of them itself.
fn listed_children() -> Vec<i32> {
    let own = std::process::id().to_string();
    let listed =
        std::process::Command::new("ps").args(["-A", "-o", "pid=,ppid=,stat=,comm="]).output();
    let Ok(listed) = listed else { return Vec::new() };
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    let found = text.lines().filter_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        let (pid, parent, state) = (fields.next()?, fields.next()?, fields.next()?);
        let is_ps = fields.next().is_some_and(|name| name.ends_with("ps"));
        (parent == own && !state.starts_with('Z') && !is_ps).then(|| pid.parse().ok()).flatten()
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_found_while_it_runs_and_not_afterwards() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("sleep");
        let id = i32::try_from(child.id()).expect("an id");
        assert!(linux_children().contains(&id));
        child.kill().expect("it is killed");
        // Dead and not yet waited for, it runs no more.
        while linux_children().contains(&id) {
            std::thread::yield_now();
        }
        child.wait().expect("it ended");
    }
}
