//! Rendered pages in memory, bounded.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use od_core::token::Variant;
use od_ports::store::PageKey;

use super::page::Page;

/// The bytes of all pages kept; beyond it the least recently used go.
const BYTES_MAX: usize = od_core::limits::PREVIEW_CACHE.max();

/// Rendered pages by what they were made from: an entry is never wrong, only no longer asked for.
#[derive(Debug, Default)]
pub struct PageCache {
    pages: Mutex<Pages>,
}

#[derive(Debug, Default)]
struct Pages {
    by_key: HashMap<(PageKey, Variant), Kept>,
    bytes: usize,
    tick: u64,
}

#[derive(Debug)]
struct Kept {
    page: Page,
    used: u64,
}

impl PageCache {
    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, key: &(PageKey, Variant)) -> Option<Page> {
        let mut pages = self.pages();
        pages.tick += 1;
        let tick = pages.tick;
        let kept = pages.by_key.get_mut(key)?;
        kept.used = tick;
        Some(kept.page.clone())
    }

    pub(super) fn put(&self, key: (PageKey, Variant), page: &Page) {
        // One page of 8 MiB fits; anything that would drive out most of the others is drawn each time.
        if page.bytes.len() > BYTES_MAX / 4 {
            return;
        }
        let mut pages = self.pages();
        pages.tick += 1;
        let kept = Kept { page: page.clone(), used: pages.tick };
        pages.bytes += page.bytes.len();
        if let Some(before) = pages.by_key.insert(key, kept) {
            pages.bytes -= before.page.bytes.len();
        }
        while pages.bytes > BYTES_MAX {
            // A walk, but a rare one: it runs when the budget is full, and over as many pages as fit into it.
            let oldest = pages.by_key.iter().min_by_key(|(_, kept)| kept.used);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { return };
            if let Some(dropped) = pages.by_key.remove(&oldest) {
                pages.bytes -= dropped.page.bytes.len();
            }
        }
    }
}
