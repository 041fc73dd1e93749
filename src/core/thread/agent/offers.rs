//! Which calls a model is offered: the eight that fit the question best, of those that whoever asks may make, and what
//! verifies an unverified change beside them (RAG-02, RAG-06, RAG-07).

use crate::env::Env;
use crate::mind::{Offer, OfferedArg};
use crate::port::Right;
use crate::text;
use crate::thread::State;
use crate::thread::request::Request;
use crate::thread::state::Turn;
use crate::tool::{ArgKind, ToolKind};

/// How many calls are offered (RAG-02).
const OFFERS_MAX: usize = 8;

/// The most characters of what a call, and of what an argument says of itself.
const ABOUT_CHARS_MAX: usize = 300;
const ARG_CHARS_MAX: usize = 160;

/// The calls that fit the question best, of those that whoever asks may make; each with what finds its target, and where a
/// change is not verified what verifies it.
pub(super) fn offers(turn: &Turn<'_>, request: &Request, ranked: &[String]) -> Vec<Offer> {
    let asker = request.signal.asker();
    let is_verifying = turn.state.fsm.state() == State::Verifying;
    let may = |name: &str, kind: ToolKind| {
        let right = Right::Request { kind, tool: Some(name.to_owned()), on: None, labels: Vec::new() };
        !(is_verifying && kind == ToolKind::Write) && turn.env.rights.may(&asker, &right)
    };
    let verify = turn.state.fsm.open_write().and_then(|open| turn.env.registry.named(&open.call));
    let verify = verify.and_then(|(_, _, spec)| spec.change.as_ref()).map(|change| change.verify.as_str());
    let mut chosen: Vec<&str> = verify.into_iter().collect();
    let most = OFFERS_MAX.saturating_add(chosen.len());
    for name in ranked {
        let Some((_, _, spec)) = turn.env.registry.named(name) else { continue };
        let needed = spec.resolve.as_deref().into_iter().chain([name.as_str()]);
        let needed: Vec<&str> = needed.filter(|name| !chosen.contains(name)).collect();
        if chosen.len() == most {
            break;
        }
        if chosen.len().saturating_add(needed.len()) <= most && may(name, spec.kind) {
            chosen.extend(needed);
        }
    }
    chosen.into_iter().filter_map(|name| offer(&turn.env, name)).collect()
}

fn offer(env: &Env<'_>, name: &str) -> Option<Offer> {
    let (_, _, spec) = env.registry.named(name)?;
    // A credential has its default, and nobody is asked for one.
    let args = spec.args.iter().filter(|(_, arg)| arg.kind != ArgKind::Credential).map(|(name, arg)| OfferedArg {
        name: name.clone(),
        about: text::cut(&arg.about, ARG_CHARS_MAX),
        kind: match arg.kind {
            ArgKind::Integer => "integer",
            ArgKind::Boolean => "boolean",
            ArgKind::Choice
            | ArgKind::Path
            | ArgKind::Text
            | ArgKind::Destination
            | ArgKind::Command
            | ArgKind::Credential
            | ArgKind::Content => "string",
        },
        choices: arg.choices.clone(),
        required: arg.required,
    });
    let args = args.collect();
    Some(Offer {
        name: name.to_owned(),
        about: text::cut(&spec.about, ABOUT_CHARS_MAX),
        target: spec.target.clone(),
        args,
    })
}
