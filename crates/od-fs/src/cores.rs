//! Short work on several cores.

use std::thread;

use rustix::thread::{sched_getaffinity, sched_getcpu, sched_setaffinity};

/// More threads than this read a directory no faster.
const THREADS_MAX: usize = 4;

/// Does the same work on several threads, the calling one among them, and returns what each has
/// done. The work takes its next piece from something all of them share, until nothing is left.
pub(crate) fn share<T: Send>(work: impl Fn() -> T + Sync) -> Vec<thread::Result<T>> {
    let threads = thread::available_parallelism().map_or(1, |cores| cores.get().min(THREADS_MAX));
    let here = sched_getcpu();
    let helper = || {
        leave(here);
        work()
    };
    thread::scope(|scope| {
        // Where no thread can be made, the others do its share.
        let helpers: Vec<_> = (1..threads)
            .filter_map(|_| thread::Builder::new().spawn_scoped(scope, helper).ok())
            .collect();
        // Lets helpers that wait for this core run just long enough to leave it.
        thread::yield_now();
        let mut done = vec![Ok(work())];
        done.extend(helpers.into_iter().map(thread::ScopedJoinHandle::join));
        done
    })
}

/// Moves the calling thread off a core.
///
/// A kernel that spares cores, as those of virtual machines do, keeps a new thread where it was made
/// for longer than the work here takes: two threads then take turns on one core beside an idle one.
fn leave(core: usize) {
    let Ok(mut allowed) = sched_getaffinity(None) else { return };
    allowed.unset(core);
    if allowed.count() > 0 {
        // Only a wish: the work is done wherever the thread runs.
        let _ = sched_setaffinity(None, &allowed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn every_piece_is_done_once_by_whoever_comes_to_it() {
        let next = AtomicUsize::new(0);
        let done = share(|| {
            let mut taken = Vec::new();
            loop {
                let piece = next.fetch_add(1, Ordering::Relaxed);
                if piece >= 1_000 {
                    return taken;
                }
                taken.push(piece);
            }
        });
        let mut pieces: Vec<usize> =
            done.into_iter().flat_map(|taken| taken.expect("no thread ends early")).collect();
        pieces.sort_unstable();
        assert_eq!(pieces, (0..1_000).collect::<Vec<_>>());
    }

    #[test]
    fn the_calling_thread_may_run_where_it_might_before() {
        let before = sched_getaffinity(None).expect("the kernel says where a thread may run");
        share(|| ());
        let after = sched_getaffinity(None).expect("the kernel says where a thread may run");
        assert_eq!(before, after);
    }
}
