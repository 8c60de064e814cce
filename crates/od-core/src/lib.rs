//! The rules of live artifacts as pure code: ids, bounded JSON, artifacts and their validation, the\n//! template compiler, refresh, connector safety, tokens, errors.
//!
//! Must not know: files, sockets, the clock, the environment, randomness, async, HTTP words.
