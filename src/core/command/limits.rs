//! What is refused before any parser sees it: lines that are too long, that hold control characters, or that nest so
//! deep that a parser could run out of stack (C-62). Counted in bytes and levels, never in time.

/// The longest line that is looked at, in bytes (BENCH.md, shell parsers).
pub const LINE_BYTES_MAX: usize = 8 * 1024;

/// How deep brackets of all kinds may nest. Operators come to 6 or so; jq programs to 15.
const NESTING_MAX: usize = 40;

/// How many of the words that open a block (`if`, `case`, `do`) a line may hold: blocks are refused, but parsed first.
const BLOCKS_MAX: usize = 60;

/// How many pipes, lists and background jobs a line may hold, quoted ones (patterns, jq) among them.
const OPERATORS_MAX: usize = 300;

/// How many backquotes and quotes a line may hold.
const QUOTES_MAX: usize = 1_000;

/// Why a line is not looked at, in words for people.
pub(super) fn problem(line: &str) -> Option<String> {
    if line.len() > LINE_BYTES_MAX {
        return Some(format!("the command is longer than {LINE_BYTES_MAX} bytes"));
    }
    if let Some(odd) = line.chars().find(|c| is_odd(*c)) {
        return Some(format!("`{}` is a control or look-alike character", odd.escape_unicode()));
    }
    let count = |wanted: &[char]| line.chars().filter(|c| wanted.contains(c)).count();
    let blocks = line.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| opens_block(word)).count();
    let too_much = deepest(line) > NESTING_MAX
        || blocks > BLOCKS_MAX
        || line.split_ascii_whitespace().filter(|word| *word == "!").count() > NESTING_MAX
        || count(&['|', '&', ';', '\n']) > OPERATORS_MAX
        || count(&['\'', '"']) > QUOTES_MAX
        || count(&['`']) > NESTING_MAX;
    too_much.then(|| "the command is too deeply nested to be judged".to_owned())
}

/// Control characters but tab and line feed; characters that show as nothing or turn the direction of text; and blanks
/// that only look like blanks, which a shell takes for letters.
fn is_odd(c: char) -> bool {
    match c {
        '\t' | '\n' => false,
        '\u{a0}' | '\u{ad}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' => true,
        '\u{205f}'..='\u{206f}' | '\u{3000}' | '\u{feff}' | '\u{1680}' | '\u{180e}' => true,
        c => c.is_control(),
    }
}

fn opens_block(word: &str) -> bool {
    matches!(word, "if" | "elif" | "case" | "do" | "then" | "function" | "select" | "coproc" | "time")
}

/// The deepest level of brackets, quoted ones among them: what a parser might take them for is not known yet.
fn deepest(line: &str) -> usize {
    let mut level = 0_usize;
    let mut deepest = 0;
    for c in line.chars() {
        match c {
            '(' | '{' | '[' => level += 1,
            ')' | '}' | ']' => level = level.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(level);
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_operators_type_passes() {
        let jq = r"kubectl get pods -A -o json | jq '[.items[] | {ns: .metadata.namespace, r: ([.status.containerStatuses[]?.restartCount] | add)}] | sort_by(.r)'";
        for line in ["ls -la", jq, "echo 'ä ö ü €'", "for i in 1 2; do\n\techo $i\ndone"] {
            assert_eq!(problem(line), None, "{line}");
        }
    }

    #[test]
    fn what_could_break_a_parser_does_not() {
        let nested = ["(", "$(", "{ ", "${a:-", "`", "$((", "<(", "[[ ( ", "if true; then ", "case a in a) ", "! "];
        let mut hostile: Vec<String> = nested.iter().map(|piece| piece.repeat(200)).collect();
        hostile.push("a|".repeat(400));
        hostile.push(format!("echo {}", "'".repeat(2_000)));
        hostile.push(format!("echo {}", "a".repeat(9_000)));
        for odd in ["\0", "\r", "\u{1b}", "\u{a0}", "\u{202e}", "\u{200b}", "\u{7f}", "\u{85}"] {
            hostile.push(format!("ls{odd}rm"));
        }
        for line in hostile {
            assert!(problem(&line).is_some(), "{line:.40}");
        }
    }
}
