//! What the bot says about budgets: what was used today and what is left, and that a request ends because nothing is.

use std::collections::BTreeSet;

use crate::answer;
use crate::env::Env;
use crate::gate::Refusal;
use crate::port::{Block, TableColumn};
use crate::resource::Resource;
use crate::text;
use crate::thread::Fact;
use crate::thread::prefetch::{Mention, brief};
use crate::thread::request::Request;
use crate::thread::sight::Sight;
use crate::thread::state::Turn;
use crate::usage::{Line, Measure, Whose};

use super::{line, refused, sentence};

/// Used today, the limit and what is left, for the one who asks, this room and the team.
pub(in crate::thread) fn budget(env: &Env<'_>) -> Vec<Block> {
    let Some(spent) = env.spent else {
        return sentence(format!("What was used today cannot be read now. {FREE}"));
    };
    let title = |title: &str, right: bool| TableColumn { title: title.to_owned(), right };
    let words = ["whose", "what"].map(|word| title(word, false));
    let numbers = ["used today", "limit a day", "left"].map(|word| title(word, true));
    let columns = words.into_iter().chain(numbers).collect();
    let rows = env.budgets.lines(spent).iter().map(|line| row(env, line)).collect();
    let anew = answer::time(spent.day.over_at());
    let limits = if env.budgets.is_any() {
        let percent = env.budgets.background_percent;
        format!("The next day begins at {anew}. Work that nobody waits for may use {percent}% of each limit.")
    } else {
        format!("No budget is set, so that there is no limit. The next day begins at {anew}.")
    };
    vec![line(limits), Block::Table { columns, rows }, line(FREE.to_owned())]
}

/// What no budget touches.
const FREE: &str =
    "Only a model uses tokens: set commands, approvals and rules cost nothing, and no budget stops them.";

fn row(env: &Env<'_>, line: &Line) -> Vec<String> {
    let whose = match line.whose {
        Whose::Person => "you",
        Whose::Room => "this room",
        Whose::Team => "the team",
    };
    let (what, amount): (_, &dyn Fn(u64) -> String) = match line.measure {
        Measure::Tokens => ("tokens", &|tokens| tokens.to_string()),
        Measure::Cost => ("cost", &|micros| env.budgets.amount(Measure::Cost, micros)),
    };
    let limit = line.limit.map_or_else(|| "no limit".to_owned(), amount);
    let left = line.left().map_or_else(|| "-".to_owned(), amount);
    vec![whose.to_owned(), what.to_owned(), amount(line.used), limit, left]
}

/// What there is of a request that may not go on: first that it ends and why, then what it has found.
pub(in crate::thread) fn stopped(turn: &Turn<'_>, request: &Request, refusal: &Refusal) -> Vec<Block> {
    let mut blocks = refused(refusal, turn.env.mask);
    let used = request.budget.spent();
    let (tokens, cost) = (used.tokens(), turn.env.budgets.amount(Measure::Cost, used.cost_micros));
    let looked_at: BTreeSet<_> = request.sources.iter().filter_map(|source| source.target.clone()).collect();
    let found: Vec<Mention> = looked_at.into_iter().map(Mention::Fuzzy).collect();
    let sight = Sight::of(turn, request.signal.asker());
    let may_tell = |resource: &Resource, fact: &Fact| sight.sees_fact(fact, resource);
    let found = brief(&found, &turn.state.resolved, &turn.state.knowledge, may_tell);
    if found.is_empty() {
        blocks.push(line(format!("This request used {tokens} tokens ({cost}) and has found nothing yet.")));
    } else {
        blocks.push(line(format!("This request used {tokens} tokens ({cost}). What it has found so far:")));
        blocks.push(Block::Code { text: text::defuse_mentions(&turn.env.mask.apply(found.trim_end())) });
    }
    blocks
}
