//! A generator of configured secrets and of what command lines make of them: next to none is shown, and texts that only
//! look alike stay as they are. The encodings are written here once more, as the tools print them.

use proptest::prelude::*;

use super::super::Mask;
use crate::testkit::Chance;

/// The most leaks of a hundred.
const LEAKS_PERCENT_MAX: usize = 5;

type Encode = fn(&str, &mut Chance) -> String;

/// What a tool makes of a line with a secret in it.
const ENCODINGS: [(&str, Encode); 29] = [
    ("cat", |text, _| text.to_owned()),
    ("tr a-z A-Z", |text, _| text.to_uppercase()),
    ("tr A-Z a-z", |text, _| text.to_lowercase()),
    ("rev", |text, _| text.chars().rev().collect()),
    ("tr a-z n-za-m", |text, _| shifted(text, 13, 13)),
    ("tr a-z b-za", |text, chance| shifted(text, 1 + chance.below(25), 0)),
    ("base64", |text, _| base64(text)),
    ("base64 -w 20", |text, _| folded(&base64(text), 20)),
    ("basenc --base64url", |text, _| base64(text).replace('+', "-").replace('/', "_")),
    ("base64 | rev", |text, _| base64(text).chars().rev().collect()),
    ("base32", |text, _| bits(text, 5, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")),
    ("xxd -p", |text, _| folded(&each(text, "", |byte| format!("{byte:02x}")), 60)),
    ("od -An -t x1", |text, _| rows(text, "", " ", |byte| format!("{byte:02x}"), |_| String::new())),
    ("od -t x1", |text, _| rows(text, "{:07o} ", " ", |byte| format!("{byte:02x}"), |_| String::new())),
    ("od -b", |text, _| rows(text, "{:07o} ", " ", |byte| format!("{byte:03o}"), |_| String::new())),
    ("od -c", |text, _| rows(text, "{:07o} ", "", |byte| format!("{:>4}", char::from(byte)), |_| String::new())),
    ("hexdump -C", |text, _| rows(text, "{:08x}  ", " ", |byte| format!("{byte:02X}"), |row| format!("  |{row}|"))),
    ("xxd", |text, _| rows(text, "{:08x}: ", " ", |byte| format!("{byte:02x}"), |row| format!("  {row}"))),
    ("printf '%d '", |text, _| each(text, ", ", |byte| byte.to_string())),
    ("%XX", |text, _| each(text, "", |byte| format!("%{byte:02X}"))),
    ("\\u00XX", |text, _| each(text, "", |byte| format!("\\u{byte:04x}"))),
    ("0xXX", |text, _| each(text, ", ", |byte| format!("0x{byte:02x}"))),
    ("&#N;", |text, _| each(text, "", |byte| format!("&#{byte};"))),
    ("grep -o .", |text, _| each(text, "\n", |byte| char::from(byte).to_string())),
    ("grep -on .", |text, _| each(text, "\n", |byte| format!("1:{}", char::from(byte)))),
    ("sed 's/./& /g'", |text, _| each(text, " ", |byte| char::from(byte).to_string())),
    ("list of characters", |text, _| format!("[{}]", each(text, ", ", |byte| format!("'{}'", char::from(byte))))),
    ("fold", |text, chance| folded(text, 1 + chance.below(12))),
    ("cut", |text, chance| text.get(chance.below(4)..).unwrap_or_default().to_owned()),
];

fn each(text: &str, between: &str, write: impl Fn(u8) -> String) -> String {
    text.bytes().map(write).collect::<Vec<_>>().join(between)
}

fn folded(text: &str, width: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(width).map(|line| line.iter().collect::<String>()).collect::<Vec<_>>().join("\n")
}

fn shifted(text: &str, small: usize, capital: usize) -> String {
    let shift = |c: char, alphabet: &str, by: usize| {
        let at = alphabet.find(c).map(|at| (at + by) % 26);
        at.and_then(|at| alphabet.chars().nth(at)).unwrap_or(c)
    };
    let letter = |c: char| match c {
        'a'..='z' => shift(c, "abcdefghijklmnopqrstuvwxyz", small),
        _ => shift(c, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", capital),
    };
    text.chars().map(letter).collect()
}

fn base64(text: &str) -> String {
    bits(text, 6, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
}

/// So many bits a character.
fn bits(text: &str, width: usize, alphabet: &str) -> String {
    let bits = text.bytes().fold(String::new(), |bits, byte| format!("{bits}{byte:08b}"));
    let bits: Vec<char> = bits.chars().collect();
    let value = |part: &[char]| {
        let padded = format!("{:0<width$}", part.iter().collect::<String>());
        usize::from_str_radix(&padded, 2).unwrap_or_default()
    };
    bits.chunks(width).filter_map(|part| alphabet.chars().nth(value(part))).collect()
}

/// Sixteen bytes a line, with an offset before and something behind.
fn rows(
    text: &str,
    offset: &str,
    between: &str,
    write: impl Fn(u8) -> String,
    behind: impl Fn(&str) -> String,
) -> String {
    let row = |(n, bytes): (usize, &[u8])| {
        let start = match offset {
            "{:07o} " => format!("{:07o} ", n * 16),
            "{:08x}  " => format!("{:08x}  ", n * 16),
            "{:08x}: " => format!("{:08x}: ", n * 16),
            _ => String::new(),
        };
        let written: Vec<String> = bytes.iter().map(|byte| write(*byte)).collect();
        let width = 16 * (write(b'a').len() + between.len());
        format!("{start}{:<width$}{}", written.join(between), behind(&String::from_utf8_lossy(bytes)))
    };
    text.as_bytes().chunks(16).enumerate().map(row).collect::<Vec<_>>().join("\n")
}

fn secret(chance: &mut Chance) -> String {
    match chance.below(5) {
        0 => format!("{}:AA{}", chance.secret("dig", 10), chance.secret("an", 33)),
        1 => chance.secret("pw", 12),
        2 => format!("syt_{}_{}_{}", chance.secret("an", 8), chance.secret("an", 20), chance.secret("an", 6)),
        3 => chance.secret("hex", 40),
        _ => format!("{}-{}-{}", chance.secret("low", 7), chance.secret("low", 6), chance.secret("dig", 4)),
    }
}

fn letters(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase()
}

/// Whether a good part of the encoded secret stands in the masked text.
fn is_shown(encoded: &str, masked: &str) -> bool {
    let (encoded, masked) = (letters(encoded), letters(masked));
    let part = (encoded.len() * 2 / 5).max(8).min(encoded.len());
    (0..=encoded.len() - part).any(|at| encoded.get(at..at + part).is_some_and(|part| masked.contains(part)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2))]

    #[test]
    fn few_encodings_of_a_configured_secret_leak(seed: u64) {
        let mut chance = Chance(seed);
        let (mut tried, mut leaks) = (0, Vec::new());
        for _ in 0..3 {
            let secret = secret(&mut chance);
            let mask = Mask::new([secret.clone()]);
            for (name, encode) in ENCODINGS {
                let before = chance.secret("low", 1 + chance.clone().below(9));
                let encoded = encode(&format!("{before} {secret} end"), &mut chance);
                let text = format!("first line\n{encoded}\nlast line: 12 ms");
                let masked = mask.apply(&text).into_owned();
                prop_assert_eq!(mask.apply(&masked), masked.as_str());
                tried += 1;
                let alone = if name == "cut" { secret.clone() } else { encode(&secret, &mut Chance(0)) };
                if !masked.contains("[masked: ") || is_shown(&alone, &masked) {
                    leaks.push((name, secret.clone(), masked));
                }
            }
        }
        prop_assert!(leaks.len() * 100 <= tried * LEAKS_PERCENT_MAX, "{} of {tried}: {leaks:#?}", leaks.len());
    }

    #[test]
    fn texts_that_hold_no_configured_secret_stay(seed: u64) {
        let mut chance = Chance(seed);
        let secrets: Vec<String> = (0..10).map(|_| secret(&mut chance)).collect();
        let mask = Mask::new(secrets);
        for kind in ["low", "dig", "hex", "an", "b64"] {
            let words: Vec<String> = (0..400).map(|_| chance.secret(kind, 1 + chance.clone().below(40))).collect();
            for between in [" ", "", ", ", "\n"] {
                let text = words.join(between);
                let of_others = Mask::default();
                let expected = of_others.apply(&text);
                prop_assert_eq!(mask.apply(&text), expected);
            }
        }
    }
}

#[test]
fn words_of_a_secret_stay_words() {
    let mask = Mask::new(["correct-horse", "plantedzebra", "@ everyone"].map(str::to_owned));
    for text in [
        "tell everyone",
        "x@everyone",
        "the correct horse won",
        "a planted zebra",
        "correct: horse",
        "horse-correct",
        "2,2,2,2,2,2,2,2,2,2",
    ] {
        assert_eq!(mask.apply(text), text);
    }
    for text in
        ["CORRECT-HORSE", "esroh-tcerroc", "c o r r e c t h o r s e", "corre\nct-ho\nrse", "plantedZebra", "@ everyone"]
    {
        assert_eq!(mask.apply(text), "[masked: secret]", "{text}");
    }
}

#[test]
fn the_number_of_an_account_before_a_secret_is_public() {
    let mask = Mask::new(["7000000001:AAF9xKq2Lw8ZbTn4VcRmYdPs6HgJu1Eo3iX".to_owned()]);
    assert_eq!(mask.apply("account 7000000001 answers"), "account 7000000001 answers");
    assert!(!mask.apply("token 7000000001:AAF9xKq2Lw8ZbTn4VcRmYdPs6HgJu1Eo3iX").contains("AAF9xKq2"));
    assert!(mask.class_of("AAF9xKq2Lw8ZbTn4").is_some());
}
