//! Ingress normalisation: what is the same question should look the same (SIG-15). The original is kept beside it, since
//! paths, ids and SQL are case-sensitive.

/// The most characters of a message that a route looks at; a longer message is no command.
const CHARS_MAX: usize = 2_000;

/// Words of courtesy before a question. They change nothing.
const BEFORE: [&str; 22] = [
    "please ",
    "pls ",
    "hey ",
    "hi ",
    "hello ",
    "ok ",
    "so ",
    "can you ",
    "could you ",
    "would you ",
    "now ",
    "countersign, ",
    "kindly ",
    "hi, ",
    "hey, ",
    "hello, ",
    "good morning, ",
    "good evening, ",
    "be so kind to ",
    "be so kind and ",
    "be so good to ",
    "be so good and ",
];

/// Words of courtesy before something that somebody wants to see. What follows is no change.
const BEFORE_A_LOOK: [&str; 4] = ["show me ", "tell me ", "give me ", "let me see "];

/// And after it.
const AFTER: [&str; 7] = [" right now", " please", " pls", " plz", " thanks", " thank you", " now"];

/// After a request only: a reason or a file's content may end so.
const AFTER_REQUEST: [&str; 3] = [" for me", " rn", " asap"];

/// The first words of messages that end in a person's own words.
const OWN_WORDS: [&str; 10] =
    ["approve", "countersign", "deny", "reject", "cancel", "append", "write", "add", "replace", "put"];

/// How a follow-up begins: it belongs to what was just talked about (CAS-03).
const FOLLOW_UP: [&str; 3] = ["and ", "also ", "then "];

/// The same where something is to be looked at.
const FOLLOW_UP_LOOK: [&str; 4] = ["what about ", "how about ", "same for ", "the same for "];

/// Short forms at the beginning, and the words that they stand for.
const SHORT_FORMS: [(&str, &str); 9] = [
    ("whats ", "what is "),
    ("what's ", "what is "),
    ("what’s ", "what is "),
    ("whos ", "who is "),
    ("who's ", "who is "),
    ("who’s ", "who is "),
    ("hows ", "how is "),
    ("how's ", "how is "),
    ("wheres ", "where is "),
];

/// A message as a route sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// Trimmed, white space evened out, courtesies off; the case is as typed.
    pub text: String,
    /// The same in ASCII lower case, byte for byte as long, so that a span found in one is a span of the other.
    pub lower: String,
    /// Whether it began like a follow-up; those words are off.
    pub follow_up: bool,
    /// Whether somebody wants to see something: what is said is no change then.
    pub wants_to_see: bool,
    /// Whether it was longer than a route looks at, so that its end is missing.
    pub is_cut: bool,
    /// Untouched: what is to be written somewhere is taken from here.
    pub original: String,
}

/// Normalises a message.
pub fn hear(original: &str) -> Heard {
    let evened = original.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut text: String = evened.chars().take(CHARS_MAX).collect();
    let is_cut = text.len() < evened.len();
    let before = strip_courtesy(&mut text);
    let is_look = strip_before(&mut text, &FOLLOW_UP_LOOK);
    let follow_up = is_look || strip_before(&mut text, &FOLLOW_UP);
    let behind = strip_courtesy(&mut text);
    spell_out(&mut text);
    let lower = text.to_ascii_lowercase();
    Heard { text, lower, follow_up, wants_to_see: before || is_look || behind, is_cut, original: original.to_owned() }
}

fn spell_out(text: &mut String) {
    let lower = text.to_ascii_lowercase();
    if let Some((short, whole)) = SHORT_FORMS.iter().find(|(short, _)| lower.starts_with(short)) {
        text.replace_range(..short.len(), whole);
    }
}

/// Whether a word stands for what was last spoken of.
pub fn is_pronoun(word: &str) -> bool {
    const PRONOUNS: [&str; 12] = [
        "it",
        "that",
        "this",
        "them",
        "that one",
        "this one",
        "that process",
        "this process",
        "the process",
        "that service",
        "this service",
        "the service",
    ];
    PRONOUNS.contains(&word.to_ascii_lowercase().as_str())
}

/// Takes courtesies off. Returns whether somebody wants to see something.
fn strip_courtesy(text: &mut String) -> bool {
    let mut wants_to_see = false;
    loop {
        if strip_before(text, &BEFORE_A_LOOK) {
            wants_to_see = true;
        } else if !strip_before(text, &BEFORE) {
            break;
        }
    }
    let end = text.trim_end_matches(['?', '!']).trim_end().len();
    text.truncate(end);
    strip_full_stop(text);
    while strip_after(text, &AFTER) {}
    let first = text.split(' ').next().unwrap_or_default().to_ascii_lowercase();
    if !OWN_WORDS.contains(&first.as_str()) {
        while strip_after(text, &AFTER_REQUEST) {}
    }
    wants_to_see
}

/// A full stop at the end of a sentence goes; one in a path or a file name stays.
fn strip_full_stop(text: &mut String) {
    let last = text.rsplit(' ').next().unwrap_or_default();
    if last.ends_with('.') && !last.contains('/') {
        text.truncate(text.trim_end_matches('.').len());
    }
}

fn strip_before(text: &mut String, words: &[&str]) -> bool {
    let lower = text.to_ascii_lowercase();
    let Some(word) = words.iter().find(|word| lower.starts_with(**word)) else {
        return false;
    };
    text.drain(..word.len());
    true
}

fn strip_after(text: &mut String, words: &[&str]) -> bool {
    let lower = text.to_ascii_lowercase();
    let Some(word) = words.iter().find(|word| lower.ends_with(**word)) else {
        return false;
    };
    text.truncate(text.len().saturating_sub(word.len()));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_question_looks_the_same() {
        let table = [
            ("  Disk   usage? ", "Disk usage", false),
            ("please show /var/log/Syslog.", "show /var/log/Syslog.", false),
            ("Can you please show memory, thanks!", "show memory,", false),
            ("show memory please.", "show memory", false),
            ("stop cron for me rn", "stop cron", false),
            ("deny 12 this is not right for me", "deny 12 this is not right for me", false),
            ("whats the load right now?", "what is the load", false),
            ("and the disk?", "the disk", true),
            ("what about processes", "processes", true),
            ("ÄÖ İ show", "ÄÖ İ show", false),
            ("", "", false),
        ];
        for (original, text, follow_up) in table {
            let heard = hear(original);
            assert_eq!((heard.text.as_str(), heard.follow_up), (text, follow_up), "{original:?}");
            assert_eq!(heard.text.len(), heard.lower.len(), "{original:?}");
        }
    }

    #[test]
    fn whoever_wants_to_see_something_is_told_from_whoever_wants_it_done() {
        for see in ["show me disk", "please tell me the load", "what about cron", "and show me disk", "how about it"] {
            assert!(hear(see).wants_to_see, "{see}");
        }
        for other in ["please restart cron", "can you restart cron?", "and restart cron", "restart cron"] {
            assert!(!hear(other).wants_to_see, "{other}");
        }
    }

    #[test]
    fn a_long_message_is_known_to_be_cut_and_blanks_make_none_long() {
        assert!(hear(&"word ".repeat(500)).is_cut);
        let padded = hear(&format!("restart{}webapp2", " ".repeat(3_000)));
        assert_eq!((padded.text.as_str(), padded.is_cut), ("restart webapp2", false));
    }
}
