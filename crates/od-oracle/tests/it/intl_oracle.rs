//! Formats against a browser's `Intl`: numbers and dates of every locale, thousands of each.
//!
//! One visit compares them all inside the page and reports what differs.

use std::process::Command;

use od_core::format::{Context, Locale, Zone};
use od_core::ids::Timestamp;
use od_core::template::format_value;
use serde_json::{Map, Value, json};

use crate::dice::Dice;

/// How many numbers and how many times each locale writes, in every format.
const VALUES: usize = 2_000;

/// Formats of numbers, with what `Intl` is asked for. Zero has no sign here, so `Intl` is asked for
/// `signDisplay: "negative"`, which is the same otherwise.
const NUMBERS: [(&str, &str); 17] = [
    ("number", "{}"),
    ("number:0", "{minimumFractionDigits:0,maximumFractionDigits:0}"),
    ("number:1", "{minimumFractionDigits:1,maximumFractionDigits:1}"),
    ("number:2", "{minimumFractionDigits:2,maximumFractionDigits:2}"),
    ("number:5", "{minimumFractionDigits:5,maximumFractionDigits:5}"),
    ("percent", "{style:'percent'}"),
    ("percent:1", "{style:'percent',minimumFractionDigits:1,maximumFractionDigits:1}"),
    ("currency:EUR", "{style:'currency',currency:'EUR'}"),
    (
        "currency:USD:0",
        "{style:'currency',currency:'USD',minimumFractionDigits:0,maximumFractionDigits:0}",
    ),
    ("currency:JPY", "{style:'currency',currency:'JPY'}"),
    ("currency:CHF:2", "{style:'currency',currency:'CHF'}"),
    ("currency:CNY", "{style:'currency',currency:'CNY'}"),
    ("compact", "{notation:'compact'}"),
    ("compact:1", "{notation:'compact',maximumFractionDigits:1}"),
    ("compact:2", "{notation:'compact',maximumFractionDigits:2}"),
    ("delta:1", "{signDisplay:'exceptZero',minimumFractionDigits:1,maximumFractionDigits:1}"),
    ("delta:0:percent", "{signDisplay:'exceptZero',style:'percent'}"),
];

const DATES: [(&str, &str); 13] = [
    ("date:short", "{dateStyle:'short'}"),
    ("date:medium", "{dateStyle:'medium'}"),
    ("date:long", "{dateStyle:'long'}"),
    ("date:full", "{dateStyle:'full'}"),
    ("date:day", "{month:'short',day:'numeric'}"),
    ("date:month", "{month:'long',year:'numeric'}"),
    ("date:weekday", "{weekday:'short'}"),
    ("time", "{timeStyle:'short'}"),
    ("time:seconds", "{timeStyle:'medium'}"),
    ("datetime:short", "{dateStyle:'short',timeStyle:'short'}"),
    ("datetime:medium", "{dateStyle:'medium',timeStyle:'short'}"),
    ("datetime:long", "{dateStyle:'long',timeStyle:'short'}"),
    ("datetime:full", "{dateStyle:'full',timeStyle:'short'}"),
];

/// Clocks that change at different hours, by an hour and by half of one, and one that does not.
const ZONES: [&str; 6] = [
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Santiago",
    "Asia/Kolkata",
    "UTC",
];

/// Every number is `value`; the page puts the differences where `--dump-dom` shows them.
const COMPARE: &str = r#"
const differences = [];
let compared = 0;
const check = (locale, format, value, expected, actual) => {
  compared += 1;
  if (expected !== actual && differences.length < 200) differences.push([locale, format, String(value), expected, actual]);
};
for (const [locale, formats] of Object.entries(task.numbers)) for (const [format, options, texts] of formats) {
  const intl = new Intl.NumberFormat(locale, { signDisplay: "negative", ...Function(`return ${options}`)() });
  texts.forEach((text, at) => check(locale, format, task.values[at], text, intl.format(task.values[at])));
}
for (const [locale, formats] of Object.entries(task.dates)) for (const [format, options, zone, texts] of formats) {
  const intl = new Intl.DateTimeFormat(locale, { timeZone: zone, ...Function(`return ${options}`)() });
  texts.forEach((text, at) => check(locale, `${format} ${zone}`, task.times[at], text, intl.format(new Date(task.times[at]))));
}
for (const [locale, texts] of Object.entries(task.since)) {
  const intl = new Intl.RelativeTimeFormat(locale, { numeric: "always" });
  texts.forEach(([count, unit, text]) => check(locale, "since", `${count} ${unit}`, text, intl.format(count, unit)));
}
const units = ["kilobyte", "megabyte", "gigabyte", "terabyte", "petabyte"];
for (const [locale, texts] of Object.entries(task.bytes)) texts.forEach(([exponent, mantissa, text]) => {
  const intl = new Intl.NumberFormat(locale, { style: "unit", unit: units[exponent - 1], unitDisplay: "short", maximumFractionDigits: 1 });
  check(locale, "bytes", mantissa, text, intl.format(mantissa));
});
document.getElementById("answer").textContent = "[[" + btoa(unescape(encodeURIComponent(JSON.stringify({ compared, differences })))) + "]]";
"#;

#[test]
fn formats_write_what_a_browser_writes() {
    let program = std::env::var("CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned());
    if !std::path::Path::new(&program).exists() {
        eprintln!("skipped: {program} is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("intl.html");
    let task = task().to_string().replace('<', "\\u003c");
    let script = format!("const task = {task};{COMPARE}");
    std::fs::write(
        &page,
        format!(
            "<!doctype html><meta charset=utf-8><pre id=answer></pre><script>{script}</script>"
        ),
    )
    .unwrap();
    let output = Command::new(program)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .arg("--host-resolver-rules=MAP * ~NOTFOUND")
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let answer = dom.split("[[").nth(1).and_then(|rest| rest.split("]]").next());
    let answer = answer
        .unwrap_or_else(|| panic!("no answer: {}", dom.chars().take(500).collect::<String>()));
    let answer: Value = serde_json::from_slice(&decode_base64(answer)).unwrap();
    let differences = answer["differences"].as_array().unwrap();
    let lines: Vec<String> = differences.iter().map(Value::to_string).collect();
    assert!(lines.is_empty(), "locale, format, value, ours, the browser's:\n{}", lines.join("\n"));
    let compared = answer["compared"].as_u64().unwrap();
    assert!(compared as usize >= 12 * VALUES * (NUMBERS.len() + DATES.len()), "{compared}");
}

fn task() -> Value {
    let mut dice = Dice::new(20);
    let values: Vec<Value> = (0..VALUES).map(|at| number(at, &mut dice)).collect();
    let times: Vec<i64> = (0..VALUES).map(|at| time(at, &mut dice)).collect();
    let (mut numbers, mut dates, mut since, mut bytes) =
        (Map::new(), Map::new(), Map::new(), Map::new());
    for locale in Locale::ALL {
        let name = locale.as_str().to_owned();
        let context = Context { locale: *locale, ..Context::default() };
        let written = |format: &str| -> Vec<String> {
            values.iter().map(|value| format_value(value, format, &context).unwrap()).collect()
        };
        let rows =
            NUMBERS.iter().map(|(format, options)| json!([format, options, written(format)]));
        numbers.insert(name.clone(), rows.collect());
        let rows = DATES.iter().enumerate().map(|(at, (format, options))| {
            let zone = ZONES[at % ZONES.len()];
            let context = Context { zone: zone.parse::<Zone>().unwrap(), ..context.clone() };
            let format = format!("{format}:ms");
            let texts: Vec<String> = times
                .iter()
                .map(|ms| format_value(&json!(ms), &format, &context).unwrap())
                .collect();
            json!([format, options, zone, texts])
        });
        dates.insert(name.clone(), rows.collect());
        since.insert(name.clone(), since_texts(*locale));
        bytes.insert(name, byte_texts(&context, &mut dice));
    }
    json!({ "values": values, "times": times, "numbers": numbers, "dates": dates, "since": since, "bytes": bytes })
}

/// Every class of number: halves at every place, large, small, negative, short and long texts.
fn number(at: usize, dice: &mut Dice) -> Value {
    let digits = dice.below(8) as i32;
    let scale = 10_f64.powi(digits);
    let random = dice.below(2_000_000_000) as f64 - 1_000_000_000.0;
    match at % 8 {
        0 => json!(random as i64),
        1 => json!(random / scale),
        2 => json!((random.round() * 2.0 + 1.0) / 2.0 / scale),
        3 => json!(dice.below(2_000) as f64 / 1_000.0 - 1.0),
        4 => json!((dice.below(20_000) as f64 * 10.0 + 5.0) / 10_000.0),
        5 => json!(10_f64.powi(dice.below(16) as i32) * (dice.below(1_000) as f64 / 100.0)),
        6 => json!(random * 10_f64.powi(dice.below(12) as i32)),
        _ => dice.pick(&[
            json!(0),
            json!(-0.0),
            json!(-0.4),
            json!(1.005),
            json!(999.995),
            json!(999_950),
            json!(1e21),
            json!(9_007_199_254_740_991_i64),
            json!(1e-7),
            json!(0.285),
            json!(1),
            json!(-1),
            json!(0.5),
            json!(99.95),
            json!(9_999_999_999_i64),
            json!(1234.5),
            json!(12_345),
            json!(1e15),
            json!(-1e12),
            json!(4.35),
        ]),
    }
}

/// Times from 1970 to 2037, whose zones both databases know; every second hour of changing clocks.
fn time(at: usize, dice: &mut Dice) -> i64 {
    const CHANGES: [i64; 8] = [
        1_774_746_000,
        1_792_890_000,
        1_772_953_200,
        1_793_512_800,
        1_775_313_000,
        1_791_041_400,
        1_788_667_200,
        1_775_358_000,
    ];
    if at.is_multiple_of(4) {
        let near = dice.below(7_201) as i64 - 3_600;
        return (CHANGES[dice.below(CHANGES.len())] + near) * 1_000;
    }
    dice.below(2_145_916_800) as i64 * 1_000 + dice.below(1_000) as i64
}

fn since_texts(locale: Locale) -> Value {
    const UNITS: [(&str, i64); 6] = [
        ("second", 1),
        ("minute", 60),
        ("hour", 3_600),
        ("day", 86_400),
        ("month", 2_629_800),
        ("year", 31_557_600),
    ];
    let now = 1_794_902_700_000_i64;
    let context =
        Context { locale, refreshed_at: Timestamp::from_unix_ms(now), ..Context::default() };
    let mut texts = Vec::new();
    for (at, (unit, seconds)) in UNITS.iter().enumerate() {
        let next = UNITS.get(at + 1).map_or(40, |(_, next)| (next - 1) / seconds);
        for count in (1..=next).flat_map(|count| [count, -count]) {
            let ms = now + count * seconds * 1_000;
            let text = format_value(&json!(ms), "since:ms", &context).unwrap();
            texts.push(json!([count, unit, text]));
        }
    }
    texts.into()
}

fn byte_texts(context: &Context, dice: &mut Dice) -> Value {
    let mut texts = Vec::new();
    for exponent in 1..=5 {
        for _ in 0..60 {
            // In tenths, and below what rounds to the next unit.
            let mantissa = (dice.below(9_990) + 10) as f64 / 10.0;
            let value: Value =
                serde_json::from_str(&format!("{mantissa}e{}", 3 * exponent)).unwrap();
            let text = format_value(&value, "bytes", context).unwrap();
            texts.push(json!([exponent, mantissa, text]));
        }
    }
    texts.into()
}

fn decode_base64(text: &str) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for letter in text.bytes().filter(|letter| *letter != b'=') {
        let value = LETTERS.iter().position(|other| *other == letter).unwrap();
        bits = bits << 6 | value as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}
