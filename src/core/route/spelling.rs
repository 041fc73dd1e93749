//! Misspelt words: the one known word that a word was probably meant to be. Used to suggest a whole command with the
//! person's own paths and names in it; never to run one.

use std::collections::BTreeSet;

use super::phrases::reverses_meaning;
use crate::text::mistakes_within;

/// Shorter words are left alone: too many others are near them.
const CHARS_MIN: usize = 3;

/// Names of programs and users: some are words of phrases too, some are near to one, and none is misspelt.
const NAMES: &str = "apache apache2 bash bind chrony chronyd cron crond dnsmasq docker dockerd fail2ban firewalld gunicorn haproxy \
    httpd mariadb memcached mongod mysql mysqld named nginx node ntp ntpd php podman postfix postgres postgresql python rabbitmq \
    redis root rsyslog samba squid ssh sshd syslog systemd traefik ufw unbound varnish";

/// The shortest word of a phrase that a misspelt word is taken for: many short words are near to each other.
const PHRASE_WORD_CHARS_MIN: usize = 4;

/// Words that would mean something else if they were mended.
const TAKEN_AS_TYPED: [&str; 5] = ["enable", "disable", "reload", "ping", "nobody"];

/// The words that intents are written with.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownWords {
    /// Words of the examples. They win over others that are equally near.
    pub examples: BTreeSet<String>,
    /// All others.
    pub others: BTreeSet<String>,
}

impl KnownWords {
    /// Returns whether a word stands in phrases or reverses a meaning, so that it is no name.
    pub(super) fn is_no_name(&self, word: &str) -> bool {
        reverses_meaning(word) || (self.others.contains(word) && !is_name(word))
    }

    /// Returns whether it is one of them.
    fn has(&self, word: &str) -> bool {
        self.examples.contains(word) || self.others.contains(word)
    }
}

/// The text with every misspelt word replaced, or nothing where none was. Words with digits or path characters are
/// arguments, not words.
pub(super) fn corrected(text: &str, vocabulary: &KnownWords) -> Option<String> {
    let mut changed = false;
    let words: Vec<String> = text
        .split(' ')
        .map(|word| match nearest(word, vocabulary) {
            Some(better) => {
                changed = true;
                better.to_owned()
            }
            None => word.to_owned(),
        })
        .collect();
    changed.then(|| words.join(" "))
}

fn is_name(word: &str) -> bool {
    NAMES.split_ascii_whitespace().any(|name| name == word)
}

/// Shorter names are too near to too many words.
const NAME_CHARS_MIN: usize = 5;

/// Returns whether a name is rather a known word with a typing mistake.
pub(super) fn is_misspelt(name: &str, vocabulary: &KnownWords) -> bool {
    name.chars().count() >= NAME_CHARS_MIN && nearest(name, vocabulary).is_some()
}

fn nearest<'a>(word: &str, vocabulary: &'a KnownWords) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let is_word = lower.chars().all(char::is_alphabetic) && lower.chars().count() >= CHARS_MIN;
    let is_taken = is_name(&lower) || reverses_meaning(&lower) || TAKEN_AS_TYPED.contains(&lower.as_str());
    if !is_word || is_taken || vocabulary.has(&lower) {
        return None;
    }
    let allowed = if lower.chars().count() >= 7 { 2 } else { 1 };
    let near = |(rank, known): (usize, &'a String)| {
        let is_long = rank == 0 || known.len() >= PHRASE_WORD_CHARS_MIN;
        let is_word = is_long && known.chars().all(char::is_alphabetic);
        Some((is_word.then(|| mistakes_within(&lower, known, allowed))??, rank, known))
    };
    let known = vocabulary.examples.iter().map(|word| (0, word));
    let mut near: Vec<(usize, usize, &String)> =
        known.chain(vocabulary.others.iter().map(|word| (1, word))).filter_map(near).collect();
    near.sort();
    match near.as_slice() {
        [] => None,
        [(_, _, only)] => Some(only),
        // Two words equally near are ambiguous, unless one is the plural of the other.
        [first, second, ..] => {
            let is_nearer = (first.0, first.1) < (second.0, second.1) || second.2.starts_with(first.2.as_str());
            is_nearer.then_some(first.2.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_words_are_mended_and_arguments_left_alone() {
        let examples = ["disk", "usage", "memory", "lines", "last", "process", "processes", "enabled", "status"];
        let others = ["starts"].map(str::to_owned).into();
        let vocabulary = KnownWords { examples: examples.map(str::to_owned).into(), others };
        let table = [
            ("disk usgae", Some("disk usage")),
            ("memmory", Some("memory")),
            ("lats 20 lines of /var/log/sylsog", Some("last 20 lines of /var/log/sylsog")),
            ("disk usage", None),
            ("proces 12", Some("process 12")),
            ("write me a poem", None),
            ("enable usage", None),
            ("not usage on prod", None),
            ("stauts", Some("status")),
            ("how many proceses", Some("how many process")),
        ];
        for (typed, expected) in table {
            assert_eq!(corrected(typed, &vocabulary).as_deref(), expected, "{typed}");
        }
    }
}
