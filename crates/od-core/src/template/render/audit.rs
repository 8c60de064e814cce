//! The audit: a rendering to nowhere that walks every branch and collects what goes wrong.
//!
//! A refresh may take a branch that no page before it took. What can be known of it from the types
//! of the data is found here, when the artifact is created, and not at that refresh.

use std::io;

use serde_json::Value;

use super::error::RenderError;
use super::output::Output;
use super::renderer::Renderer;
use crate::format::Context;
use crate::template::expression::path::{Root, Segment};
use crate::template::program::{Binding, Op, Program, Repeat};

/// The most errors that one audit reports.
const ERRORS_MAX: usize = 20;

/// The findings of an audit; empty and unused while a page is rendered.
#[derive(Debug, Default)]
pub(crate) struct Audit {
    /// The errors; each binding once.
    pub(crate) errors: Vec<RenderError>,
    /// For every binding, how it was seen where the page shows it.
    pub(crate) sightings: Vec<Sighting>,
    /// How many branches around the current step are not taken.
    untaken: usize,
    /// The conditions among them that ask for something that is null, empty or not there.
    absent: Vec<usize>,
}

/// The values that a binding had.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sighting {
    pub(crate) seen: usize,
    pub(crate) missing: usize,
    /// Whether some value was a number or a date.
    pub(crate) live: bool,
    /// Whether it is null or not there where a page would need it, if other conditions held.
    pub(crate) gap: bool,
    /// The keys beside the first missing one, for the author.
    pub(crate) beside: Option<String>,
}

/// Walks the program over `data`.
pub(crate) fn audit(program: &Program, data: &Value, context: &Context) -> Audit {
    let mut nowhere = io::sink();
    let mut renderer: Renderer<'_, '_, _, true> =
        Renderer::new(program, data, context, &mut nowhere);
    renderer.audit.sightings = vec![Sighting::default(); program.bindings.len()];
    let result = renderer.run(0..program.ops.len());
    let mut audit = std::mem::take(&mut renderer.audit);
    // What ends the walk early has no place in the template: the size of the page, or its rows.
    if let Err(error) = result {
        let too_many_rows = matches!(error, RenderError::TooManyRows { .. });
        let too_large = RenderError::TooLarge { measured: renderer.out.bytes() };
        audit.errors.push(if too_many_rows { error } else { too_large });
    }
    audit
}

impl Audit {
    /// Keeps an error that has a place, once for each place; returns the others.
    pub(crate) fn collect(&mut self, error: RenderError) -> Result<(), RenderError> {
        let Some(at) = error.place() else { return Err(error) };
        // Behind a condition that does not hold, nothing is expected to be there.
        if self.untaken > 0 && error.is_about_nothing() {
            return Ok(());
        }
        let known = self
            .errors
            .iter()
            .filter_map(RenderError::place)
            .any(|other| (other.line, other.column) == (at.line, at.column));
        if !known && self.errors.len() < ERRORS_MAX {
            self.errors.push(error);
        }
        Ok(())
    }
}

impl<W: io::Write, const AUDIT: bool> Renderer<'_, '_, Output<'_, W>, AUDIT> {
    /// Walks both ways of a branch that begins at `at`; `otherwise` is where the other way begins.
    pub(crate) fn audit_branch(
        &mut self,
        holds: Result<bool, RenderError>,
        at: &mut usize,
        otherwise: usize,
        asked: Option<usize>,
    ) -> Result<(), RenderError> {
        let (holds, failed) = match holds {
            Ok(holds) => (holds, None),
            Err(error) => (true, Some(error)),
        };
        // The branch ends with a jump if more of its chain follows.
        let last = otherwise.checked_sub(1).map(|last| (last, self.program.ops[last]));
        let (end, chain_end) = match last {
            Some((last, Op::Jump { chain })) if last >= *at => {
                (last, self.program.chain_ends[chain as usize] as usize)
            }
            _ => (otherwise, otherwise),
        };
        self.walk(*at..end, holds, asked)?;
        self.walk(otherwise..chain_end, !holds, asked)?;
        *at = chain_end;
        failed.map_or(Ok(()), Err)
    }

    /// Walks steps; what is not taken leaves nothing behind but its errors.
    fn walk(
        &mut self,
        steps: std::ops::Range<usize>,
        taken: bool,
        asked: Option<usize>,
    ) -> Result<(), RenderError> {
        if taken {
            return self.run(steps);
        }
        let around = self.audit.absent.len();
        let is_absent = |binding: &usize| {
            let value = self.follow_path(&self.program.bindings[*binding]);
            value.is_none_or(|value| {
                value.is_null()
                    || value.as_array().is_some_and(Vec::is_empty)
                    || value.as_object().is_some_and(|map| map.is_empty())
            })
        };
        let absent = asked.filter(is_absent);
        self.audit.absent.extend(absent);
        let (report, written, depth) = (self.report, self.out.bytes(), self.depth);
        self.audit.untaken += 1;
        let result = self.run(steps);
        self.audit.untaken -= 1;
        self.audit.absent.truncate(around);
        (self.report, self.depth) = (report, depth);
        self.out.forget_beyond(written);
        // A page too large only with both ways is not too large.
        match result {
            Err(RenderError::TooManyRows { .. } | RenderError::Write(_)) => Ok(()),
            other => other,
        }
    }

    /// Notes the list of a repeat.
    pub(crate) fn note_list(&mut self, repeat: &Repeat) {
        let value = self.follow_path(&self.program.bindings[repeat.list]);
        match self.list(repeat) {
            Ok(_) => self.note(repeat.list, value),
            Err(_) => self.note_gap(repeat.list, value),
        }
    }

    /// Notes that a value that is not there would be needed, for an order or for rows, if other
    /// conditions held.
    ///
    /// Where such a condition asks for the value itself, or for what it stands in, it guards it.
    pub(crate) fn note_gap(&mut self, binding: usize, value: Option<&Value>) {
        if self.audit.untaken == 0 || value.is_some_and(|value| !value.is_null()) {
            return;
        }
        let path = &self.program.bindings[binding].path;
        let is_guarded = self.audit.absent.iter().any(|asked| {
            let asked = &self.program.bindings[*asked].path;
            asked.root == path.root && path.segments.starts_with(&asked.segments)
        });
        if let Some(sighting) = self.audit.sightings.get_mut(binding).filter(|_| !is_guarded) {
            sighting.gap = true;
        }
    }

    /// Notes the value of a binding.
    pub(crate) fn note(&mut self, binding: usize, value: Option<&Value>) {
        if self.audit.untaken > 0 {
            return;
        }
        let rows: Vec<&Value> = self.rows().iter().map(|row| row.item).collect();
        let found = &self.program.bindings[binding];
        let Some(sighting) = self.audit.sightings.get_mut(binding) else { return };
        sighting.seen += 1;
        match value {
            None => {
                sighting.missing += 1;
                if sighting.beside.is_none() {
                    sighting.beside = keys_beside(found, self.data, &rows);
                }
            }
            Some(value) => sighting.live |= is_live(value),
        }
    }
}

/// Returns whether a value is one that refreshes change: a number or a date.
pub(crate) fn is_live(value: &Value) -> bool {
    value.is_number() || value.as_str().is_some_and(is_date)
}

/// Returns whether a text begins like `2026-04-30`.
pub(crate) fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 10
        && text.is_char_boundary(10)
        && bytes[..10].iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// Lists the keys where the path stopped leading on.
pub(crate) fn keys_beside(binding: &Binding, data: &Value, rows: &[&Value]) -> Option<String> {
    let mut value = match binding.path.root {
        Root::Data => data,
        Root::Row(depth) => rows.get(usize::from(depth))?,
    };
    for segment in &binding.path.segments {
        let next = match (segment, value) {
            (Segment::Key(key), Value::Object(map)) => map.get(&**key),
            (Segment::Index(index), Value::Array(items)) => items.get(*index),
            _ => None,
        };
        match (next, value) {
            (Some(next), _) => value = next,
            (None, Value::Object(map)) => {
                let keys: Vec<&str> = map.keys().take(8).map(String::as_str).collect();
                return Some(format!(" (there is: {})", keys.join(", ")));
            }
            (None, _) => return None,
        }
    }
    None
}
