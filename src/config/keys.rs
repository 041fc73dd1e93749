//! The known keys, taken from the configuration's own structures, and the known key that is nearest to an unknown one.
//! Nothing here reads a file.

use countersign_core::text;
use figment::value::{Dict, Value};

use super::credentials::CredentialConfig;
use super::rates::{Rate, Rates};
use super::sections::Config;
use super::spokes::Spoke;

/// Stands in a known key for a name that the operator chooses.
const ANY: &str = "NAME";

/// Every key, dotted, with `NAME` for a chosen name: `spokes.NAME.enabled`.
pub(super) fn known() -> Vec<String> {
    let spokes = [(ANY.to_owned(), Spoke::default())].into();
    let rates = Rates { role: [(ANY.to_owned(), Rate::default())].into(), ..Rates::default() };
    let credentials = [(ANY.to_owned(), CredentialConfig::default())].into();
    let config = Config { rates, credentials, spokes, ..Config::default() };
    let value = Value::serialize(&config).expect("invariant: a configuration is plain data");
    let mut keys = Vec::new();
    leaves("", &value, &mut keys);
    keys
}

/// Every key that is set in a table, dotted.
pub(super) fn leaves(prefix: &str, value: &Value, keys: &mut Vec<String>) {
    match value.as_dict() {
        Some(table) if !table.is_empty() || prefix.is_empty() => {
            for (key, value) in table {
                leaves(&join(prefix, key), value, keys);
            }
        }
        _ => keys.push(prefix.to_owned()),
    }
}

fn join(prefix: &str, key: &str) -> String {
    if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") }
}

/// The first key in the table that nothing reads. A section that is given something else than a table is left to the types.
pub(super) fn first_unknown(table: &Dict, known: &[String]) -> Option<String> {
    let mut keys = Vec::new();
    leaves("", &Value::from(table.clone()), &mut keys);
    keys.into_iter().find(|key| !known.iter().any(|known| reaches(known, key)))
}

/// Whether `key` is the known one, a section above it, or a wrong table below it, which the types refuse.
fn reaches(known: &str, key: &str) -> bool {
    let same = |(known, key): (&str, &str)| known == ANY || known == key;
    known.split('.').zip(key.split('.')).all(same)
}

/// The known key that was probably meant, with the operator's own names in it.
pub(super) fn nearest(key: &str, known: &[String]) -> Option<String> {
    let candidates = known.iter().map(|known| with_names_of(known, key));
    let (distance, nearest) = candidates.map(|known| (distance_of_keys(key, &known), known)).min()?;
    (distance * 3 <= key.chars().count()).then_some(nearest)
}

fn with_names_of(known: &str, key: &str) -> String {
    let mut given = key.split('.');
    let segment = |known| match (known, given.next()) {
        (ANY, Some(name)) => name,
        (known, _) => known,
    };
    known.split('.').map(segment).collect::<Vec<_>>().join(".")
}

/// A key in the wrong section or in none is as near as one slip of the hand.
fn distance_of_keys(key: &str, known: &str) -> usize {
    let last = |dotted: &str| dotted.rsplit('.').next().map(str::to_owned);
    if last(key) == last(known) { text::mistakes(key, known).min(1) } else { text::mistakes(key, known) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_that_was_meant_is_found() {
        let known = known();
        let cases = [
            ("stoer.url", Some("store.url")),
            ("log.levle", Some("log.level")),
            ("turns", Some("limits.turns")),
            ("spokes.host.enbaled", Some("spokes.host.enabled")),
            ("weather.tomorrow", None),
        ];
        for (key, meant) in cases {
            assert_eq!(nearest(key, &known).as_deref(), meant, "{key}");
        }
    }

    #[test]
    fn a_swap_of_neighbours_is_one_slip() {}
}
