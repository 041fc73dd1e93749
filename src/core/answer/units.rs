//! How a value is written for people: bytes, percentages, durations, times. Whole numbers are computed with whole
//! numbers; a JSON float is rounded by writing it, never by arithmetic. A value that does not fit its unit is written
//! plainly, so that nothing is lost.

use serde_json::{Number, Value};

use crate::signal::Wall;
use crate::tool::Unit;

const MINUTE: u128 = 60;
const HOUR: u128 = 60 * MINUTE;
const DAY: u128 = 24 * HOUR;
const DAY_MS: i64 = 86_400_000;

/// Writes a value. Strings come back as they are: cleaning them is the caller's.
pub(super) fn write(value: &Value, unit: Unit) -> String {
    let written = match unit {
        Unit::Plain => None,
        Unit::Bytes => whole(value).map(|n| signed(n, bytes)),
        Unit::Percent => value.as_number().and_then(percent),
        Unit::Duration => whole(value).map(|n| signed(n, duration)),
        Unit::Time => value.as_i64().map(time),
        Unit::YesNo => value.as_bool().map(|yes| if yes { "yes" } else { "no" }.to_owned()),
        Unit::Celsius => value.as_number().and_then(celsius),
    };
    written.unwrap_or_else(|| plain(value))
}

/// Whether the values of a unit stand right in a table.
pub(super) fn is_numeric(unit: Unit) -> bool {
    match unit {
        Unit::Bytes | Unit::Percent | Unit::Duration | Unit::Celsius => true,
        Unit::Plain | Unit::Time | Unit::YesNo => false,
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
    }
}

/// A number without its fraction, rounded to the nearest.
fn whole(value: &Value) -> Option<i128> {
    let number = value.as_number()?;
    let float = || number.as_f64().and_then(|float| format!("{float:.0}").parse().ok());
    number.as_i128().or_else(float)
}

fn signed(number: i128, write: fn(u128) -> String) -> String {
    let written = write(number.unsigned_abs());
    if number < 0 { format!("-{written}") } else { written }
}

/// One decimal, which is left out where it is zero: `1.5 KiB`, `16 GiB`.
fn bytes(count: u128) -> String {
    let mut unit = 1024_u128;
    for name in ["KiB", "MiB", "GiB", "TiB"] {
        if count < 1024 {
            break;
        }
        let tenths = count.saturating_mul(10).saturating_add(unit / 2) / unit;
        // Rounding may reach the next unit: 1,048,575 bytes are 1 MiB, not 1024 KiB.
        if tenths < 10_240 || name == "TiB" {
            let (integer, tenth) = (tenths / 10, tenths % 10);
            return if tenth == 0 { format!("{integer} {name}") } else { format!("{integer}.{tenth} {name}") };
        }
        unit = unit.saturating_mul(1024);
    }
    format!("{count} B")
}

/// One decimal below 10, none from there on; nothing is `0%`.
fn percent(number: &Number) -> Option<String> {
    let float = number.as_f64()?;
    let fine = format!("{float:.1}");
    let digits = fine.trim_start_matches('-').find('.')?;
    Some(match fine.as_str() {
        "0.0" | "-0.0" => "0%".to_owned(),
        _ if digits == 1 => format!("{fine}%"),
        _ => format!("{float:.0}%"),
    })
}

fn celsius(number: &Number) -> Option<String> {
    if let Some(degrees) = number.as_i64() {
        return Some(format!("{degrees} °C"));
    }
    number.as_f64().map(|degrees| format!("{degrees:.1} °C"))
}

/// The two largest units: `3 d 4 h`, `1 min 5 s`, `12 s`.
fn duration(seconds: u128) -> String {
    let units = [(DAY, "d"), (HOUR, "h"), (MINUTE, "min"), (1, "s")];
    let largest = units.iter().position(|(unit, _)| seconds >= *unit).unwrap_or(units.len() - 1);
    let mut rest = seconds;
    let mut parts = Vec::new();
    for (unit, name) in units.iter().skip(largest).take(2) {
        if rest / unit > 0 || parts.is_empty() {
            parts.push(format!("{} {name}", rest / unit));
        }
        rest %= unit;
    }
    parts.join(" ")
}

/// A time of the wall clock in UTC, to the second.
pub fn wall(at: Wall) -> String {
    time(at.0)
}

/// Returns a time of the wall clock in UTC, to the minute, with its date only if that is not the day of `now`: `22:15 UTC`.
pub fn clock(at: Wall, now: Wall) -> String {
    let text = time(at.0);
    let (date, rest) = text.split_once(' ').unwrap_or(("", &text));
    let minute = rest.get(..5).unwrap_or(rest);
    if at.0.div_euclid(DAY_MS) == now.0.div_euclid(DAY_MS) {
        format!("{minute} UTC")
    } else {
        format!("{date} {minute} UTC")
    }
}

/// Milliseconds since the Unix epoch in UTC, to the second.
pub(super) fn time(wall_ms: i64) -> String {
    let (year, month, day) = civil(wall_ms.div_euclid(DAY_MS));
    let seconds = wall_ms.rem_euclid(DAY_MS) / 1000;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// Year, month and day of a day counted from 1970-01-01, in the Gregorian calendar. Years are taken to begin in March, so
/// that the leap day is the last of its year; 400 of them are an era of 146,097 days, whatever the year.
fn civil(days: i64) -> (i64, i64, i64) {
    const ERA_DAYS: i64 = 146_097;
    // From 0000-03-01 to 1970-01-01.
    const SHIFT_DAYS: i64 = 719_468;
    let shifted = days + SHIFT_DAYS;
    let (era, day_of_era) = (shifted.div_euclid(ERA_DAYS), shifted.rem_euclid(ERA_DAYS));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // From March on, five months have 153 days.
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_written_as_people_read_them() {
        let table = [
            (json!("text"), Unit::Plain, "text"),
            (json!(7), Unit::Plain, "7"),
            (json!(true), Unit::Plain, "true"),
            (json!([1, "b", [2]]), Unit::Plain, "1, b, 2"),
            (json!({"a": 1}), Unit::Plain, r#"{"a":1}"#),
            (json!(0), Unit::Bytes, "0 B"),
            (json!(1023), Unit::Bytes, "1023 B"),
            (json!(1024), Unit::Bytes, "1 KiB"),
            (json!(1536), Unit::Bytes, "1.5 KiB"),
            (json!(1_048_575), Unit::Bytes, "1 MiB"),
            (json!(17_179_869_184_u64), Unit::Bytes, "16 GiB"),
            (json!(1_649_267_441_664_u64), Unit::Bytes, "1.5 TiB"),
            (json!(u64::MAX), Unit::Bytes, "16777216 TiB"),
            (json!(1.5e9), Unit::Bytes, "1.4 GiB"),
            (json!(-2048), Unit::Bytes, "-2 KiB"),
            (json!("12k"), Unit::Bytes, "12k"),
            (json!(3.44), Unit::Percent, "3.4%"),
            (json!(45), Unit::Percent, "45%"),
            (json!(45.4), Unit::Percent, "45%"),
            (json!(9.96), Unit::Percent, "10%"),
            (json!(3), Unit::Percent, "3.0%"),
            (json!(0), Unit::Percent, "0%"),
            (json!(0.04), Unit::Percent, "0%"),
            (json!(100), Unit::Percent, "100%"),
            (json!(0), Unit::Duration, "0 s"),
            (json!(12), Unit::Duration, "12 s"),
            (json!(60), Unit::Duration, "1 min"),
            (json!(65), Unit::Duration, "1 min 5 s"),
            (json!(3_600), Unit::Duration, "1 h"),
            (json!(3_605), Unit::Duration, "1 h"),
            (json!(274_000), Unit::Duration, "3 d 4 h"),
            (json!(12.4), Unit::Duration, "12 s"),
            (json!(-5), Unit::Duration, "-5 s"),
            (json!(true), Unit::YesNo, "yes"),
            (json!(false), Unit::YesNo, "no"),
            (json!("maybe"), Unit::YesNo, "maybe"),
            (json!(48), Unit::Celsius, "48 °C"),
            (json!(48.25), Unit::Celsius, "48.2 °C"),
        ];
        for (value, unit, expected) in table {
            assert_eq!(write(&value, unit), expected, "{value} as {unit:?}");
        }
    }

    #[test]
    fn times_are_as_the_calendar_says() {
        let table = [
            (0, "1970-01-01 00:00:00 UTC"),
            (-1, "1969-12-31 23:59:59 UTC"),
            (68_169_600_000, "1972-02-29 00:00:00 UTC"),
            (951_782_400_000, "2000-02-29 00:00:00 UTC"),
            (951_868_800_000, "2000-03-01 00:00:00 UTC"),
            (1_709_164_799_999, "2024-02-28 23:59:59 UTC"),
            (1_709_164_800_000, "2024-02-29 00:00:00 UTC"),
            (1_795_301_225_000, "2026-11-21 22:47:05 UTC"),
            (4_107_542_400_000, "2100-03-01 00:00:00 UTC"),
            (253_402_300_799_000, "9999-12-31 23:59:59 UTC"),
            (-2_203_891_200_000, "1900-03-01 00:00:00 UTC"),
        ];
        for (wall_ms, expected) in table {
            assert_eq!(time(wall_ms), expected);
        }
        assert!(time(i64::MIN).ends_with("UTC") && time(i64::MAX).ends_with("UTC"));
    }

    /// Counts day by day with the rule that everybody knows, and compares.
    #[test]
    fn every_day_of_800_years_follows_the_day_before() {
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for days in 0..292_194 {
            assert_eq!(civil(days), (year, month, day));
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let last = match month {
                2 => 28 + i64::from(leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day += 1;
            if day > last {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
    }
}
