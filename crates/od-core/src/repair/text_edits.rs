//! A text and the changes proposed for it, told line by line.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

/// The longest stretch of original lines that a fix writes anew as a whole, in bytes.
const WHOLE_LINES_MAX: usize = 200;
/// The longest old text that a fix quotes, in bytes.
const QUOTED_MAX: usize = 160;

/// One change of the current text, and the issue that asks for it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct TextEdit {
    pub(super) span: Range<usize>,
    pub(super) text: String,
    pub(super) owner: usize,
}

#[derive(Clone, Debug)]
enum Piece {
    /// Bytes of the original.
    Kept(Range<usize>),
    /// Text that takes the place of what was there; empty where text was removed.
    Put { text: String, owner: usize },
}

/// An original text with edits on top of it, and edits on top of those.
#[derive(Clone, Debug)]
pub(super) struct TextEdits {
    original: String,
    pieces: Vec<Piece>,
}

/// One place of the original text that reads differently in the end.
#[derive(Clone, Debug)]
struct Region {
    span: Range<usize>,
    text: String,
    owners: BTreeSet<usize>,
}

impl TextEdits {
    pub(super) fn new(original: String) -> Self {
        let whole = Piece::Kept(0..original.len());
        Self { original, pieces: vec![whole] }
    }

    /// Returns the text with every edit so far.
    pub(super) fn text(&self) -> String {
        let mut text = String::with_capacity(self.original.len() + 64);
        for piece in &self.pieces {
            match piece {
                Piece::Kept(span) => text.push_str(&self.original[span.clone()]),
                Piece::Put { text: put, .. } => text.push_str(put),
            }
        }
        text
    }

    /// Applies edits whose spans are of the current text; one that overlaps an earlier one is left
    /// out. Returns whether anything was applied.
    pub(super) fn apply(&mut self, mut edits: Vec<TextEdit>) -> bool {
        edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
        let mut rest: VecDeque<Piece> = std::mem::take(&mut self.pieces).into();
        let (mut at, mut applied) = (0, false);
        for edit in edits {
            if edit.span.start < at {
                continue;
            }
            self.take(&mut rest, edit.span.start - at, true);
            self.take(&mut rest, edit.span.len(), false);
            at = edit.span.end;
            self.pieces.push(Piece::Put { text: edit.text, owner: edit.owner });
            applied = true;
        }
        self.pieces.extend(rest);
        applied
    }

    /// Moves the next `length` bytes on, or drops them.
    fn take(&mut self, rest: &mut VecDeque<Piece>, mut length: usize, keeps: bool) {
        while length > 0
            && let Some(piece) = rest.pop_front()
        {
            let size = match &piece {
                Piece::Kept(span) => span.len(),
                Piece::Put { text, .. } => text.len(),
            };
            let (taken, left) = if size <= length { (piece, None) } else { split(piece, length) };
            length -= size.min(length);
            if let Some(left) = left {
                rest.push_front(left);
            }
            match taken {
                taken if keeps => self.pieces.push(taken),
                // That something was changed here stays known.
                Piece::Put { owner, .. } => {
                    self.pieces.push(Piece::Put { text: String::new(), owner });
                }
                Piece::Kept(_) => {}
            }
        }
    }

    fn regions(&self) -> Vec<Region> {
        let mut regions: Vec<Region> = Vec::new();
        let mut at = 0;
        let mut open: Option<Region> = None;
        for piece in &self.pieces {
            match piece {
                Piece::Kept(span) if span.is_empty() => {}
                Piece::Kept(span) => {
                    if let Some(mut region) = open.take() {
                        region.span.end = span.start;
                        regions.push(region);
                    }
                    at = span.end;
                }
                Piece::Put { text, owner } => {
                    let region = open.get_or_insert_with(|| Region {
                        span: at..at,
                        text: String::new(),
                        owners: BTreeSet::new(),
                    });
                    region.text.push_str(text);
                    region.owners.insert(*owner);
                }
            }
        }
        if let Some(mut region) = open {
            region.span.end = self.original.len();
            regions.push(region);
        }
        regions.retain(|region| self.original[region.span.clone()] != region.text);
        regions
    }

    /// Returns each change as an instruction on the original text: the issue that it belongs to and
    /// the issues that it also mends, the line, and the words.
    pub(super) fn instructions(&self) -> Vec<Instruction> {
        let lines = Lines::of(&self.original);
        let mut groups: Vec<Vec<Region>> = Vec::new();
        for region in self.regions() {
            let first = lines.at(region.span.start);
            match groups.last_mut() {
                Some(group)
                    if group.last().is_some_and(|last| lines.at(last.span.end) >= first) =>
                {
                    group.push(region);
                }
                _ => groups.push(vec![region]),
            }
        }
        groups.into_iter().flat_map(|group| self.instruct(&lines, group)).collect()
    }

    fn instruct(&self, lines: &Lines, group: Vec<Region>) -> Vec<Instruction> {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return Vec::new() };
        let numbers = lines.at(first.span.start)..lines.at(last.span.end);
        let span = lines.starts[numbers.start]..lines.end(numbers.end);
        let mut written = String::new();
        let mut from = span.start;
        for region in &group {
            written.push_str(&self.original[from..region.span.start]);
            written.push_str(&region.text);
            from = region.span.end;
        }
        written.push_str(&self.original[from..span.end]);
        let written = written.trim();
        let place = if numbers.is_empty() {
            format!("line {}", numbers.start + 1)
        } else {
            format!("lines {}-{}", numbers.start + 1, numbers.end + 1)
        };
        let owners: BTreeSet<usize> =
            group.iter().flat_map(|region| region.owners.iter().copied()).collect();
        if written.is_empty() {
            let words = format!("{place}: delete");
            return vec![Instruction { owners, line: numbers.start + 1, words }];
        }
        if span.len() <= WHOLE_LINES_MAX && written.len() <= 2 * WHOLE_LINES_MAX {
            let words = format!("{place}: write {}", quoted(written));
            return vec![Instruction { owners, line: numbers.start + 1, words }];
        }
        self.widen(&span, group).into_iter().map(|region| self.replacement(lines, region)).collect()
    }

    /// Words the change of a part of a long line.
    fn replacement(&self, lines: &Lines, region: Region) -> Instruction {
        let line = lines.at(region.span.start) + 1;
        let old = &self.original[region.span.clone()];
        let words = if old.len() > QUOTED_MAX && region.text.is_empty() {
            let (from, to) = (head(old), tail(old));
            format!("line {line}: delete from {} to {}", quoted(from), quoted(to))
        } else {
            format!("line {line}: replace {} with {}", quoted(old), quoted(&region.text))
        };
        Instruction { owners: region.owners, line, words }
    }

    /// Widens regions until each names a text that stands once from its line on.
    fn widen(&self, around: &Range<usize>, group: Vec<Region>) -> Vec<Region> {
        let mut wide: Vec<Region> = Vec::new();
        for mut region in group {
            let original = &self.original;
            if let Some(last) = wide.last_mut()
                && last.span.end > region.span.start
            {
                // The one before quotes this place already, as it was.
                let kept = last.text.len() - (last.span.end - region.span.start);
                last.text.truncate(kept);
                last.text.push_str(&region.text);
                last.text
                    .push_str(original.get(region.span.end..last.span.end).unwrap_or_default());
                last.span.end = last.span.end.max(region.span.end);
                last.owners.extend(region.owners);
                continue;
            }
            let from = wide.last().map_or(around.start, |last| last.span.end);
            loop {
                let old = &original[region.span.clone()];
                if old.len() > 3 && original[around.start..].matches(old).nth(1).is_none() {
                    break;
                }
                let before = widened_start(original, region.span.start, from);
                let behind = widened_end(original, region.span.end, around.end);
                if before == region.span.start && behind == region.span.end {
                    break;
                }
                let (head, tail) =
                    (&original[before..region.span.start], &original[region.span.end..behind]);
                region.text = format!("{head}{}{tail}", region.text);
                region.span = before..behind;
            }
            wide.push(region);
        }
        wide
    }
}

/// An instruction that changes a text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Instruction {
    /// The issues that it mends, the first one of them tells it.
    pub(super) owners: BTreeSet<usize>,
    /// The first line that it changes, from 1.
    pub(super) line: usize,
    /// The words.
    pub(super) words: String,
}

fn split(piece: Piece, at: usize) -> (Piece, Option<Piece>) {
    match piece {
        Piece::Kept(span) => {
            let middle = span.start + at;
            (Piece::Kept(span.start..middle), Some(Piece::Kept(middle..span.end)))
        }
        Piece::Put { mut text, owner } => {
            let tail = text.split_off(at);
            (Piece::Put { text, owner }, Some(Piece::Put { text: tail, owner }))
        }
    }
}

/// Goes back to the beginning of the word or tag before `at`, not before `least`.
fn widened_start(text: &str, at: usize, least: usize) -> usize {
    let before = &text[least..at];
    before.char_indices().rev().nth(11).map_or(least, |(found, _)| least + found)
}

/// Goes on a few characters, not past `most`.
fn widened_end(text: &str, at: usize, most: usize) -> usize {
    text[at..most].char_indices().nth(12).map_or(most, |(found, _)| at + found)
}

fn head(text: &str) -> &str {
    let end = text.find('>').map_or(40, |at| at + 1).min(80);
    &text[..floor(text, end)]
}

fn tail(text: &str) -> &str {
    let start = text.rfind('<').unwrap_or(text.len().saturating_sub(40));
    &text[floor(text, start.max(text.len().saturating_sub(80)))..]
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Puts a text between backticks, more of them than stand in a row in it.
pub(super) fn quoted(text: &str) -> String {
    let longest = text.split(|mark| mark != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    if text.starts_with('`') || text.ends_with('`') || text.is_empty() {
        return format!("{fence} {text} {fence}");
    }
    format!("{fence}{text}{fence}")
}

/// The beginnings of the lines of a text.
struct Lines {
    starts: Vec<usize>,
    end: usize,
}

impl Lines {
    fn of(text: &str) -> Self {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        Self { starts, end: text.len() }
    }

    /// Returns the number of the line that holds a byte, from 0.
    fn at(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// Returns where a line ends, without its line break.
    fn end(&self, line: usize) -> usize {
        self.starts.get(line + 1).map_or(self.end, |next| next - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(text: &str, old: &str, new: &str, owner: usize) -> TextEdit {
        let at = text.find(old).unwrap();
        TextEdit { span: at..at + old.len(), text: new.to_owned(), owner }
    }

    #[track_caller]
    fn check(original: &str, edits: &[&[(&str, &str)]], told: &[&str]) {
        let mut patched = TextEdits::new(original.to_owned());
        for round in edits {
            let text = patched.text();
            let edits =
                round.iter().enumerate().map(|(i, (old, new))| edit(&text, old, new, i)).collect();
            patched.apply(edits);
        }
        let words: Vec<String> = patched.instructions().into_iter().map(|it| it.words).collect();
        assert_eq!(words, told, "{}", patched.text());
    }

    #[test]
    fn a_line_is_told_once_however_many_changes_it_has() {
        check("a\n  b c\nd", &[&[("b", "B"), ("c", "C")]], &["line 2: write `B C`"]);
        check("a\n  b c\nd", &[&[("b", "B")], &[("B c", "x")]], &["line 2: write `x`"]);
        check("a\nb\nd", &[&[("b", "")]], &["line 2: delete"]);
        check("a\nb\nd", &[&[("a\nb", "x")]], &["lines 1-2: write `x`"]);
        check("a\nb", &[&[("b", "c")], &[("c", "b")]], &[]);
    }

    #[test]
    fn a_long_line_has_its_parts_replaced() {
        let long = format!("<ul>{}<li>{{{{row.a}}}}</li></ul>", "<li>x</li>".repeat(40));
        check(
            &long,
            &[&[("{{row.a}}", "{{data.a}}")]],
            &["line 1: replace `{{row.a}}` with `{{data.a}}`"],
        );
        let mut patched = TextEdits::new(long.clone());
        let at = long.find("<li>{{").unwrap() + 3;
        patched.apply(vec![TextEdit { span: at..at, text: " x".to_owned(), owner: 0 }]);
        let words = &patched.instructions()[0].words;
        let (old, new) = words
            .strip_prefix("line 1: replace `")
            .and_then(|rest| rest.strip_suffix('`'))
            .and_then(|rest| rest.split_once("` with `"))
            .unwrap();
        assert_eq!(long.matches(old).count(), 1, "{words}");
        assert_eq!(long.replacen(old, new, 1), patched.text());
    }

    #[test]
    fn backticks_in_a_text_do_not_end_the_quotation() {
        assert_eq!(quoted("a"), "`a`");
        assert_eq!(quoted("a`b"), "``a`b``");
        assert_eq!(quoted("`a"), "`` `a ``");
    }
}
