//! What every source of randomness has to do.

use std::collections::HashSet;

use crate::entropy::Entropy;

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
