//! Doubling a hostile template at most doubles the work, with a little to spare.

use std::time::Duration;

use od_core::template::Template;
use od_oracle::adversary::FAMILIES;
use rustix::time::{ClockId, clock_gettime};

const SMALL_BYTES: usize = 128 << 10;
const LARGE_BYTES: usize = 512 << 10;

/// Instruction counts are read with valgrind (`template-cost` under callgrind). Here it is the time
/// that this thread ran, which a busy machine does not stretch: quadratic work takes sixteen times
/// as long for four times the size.
#[test]
fn no_family_is_quadratic() {
    for family in FAMILIES {
        let small = least(&family.template(SMALL_BYTES));
        let large = least(&family.template(LARGE_BYTES));
        let allowed = small * 9 + Duration::from_millis(5);
        assert!(large < allowed, "{}: {small:?} then {large:?}", family.name);
    }
}

fn least(html: &str) -> Duration {
    let once = |_| {
        let started = thread_time();
        drop(Template::compile(html));
        thread_time().saturating_sub(started)
    };
    (0..2).map(once).min().unwrap_or_default()
}

fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap())
}
