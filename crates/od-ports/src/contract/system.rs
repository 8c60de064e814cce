//! The contract suites of clock and randomness.

use std::collections::HashSet;
use std::time::Duration;

use crate::system::Clock;
use crate::system::Entropy;

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

/// Puts a source of randomness through the contract of [`Entropy`].
///
/// # Panics
///
/// When it breaks the contract.
pub fn check_entropy(entropy: &dyn Entropy) {
    entropy.fill(&mut []).expect("nothing can be filled");
    for length in [6, 16, 32] {
        let mut seen = HashSet::new();
        for filler in [0x00, 0xff].into_iter().cycle().take(64) {
            let mut bytes = vec![filler; length];
            entropy.fill(&mut bytes).expect("random bytes");
            assert_ne!(bytes, vec![filler; length], "every byte is written");
            assert!(seen.insert(bytes), "no {length} bytes are given twice");
        }
    }
}
