//! Work that takes a processor for long, kept from the threads that serve requests.
//!
//! A large refresh parses, maps, checks and draws a quarter of a mebibyte: ten milliseconds in which a
//! thread that serves requests answers nobody. Eight of them at once made a preview of 35 µs one of 15 ms.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use od_core::limits::{CPU_INLINE, CPU_QUEUE, CPU_WORKERS};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;

/// Runs large pieces of work, a few at once.
#[derive(Debug)]
pub struct CpuPool {
    room: Semaphore,
    waiting: AtomicUsize,
}

impl Default for CpuPool {
    fn default() -> Self {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        // One core stays with those who wait for a small answer.
        Self::of(cores.saturating_sub(1).clamp(1, CPU_WORKERS.max()))
    }
}

impl CpuPool {
    fn of(workers: usize) -> Self {
        Self { room: Semaphore::new(workers), waiting: AtomicUsize::new(0) }
    }

    /// Runs work on about so many bytes: at once if they are few, else in turn and away from the threads
    /// that serve requests.
    ///
    /// If more work waits than the queue holds, the one who brings it does not wait: nothing is refused,
    /// and nothing grows without bound.
    pub async fn run<T>(&self, bytes: usize, work: impl FnOnce() -> T) -> T {
        if CPU_INLINE.allows(bytes) {
            return work();
        }
        let turn = match self.queue() {
            // It is never closed.
            Some(_queued) => self.room.acquire().await.ok(),
            None => None,
        };
        let done = match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
            // The thread gives the requests that it serves to another one first.
            Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
            // One thread does everything here, or there is no runtime: nobody else waits.
            Ok(_) | Err(_) => work(),
        };
        drop(turn);
        done
    }

    fn queue(&self) -> Option<Queued<'_>> {
        let queued = Queued(&self.waiting);
        CPU_QUEUE.allows(self.waiting.fetch_add(1, Ordering::Relaxed) + 1).then_some(queued)
    }
}

/// A place in the queue.
struct Queued<'pool>(&'pool AtomicUsize);

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Barrier};

    use super::*;

    const LARGE: usize = CPU_INLINE.max() + 1;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn large_work_leaves_the_threads_of_requests_free() {
        let pool = Arc::new(CpuPool::of(1));
        let (begun, end) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        let (its_begun, its_end) = (Arc::clone(&begun), Arc::clone(&end));
        let large = tokio::spawn(async move {
            pool.run(LARGE, || {
                its_begun.wait();
                its_end.wait();
            })
            .await;
        });
        tokio::task::spawn_blocking(move || begun.wait()).await.expect("it began");
        // The only worker is taken by the work; somebody else is served all the same.
        let served = tokio::spawn(async { 200 }).await;
        assert_eq!(served.expect("an answer"), 200);
        tokio::task::spawn_blocking(move || end.wait()).await.expect("it ends");
        large.await.expect("the work is done");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn no_more_runs_at_once_than_there_is_room_for() {
        let pool = Arc::new(CpuPool::of(2));
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let tasks: Vec<_> = (0..64)
            .map(|_| {
                let (pool, running, most) = (pool.clone(), running.clone(), most.clone());
                tokio::spawn(async move {
                    pool.run(LARGE, || {
                        most.fetch_max(
                            running.fetch_add(1, Ordering::SeqCst) + 1,
                            Ordering::SeqCst,
                        );
                        thread::yield_now();
                        running.fetch_sub(1, Ordering::SeqCst);
                    })
                    .await;
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("it ends");
        }
        assert!(most.load(Ordering::SeqCst) <= 2, "{most:?}");
        assert_eq!(pool.waiting.load(Ordering::SeqCst), 0, "nobody waits any more");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn whoever_comes_to_a_full_queue_does_not_wait() {
        let pool = CpuPool::of(1);
        let _turn = pool.room.acquire().await.expect("room");
        let _queue: Vec<_> = (0..CPU_QUEUE.max()).map_while(|_| pool.queue()).collect();
        assert_eq!(pool.run(LARGE, || "done").await, "done");
    }

    #[tokio::test]
    async fn small_work_waits_for_nobody() {
        let pool = CpuPool::of(1);
        let _turn = pool.room.acquire().await.expect("room");
        assert_eq!(pool.run(CPU_INLINE.max(), || "done").await, "done");
    }
}
