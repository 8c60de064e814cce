//! Which limits a document is read under.

use crate::limits::{self, Limit};

/// The limits one kind of document is read under.
pub(super) struct Rules {
    pub(super) depth: Limit,
    pub(super) keys: Limit,
    pub(super) items: Limit,
    pub(super) string: Limit,
    pub(super) document: Limit,
    pub(super) denies_keys: bool,
}

/// What is persisted: every limit of the contract.
pub(super) const BOUNDED: Rules = Rules {
    depth: limits::JSON_DEPTH,
    keys: limits::JSON_KEYS,
    items: limits::JSON_ITEMS,
    string: limits::JSON_STRING,
    document: limits::JSON_DOCUMENT,
    denies_keys: true,
};

/// What travels: as strict about JSON itself, bounded by the request; the parts inside are checked
/// by their own rules, with their own names.
pub(super) const MESSAGE: Rules = Rules {
    depth: limits::MESSAGE_DEPTH,
    keys: limits::MESSAGE_KEYS,
    items: limits::MESSAGE_ITEMS,
    string: limits::MESSAGE_STRING,
    document: limits::MESSAGE_DOCUMENT,
    denies_keys: false,
};
