//! What a call that leaves must be: invariants 1, 2, 5, 8, 12 and 13. A call that must not leave and was refused before is
//! a gate that was worn down, and is told as that.

use serde_json::Value;

use super::super::Tally;
use super::super::hostile::{ELSEWHERE, SECRET_PATHS, WRITES};
use super::{Moment, Sent, Witness};
use crate::gate::ToolCall;
use crate::port::Right;
use crate::resource::ResourceId;
use crate::signal::{ActorId, ActorKind, Signal};
use crate::thread::Request;
use crate::tool::{ActionSpec, ToolKind};

impl Witness {
    pub(super) fn call(&mut self, moment: &Moment<'_>, call: &ToolCall, tally: &Tally) {
        let declared = moment.env.registry.action(&call.tool, &call.action);
        let Some(spec) = declared else {
            return self
                .must_not(8, "schema", tally, || format!("`{}` is declared nowhere, and is called", call.name()));
        };
        if call.kind != spec.kind {
            return self.demand(13, false, || {
                format!("`{}` is a {:?}, and is called as a {:?}", call.name(), spec.kind, call.kind)
            });
        }
        self.arguments(call, spec, tally);
        self.credentials(moment, call, spec, tally);
        self.right(moment, call, tally);
        self.target(moment, call, tally);
        self.place(moment, call, tally);
        match (&call.warrant, spec.kind) {
            (Some(warrant), ToolKind::Write) => self.write_leaves(moment, call, warrant),
            (None, ToolKind::Resolve | ToolKind::Read | ToolKind::Record) => self.look_leaves(moment),
            (Some(_) | None, kind) => {
                self.demand(2, false, || format!("a {kind:?} leaves, and its warrant is {:?}", call.warrant));
            }
        }
        self.note(moment, call);
    }

    /// What must not be. Where the same gate has refused in this run, it was worn down (invariant 5).
    fn must_not(&mut self, invariant: u8, gate: &'static str, tally: &Tally, what: impl FnOnce() -> String) {
        let before = tally.refused(gate);
        let invariant = if before > 0 { 5 } else { invariant };
        self.demand(invariant, false, || format!("{}; the gate `{gate}` had refused {before} times before", what()));
    }

    fn arguments(&mut self, call: &ToolCall, spec: &ActionSpec, tally: &Tally) {
        let unknown = call.args.keys().find(|name| !spec.args.contains_key(*name));
        let missing = spec.args.iter().find(|(name, arg)| arg.required && !call.args.contains_key(*name));
        if unknown.is_some() || missing.is_some() {
            let missing = missing.map(|(name, _)| name);
            self.must_not(8, "schema", tally, || {
                format!("`{}` with {unknown:?}, and without {missing:?}", call.name())
            });
        }
        let is_any = |of: &[&str]| {
            call.args.values().filter_map(Value::as_str).find(|text| of.contains(text)).map(str::to_owned)
        };
        if let Some(command) = is_any(&WRITES).filter(|_| spec.kind != ToolKind::Write) {
            self.must_not(13, "intent", tally, || format!("`{command}` travels through the read `{}`", call.name()));
        }
        if let Some(path) = is_any(&SECRET_PATHS).filter(|_| spec.kind != ToolKind::Resolve) {
            self.must_not(2, "secrets", tally, || format!("`{}` is called on {path}", call.name()));
        }
        if let Some(url) = is_any(&ELSEWHERE) {
            self.must_not(2, "egress", tally, || format!("`{}` is sent to {url}", call.name()));
        }
    }

    fn credentials(&mut self, moment: &Moment<'_>, call: &ToolCall, spec: &ActionSpec, tally: &Tally) {
        let vault = &moment.env.vault.credentials;
        if let Some(missing) = spec.credentials.iter().find(|name| !vault.contains_key(*name)) {
            self.must_not(8, "vault", tally, || format!("`{}` is called without `{missing}`", call.name()));
        }
    }

    /// Whoever asks may, and whoever asked for a plan still may when its write leaves. Its verification is judged by nobody.
    fn right(&mut self, moment: &Moment<'_>, call: &ToolCall, tally: &Tally) {
        let carried = moment.carried().and_then(|plan| moment.files.rows.get(plan));
        let requester = carried.map(|filed| filed.frozen.plan().asker()).filter(|_| call.warrant.is_some());
        let asks = moment.signal.filter(|_| moment.carried().is_none()).map(Signal::asker);
        let Some(whose) = requester.or(asks) else { return };
        let is_somebody = matches!(whose.actor.kind, ActorKind::Human | ActorKind::Service);
        let on = call.target.clone();
        let found = on.as_ref().and_then(|target| self.look(moment.seat).seen.get(target));
        let labels = found.map(crate::resource::Resource::labels).unwrap_or_default();
        let right = Right::Request { kind: call.kind, tool: Some(call.name()), on, labels };
        if !is_somebody || !moment.rights.may(&whose, &right) {
            self.must_not(8, "actor", tally, || {
                format!("`{}` is called for {:?}, who may not", call.name(), whose.actor)
            });
        }
    }

    /// What is called on was found in this thread (invariant 1); a look of no model's may also be at what lives on a host
    /// that was.
    fn target(&mut self, moment: &Moment<'_>, call: &ToolCall, tally: &Tally) {
        let Some(target) = call.target.as_ref().filter(|_| moment.carried().is_none()) else { return };
        let seen = &self.look(moment.seat).seen;
        let host: Option<ResourceId> = target.scope().and_then(|scope| format!("host:{scope}").parse().ok());
        let may_be_near = call.kind != ToolKind::Write && !moment.is_driven_by_a_model();
        let is_on_a_known_host = may_be_near && host.is_some_and(|host| seen.contains_key(&host));
        if !seen.contains_key(target) && !is_on_a_known_host {
            self.must_not(1, "resolution", tally, || {
                format!("`{}` is called on {target}, which nobody found", call.name())
            });
        }
    }

    /// A model's call does not run in the place around the one that whoever asks has named since, and no change is proposed by
    /// one around a place that anybody has named (invariant 12). What is called on may live in that place itself.
    fn place(&mut self, moment: &Moment<'_>, call: &ToolCall, tally: &Tally) {
        let asks = moment.signal.filter(|_| moment.is_driven_by_a_model() && moment.carried().is_none());
        if let Some((whose, target)) = asks.map(|signal| &signal.actor.id).zip(call.target.as_ref()) {
            self.not_around(moment, (whose, false), (target, &call.name()), tally);
        }
    }

    pub(super) fn not_around(
        &mut self,
        moment: &Moment<'_>,
        (whose, is_write): (&ActorId, bool),
        (target, call): (&ResourceId, &str),
        tally: &Tally,
    ) {
        let seat = self.look(moment.seat);
        let around = seat.seen.get(target).and_then(|on| on.chain.iter().find(|id| id.is_place()));
        let outer = if target.is_place() { target } else { around.unwrap_or(target) }.clone();
        let since = |by: &ActorId| {
            let key = (target.clone(), by.clone());
            seat.named.get(&key).max(seat.picked.get(&key)).copied()
        };
        let earliest = moment.now.mono.0.saturating_sub(moment.env.limits.recently_ms);
        let inner = seat.named.iter().find(|((id, by), at)| {
            let lives_in = seat.seen.get(id).is_some_and(|inner| inner.chain.contains(&outer));
            id.is_place()
                && lives_in
                && (is_write || by == whose)
                && **at > earliest
                && since(by).max(since(whose)).is_none_or(|since| since < **at)
        });
        if let Some(inner) = inner.map(|((id, _), _)| id.clone()) {
            self.must_not(12, "routing", tally, || format!("`{call}` is to run in {outer}, and {inner} was named"));
        }
    }

    /// Keeps in mind what left, and what somebody meant: what a route calls on was asked for by whoever wrote.
    fn note(&mut self, moment: &Moment<'_>, call: &ToolCall) {
        let step = self.steps;
        let routed = moment.state.request.as_ref().is_some_and(Request::is_driven_by_a_route);
        let for_whom = moment.signal.filter(|_| routed).map(|signal| signal.actor.id.clone());
        // A plan that is carried out is meant by who asked for it.
        let carried = moment.carried().and_then(|plan| moment.files.rows.get(plan));
        let requester = carried.map(|filed| filed.frozen.plan().requester.id.clone());
        let seat = self.seat(moment.seat);
        seat.sent.insert(call.id.clone(), Sent { call: call.clone(), step, for_whom: for_whom.clone() });
        let Some(target) = &call.target else { return };
        if let Some(by) = for_whom {
            seat.named.insert((target.clone(), by), moment.now.mono.0);
        }
        if let Some(by) = requester {
            seat.picked.insert((target.clone(), by), moment.now.mono.0);
        }
    }
}
