//! What the calls of the last answer came back with, for whoever may make them: `sources` (UX-01).

use crate::answer;
use crate::port::Block;
use crate::signal::Wall;
use crate::text;
use crate::thread::outputs::Output;
use crate::thread::request::Request;
use crate::thread::sight::Sight;
use crate::thread::state::Turn;

use super::{line, sentence};

/// Each call with its target, its time and what came back.
pub(in crate::thread) fn sources(turn: &Turn<'_>, request: &Request) -> Vec<Block> {
    let outputs = &turn.state.outputs;
    if outputs.is_empty() {
        return sentence("No answer of this thread rests on a reading that I still have.");
    }
    let left_out = outputs.left_out();
    let older = (left_out > 0).then(|| line(format!("The {left_out} calls before these are not kept.")));
    let sight = Sight::of(turn, request.signal.asker());
    older.into_iter().chain(outputs.iter().flat_map(|output| blocks(&sight, output))).collect()
}

fn blocks(sight: &Sight<'_>, output: &Output) -> Vec<Block> {
    if !may(sight, output) {
        return sentence("A call is not shown, because you may not ask for it.");
    }
    let on = output.target.as_ref().map(|target| format!(" of {}", text::one_line(target.as_str(), 120)));
    let at = match output.observed_at {
        0 => String::new(),
        at => format!(" at {}", answer::time(Wall(at))),
    };
    let failed = if output.ok { "" } else { ", which did not work" };
    let head = format!("{}{}{at}{failed}", output.by.call, on.unwrap_or_default());
    vec![line(format!("{head}:")), Block::Code { text: output.text.clone() }]
}

/// Whoever may have the call made may see what came of it; and of a discovery, whoever may see each thing that it found.
fn may(sight: &Sight<'_>, output: &Output) -> bool {
    sight.sees_what_came(Some(&output.by), output.target.as_ref(), &output.labels)
        && output.named.iter().all(|(id, labels)| sight.sees_what_came(None, Some(id), labels))
}
