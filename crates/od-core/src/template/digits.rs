//! Numbers as pages show them.

use serde_json::Number;

/// Prints numbers as ECMAScript does, without allocating.
pub(super) struct Digits {
    float: ryu_js::Buffer,
    integer: itoa::Buffer,
}

impl Digits {
    pub(super) fn new() -> Self {
        Self { float: ryu_js::Buffer::new(), integer: itoa::Buffer::new() }
    }

    pub(super) fn format(&mut self, number: &Number) -> &str {
        const EXACT: i64 = 1 << 53;
        match number.as_i64() {
            Some(integer) if (-EXACT..=EXACT).contains(&integer) => self.integer.format(integer),
            _ => self.float.format(number.as_f64().unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(value: &serde_json::Value, expected: &str) {
        let number = value.as_number().unwrap();
        assert_eq!(Digits::new().format(number), expected);
    }

    #[test]
    fn numbers_look_as_ecmascript_prints_them() {
        check(&json!(0), "0");
        check(&json!(-0.0), "0");
        check(&json!(-7), "-7");
        check(&json!(1.0), "1");
        check(&json!(0.1), "0.1");
        check(&json!(1e21), "1e+21");
        check(&json!(1e-7), "1e-7");
        check(&json!(123_456_789_012_345_680_000.0), "123456789012345680000");
        check(&json!(9_007_199_254_740_991_i64), "9007199254740991");
        check(&json!(u64::MAX), "18446744073709552000");
    }
}
