//! Days as people write them, rewritten as formats take them.

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Reads a day in another order or with the name of its month; `None` if it could be two days.
pub(super) fn day(text: &str) -> Option<String> {
    let text = text.trim().to_ascii_lowercase();
    let parts: Vec<&str> =
        text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|it| !it.is_empty()).collect();
    let [first, second, third] = parts[..] else { return None };
    let month = |text: &str| {
        let at = MONTHS.iter().position(|name| text.starts_with(name))?;
        u32::try_from(at + 1).ok()
    };
    let number = |text: &str| {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        digits.parse::<u32>().ok()
    };
    let (year, month, day) = match (month(first), month(second)) {
        (Some(month), _) => (number(third)?, month, number(second)?),
        (None, Some(month)) => (number(third)?, month, number(first)?),
        (None, None) => {
            let (a, b, c) = (number(first)?, number(second)?, number(third)?);
            match (a, b, c) {
                (1_000.., month, day) => (a, month, day),
                // With dots the day comes first; with slashes only a number past 12 tells.
                (day, month, 1_000..) if text.contains('.') || day > 12 => (c, month, day),
                (month, day, 1_000..) if day > 12 => (c, month, day),
                _ => return None,
            }
        }
    };
    let is_day =
        (1_000..=9_999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    is_day.then(|| format!("{year:04}-{month:02}-{day:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_read_where_it_can_be_one_day_only() {
        for (text, meant) in [
            ("30.04.2026", Some("2026-04-30")),
            ("3.4.2026", Some("2026-04-03")),
            ("04/30/2026", Some("2026-04-30")),
            ("30/04/2026", Some("2026-04-30")),
            ("03/04/2026", None),
            ("2026/4/30", Some("2026-04-30")),
            ("April 30, 2026", Some("2026-04-30")),
            ("30 Apr 2026", Some("2026-04-30")),
            ("yesterday", None),
            ("1.2.3", None),
        ] {
            assert_eq!(day(text).as_deref(), meant, "{text}");
        }
    }
}
