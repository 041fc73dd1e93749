//! Texts that hold secrets, from `tests/fixtures/secrets/shapes.toml`, each time with other secrets in them.

use std::collections::BTreeMap;

/// The shortest secret that is looked for afterwards: a shorter one is only a part of another.
const SECRET_CHARS_MIN: usize = 6;
/// From this length on, half of a secret counts as the secret.
const HALVED_CHARS_MIN: usize = 12;

/// A text with its secrets.
#[derive(Clone, Debug)]
pub struct SecretShape {
    /// The group and the name.
    pub name: String,
    /// The text, as a tool or a person would show it.
    pub text: String,
    /// Every secret in the text.
    pub secrets: Vec<String>,
}

impl SecretShape {
    /// Returns the first secret of which the whole or a half stands in `masked`.
    pub fn leak<'a>(&'a self, masked: &str) -> Option<&'a str> {
        self.secrets.iter().map(String::as_str).find(|secret| is_shown(secret, masked))
    }
}

fn is_shown(secret: &str, masked: &str) -> bool {
    let (head, tail) = secret.split_at_checked(secret.len() / 2).unwrap_or((secret, ""));
    let halved = secret.len() >= HALVED_CHARS_MIN && (masked.contains(head) || masked.contains(tail));
    masked.contains(secret) || halved
}

/// Returns every shape of the table. The same seed gives the same secrets.
pub fn secret_shapes(seed: u64) -> Vec<SecretShape> {
    let table: BTreeMap<String, BTreeMap<String, String>> =
        toml::from_str(include_str!("../../../tests/fixtures/secrets/shapes.toml")).expect("invariant: it is TOML");
    let mut chance = Chance(seed);
    let rows = table.iter().flat_map(|(group, rows)| rows.iter().map(move |row| (group, row)));
    rows.map(|(group, (name, text))| filled(format!("{group}: {name}"), text, &mut chance)).collect()
}

fn filled(name: String, template: &str, chance: &mut Chance) -> SecretShape {
    let mut shape = SecretShape { name, text: String::new(), secrets: Vec::new() };
    let mut rest = template.trim_start_matches('\n');
    while let Some((before, after)) = rest.split_once('«') {
        let (kind, after) = after.split_once('»').expect("invariant: each guillemet is closed");
        shape.text.push_str(before);
        let indent = before.rsplit('\n').next().unwrap_or_default();
        match kind {
            "priv" => shape.text.push_str(&["PRIV", "ATE KEY"].concat()),
            "key" => {
                let lines: Vec<String> = (0..3).map(|_| chance.secret("b64", 48)).collect();
                shape.text.push_str(&lines.join(&format!("\n{indent}")));
                shape.secrets.extend(lines);
            }
            _ => {
                let (kind, length) = kind.split_once(' ').expect("invariant: a kind and a length");
                let secret = chance.secret(kind, length.parse().expect("invariant: a length"));
                shape.text.push_str(&secret);
                if secret.len() >= SECRET_CHARS_MIN {
                    shape.secrets.push(secret);
                }
            }
        }
        rest = after;
    }
    shape.text.push_str(rest);
    shape
}

/// Repeatable randomness, by splitmix64.
#[derive(Clone, Debug)]
pub struct Chance(
    /// The seed.
    pub u64,
);

impl Chance {
    /// Returns the next number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).unwrap_or_default()
    }

    /// Returns a random item.
    pub fn of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let at = self.below(items.len());
        items.get(at).expect("invariant: below the length")
    }

    /// Returns a secret of a kind. `length` is in characters, or in bytes for `b64`.
    pub fn secret(&mut self, kind: &str, length: usize) -> String {
        const DIGITS: &str = "0123456789";
        const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
        const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        let alphabet = match kind {
            "hex" => "0123456789abcdef".to_owned(),
            "dig" => DIGITS.to_owned(),
            "low" => LOWER.to_owned(),
            "up" => UPPER.to_owned() + "234567",
            "b64" => UPPER.to_owned() + LOWER + DIGITS + "+/",
            "an" | "pw" => UPPER.to_owned() + LOWER + DIGITS,
            other => panic!("no kind of secret is called {other}"),
        };
        let alphabet: Vec<char> = alphabet.chars().collect();
        let characters = if kind == "b64" { (length * 4).div_ceil(3) } else { length };
        let mut secret: String = (0..characters).map(|_| *self.of(&alphabet)).collect();
        match kind {
            "b64" => secret.extend(std::iter::repeat_n('=', (3 - length % 3) % 3)),
            "pw" => secret.replace_range(length / 2..=length / 2, &self.of(&['-', '_', '!', '.']).to_string()),
            _ => {}
        }
        secret
    }
}
