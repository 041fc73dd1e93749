//! What untrusted text may look like when a person sees it: nothing invisible, nothing that moves a cursor or turns the
//! reading direction, no mass mention, a bounded length. Masking secrets is in `secrets/`; a platform's own markup is
//! its adapter's.

/// Names that wake a whole room: Discord's `@everyone` and `@here`, Matrix's `@room`.
const MASS_NAMES: [&str; 3] = ["everyone", "here", "room"];

/// Makes untrusted text safe to show. Newlines stay, a tab becomes four spaces, and every other control, bidirectional,
/// zero-width or otherwise invisible character is written as `\u{1b}`. What people write stays: accents, CJK, emoji.
///
/// An emoji needs invisible characters of its own, so two stay where they can do nothing else: a variation selector
/// (U+FE0E, U+FE0F) directly after a pictograph (or between a digit and U+20E3), and a joiner (U+200D) between two
/// pictographs.
///
/// A backslash is not doubled, so that paths and patterns stay readable. Therefore `escape(escape(x)) == escape(x)` for
/// every text, and `\u{1b}` in the result may also have been typed as these six characters.
pub fn escape(untrusted: &str) -> String {
    let mut shown = String::with_capacity(untrusted.len());
    let mut chars = untrusted.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => shown.push('\n'),
            '\t' => shown.push_str("    "),
            _ if !is_hidden(c) || belongs_to_emoji(shown.chars().next_back(), c, chars.peek().copied()) => {
                shown.push(c);
            }
            _ => shown.extend(c.escape_unicode()),
        }
    }
    shown
}

/// Untrusted text on one line of at most `chars_max` characters: escaped, newlines shown as `⏎`, cut with `…`.
pub fn one_line(untrusted: &str, chars_max: usize) -> String {
    // Every character becomes at least one, so that what lies beyond the limit need not be looked at.
    let enough: String = untrusted.chars().take(chars_max.saturating_add(1)).collect();
    cut(&escape(&enough).replace('\n', "⏎"), chars_max)
}

/// The text as the beginning of a sentence: its first letter is a capital.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect()
}

/// The text, or as much of its beginning as leaves room for `…`: never more than `chars_max` characters.
pub fn cut(text: &str, chars_max: usize) -> String {
    if text.chars().nth(chars_max).is_none() {
        return text.to_owned();
    }
    let Some(kept) = chars_max.checked_sub(1) else { return String::new() };
    text.chars().take(kept).chain(['…']).collect()
}

/// How deep the brackets of a JSON text go. It only counts, so that a text of any depth can be looked at before a parser
/// takes some stack for each level; of what is no JSON it says nothing.
pub fn json_depth(json: &str) -> usize {
    let (mut depth, mut deepest): (usize, usize) = (0, 0);
    let (mut in_text, mut is_escaped) = (false, false);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => depth = depth.saturating_add(1),
            b']' | b'}' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Whether a platform could take something in the text for a mention of everyone or of an account: `@everyone`,
/// `@here`, `@room` in any case and inside any word (Discord asks for no word boundary), or `<@...>`.
pub fn mentions_everyone(text: &str) -> bool {
    text.char_indices().any(|(at, _)| is_mention(text, at))
}

/// Makes mentions harmless and leaves them readable: `@everyone` becomes `@ everyone`, `<@12>` becomes `<@ 12>`.
/// The result is one that [`mentions_everyone`] denies.
pub fn defuse_mentions(text: &str) -> String {
    let mut harmless = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        harmless.push(c);
        if is_mention(text, at) {
            harmless.push(' ');
        }
    }
    harmless
}

/// Whether the character at this byte is the `@` of a mention.
fn is_mention(text: &str, at: usize) -> bool {
    let (Some(before), Some(rest)) = (text.get(..at), text.get(at..)) else { return false };
    let Some(name) = rest.strip_prefix('@') else { return false };
    let mass = |mass: &&str| name.get(..mass.len()).is_some_and(|head| head.eq_ignore_ascii_case(mass));
    let account = |c: char| c.is_alphanumeric() || matches!(c, '!' | '&');
    MASS_NAMES.iter().any(mass) || (before.ends_with('<') && name.starts_with(account))
}

/// Whether a character leaves no mark of its own on the screen, or changes how others are shown: Unicode's categories
/// Cc, Cf, Zl and Zp and its property `Default_Ignorable_Code_Point`. A test compares every character with Unicode's tables.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}'
            | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

fn belongs_to_emoji(before: Option<char>, c: char, after: Option<char>) -> bool {
    match c {
        '\u{fe0e}' | '\u{fe0f}' => {
            let keycap = before.is_some_and(|c| matches!(c, '0'..='9' | '#' | '*')) && after == Some('\u{20e3}');
            keycap || before.is_some_and(is_pictograph)
        }
        '\u{200d}' => before.is_some_and(|c| c == '\u{fe0f}' || is_pictograph(c)) && after.is_some_and(is_pictograph),
        _ => false,
    }
}

/// The blocks that hold emoji. A few of their characters are plain symbols, which does no harm here.
fn is_pictograph(c: char) -> bool {
    matches!(c,
        '©' | '®' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}'
        | '\u{2300}'..='\u{23ff}' | '\u{2460}'..='\u{24ff}' | '\u{25a0}'..='\u{27bf}' | '\u{2900}'..='\u{297f}'
        | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

/// How many typing mistakes lie between two words: letters put in, left out, changed, or two neighbours swapped.
pub fn mistakes(a: &str, b: &str) -> usize {
    mistakes_within(a, b, usize::MAX).unwrap_or_default()
}

/// The same; none, and sooner, where they are more than `most`.
pub fn mistakes_within(a: &str, b: &str, most: usize) -> Option<usize> {
    // As many letters as one is longer have to be put in.
    if a.chars().count().abs_diff(b.chars().count()) > most {
        return None;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i.saturating_add(1)];
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX);
            let replaced = at(&last, j).saturating_add(usize::from(x != y));
            let removed = at(&last, j.saturating_add(1)).saturating_add(1);
            let added = at(&row, j).saturating_add(1);
            let swapped = match (i.checked_sub(1), j.checked_sub(1)) {
                (Some(h), Some(k)) if a.get(h) == Some(y) && b.get(k) == Some(x) => at(&before, k).saturating_add(1),
                (Some(_) | None, _) => usize::MAX,
            };
            row.push(replaced.min(removed).min(added).min(swapped));
        }
        // What two rows leave is never less than the least of them.
        if row.iter().chain(&last).min().is_none_or(|least| *least > most) {
            return None;
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().filter(|mistakes| *mistakes <= most)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::Regex;

    use super::*;

    #[test]
    fn what_is_hidden_is_shown_and_the_rest_stays() {
        let table = [
            ("plain, with \"quotes\" and C:\\path", "plain, with \"quotes\" and C:\\path"),
            ("one\ttwo\nthree", "one    two\nthree"),
            ("\u{1b}[31mred\u{1b}[0m", "\\u{1b}[31mred\\u{1b}[0m"),
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("over\rwritten\u{8}", "over\\u{d}written\\u{8}"),
            ("\u{7f}\u{85}\u{9b}31m\0", "\\u{7f}\\u{85}\\u{9b}31m\\u{0}"),
            ("invoice\u{202e}fdp.exe", "invoice\\u{202e}fdp.exe"),
            ("a\u{200b}b\u{feff}c\u{ad}d\u{2066}e", "a\\u{200b}b\\u{feff}c\\u{ad}d\\u{2066}e"),
            ("hi\u{e0041}\u{e0001}", "hi\\u{e0041}\\u{e0001}"),
            ("a\u{fe0f}b 1\u{fe0f}2", "a\\u{fe0f}b 1\\u{fe0f}2"),
            ("Zoë größer 日本語 हिन्दी עברית", "Zoë größer 日本語 हिन्दी עברית"),
            ("❤\u{fe0f} 👩\u{200d}💻 1\u{fe0f}\u{20e3} 🇩🇪 👍🏽", "❤\u{fe0f} 👩\u{200d}💻 1\u{fe0f}\u{20e3} 🇩🇪 👍🏽"),
            ("❤\u{fe0f}\u{fe0f} 👩\u{200d}x", "❤\u{fe0f}\\u{fe0f} 👩\\u{200d}x"),
        ];
        for (given, expected) in table {
            assert_eq!(escape(given), expected, "{given:?}");
        }
    }

    #[test]
    fn every_character_is_judged_as_unicode_says() {
        let hidden = Regex::new(r"^[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]$").expect("sound");
        let mut buffer = [0; 4];
        for c in '\0'..=char::MAX {
            assert_eq!(is_hidden(c), hidden.is_match(c.encode_utf8(&mut buffer)), "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn one_line_and_cut_keep_their_limit() {
        let table = [
            ("short", 10, "short"),
            ("exactly", 7, "exactly"),
            ("one too many", 11, "one too ma…"),
            ("two\nlines", 20, "two⏎lines"),
            ("äöü日本", 4, "äöü…"),
            ("anything", 1, "…"),
            ("anything", 0, ""),
            ("\u{1b}x", 3, "\\u…"),
        ];
        for (given, chars_max, expected) in table {
            assert_eq!(one_line(given, chars_max), expected, "{given:?}");
        }
    }

    #[test]
    fn brackets_are_counted_where_they_nest() {
        let table = [
            ("1", 0),
            ("[]", 1),
            ("[[], {}]", 2),
            (r#"{"a": {"b": [1]}}"#, 3),
            (r#"{"[[": "]]", "c": "\"[[["}"#, 1),
            (r#"["\\", [[]]]"#, 3),
            ("]]][", 1),
        ];
        for (json, depth) in table {
            assert_eq!(json_depth(json), depth, "{json}");
        }
        assert_eq!(json_depth(&"[".repeat(1_000_000)), 1_000_000);
    }

    #[test]
    fn mentions_are_found_and_defused() {
        let table = [
            ("hello @everyone", "hello @ everyone"),
            ("@Here and @ROOM", "@ Here and @ ROOM"),
            ("x@everyoney", "x@ everyoney"),
            ("<@123> <@!123> <@&123>", "<@ 123> <@ !123> <@ &123>"),
        ];
        for (given, expected) in table {
            assert!(mentions_everyone(given), "{given}");
            assert_eq!(defuse_mentions(given), expected);
        }
        for harmless in
            ["ops@example.org", "@ everyone", "everyone", "a <@ b", "<@", "@", "@her", "日本@語", "@ev\u{200b}eryone"]
        {
            assert!(!mentions_everyone(harmless), "{harmless}");
            assert_eq!(defuse_mentions(harmless), harmless);
        }
    }

    /// Text that is rich in what has to be escaped.
    fn hostile() -> impl Strategy<Value = String> {
        let odd = prop::sample::select(vec![
            '\u{1b}',
            '\t',
            '\n',
            '\r',
            '\u{200d}',
            '\u{fe0f}',
            '\u{fe0e}',
            '\u{202e}',
            '\u{e0061}',
            '👩',
            '❤',
            '1',
            '\u{20e3}',
            '@',
            '<',
            'h',
            'e',
            'r',
            '\\',
        ]);
        prop::collection::vec(prop_oneof![odd, any::<char>()], 0..40).prop_map(|chars| chars.into_iter().collect())
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left_but_newlines_and_the_joints_of_emoji(text in hostile()) {
            let shown = escape(&text);
            let mut before = 'a';
            for c in shown.chars() {
                let joint = matches!(c, '\u{fe0e}' | '\u{fe0f}' | '\u{200d}') && !matches!(before, 'a'..='z' | '\u{200d}');
                prop_assert!(c == '\n' || joint || !is_hidden(c), "{c:?} in {shown:?}");
                let doubled = is_hidden(c) && is_hidden(before) && c != '\n' && before != '\n';
                prop_assert!(!doubled || (before, c) == ('\u{fe0f}', '\u{200d}'), "{c:?} after {before:?}");
                before = c;
            }
        }

        #[test]
        fn escaping_twice_is_escaping_once(text in hostile()) {
            let once = escape(&text);
            prop_assert_eq!(escape(&once), once);
        }

        #[test]
        fn a_cut_never_exceeds_and_keeps_the_beginning(text in hostile(), chars_max in 0_usize..50) {
            let short = cut(&text, chars_max);
            prop_assert!(short.chars().count() <= chars_max);
            prop_assert!(short == text || text.starts_with(short.trim_end_matches('…')));
            let line = one_line(&text, chars_max);
            prop_assert!(line.chars().count() <= chars_max && !line.contains('\n'));
        }

        #[test]
        fn what_is_defused_mentions_nobody(text in "[@<>!& a]{0,6}(@everyone|@HERE|<@1>|@@room|<@@here>)[@<>eh ]{0,6}") {
            prop_assert!(mentions_everyone(&text));
            let harmless = defuse_mentions(&text);
            prop_assert!(!mentions_everyone(&harmless), "{harmless}");
            prop_assert!(!mentions_everyone(&one_line(&harmless, 12)));
        }
    }

    #[test]
    fn mistakes_are_counted_as_a_hand_makes_them() {
        let table = [
            ("usgae", "usage", 1),
            ("", "abc", 3),
            ("abc", "", 3),
            ("abc", "abc", 0),
            ("kitten", "sitting", 3),
            ("ü", "u", 1),
            ("stoer", "store", 1),
        ];
        for (typed, meant, expected) in table {
            assert_eq!(mistakes(typed, meant), expected, "{typed} / {meant}");
            for most in 0..4 {
                let within = (expected <= most).then_some(expected);
                assert_eq!(mistakes_within(typed, meant, most), within, "{typed} / {meant} within {most}");
            }
        }
    }
}
