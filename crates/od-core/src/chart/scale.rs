//! The scale of an axis: from where to where it goes, and its ticks of round numbers.
//!
//! Only sums, products, quotients and roundings of doubles are used, which are the same on every
//! machine and in every build; logarithms and powers are not.

use crate::format::decimal::Decimal;
use crate::limits::CHART_TICKS;

/// Differences smaller than this share of the values are no differences.
const SAME: f64 = 1e-9;
/// Steps between ticks, as parts of a power of ten.
const STEPS: [i64; 3] = [1, 2, 5];

/// An axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The distance of two ticks is `coefficient × 10^power`.
    coefficient: i64,
    power: i32,
    /// The first and the last tick, in such distances from zero.
    first: i64,
    last: i64,
}

/// The bounds of an axis that are set, and those of the values on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub(crate) least: f64,
    pub(crate) greatest: f64,
    pub(crate) min: Option<f64>,
    pub(crate) max: Option<f64>,
    /// Whether zero belongs to the axis, as it does to lengths and areas.
    pub(crate) from_zero: bool,
}

impl Scale {
    /// Makes an axis with at most `ticks` ticks, at least two.
    pub(crate) fn new(extent: &Extent, ticks: usize) -> Self {
        let ticks = ticks.clamp(2, CHART_TICKS.max()) as f64;
        let (low, high) = bounds(extent);
        let (power, mut found) = ((high - low) / (ticks - 1.0), None);
        let power = Decimal::of_float(power).magnitude();
        for (coefficient, power) in
            (power..power + 3).flat_map(|power| STEPS.map(|step| (step, power)))
        {
            // Coefficient and power, not the product, are kept: a tick is then a whole multiple and its
            // label has no digits that floating point made up.
            let step = multiple(coefficient, power);
            let first = (low / step + SAME).floor();
            let last = (high / step - SAME).ceil();
            found = Some((coefficient, power, first, last));
            if last - first + 1.0 <= ticks {
                break;
            }
        }
        let (coefficient, power, first, last) = found.unwrap_or((1, 0, 0.0, 1.0));
        let mut scale =
            Self { low, high, coefficient, power, first: first as i64, last: last as i64 };
        // Set bounds stay as they are, and ticks beyond them are left out.
        if extent.min.is_some_and(|min| min == low) {
            scale.first = (low / scale.step() - SAME).ceil() as i64;
        } else {
            scale.low = scale.value(scale.first);
        }
        if extent.max.is_some_and(|max| max == high) {
            scale.last = (high / scale.step() + SAME).floor() as i64;
        } else {
            scale.high = scale.value(scale.last);
        }
        scale
    }

    /// Makes an axis without ticks between two bounds.
    pub(crate) const fn exactly(low: f64, high: f64) -> Self {
        Self { low, high, coefficient: 1, power: 0, first: 0, last: -1 }
    }

    fn step(&self) -> f64 {
        multiple(self.coefficient, self.power)
    }

    fn value(&self, tick: i64) -> f64 {
        multiple(tick.saturating_mul(self.coefficient), self.power)
    }

    /// Returns the ticks from below: their values, exactly and as doubles.
    pub(crate) fn ticks(&self) -> impl Iterator<Item = (Decimal, f64)> {
        let scale = *self;
        (scale.first..=scale.last).map(move |tick| {
            let exact = tick.saturating_mul(scale.coefficient);
            (Decimal::scaled(exact, scale.power), scale.value(tick))
        })
    }

    /// Returns the power of ten of the distance between two ticks.
    pub(crate) const fn step_power(&self) -> i32 {
        self.power
    }

    /// Returns the power of ten of the tick that is farthest from zero.
    pub(crate) fn greatest_power(&self) -> i32 {
        let far = self.low.abs().max(self.high.abs());
        Decimal::of_float(far).magnitude()
    }

    /// Returns how many of `units` from the lower end a value lies, within the axis.
    pub(crate) fn units(&self, value: f64, units: i64) -> i64 {
        let length = self.high - self.low;
        let share = if length > 0.0 { (value - self.low) / length } else { 0.0 };
        (share.clamp(0.0, 1.0) * units as f64).round() as i64
    }
}

fn bounds(extent: &Extent) -> (f64, f64) {
    let Extent { least, greatest, min, max, from_zero } = *extent;
    let (mut low, mut high) = (least, greatest);
    // A line that does not come near zero may leave it out; half the way down it may not.
    let near_zero = low >= 0.0 && low <= high / 2.0 || high <= 0.0 && high >= low / 2.0;
    let is_flat = high - low <= SAME * low.abs().max(high.abs());
    if from_zero || near_zero || is_flat {
        (low, high) = (low.min(0.0), high.max(0.0));
    }
    low = min.unwrap_or(low);
    high = max.unwrap_or(high);
    // Bounds that say nothing, or the opposite of one another.
    if high - low <= SAME * low.abs().max(high.abs()) || high - low < f64::MIN_POSITIVE * 1e8 {
        if low == 0.0 {
            return (0.0, 1.0);
        }
        let (one, other) = (low.min(high), low.max(high));
        let (one, other) = (one.min(0.0), other.max(0.0));
        return if other - one < f64::MIN_POSITIVE * 1e8 { (0.0, 1.0) } else { (one, other) };
    }
    (low, high)
}

/// Returns `coefficient × 10^power`.
fn multiple(coefficient: i64, power: i32) -> f64 {
    let ten = power_of_ten(power.abs());
    if power < 0 { coefficient as f64 / ten } else { coefficient as f64 * ten }
}

/// Returns a power of ten as the nearest double. `powi` differs from build to build.
fn power_of_ten(power: i32) -> f64 {
    let mut digits = itoa::Buffer::new();
    let mut text = [b'0'; 16];
    let exponent = digits.format(power.clamp(0, 308)).as_bytes();
    text[..2].copy_from_slice(b"1e");
    text[2..2 + exponent.len()].copy_from_slice(exponent);
    let text = std::str::from_utf8(&text[..2 + exponent.len()]).unwrap_or_default();
    text.parse().unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ticks(least: f64, greatest: f64, from_zero: bool) -> Vec<f64> {
        let extent = Extent { least, greatest, min: None, max: None, from_zero };
        Scale::new(&extent, 6).ticks().map(|(_, value)| value).collect()
    }

    #[test]
    fn ticks_are_round_and_at_most_six() {
        assert_eq!(ticks(0.0, 10.0, true), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(ticks(3.0, 97.0, true), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(ticks(96.0, 99.0, false), [96.0, 97.0, 98.0, 99.0]);
        assert_eq!(ticks(-7.0, 12.0, false), [-10.0, -5.0, 0.0, 5.0, 10.0, 15.0]);
        assert_eq!(ticks(0.0, 0.3, true), [0.0, 0.1, 0.2, 0.3]);
        assert_eq!(ticks(0.0, 0.0, true), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        assert_eq!(ticks(5.0, 5.0, false), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(ticks(-5.0, -5.0, false), [-5.0, -4.0, -3.0, -2.0, -1.0, 0.0]);
    }

    #[test]
    fn set_bounds_hold() {
        let extent = Extent {
            least: 3.0,
            greatest: 97.0,
            min: Some(-15.0),
            max: Some(110.0),
            from_zero: true,
        };
        let scale = Scale::new(&extent, 6);
        assert_eq!((scale.low, scale.high), (-15.0, 110.0));
        assert_eq!(scale.ticks().map(|(_, value)| value).collect::<Vec<_>>(), [0.0, 50.0, 100.0]);
        assert_eq!(scale.units(1e9, 100), 100);
        let crossed =
            Extent { least: 3.0, greatest: 97.0, min: Some(5.0), max: Some(1.0), from_zero: true };
        assert!(Scale::new(&crossed, 6).low < Scale::new(&crossed, 6).high);
    }

    proptest! {
        #[test]
        fn every_axis_has_two_to_six_ticks_around_its_values(
            one in proptest::num::f64::NORMAL | proptest::num::f64::ZERO, other in proptest::num::f64::NORMAL,
            from_zero in any::<bool>(), most in 2..8_usize,
        ) {
            let (one, other) = (super::super::points::drawable(one), super::super::points::drawable(other));
            let extent =
                Extent { least: one.min(other), greatest: one.max(other), min: None, max: None, from_zero };
            let scale = Scale::new(&extent, most);
            let ticks: Vec<f64> = scale.ticks().map(|(_, value)| value).collect();
            prop_assert!((2..=most.clamp(2, 6)).contains(&ticks.len()), "{ticks:?}");
            prop_assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]), "{ticks:?}");
            prop_assert!(scale.low < scale.high && (scale.high - scale.low).is_finite());
        }
    }
}
