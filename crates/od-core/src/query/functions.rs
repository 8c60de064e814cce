//! The functions that SQL may call.
//!
//! An allow-list: what a later engine adds is refused until someone has looked at it. Absent on
//! purpose: `random` and `randomblob` (same rows, same SQL, same bytes), `load_extension`, everything
//! that tells of the engine or its connection (`changes`, `sqlite_version`, …), and the functions of
//! full-text and R-tree tables, which need tables of their own, and `json_patch`, whose time grows with
//! the square of its texts.

/// The rule for a function's name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FunctionRule {
    /// Its result depends on its arguments alone.
    Allowed,
    /// It reads dates, and may not read the clock.
    Date,
    /// It reads the clock whatever its arguments.
    Clock,
    /// It is not among those that may be called.
    Refused,
}

/// Returns the rule for a function, whatever the case of its name.
#[must_use]
pub fn function_rule(name: &str) -> FunctionRule {
    let name = name.to_ascii_lowercase();
    let is_in = |list: &[&str]| list.binary_search(&name.as_str()).is_ok();
    if is_in(ALLOWED) {
        FunctionRule::Allowed
    } else if is_in(DATES) {
        FunctionRule::Date
    } else if is_in(CLOCKS) {
        FunctionRule::Clock
    } else {
        FunctionRule::Refused
    }
}

const CLOCKS: &[&str] = &["current_date", "current_time", "current_timestamp"];

const DATES: &[&str] =
    &["date", "datetime", "julianday", "strftime", "time", "timediff", "unixepoch"];

/// In the order of their bytes, for the search.
const ALLOWED: &[&str] = &[
    "->",
    "->>",
    "abs",
    "avg",
    "cast",
    "ceil",
    "ceiling",
    "char",
    "coalesce",
    "concat",
    "concat_ws",
    "count",
    "cume_dist",
    "dense_rank",
    "exp",
    "first_value",
    "floor",
    "format",
    "glob",
    "group_concat",
    "hex",
    "if",
    "ifnull",
    "iif",
    "instr",
    "json",
    "json_array",
    "json_array_length",
    "json_extract",
    "json_group_array",
    "json_group_object",
    "json_insert",
    "json_object",
    "json_pretty",
    "json_quote",
    "json_remove",
    "json_replace",
    "json_set",
    "json_type",
    "json_valid",
    "lag",
    "last_value",
    "lead",
    "length",
    "like",
    "likelihood",
    "likely",
    "ln",
    "log",
    "log10",
    "log2",
    "lower",
    "ltrim",
    "max",
    "median",
    "min",
    "mod",
    "nth_value",
    "ntile",
    "nullif",
    "octet_length",
    "percent_rank",
    "percentile",
    "pow",
    "power",
    "printf",
    "quote",
    "rank",
    "replace",
    "round",
    "row_number",
    "rtrim",
    "sign",
    "soundex",
    "sqrt",
    "string_agg",
    "substr",
    "substring",
    "subtype",
    "sum",
    "total",
    "trim",
    "trunc",
    "typeof",
    "unhex",
    "unicode",
    "unlikely",
    "upper",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_and_disjoint() {
        for list in [ALLOWED, DATES, CLOCKS] {
            assert!(list.is_sorted(), "{list:?}");
        }
        for name in DATES.iter().chain(CLOCKS) {
            assert_ne!(function_rule(name), FunctionRule::Allowed, "{name}");
        }
    }

    #[test]
    fn chance_the_clock_and_the_outside_are_refused() {
        for name in [
            "random",
            "RANDOMBLOB",
            "load_extension",
            "sqlite_version",
            "sqlite_source_id",
            "changes",
            "total_changes",
            "last_insert_rowid",
            "readfile",
            "writefile",
            "edit",
            "fts5",
            "match",
            "rtreecheck",
            "zeroblob",
            "unistr",
            "sqlite_compileoption_get",
            "",
        ] {
            assert_eq!(function_rule(name), FunctionRule::Refused, "{name}");
        }
        assert_eq!(function_rule("Current_Timestamp"), FunctionRule::Clock);
        assert_eq!(function_rule("STRFTIME"), FunctionRule::Date);
        assert_eq!(function_rule("Sum"), FunctionRule::Allowed);
    }
}
