//! Bodies seen before, with the entity tag that says whether they still hold.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use hyper::header::HeaderValue;

/// Bytes kept in all.
const TOTAL_BYTES_MAX: usize = od_core::limits::GITHUB_CACHE.max();
/// Entries kept in all.
const ENTRIES_MAX: usize = 256;
/// A larger body is not kept.
const BODY_BYTES_MAX: usize = 1024 * 1024;

/// The request that a body answered. Another secret may see another answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Key {
    /// The URL asked for.
    pub(crate) url: String,
    /// Tells secrets apart without keeping them.
    pub(crate) viewer: u64,
}

/// A body and its entity tag.
#[derive(Clone)]
pub(crate) struct Cached {
    /// To be sent as `If-None-Match`.
    pub(crate) etag: HeaderValue,
    /// The body of that answer.
    pub(crate) body: Arc<[u8]>,
}

/// Shows no content: a server may have put the secret it was given into either part.
impl fmt::Debug for Cached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cached({} bytes)", self.body.len())
    }
}

/// The most recently used answers, bounded in number and bytes.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    entries: VecDeque<(Key, Cached)>,
    bytes: usize,
}

impl Cache {
    /// Returns an answer and makes it the most recent one.
    pub(crate) fn get(&mut self, key: &Key) -> Option<Cached> {
        // A walk over at most 256 entries costs less than a map and an order beside it.
        let at = self.entries.iter().position(|(held, _)| held == key)?;
        let entry = self.entries.remove(at)?;
        let cached = entry.1.clone();
        self.entries.push_back(entry);
        Some(cached)
    }

    /// Keeps an answer, dropping the least recently used ones that no longer fit.
    pub(crate) fn put(&mut self, key: Key, cached: Cached) {
        if let Some(at) = self.entries.iter().position(|(held, _)| *held == key)
            && let Some((_, old)) = self.entries.remove(at)
        {
            self.bytes -= old.body.len();
        }
        // After the old answer is gone: its tag must not outlive an answer that is too large to keep.
        if cached.body.len() > BODY_BYTES_MAX {
            return;
        }
        self.bytes += cached.body.len();
        self.entries.push_back((key, cached));
        while self.bytes > TOTAL_BYTES_MAX || self.entries.len() > ENTRIES_MAX {
            let Some((_, oldest)) = self.entries.pop_front() else { break };
            self.bytes -= oldest.body.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        Key { url: name.to_owned(), viewer: 0 }
    }

    fn cached(bytes: usize) -> Cached {
        Cached { etag: HeaderValue::from_static("\"x\""), body: vec![0; bytes].into() }
    }

    #[test]
    fn the_least_recently_used_answer_makes_room() {
        let mut cache = Cache::default();
        for name in ["a", "b", "c", "d", "e", "f", "g", "h"] {
            cache.put(key(name), cached(BODY_BYTES_MAX));
        }
        assert!(cache.get(&key("a")).is_some());
        cache.put(key("i"), cached(1));
        assert!(cache.get(&key("a")).is_some());
        assert!(cache.get(&key("b")).is_none());
        assert_eq!(cache.bytes, 7 * BODY_BYTES_MAX + 1);
    }

    #[test]
    fn replacing_an_answer_does_not_count_it_twice() {
        let mut cache = Cache::default();
        cache.put(key("a"), cached(10));
        cache.put(key("a"), cached(20));
        cache.put(key("a"), cached(BODY_BYTES_MAX + 1));
        assert_eq!(cache.bytes, 0);
        assert!(cache.get(&key("a")).is_none());
    }
}
