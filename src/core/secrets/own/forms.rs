//! What a secret looks like in the encodings that tools make.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// From this length on a part of the secret is worth hiding, too.
const PARTED_CHARS_MIN: usize = 12;
/// From this length on the part may be a smaller share of it.
const LONG_CHARS_MIN: usize = 16;
/// The fewest characters of a part of a long secret.
const PART_CHARS: usize = 10;
/// The fewest of a shorter one, in tenths of that.
const SHORT_PART_TENTHS: usize = 8;

/// A secret in one encoding.
pub(super) struct Form {
    /// The encoded text.
    pub(super) text: String,
    /// How many of its letters and digits are a find.
    pub(super) enough: usize,
    /// Whether it is the secret as it is, but for some signs.
    pub(super) is_plain: bool,
    /// Whether signs of the secret are signs here, so that it has to be found with them.
    pub(super) has_signs: bool,
}

/// The secret without the public number of an account before it: a Telegram bot's token begins with the bot's own id, which
/// everybody sees.
fn without_account(secret: &str) -> &str {
    match secret.split_once(':') {
        Some((account, rest)) if rest.len() >= 16 && account.bytes().all(|byte| byte.is_ascii_digit()) => rest,
        Some(_) | None => secret,
    }
}

/// The forms of one secret.
struct Forms<'s> {
    secret: &'s str,
    all: Vec<Form>,
}

/// Every form of a secret.
pub(super) fn forms(secret: &str) -> Vec<Form> {
    let secret = without_account(secret);
    let mut forms = Forms { secret, all: Vec::new() };
    let backwards: String = secret.chars().rev().collect();
    forms.letters(secret);
    forms.letters(&backwards);
    forms.bits();
    forms.bytes();
    forms.words();
    forms.signs(backwards);
    forms.all
}

impl Forms<'_> {
    /// `part` is how many characters of the form stand for ten of the secret.
    fn add(&mut self, text: String, part: usize) {
        let enough = match self.secret.chars().count() {
            0..PARTED_CHARS_MIN => usize::MAX,
            PARTED_CHARS_MIN..LONG_CHARS_MIN => (part * SHORT_PART_TENTHS).div_ceil(PART_CHARS),
            _ => part,
        };
        let letters = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
        let is_plain = letters(&text) == letters(self.secret);
        self.all.push(Form { text, enough, is_plain, has_signs: false });
    }

    /// Other letters, base64 and hexadecimal, of the secret or of it backwards, and each of these backwards.
    fn letters(&mut self, text: &str) {
        for by in 0..26 {
            for (small, capital) in [(by, by), (by, 0), (0, by)] {
                self.add(rotated(text, small, capital), PART_CHARS);
            }
        }
        for alignment in 0..3 {
            let encoded = base64(text.as_bytes(), alignment);
            self.add(encoded.chars().rev().collect(), 12);
            self.add(encoded, 12);
        }
        let hex = each(text.as_bytes(), |byte| format!("{byte:02x}"));
        self.add(hex.chars().rev().collect(), 2 * PART_CHARS);
        self.add(hex, 2 * PART_CHARS);
    }

    /// Base64 twice, and both kinds of base32.
    fn bits(&mut self) {
        let bytes = self.secret.as_bytes();
        self.add(base64(base64(bytes, 0).as_bytes(), 0), 16);
        for alignment in 0..5 {
            self.add(base32(bytes, alignment, b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"), 14);
            self.add(base32(bytes, alignment, b"0123456789ABCDEFGHIJKLMNOPQRSTUV"), 14);
        }
    }

    /// Each byte as a number or an escape.
    fn bytes(&mut self) {
        let bytes = self.secret.as_bytes();
        self.add(each(bytes, |byte| format!("x{byte:02x}")), 3 * PART_CHARS);
        self.add(each(bytes, |byte| format!("0x{byte:02x}")), 4 * PART_CHARS);
        self.add(each(bytes, |byte| format!("u{byte:04x}")), 5 * PART_CHARS);
        self.add(each(bytes, |byte| format!("u{byte:02x}")), 3 * PART_CHARS);
        self.add(each(bytes, |byte| byte.to_string()), 2 * PART_CHARS);
        self.add(each(bytes, |byte| format!("{byte:03o}")), 3 * PART_CHARS);
        self.add(each(bytes, |byte| format!("{byte:08b}")), 8 * PART_CHARS);
        self.add(each(bytes, |byte| format!("{byte:b}")), 6 * PART_CHARS);
    }

    /// Numbers of several bytes, the lowest first, as `od` and `hexdump` print them.
    fn words(&mut self) {
        for (start, width) in [2, 4, 8].into_iter().flat_map(|width| (0..width).map(move |start| (start, width))) {
            let bytes = self.secret.as_bytes().get(start..).unwrap_or_default();
            let part = 2 * PART_CHARS.max(2 * width);
            self.add(words(bytes, width, |word| format!("{word:0digits$x}", digits = 2 * width)), part);
            if width < 8 {
                self.add(
                    words(bytes, width, |word| format!("{word:0digits$o}", digits = (8 * width).div_ceil(3))),
                    part,
                );
                self.add(words(bytes, width, |word| word.to_string()), part);
                self.add(words(bytes, width, |word| format!("{word:05}")), part);
            }
        }
    }

    /// What keeps signs, or escapes them alone.
    fn signs(&mut self, backwards: String) {
        let first = self.all.len();
        for text in [self.secret.to_owned(), backwards, self.secret.chars().map(rotated_47).collect()] {
            self.add(text, PART_CHARS);
        }
        for escape in [percent, percent_of_scripts, space, entity, named_entity, backslash] {
            self.add(self.secret.chars().map(escape).collect(), PART_CHARS);
        }
        self.all.iter_mut().skip(first).for_each(|form| form.has_signs = true);
    }
}

fn each(bytes: &[u8], write: impl Fn(u8) -> String) -> String {
    bytes.iter().map(|byte| write(*byte)).collect()
}

fn words(bytes: &[u8], width: usize, write: impl Fn(u64) -> String) -> String {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| (word << 8) | u64::from(*byte));
    bytes.chunks_exact(width).map(|bytes| write(word(bytes))).collect()
}

/// So many zeros, and the bytes.
fn padded(bytes: &[u8], zeros: usize) -> Vec<u8> {
    std::iter::repeat_n(0, zeros).chain(bytes.iter().copied()).collect()
}

/// The characters of base64 that stand for the secret alone, where `alignment` other bytes stand before it. Those at the
/// edges depend on what stands beside it.
fn base64(bytes: &[u8], alignment: usize) -> String {
    let bytes = padded(bytes, alignment);
    let encoded = STANDARD_NO_PAD.encode(&bytes);
    encoded.get((alignment * 8).div_ceil(6)..bytes.len() * 8 / 6).unwrap_or_default().to_owned()
}

fn base32(bytes: &[u8], alignment: usize, alphabet: &[u8; 32]) -> String {
    let bytes = padded(bytes, alignment);
    let bit = |n: usize| bytes.get(n / 8).is_some_and(|byte| (byte >> (7 - n % 8)) & 1 == 1);
    let letter = |n: usize| {
        let value = (0..5).fold(0, |value, place| (value << 1) | usize::from(bit(n * 5 + place)));
        char::from(alphabet.get(value).copied().unwrap_or_default())
    };
    ((alignment * 8).div_ceil(5)..bytes.len() * 8 / 5).map(letter).collect()
}

/// Letters moved on in the alphabet, as `tr a-z n-za-m` does, small and capital ones by so many.
fn rotated(text: &str, small: u8, capital: u8) -> String {
    let rotate = |c: char| match u8::try_from(c) {
        Ok(byte @ b'a'..=b'z') => char::from((byte - b'a' + small) % 26 + b'a'),
        Ok(byte @ b'A'..=b'Z') => char::from((byte - b'A' + capital) % 26 + b'A'),
        _ => c,
    };
    text.chars().map(rotate).collect()
}

fn rotated_47(c: char) -> char {
    match u8::try_from(c) {
        Ok(byte @ b'!'..=b'~') => char::from((byte - b'!' + 47) % 94 + b'!'),
        _ => c,
    }
}

fn percent(c: char) -> String {
    if c.is_ascii_alphanumeric() || "-_.~".contains(c) {
        return c.to_string();
    }
    let mut encoded = String::new();
    for byte in c.encode_utf8(&mut [0; 4]).bytes() {
        // Writing into a text does not fail.
        let _ = write!(encoded, "%{byte:02X}");
    }
    encoded
}

/// As scripts encode an address: fewer signs.
fn percent_of_scripts(c: char) -> String {
    if "!*'()".contains(c) { c.to_string() } else { percent(c) }
}

/// As `od -a` writes it.
fn space(c: char) -> String {
    if c == ' ' { "sp".to_owned() } else { c.to_string() }
}

fn entity(c: char) -> String {
    if c.is_ascii_alphanumeric() { c.to_string() } else { format!("&#{};", u32::from(c)) }
}

fn named_entity(c: char) -> String {
    match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        '\'' => "&#39;".to_owned(),
        _ => c.to_string(),
    }
}

fn backslash(c: char) -> String {
    if c.is_ascii_alphanumeric() { c.to_string() } else { format!("\\{c}") }
}
