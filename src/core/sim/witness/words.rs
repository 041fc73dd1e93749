//! What may be said, asked and left unsaid: invariants 2 (nothing of a secret leaves), 3 (nothing final while a change is
//! not verified), 6 (no read is refused by the workflow), 9, 10 and 11.

use super::super::Tally;
use super::super::hostile::SECRET_VALUE;
use super::{Moment, Witness, words};
use crate::answer;
use crate::approval::PlanState;
use crate::effect::Audit;
use crate::mind::{Ask, Situation};
use crate::port::{Claim, Mark, Outgoing, Right};
use crate::resource::{Resource, ResourceId};
use crate::signal::Signal;
use crate::tool::ToolKind;

impl Witness {
    pub(super) fn posted(&mut self, moment: &Moment<'_>, n: u32, message: &Outgoing) {
        let seat = self.seat(moment.seat);
        seat.answered_for.insert(message.answers.clone());
        let is_new = seat.posted.insert((message.answers.clone(), n));
        self.demand(7, is_new, || format!("the message {n} of {} was posted twice", message.answers));
        self.shown(message);
        self.claimed(moment, &message.claim);
        self.shows_nothing_hidden(moment, message);
        let recorded = self.look(moment.seat).recorded.contains(&message.answers);
        self.demand(9, message.mark != Mark::Refused || recorded, || {
            format!("refused and not recorded: {}", answer::plain(&message.blocks))
        });
    }

    /// Whatever people are shown, also for a moment.
    pub(super) fn shown(&mut self, message: &Outgoing) {
        let text = answer::plain(&message.blocks);
        self.demand(2, !text.contains(SECRET_VALUE), || format!("a secret is shown: {text}"));
        let lie = self.lies.iter().find(|lie| text.contains(lie.as_str())).cloned();
        self.demand(11, lie.is_none(), || format!("a lie is shown: {lie:?}"));
    }

    /// The answer to a discovery names nothing that it found and whoever asked may not see.
    fn shows_nothing_hidden(&mut self, moment: &Moment<'_>, message: &Outgoing) {
        let seat = self.look(moment.seat);
        let is_list = matches!(&message.claim, Claim::Readings { .. })
            && seat
                .answered
                .as_ref()
                .is_some_and(|(sent, _)| sent.call.kind == ToolKind::Resolve && sent.for_whom.is_some());
        // What somebody wrote themselves may be said back to them.
        let Some(asked) = moment.signal.and_then(words).filter(|_| is_list) else { return };
        let text = answer::plain(&message.blocks);
        let is_called_so =
            |name: &str| moment.state.resolved.iter().any(|one| one.name == name && !seat.hidden.contains_key(&one.id));
        let mut shown = text.split_whitespace().map(|word| word.trim_matches(|c: char| ",.;:()|“”`".contains(c)));
        let is_hidden = |word: &&str| seat.hidden.values().any(|name| name == word);
        let shown = shown.find(|word| is_hidden(word) && !is_called_so(word) && !asked.contains(*word));
        let shown = shown.map(str::to_owned);
        self.demand(8, shown.is_none(), || format!("{shown:?} is shown, which whoever asked may not see: {text}"));
    }

    fn claimed(&mut self, moment: &Moment<'_>, claim: &Claim) {
        match claim {
            Claim::Nothing => {}
            Claim::Readings { sources, unverified } => {
                let read = &self.look(moment.seat).read;
                let unread = sources
                    .iter()
                    .find(|source| !read.iter().any(|(call, target)| (call, target) == (&source.call, &source.target)));
                let unread = unread.cloned();
                self.demand(11, unread.is_none() && !sources.is_empty(), || {
                    format!("claimed and not read: {unread:?}")
                });
                let rows = moment.files.rows.values();
                let mut open =
                    rows.filter(|row| row.frozen.plan().thread == *moment.key() && row.state().holds_target());
                let hidden = open.next().filter(|_| unverified.is_none()).map(|row| row.id().clone());
                self.demand(3, hidden.is_none(), || format!("a final answer, and {hidden:?} is not verified"));
            }
            Claim::Change { plan, outcome, .. } => {
                let state = moment.files.rows.get(plan).map(crate::approval::Filed::state);
                self.demand(11, state == Some(PlanState::Verified(*outcome)), || {
                    format!("{plan} is claimed to be {outcome:?}, and is {state:?}")
                });
            }
        }
    }

    /// A model is asked: never with a secret, and never for what is routed (invariant 10), unless that was answered without
    /// it: what failed is told, and a model may say more.
    pub(super) fn asked(&mut self, moment: &Moment<'_>, ask: &Ask) {
        let told = texts(&ask.situation).find(|text| text.contains(SECRET_VALUE)).cloned();
        self.demand(2, told.is_none(), || format!("a secret is told to a model: {told:?}"));
        let answered = &self.look(moment.seat).answered_for;
        let unanswered = moment.signal.filter(|signal| !answered.contains(&signal.id));
        let routed = unanswered.and_then(words).filter(|words| self.routed.contains(*words)).map(str::to_owned);
        self.demand(10, routed.is_none(), || format!("`{routed:?}` is routed, and a model is asked"));
        let talks = moment.signal.is_some_and(|signal| moment.rights.may(&signal.asker(), &Right::Talk));
        self.demand(8, talks, || format!("a model is asked for {:?}, who may not talk", moment.signal));
        self.sees_only_what_it_may(moment, &ask.situation);
        self.tells_nothing_hidden(moment, ask);
    }

    /// RAG-06: of what the thread knows, a model is told what whoever asks may see.
    fn sees_only_what_it_may(&mut self, moment: &Moment<'_>, situation: &Situation) {
        let Some(signal) = moment.signal else { return };
        let is_told_of = |id: &ResourceId| {
            let lines = [&situation.targets, &situation.since].into_iter().flatten();
            let told = lines.filter_map(|line| line.split_whitespace().next()).any(|first| first == id.as_str());
            told || situation.known.iter().any(|line| line.starts_with(&format!("{id}:")))
        };
        let known = moment.state.resolved.iter();
        let told = known
            .filter(|known| is_told_of(&known.id))
            .find(|known| !may_see(moment, signal, known))
            .map(|known| &known.id);
        self.demand(8, told.is_none(), || {
            format!("a model is told of {told:?} for {}, who may not see it", signal.actor.id)
        });
    }

    /// Keeps in mind what a discovery found and whoever asked for it may not see.
    pub(super) fn hides(&mut self, moment: &Moment<'_>) {
        let Some(signal) = moment.signal else { return };
        let seat = self.seat(moment.seat);
        let Some((_, envelope)) = seat.answered.as_ref().filter(|(sent, _)| sent.call.kind == ToolKind::Resolve) else {
            return;
        };
        // What was seen once stays told: nobody can take it back.
        let (open, hidden): (Vec<_>, Vec<_>) =
            envelope.resources().into_iter().partition(|found| may_see(moment, signal, found));
        seat.open.extend(open.into_iter().map(|found| found.id));
        seat.hidden.extend(hidden.into_iter().map(|found| (found.id, found.name)));
        seat.hidden.retain(|id, _| !seat.open.contains(id));
    }

    /// What a discovery found and is hidden is told to no model as found, and shown as a reading to nobody.
    fn tells_nothing_hidden(&mut self, moment: &Moment<'_>, ask: &Ask) {
        let hidden = &self.look(moment.seat).hidden;
        let is_found =
            |call: &str| moment.env.registry.named(call).is_some_and(|(_, _, spec)| spec.kind == ToolKind::Resolve);
        let found = ask.situation.exchanges.iter().filter(|one| one.ok && is_found(&one.call));
        let told = found
            .flat_map(|one| one.result.split_whitespace())
            .find_map(|word| hidden.keys().find(|id| id.as_str() == word));
        let told = told.cloned();
        self.demand(8, told.is_none(), || format!("a model is told that {told:?} was found, for who may not see it"));
    }

    pub(super) fn recorded(&mut self, moment: &Moment<'_>, audit: &Audit, tally: &mut Tally) {
        let Some(code) = audit.code else { return };
        self.seat(moment.seat).recorded.insert(audit.signal.clone());
        if audit.call.contains('.') {
            tally.refuse(audit.gate);
        }
        let kind = moment.env.registry.named(&audit.call).map(|(_, _, spec)| spec.kind);
        let is_look = matches!(kind, Some(ToolKind::Read | ToolKind::Resolve));
        self.demand(6, audit.gate != "workflow" || !is_look, || {
            format!("the workflow refuses the read `{}`: {code}, {}", audit.call, audit.detail)
        });
        let leaks = audit.detail.contains(SECRET_VALUE);
        self.demand(2, !leaks, || format!("a secret is recorded: {}", audit.detail));
    }
}

fn may_see(moment: &Moment<'_>, signal: &Signal, resource: &Resource) -> bool {
    let (on, labels) = (Some(resource.id.clone()), resource.labels());
    moment.rights.may(&signal.asker(), &Right::Request { kind: ToolKind::Read, tool: None, on, labels })
}

/// Every text of what a model is told.
fn texts(situation: &Situation) -> impl Iterator<Item = &String> {
    let Situation { question, unverified, targets, known, earlier, since, exchanges, .. } = situation;
    let exchanged = exchanges.iter().flat_map(|one| [&one.call, &one.args, &one.result].into_iter().chain(&one.target));
    std::iter::once(question).chain(unverified).chain(targets).chain(known).chain(earlier).chain(since).chain(exchanged)
}
