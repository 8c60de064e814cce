//! Any text as a token, and any payload signed with the right key: never a panic, never a grant.
#![no_main]

use libfuzzer_sys::fuzz_target;
use od_core::ids::Timestamp;
use od_core::token::{Endpoint, Keyring, TOKEN_PREFIX, encode, verify};

fuzz_target!(|bytes: &[u8]| {
    let ring = Keyring::new([7; 32], Some([8; 32]));
    let now = Timestamp::from_unix_ms(1_777_507_230_000);
    let text = String::from_utf8_lossy(bytes);
    for token in [text.to_string(), format!("{TOKEN_PREFIX}{text}")] {
        if let Ok(verified) = verify(&token, &ring, now) {
            // Only a seed signed with the test key gets here; it must be spelled the one way.
            let signers = [Keyring::new([7; 32], None), Keyring::new([8; 32], None)];
            assert!(signers.iter().any(|ring| encode(verified.claims(), ring) == token));
            let _ = verified.tool_scope(Endpoint::LiveArtifactsCreate);
        }
    }
});
