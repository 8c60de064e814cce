//! SQL of other databases in the words of SQLite.

/// Rewrites what other databases write and SQLite does not know; `None` if there is nothing like it.
pub(super) fn rewritten(sql: &str) -> Option<String> {
    let mut text = casts(sql);
    for (from, to) in [
        ("now()", ":refreshed_at"),
        ("getdate()", ":refreshed_at"),
        ("current_timestamp", ":refreshed_at"),
        ("current_date", "date(:refreshed_at)"),
        (" ilike ", " LIKE "),
        ("len(", "length("),
        ("isnull(", "ifnull("),
        ("nvl(", "ifnull("),
    ] {
        text = replaced(&text, from, to);
    }
    for (unit, form) in [("day", "%Y-%m-%d"), ("month", "%Y-%m"), ("year", "%Y")] {
        text = replaced(&text, &format!("date_trunc('{unit}', "), &format!("strftime('{form}', "));
    }
    (text != sql).then_some(text)
}

/// Replaces words outside of texts, whatever their case.
fn replaced(sql: &str, from: &str, to: &str) -> String {
    let lower = sql.to_ascii_lowercase();
    let (mut out, mut at) = (String::with_capacity(sql.len()), 0);
    while let Some(found) = lower[at..].find(from).map(|it| at + it) {
        let in_text = sql[..found].matches('\'').count() % 2 == 1;
        let in_word = from.starts_with(|c: char| c.is_ascii_alphabetic())
            && sql[..found].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        out.push_str(&sql[at..found]);
        out.push_str(if in_text || in_word { &sql[found..found + from.len()] } else { to });
        at = found + from.len();
    }
    out.push_str(&sql[at..]);
    out
}

/// Rewrites `x::int` as `CAST(x AS INTEGER)`.
fn casts(sql: &str) -> String {
    let mut text = sql.to_owned();
    while let Some(at) = text.find("::") {
        if text[..at].matches('\'').count() % 2 == 1 {
            break;
        }
        let start = operand(&text[..at]);
        let kind: String =
            text[at + 2..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        if kind.is_empty() || start == at {
            break;
        }
        let to = match kind.to_ascii_lowercase().as_str() {
            "int" | "integer" | "bigint" | "smallint" | "int4" | "int8" => "INTEGER",
            "float" | "real" | "double" | "numeric" | "decimal" | "float8" => "REAL",
            _ => "TEXT",
        };
        let cast = match kind.to_ascii_lowercase().as_str() {
            "date" => format!("date({})", &text[start..at]),
            _ => format!("CAST({} AS {to})", &text[start..at]),
        };
        text.replace_range(start..at + 2 + kind.len(), &cast);
    }
    text
}

/// Returns where the operand that ends a text begins: a call, a name, a number, a text in quotes.
fn operand(before: &str) -> usize {
    let bytes = before.as_bytes();
    let mut at = bytes.len();
    if before.ends_with(')') {
        let mut depth = 0_i32;
        while at > 0 {
            at -= 1;
            match bytes[at] {
                b')' => depth += 1,
                b'(' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    } else if before.ends_with('\'') {
        return before[..at - 1].rfind('\'').unwrap_or(at);
    }
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.\"".contains(byte);
    while at > 0 && is_name(&bytes[at - 1]) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_other_databases_write_is_rewritten() {
        for (sql, meant) in [
            ("SELECT sum(n)::int FROM m", Some("SELECT CAST(sum(n) AS INTEGER) FROM m")),
            (
                "SELECT a.n::numeric, '1'::int",
                Some("SELECT CAST(a.n AS REAL), CAST('1' AS INTEGER)"),
            ),
            ("SELECT at::date FROM m", Some("SELECT date(at) FROM m")),
            ("SELECT * FROM m WHERE a ILIKE 'x%'", Some("SELECT * FROM m WHERE a LIKE 'x%'")),
            ("SELECT date_trunc('month', at) FROM m", Some("SELECT strftime('%Y-%m', at) FROM m")),
            ("SELECT NOW()", Some("SELECT :refreshed_at")),
            ("SELECT 'now() :: ' FROM m", None),
            ("SELECT n FROM m", None),
        ] {
            assert_eq!(rewritten(sql).as_deref(), meant, "{sql}");
        }
    }
}
