//! Texts on axes: how wide they are, which of them fit, how ticks are written.

use crate::format::decimal::Decimal;
use crate::format::elapsed::write_duration;
use crate::format::number::{
    Digits, Sign, write_bytes, write_compact, write_currency, write_number, write_percent,
};
use crate::format::value::Format;
use crate::format::{Locale, TextBuffer};

use super::scale::Scale;

/// The narrowest chart, in pixels, that labels do not overlap in: a page of 360 with its margins, or
/// a card beside others.
pub(crate) const WIDTH_MIN: i64 = 272;
/// The space between two labels, in pixels.
pub(crate) const GAP: i64 = 12;
/// The space between the labels of two bars, which stand in a place each.
pub(crate) const BAR_GAP: i64 = 4;

/// Returns the width of a text of 12 pixels, in pixels: that of a wide face, so that in any other
/// there is room to spare.
pub(crate) fn width(text: &str) -> i64 {
    let tenths: i64 = text.chars().map(letter_width).sum();
    (tenths + 9) / 10
}

fn letter_width(letter: char) -> i64 {
    match letter {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 45,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '—' | '…' => 115,
        'A'..='Z' | '&' | '€' | '£' | '+' | '<' | '>' | '=' | '~' | '#' | '$' => 88,
        '\u{0}'..='\u{2ff}' | '\u{370}'..='\u{1dff}' | '–' | '\u{202f}' => 72,
        '\u{300}'..='\u{36f}' => 0,
        _ => 125,
    }
}

/// Returns where a text has to be cut to be at most so wide, with an ellipsis behind it.
pub(crate) fn cut(text: &str, width_max: i64) -> Option<usize> {
    if width(text) <= width_max {
        return None;
    }
    let room = width_max * 10 - letter_width('…');
    let mut used = 0;
    let end = text.char_indices().find(|(_, letter)| {
        used += letter_width(*letter);
        used > room
    });
    Some(end.map_or(text.len(), |(at, _)| at))
}

/// Writes the value of a tick, with as many digits as tell it from its neighbours.
pub(crate) fn write_tick(
    tick: Decimal,
    scale: &Scale,
    format: Option<&Format>,
    locale: Locale,
    out: &mut TextBuffer,
) {
    const FRACTION_MAX: i32 = 20;
    let digits = |shift: i32| (-scale.step_power() - shift).clamp(0, FRACTION_MAX) as u8;
    // `12K` is as exact as `12,000` where the steps are not much smaller than the values.
    let greatest = scale.greatest_power();
    let is_large = greatest >= 4 && scale.step_power() >= greatest - 1;
    out.clear();
    if tick.is_zero() && digits(0) > 3 {
        out.push_ascii(b'0');
        return;
    }
    match format {
        Some(Format::Percent { .. } | Format::Delta { percent: true, .. }) => {
            write_percent(tick, Digits::exactly(digits(2)), Sign::Negative, locale, out);
        }
        Some(Format::Currency { currency, .. }) => {
            write_currency(tick, *currency, Some(digits(0)), locale, out);
        }
        Some(Format::Bytes { .. }) => write_bytes(tick, 2, locale, out),
        Some(Format::Duration { unit }) => write_duration(tick, *unit, locale, out),
        Some(
            Format::Compact { .. }
            | Format::Number { .. }
            | Format::Delta { .. }
            | Format::Date { .. }
            | Format::Time { .. }
            | Format::DateTime { .. }
            | Format::Since { .. }
            | Format::Plural { .. }
            | Format::Count
            | Format::Upper
            | Format::Lower
            | Format::Title
            | Format::Truncate { .. },
        )
        | None => {
            if is_large {
                write_compact(tick, Some(2), locale, out);
            } else {
                write_number(tick, Digits::exactly(digits(0)), locale, out);
            }
        }
    }
}

/// A label on the axis below a chart.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct AxisLabel {
    pub(crate) point: usize,
    pub(crate) anchor: Anchor,
}

/// The part of a text that stands at its place.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// The room that the axis below a chart has in the narrowest one, in pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AxisRoom {
    /// Left and right of the axis.
    pub(crate) left: i64,
    pub(crate) right: i64,
    /// Between two labels.
    pub(crate) gap: i64,
}

impl AxisRoom {
    pub(crate) const fn length(self) -> i64 {
        WIDTH_MIN - self.left - self.right
    }
}

/// Chooses labels that do not overlap in the narrowest chart, nor in any wider one: there the places
/// move apart, and the texts stay as wide as they are. `place` is in units of 10,000.
pub(crate) fn choose<'n>(
    count: usize,
    name: impl Fn(usize) -> &'n str,
    place: impl Fn(usize) -> i64,
    room: AxisRoom,
    mut show: impl FnMut(AxisLabel),
) {
    let length = room.length();
    let widest = (0..count).map(|point| width(name(point))).max().unwrap_or_default();
    let fitting = usize::try_from((length + room.gap) / (widest + room.gap)).unwrap_or(0).max(1);
    let stride = round_stride(count.div_ceil(fitting).max(1));
    let mut free_from = -room.left;
    let mut shown = 0;
    // Where a stride leaves one label, because the first takes its room to the right, the last point
    // has the other: an axis with one date says nothing.
    let last = (count > 1).then(|| count - 1);
    let strided = (0..count).step_by(stride).map(|point| (point, false));
    for (point, only_second) in strided.chain(last.map(|last| (last, true))) {
        if only_second && shown != 1 {
            break;
        }
        let text = width(name(point));
        let at = place(point) * length / 10_000;
        let anchor = if at - text / 2 < -room.left {
            Anchor::Start
        } else if at + (text + 1) / 2 > length + room.right {
            Anchor::End
        } else {
            Anchor::Middle
        };
        let start = match anchor {
            Anchor::Start => at,
            Anchor::Middle => at - text / 2,
            Anchor::End => at - text,
        };
        if text == 0 || start < free_from || start + text > length + room.right {
            continue;
        }
        free_from = start + text + room.gap;
        shown += 1;
        show(AxisLabel { point, anchor });
    }
}

/// Returns the next distance that people count in.
fn round_stride(stride: usize) -> usize {
    const ROUND: [usize; 20] =
        [1, 2, 3, 4, 5, 6, 7, 10, 14, 20, 30, 50, 60, 80, 100, 120, 150, 200, 250, 500];
    ROUND.into_iter().find(|round| *round >= stride).unwrap_or(stride)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_long_text_is_cut_where_its_ellipsis_fits() {
        assert_eq!(cut("short", 100), None);
        let text = "/api/v1/customers/{id}/orders/latest";
        let end = cut(text, 120).unwrap();
        assert!(width(&text[..end]) + 12 <= 121, "{}", &text[..end]);
    }

    #[test]
    fn long_labels_of_many_points_name_both_ends() {
        let room = AxisRoom { left: 28, right: 10, gap: GAP };
        let mut shown = Vec::new();
        let place = |point: usize| (point * 10_000 / 499) as i64;
        choose(500, |_| "Nov 17, 2026", place, room, |label| shown.push(label.point));
        assert_eq!(shown, [0, 499]);
    }

    proptest! {
        #[test]
        fn labels_never_overlap(
            count in 0..500_usize, length in 0..30_usize, left in 8..90_i64, wider in 0..1_000_i64,
        ) {
            let name = "8".repeat(length);
            let room = AxisRoom { left, right: 10, gap: GAP };
            let place = |point: usize| {
                if count > 1 { (point * 10_000 / (count - 1)) as i64 } else { 5_000 }
            };
            let mut shown = Vec::new();
            choose(count, |_| &name, place, room, |label| shown.push(label));
            let axis = room.length() + wider;
            let spans: Vec<(i64, i64)> = shown.iter().map(|label| {
                let at = place(label.point) * axis / 10_000;
                let text = width(&name);
                match label.anchor {
                    Anchor::Start => (at, at + text),
                    Anchor::Middle => (at - text / 2, at + (text + 1) / 2),
                    Anchor::End => (at - text, at),
                }
            }).collect();
            for pair in spans.windows(2) {
                prop_assert!(pair[0].1 + GAP - 2 <= pair[1].0, "{spans:?}");
            }
            prop_assert!(length == 0 || count == 0 || length > 25 || !shown.is_empty());
        }
    }
}
