//! What every clock has to do.

use std::time::Duration;

use crate::clock::Clock;

/// Puts a clock through the contract of [`Clock`].
///
/// # Panics
///
/// When the clock breaks the contract.
pub async fn check_clock(clock: &dyn Clock) {
    let wait = Duration::from_millis(5);
    let before = clock.now();
    clock.sleep(wait).await;
    assert!(clock.now().ms_since(before) >= 5, "a sleep takes its time");
    clock.sleep(Duration::ZERO).await;
    // Whoever waits may think better of it.
    drop(clock.sleep(Duration::from_secs(3_600)));
}
