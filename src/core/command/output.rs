//! What a command prints, as far as its table says: numbers, names, or the words that stand in the line. Only so can a
//! later command that is fed with it be known to get no option from it.

use super::args::{self, Parsed};
use super::script::{Feed, Word};
use super::table::{self, Output, OutputRule, Sub, Usage};

/// The sub-command that `words` (a program and its arguments) come to, with what it belongs to, and the place of its own
/// first word. `None` where a word on the way is not known.
pub(super) fn resolve<'t>(tools: &'t table::Tools, words: &[Word]) -> Option<(Vec<&'t Usage>, usize)> {
    let name = words.first()?.known()?.rsplit('/').next()?;
    let mut usage = tools.get(name)?;
    let mut chain = vec![usage];
    let mut head = 1;
    while usage.has_subs() {
        let parsed = args::parse(&chain, words.get(head..)?, true);
        let Some((at, Word::Known(sub))) = parsed.operands.first() else {
            break;
        };
        match usage.sub(sub) {
            Sub::Usage(next) => {
                usage = next;
                chain.insert(0, next);
            }
            Sub::Group => {}
            Sub::Writes(..) | Sub::Strange => break,
        }
        head += at + 1;
    }
    Some((chain, head))
}

/// What these words print, when they are fed with `input`.
pub(super) fn of(words: &[Word], input: Feed) -> Feed {
    if let [Word::Known(name), rest @ ..] = words
        && matches!(name.as_str(), "echo" | "printf")
    {
        return of_echo(name, rest);
    }
    let Some((chain, head)) = resolve(table::shipped(), words) else {
        return Feed::Unknown;
    };
    let Some(usage) = chain.first().copied() else {
        return Feed::Unknown;
    };
    let parsed = args::parse(&chain, words.get(head..).unwrap_or_default(), false);
    let sure = parsed.strange.is_empty() && parsed.unseen.is_empty();
    match (&usage.output, &usage.passes) {
        (Some(rule), _) if sure && holds(rule, &parsed) => match rule.kind {
            Output::Numbers => Feed::Numbers,
            Output::Names => Feed::Names,
        },
        (_, Some((options, operands))) if sure && passes(options, *operands, &parsed) => input,
        _ => Feed::Unknown,
    }
}

/// What stands in the line itself, with no escape that could turn into something else.
fn of_echo(name: &str, words: &[Word]) -> Feed {
    let safe = |c: char| c.is_ascii_alphanumeric() || " _./:@+=,-".contains(c);
    let plain = |word: &Word| match word {
        Word::Known(text) => !text.starts_with('-') && !text.contains(" -") && text.chars().all(safe),
        Word::Unseen(unseen) => unseen.number && unseen.plain,
    };
    let words = match (name, words) {
        ("printf", [Word::Known(format), rest @ ..]) if matches!(format.as_str(), "%s\\n" | "%s ") => rest,
        (_, words) => words,
    };
    match words {
        [] => Feed::Nothing,
        words if words.iter().all(plain) => Feed::Literal,
        _ => Feed::Unknown,
    }
}

fn holds(rule: &OutputRule, parsed: &Parsed<'_>) -> bool {
    let is_given = |need: &String| {
        let operand = parsed.operands.iter().any(|(_, word)| word.known() == Some(need));
        let pair = need.split_once('=').is_some_and(|(name, value)| {
            parsed
                .options
                .iter()
                .any(|given| given.name == name && given.value.as_ref().and_then(Word::known) == Some(value))
        });
        operand || pair || parsed.has(need)
    };
    // A value with blanks or escapes could be a separator that looks like an option (`pgrep -d`).
    let odd = parsed.options.iter().any(|given| match &given.value {
        Some(Word::Known(value)) => {
            value.contains(|c: char| c.is_whitespace() || matches!(c, '\\' | '%'))
                && !rule.needs.iter().any(|need| need.ends_with(value.as_str()))
        }
        Some(Word::Unseen(unseen)) => !unseen.number,
        None => false,
    });
    let explains = ["--help", "-h", "--version", "-V"].iter().any(|name| parsed.has(name));
    let only = rule.with.is_empty() || parsed.options.iter().all(|given| rule.with.contains(&given.name));
    let few = rule.operands_max.is_none_or(|max| parsed.operands.len() <= max);
    few && only && !odd && !explains && (rule.needs.is_empty() || rule.needs.iter().any(is_given))
}

fn passes(options: &[String], operands: usize, parsed: &Parsed<'_>) -> bool {
    parsed.options.iter().all(|given| options.contains(&given.name)) && parsed.operands.len() <= operands
}
