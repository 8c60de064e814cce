//! Any bytes as a bundle: never a panic, and what is read is what was signed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use od_core::bundle::Bundle;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(bundle) = Bundle::read(bytes) {
        for artifact in &bundle.manifest.artifacts {
            let _ = bundle.create_body(artifact);
        }
        let _ = bundle.examine();
    }
});
