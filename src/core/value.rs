//! Whether a value is one for machines - an id, a hash, a path, a command - and so stands as code, where it can be copied by
//! a tap and no part of it is taken for a link. One guess for every platform, about looks alone: nothing depends on it.

/// Shorter hexadecimal words are as likely to be words.
const HASH_CHARS_MIN: usize = 7;

/// Whether the value is for machines: all its words are, or it is a command line.
pub fn is_technical(value: &str) -> bool {
    if value.contains('\n') {
        return false;
    }
    let words: Vec<&str> = value.split_whitespace().map(bare).collect();
    !words.is_empty() && (words.iter().all(|word| is_technical_word(word)) || is_command(&words))
}

/// A word without the brackets and commas around it.
fn bare(word: &str) -> &str {
    word.trim_start_matches('(').trim_end_matches([',', ')'])
}

fn is_technical_word(word: &str) -> bool {
    let number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '%' | '+' | '-');
    if word.chars().all(number) {
        return word.matches('.').count() > 1;
    }
    let joined = |c: char| matches!(c, '/' | ':' | '_' | '\\' | '=' | '@' | '.');
    let inner = word.trim_end_matches([':', '.']);
    is_hash(word) || inner.char_indices().any(|(at, c)| joined(c) && (at > 0 || c == '/') && inner.len() > 1)
}

fn is_hash(word: &str) -> bool {
    word.len() >= HASH_CHARS_MIN
        && word.chars().all(|c| c.is_ascii_hexdigit())
        && word.chars().any(|c| c.is_ascii_digit())
}

/// A program by its path, or a word with a flag behind it.
fn is_command(words: &[&str]) -> bool {
    let flag = |word: &&str| word.len() > 1 && word.starts_with('-') && !word.starts_with("- ");
    match words {
        [program, rest @ ..] => program.starts_with('/') || (!program.ends_with(':') && rest.iter().any(flag)),
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_machines_read_is_told_from_what_people_read() {
        let technical = [
            "/var/log/nginx",
            "/usr/bin/sleep 600",
            "process:vm:4711-1630208",
            "50d14e8689216ebb8ec8c865127c8b79 (bf41ec45e6a5)",
            "host_process.stop",
            "10.0.0.7",
            "nginx -g daemon",
            "web-1.example.org",
        ];
        for value in technical {
            assert!(is_technical(value), "{value}");
        }
        let plain = [
            "",
            "medium",
            "it is gone",
            "36%",
            "3.5",
            "58.5 GiB",
            "2026-11-22 03:33:52 UTC",
            "asked by root: stop process 4711",
            "text, 25 bytes",
            "done.",
            "one\n/two",
            "-",
        ];
        for value in plain {
            assert!(!is_technical(value), "{value}");
        }
    }
}
