//! Which of many lines a question is about: those that share its rare words, and the newest. No model, and whole numbers only.
//! Shared trigrams (`route/similarity`) say how alike two texts are as wholes, which a short question and a long answer never
//! are; here only what the question asks for counts, wherever it stands in a line.

/// What a line may be beyond its share of the question: letters, digits, and what joins them in names.
const JOINTS: [char; 3] = ['-', '_', '.'];

/// The most words of a question that are looked for: a bit each.
const WORDS_MAX: usize = 64;

/// The shortest word that is looked for; a shorter one only where a digit makes a name of it.
const WORD_CHARS_MIN: usize = 3;

/// Words that begin alike for so many letters are one word in another form, where no more than so many are left over.
const STEM_CHARS_MIN: usize = 4;
const ENDING_CHARS_MAX: usize = 3;

/// The most that a word's length adds to its weight.
const LENGTH_MAX: usize = 8;

/// The lines to tell within so many characters, as their positions: given newest first, the newest of them within their own
/// share of the room, then those that share most with the question, then what is left, again the newest first.
pub(super) fn chosen(question: &str, lines: &[String], (room, for_newest): (usize, usize)) -> Vec<usize> {
    let chars: Vec<usize> = lines.iter().map(|line| line.chars().count().saturating_add(1)).collect();
    let mut taken = vec![false; lines.len()];
    let mut left = room;
    let mut take = |at: usize, within: usize| {
        let (Some(chars), Some(taken)) = (chars.get(at).copied(), taken.get_mut(at)) else { return false };
        let fits = chars <= within.min(left);
        if fits && !std::mem::replace(taken, true) {
            left = left.saturating_sub(chars);
        }
        fits
    };
    let mut newest = for_newest;
    for (at, line) in lines.iter().enumerate() {
        if !take(at, newest) {
            break;
        }
        newest = newest.saturating_sub(line.chars().count().saturating_add(1));
    }
    let mut ranked: Vec<(std::cmp::Reverse<usize>, usize)> =
        scores(question, lines).into_iter().enumerate().map(|(at, score)| (std::cmp::Reverse(score), at)).collect();
    ranked.sort_unstable();
    for (_, at) in ranked {
        take(at, usize::MAX);
    }
    taken.iter().enumerate().filter_map(|(at, taken)| taken.then_some(at)).collect()
}

/// Whether a text repeats a word of this one that does not stand in the question already.
pub(super) fn repeats(text: &str, of: &str, question: &str) -> bool {
    let (text, of, question) = (text.to_lowercase(), of.to_lowercase(), question.to_lowercase());
    let is_asked = |word: &str| words(&question).any(|asked| is_the_same(asked, word));
    let telling = words(&of).filter(is_looked_for).filter(|word| !is_asked(word));
    let mut telling = telling.peekable();
    telling.peek().is_some() && telling.any(|word| words(&text).any(|said| is_the_same(word, said)))
}

/// How much each line shares with the question: the weights of the question's words in it. The rarer a word is among the
/// lines, and the longer, the more it weighs.
fn scores(question: &str, lines: &[String]) -> Vec<usize> {
    let question = question.to_lowercase();
    let mut wanted: Vec<&str> = words(&question).filter(is_looked_for).collect();
    wanted.sort_unstable();
    wanted.dedup();
    wanted.truncate(WORDS_MAX);
    let holds: Vec<u64> = lines.iter().map(|line| held(&wanted, &line.to_lowercase())).collect();
    let weights: Vec<usize> = wanted.iter().enumerate().map(|(at, word)| weight(word, at, &holds)).collect();
    let score =
        |held: &u64| weights.iter().enumerate().filter(|(at, _)| is_set(*held, *at)).map(|(_, weight)| weight).sum();
    holds.iter().map(score).collect()
}

fn weight(word: &str, at: usize, holds: &[u64]) -> usize {
    let holding = holds.iter().filter(|held| is_set(**held, at)).count();
    let rarity = holds.len().checked_div(holding).and_then(usize::checked_ilog2).unwrap_or_default();
    let length = word.chars().count().min(LENGTH_MAX);
    usize::try_from(rarity).unwrap_or_default().saturating_add(1).saturating_mul(length)
}

fn is_set(bits: u64, at: usize) -> bool {
    u32::try_from(at).ok().and_then(|at| bits.checked_shr(at)).is_some_and(|bits| bits & 1 == 1)
}

/// Which of these words a line holds, a bit each. Most words of a line begin with a letter that none of these begins with.
fn held(wanted: &[&str], line: &str) -> u64 {
    let begins = wanted.iter().fold(0, |begins, word| begins | beginning(word));
    let mut held = 0;
    for word in words(line) {
        if begins & beginning(word) == 0 {
            continue;
        }
        for (at, one) in wanted.iter().enumerate() {
            if is_the_same(one, word) {
                held |= u32::try_from(at).ok().and_then(|at| 1_u64.checked_shl(at)).unwrap_or_default();
            }
        }
    }
    held
}

/// The first byte of a word as a bit; those beyond ASCII share one.
fn beginning(word: &str) -> u128 {
    let first = word.as_bytes().first().copied().unwrap_or_default().min(127);
    1_u128.checked_shl(u32::from(first)).unwrap_or_default()
}

/// The words of a text, whole names among them, and then the parts of such a name: `db-3`, `db`, `3`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let whole =
        text.split(|c: char| !c.is_alphanumeric() && !JOINTS.contains(&c)).map(|word| word.trim_matches(JOINTS));
    whole.filter(|word| !word.is_empty()).flat_map(|word| {
        let parts = word.split(JOINTS).filter(move |part| part.len() < word.len() && !part.is_empty());
        std::iter::once(word).chain(parts)
    })
}

fn is_looked_for(word: &&str) -> bool {
    word.chars().nth(WORD_CHARS_MIN.saturating_sub(1)).is_some() || has_digit(word)
}

fn has_digit(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit())
}

/// Whether two words are one, or one in two forms: `restarted`, `restarting`. A name with a digit in it has one form.
fn is_the_same(wanted: &str, word: &str) -> bool {
    if wanted == word {
        return true;
    }
    if wanted.as_bytes().first() != word.as_bytes().first() || has_digit(wanted) || has_digit(word) {
        return false;
    }
    let common = wanted.chars().zip(word.chars()).take_while(|(a, b)| a == b).count();
    let (one, other) = (wanted.chars().count(), word.chars().count());
    let left = one.max(other).saturating_sub(common);
    common >= STEM_CHARS_MIN && (common == one.min(other) || left <= ENDING_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(question: &str, lines: &[&str], room: (usize, usize)) -> Vec<usize> {
        chosen(question, &lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>(), room)
    }

    #[test]
    fn words_are_one_in_other_forms_and_names_are_not() {
        let table = [
            ("restarted", "restarting", true),
            ("disk", "disks", true),
            ("cert", "certificate", true),
            ("web-1", "web-12", false),
            ("web", "webhook", false),
            ("nginx", "nginx", true),
            ("größe", "größen", true),
            ("load", "lost", false),
        ];
        for (a, b, same) in table {
            assert_eq!(is_the_same(a, b), same, "{a} / {b}");
            assert_eq!(is_the_same(b, a), same, "{b} / {a}");
        }
        assert_eq!(words("is db-3. up?").collect::<Vec<_>>(), ["is", "db-3", "db", "3", "up"]);
    }

    #[test]
    fn what_shares_rare_words_is_told_before_what_is_merely_newer() {
        let lines = ["the load is fine", "the load is high", "the load of db-3 was odd", "the load is low"];
        assert_eq!(told("what was that load on db-3", &lines, (25, 0)), [2]);
        assert_eq!(told("what was that load on db-3", &lines, (42, 17)), [0, 2], "and the newest keep their share");
        assert_eq!(told("something else", &lines, (34, 0)), [0, 1], "where nothing is shared, the newest");
        assert_eq!(told("load", &lines, (10, 10)), [0_usize; 0], "what does not fit is not there");
    }

    #[test]
    fn a_long_question_is_looked_for_by_its_first_words() {
        let words: Vec<String> = (0..100).map(|n| format!("word{n:03}")).collect();
        assert_eq!(told(&words.join(" "), &["x", "word000 word001"], (16, 0)), [1]);
    }
}
