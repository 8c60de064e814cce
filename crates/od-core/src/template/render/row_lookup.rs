//! The rows of the repeats that are running, with their values looked up once.

use serde_json::Value;

use crate::template::expression::path::{Root, Segment, same};
use crate::template::program::{Binding, Op, Program, REPEAT_DEPTH_MAX, Repeat, Source};

/// The most keys that are looked up together, of all rows around a place; further ones are looked up
/// one by one.
const SLOTS_MAX: usize = 32;
/// The most keys of a row that are remembered from one row to the next.
const HINTS_MAX: usize = 64;
/// The place of a key that no binding asks for.
const NO_SLOT: u8 = u8::MAX;

/// The way a binding finds its value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lookup {
    /// By following its path.
    Path,
    /// In a slot of the row.
    Slot(u8),
    /// Further on from a slot of the row.
    BeyondSlot(u8),
}

/// The row that is being repeated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'d> {
    pub(crate) item: &'d Value,
    pub(crate) position: usize,
    /// The number of rows that the repeat has.
    pub(crate) count: usize,
}

/// The values of the running rows by slot. Rows mostly have the same keys in the same order, so a
/// key's slot is guessed from the row before and the guess compared: no hashing.
///
/// The slots of an inner repeat follow those of the one around it, so that a binding needs nothing
/// but its slot, however deep it stands.
#[derive(Debug)]
pub(crate) struct RowValues<'d> {
    values: [Option<&'d Value>; SLOTS_MAX],
    hints: [[u8; HINTS_MAX]; REPEAT_DEPTH_MAX],
}

impl<'d> RowValues<'d> {
    pub(crate) const fn new() -> Self {
        Self { values: [None; SLOTS_MAX], hints: [[NO_SLOT; HINTS_MAX]; REPEAT_DEPTH_MAX] }
    }

    #[inline]
    pub(crate) fn get(&self, slot: u8) -> Option<&'d Value> {
        self.values.get(slot as usize).copied().flatten()
    }

    /// Looks up all `keys` in the row of the repeat at `depth`, whose slots begin at `first`.
    ///
    /// With rows that are not in the nearest cache, two thirds of this is waiting for the bytes of the
    /// keys. The fewer steps there are between two keys, the more of them the processor waits for at
    /// once: hence a function of its own, with registers of its own.
    #[inline(never)]
    pub(crate) fn load(&mut self, depth: usize, first: u8, keys: &[Box<str>], item: &'d Value) {
        let free = self.values.get_mut(usize::from(first)..).unwrap_or_default();
        let Some(values) = free.get_mut(..keys.len()) else { return };
        let Some(hints) = self.hints.get_mut(depth) else { return };
        // A row may lack a key that the one before it had.
        values.fill(None);
        let Value::Object(map) = item else { return };
        // A wide row of which few keys are shown: looking each up costs less than walking the whole row.
        if map.len() > 2 * keys.len() + 4 {
            for (value, key) in values.iter_mut().zip(keys) {
                *value = map.get(&**key);
            }
            return;
        }
        for ((key, value), hint) in map.iter().zip(hints) {
            if !keys.get(*hint as usize).is_some_and(|guess| same(guess, key)) {
                *hint = slot_of(keys, key);
            }
            if let Some(slot) = values.get_mut(*hint as usize) {
                *slot = Some(value);
            }
        }
    }
}

#[inline(never)]
fn slot_of(keys: &[Box<str>], key: &str) -> u8 {
    let slot = keys.iter().position(|other| **other == *key);
    slot.map_or(NO_SLOT, |slot| slot as u8)
}

/// Gives the keys that bindings of rows begin with their slots.
pub(crate) fn assign_slots(program: &mut Program) {
    // First among the keys of their own repeat: how many the repeats around it have is not yet known.
    let mut lookups = vec![Lookup::Path; program.bindings.len()];
    for (binding, lookup) in program.bindings.iter().zip(&mut lookups) {
        let [Segment::Key(key), beyond @ ..] = &*binding.path.segments else { continue };
        let Some(repeat) = repeat_of_row(&program.repeats, binding) else { continue };
        let keys = &mut program.repeats[repeat].keys;
        let known = keys.iter().position(|other| other == key);
        let at = known.unwrap_or(keys.len());
        if at >= SLOTS_MAX {
            continue;
        }
        if known.is_none() {
            keys.push(key.clone());
        }
        let slot = at as u8;
        *lookup = if beyond.is_empty() { Lookup::Slot(slot) } else { Lookup::BeyondSlot(slot) };
    }
    // A repeat stands behind the one around it, so that one has its slots already.
    for at in 0..program.repeats.len() {
        let Some(parent) = program.repeats[at].parent else { continue };
        let parent = &program.repeats[parent];
        let first = usize::from(parent.first_slot) + parent.keys.len();
        let repeat = &mut program.repeats[at];
        repeat.first_slot = first as u8;
        repeat.keys.truncate(SLOTS_MAX - first);
    }
    for (binding, lookup) in program.bindings.iter().zip(&mut lookups) {
        let Some(repeat) = repeat_of_row(&program.repeats, binding) else { continue };
        *lookup = lookup.behind(&program.repeats[repeat]);
    }
    for op in &mut program.ops {
        match op {
            Op::Value { binding, lookup, .. } => *lookup = lookups[*binding as usize],
            Op::Piped { piped, lookup, .. } => {
                if let Source::Binding(binding) = program.piped[*piped as usize].source {
                    *lookup = lookups[binding];
                }
            }
            Op::Literal { .. }
            | Op::Style { .. }
            | Op::Url { .. }
            | Op::LinkAttributes { .. }
            | Op::Repeat { .. }
            | Op::Variable { .. }
            | Op::Branch { .. }
            | Op::IfEmpty { .. }
            | Op::Chart { .. }
            | Op::Jump { .. } => {}
        }
    }
    program.lookups = lookups;
}

impl Lookup {
    /// Moves a slot among the repeat's own keys to its place among all.
    fn behind(self, repeat: &Repeat) -> Self {
        let kept = |slot: u8| usize::from(slot) < repeat.keys.len();
        match self {
            Self::Slot(slot) if kept(slot) => Self::Slot(repeat.first_slot + slot),
            Self::BeyondSlot(slot) if kept(slot) => Self::BeyondSlot(repeat.first_slot + slot),
            Self::Slot(_) | Self::BeyondSlot(_) | Self::Path => Self::Path,
        }
    }
}

/// Returns the repeat whose row a binding begins with.
fn repeat_of_row(repeats: &[Repeat], binding: &Binding) -> Option<usize> {
    let Root::Row(depth) = binding.path.root else { return None };
    let mut at = binding.repeat?;
    while repeats[at].depth > depth {
        at = repeats[at].parent?;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn row(keys: &[u8]) -> Value {
        let entry = |key: &u8| (format!("k{key}"), json!(key));
        Value::Object(keys.iter().map(entry).collect())
    }

    proptest! {
        #[test]
        fn slots_hold_what_a_lookup_finds(
            wanted in proptest::collection::btree_set(0..12_u8, 0..8),
            rows in proptest::collection::vec(proptest::collection::vec(0..40_u8, 0..30), 0..6),
        ) {
            let keys: Vec<Box<str>> = wanted.iter().map(|key| format!("k{key}").into()).collect();
            let rows: Vec<Value> = rows.iter().map(|keys| row(keys)).chain([json!(null), json!([1])]).collect();
            let mut values = RowValues::new();
            for row in &rows {
                values.load(0, 0, &keys, row);
                for (slot, key) in keys.iter().enumerate() {
                    prop_assert_eq!(values.get(slot as u8), row.get(&**key));
                }
            }
        }
    }
}
