//! A line that does nearly the same and ends (EXE-20). Only a hint: it is judged again before anybody sees it (EXE-21).

use super::line::quoted;
use super::script::{Script, Word};
use super::table::{Rewrite, Runs, Tools, Usage};
use super::{args, output};

/// The line to run instead, where the script is one plain command that has one.
pub(super) fn suggest(tools: &Tools, script: &Script) -> Option<String> {
    let [only] = script.commands.as_slice() else {
        return None;
    };
    if !only.settings.is_empty() {
        return None;
    }
    let words: Option<Vec<&str>> = only.words.iter().map(Word::known).collect();
    let (chain, head) = output::resolve(tools, &only.words)?;
    apply(chain.first()?, &chain, &words?, head)
}

fn apply(usage: &Usage, chain: &[&Usage], words: &[&str], head: usize) -> Option<String> {
    let rest: Vec<Word> = words.get(head..)?.iter().map(|word| Word::from(*word)).collect();
    let parsed = args::parse(chain, &rest, false);
    let operands = || parsed.operands.iter().filter_map(|(_, word)| word.known()).map(str::to_owned);
    match usage.rewrite.as_ref()? {
        Rewrite::Instead(line) => Some(line.clone()),
        Rewrite::InsteadWithOperands(line) => {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).chain(operands()).collect();
            (parsed.operands.len() == 1).then(|| quoted(&words))
        }
        Rewrite::Inner => {
            let skip = match usage.runs? {
                Runs::Argv(skip) | Runs::Line(skip) => skip,
                Runs::AfterDashes => return None,
            };
            let (at, _) = parsed.operands.get(skip)?;
            let inner: Vec<String> = words.get(head + at..)?.iter().map(|word| (*word).to_owned()).collect();
            // One word is a line of its own, with its quotes off already.
            if let [line] = inner.as_slice() { Some(line.clone()) } else { Some(quoted(&inner)) }
        }
        Rewrite::Change { drop, add } => {
            let mut kept: Vec<Option<String>> = rest.iter().map(|word| word.known().map(str::to_owned)).collect();
            for given in parsed.options.iter().filter(|given| drop.contains(&given.name)) {
                drop_option(&mut kept, given);
            }
            let missing = add.iter().filter(|option| {
                let name = option.first().map_or("", String::as_str);
                let name = name.split('=').next().unwrap_or(name);
                !parsed.has(name) && !also_known_as(name).is_some_and(|other| parsed.has(other))
            });
            let start = words.get(..head)?.iter().map(|word| (*word).to_owned());
            let all: Vec<String> = start.chain(missing.flatten().cloned()).chain(kept.into_iter().flatten()).collect();
            Some(quoted(&all))
        }
    }
}

fn drop_option(kept: &mut [Option<String>], given: &args::Given<'_>) {
    let Some(slot) = kept.get_mut(given.at) else {
        return;
    };
    let letter = given.name.trim_start_matches('-');
    *slot = match slot.take() {
        Some(word) if given.clustered => {
            let without = word.replacen(letter, "", 1);
            (without.len() > 1).then_some(without)
        }
        _ => None,
    };
    if let Some(slot) = given.value_at.and_then(|at| kept.get_mut(at)) {
        *slot = None;
    }
}

/// Short and long names of the bounds that rewrites add.
fn also_known_as(name: &str) -> Option<&'static str> {
    match name {
        "-n" => Some("--lines"),
        "--lines" => Some("-n"),
        "--since" => Some("-S"),
        "--tail" => Some("-n"),
        "-c" => Some("--count"),
        _ => None,
    }
}
