//! The state of a thread as a whole, the joint reset, and the hand that every part of a step works with.

use crate::approval::{Desk, Due, Filed, PlanId, PlanState};
use crate::effect::{Audit, Count, Effect, Ending};
use crate::env::Env;
use crate::gate::{Ctx, Judged, Refusal, judge_post};
use crate::port::{Block, Choice, Claim, Lane, Mark, Outgoing, Right, Visibility};
use crate::signal::{ActorKind, Now, QuestionId, Signal, SignalId};
use crate::usage::{Origin, Spent};

use super::follow_up::LastAsked;
use super::link::WrongCodes;
use super::link_news::LinkNews;
use super::outputs::Outputs;
use super::procedure::Procedure;
use super::request::Request;
use super::talk::{self, Talk};
use super::{Entities, Fsm, Knowledge, Named, ResolvedContext};

/// What picking a choice does.
#[derive(Clone, Debug)]
pub(crate) enum Resume {
    /// Runs this procedure.
    Procedure(Box<Procedure>),
    /// Routes these words as if they had been typed.
    Words(String),
}

/// A question that waits for somebody to pick.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub id: QuestionId,
    /// Who was asked, as a person: nobody else's pick counts, because what it leads to is theirs.
    pub to: String,
    /// The words that led to the question.
    pub asked: String,
    pub choices: Vec<(String, Resume)>,
}

/// What is left of a request: from where on its calls and messages have numbers that nothing else of it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub signal: SignalId,
    pub again: bool,
    pub next_call: u32,
    pub next_post: u32,
}

/// Everything a thread knows. Private inside: the gates read it through `Ctx`, and only a step changes it.
#[derive(Debug, Default)]
pub struct ThreadState {
    pub(crate) fsm: Fsm,
    pub(crate) resolved: ResolvedContext,
    pub(crate) knowledge: Knowledge,
    pub(crate) entities: Entities,
    pub(crate) talk: Talk,
    /// The paths that people have named here.
    pub(crate) named: Named,
    /// The domain that was last talked about (CAS-03).
    pub(crate) sticky: Option<String>,
    /// How many requests there were.
    pub(crate) turn: u64,
    pub(crate) request: Option<Request>,
    pub(crate) question: Option<Question>,
    /// The numbers of the request that ended last: where the step that ended it is not stored, it goes on with them.
    pub(crate) ended: Option<Ended>,
    /// The judgements of the last request, for `why`.
    pub(crate) last_judged: Vec<Judged>,
    /// What the calls of the last answer came back with, for `sources`.
    pub(crate) outputs: Outputs,
    /// The thread's plans.
    pub(crate) desk: Desk,
    /// Wrong codes that were typed here. No reset forgets them.
    pub(crate) wrong_codes: WrongCodes,
    pub(crate) link_news: LinkNews,
    /// The plan whose card was shown again last.
    pub(super) shown_again: Option<super::decision::ShownAgain>,
    /// The last reading, for `again` and `more`.
    pub(crate) last_asked: LastAsked,
    /// Whether an account that nobody is known by was told here how to begin.
    pub(crate) told_how_to_begin: bool,
}

impl ThreadState {
    /// Whether a request is being worked on. While one is, the thread takes no further signal.
    pub const fn is_busy(&self) -> bool {
        self.request.is_some()
    }

    /// The workflow, to look at.
    pub const fn fsm(&self) -> &Fsm {
        &self.fsm
    }

    /// The resolved context, to look at.
    pub const fn resolved(&self) -> &ResolvedContext {
        &self.resolved
    }

    /// Whether a plan of this thread is open.
    pub fn has_open_plans(&self) -> bool {
        !self.desk.open().is_empty()
    }

    /// Whether the thread has heard of this plan.
    pub fn knows_plan(&self, plan: &PlanId) -> bool {
        self.desk.get(plan).is_some()
    }

    /// Returns the plan if it waits for a decision and its time is over.
    pub fn undecided_in_time(&self, plan: &PlanId, now: Now) -> Option<&Filed> {
        let filed = self.desk.get(plan).filter(|filed| filed.state() == PlanState::Pending);
        filed.filter(|_| self.desk.is_expired(plan, now))
    }

    /// The plan that time will move next, and when. The one that is being worked on is left alone.
    pub fn next_due(&self) -> Option<(Due, PlanId)> {
        self.desk.next_due(self.request.as_ref().and_then(|request| request.carrying.as_ref()))
    }

    /// The joint reset: context and workflow together, or not at all (RES-17). Returns whether something was kept. An
    /// open write stays open, and its target stays known, so that it can still be verified.
    pub(crate) fn reset(&mut self, keep_pinned: bool) -> bool {
        #[cfg(test)]
        if crate::step::broken::is(crate::step::broken::Break::Reset) {
            self.fsm = Fsm::default();
        }
        let kept = self.resolved.clear(keep_pinned, self.fsm.open_write().map(|write| &write.target));
        if kept {
            self.fsm.reset_keep_progress();
        } else {
            self.fsm.reset();
            self.knowledge = Knowledge::default();
        }
        self.last_asked = LastAsked::Nothing;
        self.entities.clear();
        self.outputs = Outputs::default();
        self.last_judged = Vec::new();
        self.talk = Talk::default();
        self.named = Named::default();
        self.question = None;
        self.sticky = None;
        kept
    }
}

/// One step in the making: the world, the state, and the effects so far.
pub(crate) struct Turn<'a> {
    pub env: Env<'a>,
    pub now: Now,
    pub state: ThreadState,
    pub effects: Vec<Effect>,
    /// What was used today, this step included.
    pub spent: Option<Spent>,
}

impl<'a> Turn<'a> {
    pub(crate) fn new(env: Env<'a>, now: Now, state: ThreadState) -> Self {
        Self { env, now, state, effects: Vec::new(), spent: env.spent.copied() }
    }

    /// Raises a counter.
    pub(crate) fn count(&mut self, name: &'static str, labels: &[(&'static str, &str)]) {
        let labels = labels.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        self.effects.push(Effect::Count(Count { name, labels }));
    }

    /// Writes an audit row about a signal. Its texts are masked here, once, for every row (REJ-04).
    pub(crate) fn audit(&mut self, what: &'static str, signal: &Signal, about: AuditAbout<'_>) {
        self.effects.push(Effect::Audit(Audit {
            what,
            signal: signal.id.clone(),
            thread: signal.thread.clone(),
            actor: signal.actor.clone(),
            gate: about.refusal.map_or("", |refusal| refusal.gate),
            code: about.refusal.map(|refusal| refusal.code),
            call: self.env.mask.apply(about.call).into_owned(),
            target: about.target.map(|target| self.env.mask.apply(target).into_owned()),
            plan: about.plan.map(|filed| (filed.id().clone(), filed.frozen.digest().clone())),
            detail: self.env.mask.apply(about.detail).into_owned(),
            recovery: about.recovery.map(str::to_owned),
        }));
    }

    /// Says something in answer to the request, through the outgoing gates. What they refuse is counted, audited, and
    /// replaced by a sentence that claims and shows nothing (invariant 9).
    /// False where that happened.
    pub(crate) fn say(&mut self, request: &mut Request, mark: Mark, claim: Claim, blocks: Vec<Block>) -> bool {
        self.say_to(request, Visibility::Everybody, (mark, claim), blocks)
    }

    /// Refuses what the request asks for, and claims nothing. Where it was pressed and not said, that is nobody else's
    /// business.
    pub(super) fn say_no(&mut self, request: &mut Request, mark: Mark, blocks: Vec<Block>) {
        let signal = &request.signal;
        let whom = signal.payload.is_press().then(|| Visibility::Only(signal.actor.id.clone()));
        self.say_to(request, whom.unwrap_or_default(), (mark, Claim::Nothing), blocks);
    }

    fn say_to(
        &mut self,
        request: &mut Request,
        visibility: Visibility,
        (mark, mut claim): (Mark, Claim),
        mut blocks: Vec<Block>,
    ) -> bool {
        self.say_what_is_unverified(&mut claim, &mut blocks);
        if request.again && request.next_post == 0 {
            blocks.insert(0, super::say::asked_before(&request.signal, self.env.mask));
        }
        blocks.extend(self.why_unasked(request));
        blocks.extend(super::grants::has_fallen(&self.effects).then(super::say::grants::fallen));
        let post = Outgoing { visibility: visibility.clone(), ..outgoing(request, mark, claim, blocks) };
        let (message, whole) = match judge_post(post, &self.ctx(request), &request.sources) {
            Ok(message) => {
                if visibility.is_everybody() {
                    talk::note(request, &message.get().claim, &message.get().blocks);
                }
                (message, true)
            }
            Err(refusal) => {
                self.on_post_refused(request, &refusal);
                let sentence = super::say::withheld(&refusal);
                let blocks = vec![Block::Text { text: sentence }];
                let plain = Outgoing { visibility, ..outgoing(request, Mark::Refused, Claim::Nothing, blocks) };
                match judge_post(plain, &self.ctx(request), &[]) {
                    Ok(message) => (message, false),
                    // A fixed sentence that no gate objects to; were it refused after all, silence is the safe end.
                    Err(_) => return false,
                }
            }
        };
        self.effects.push(Effect::Post { n: request.post_number(), message });
        whole
    }

    /// A reading may be shown while a change is not verified, but never without saying that first (C-06).
    fn say_what_is_unverified(&mut self, claim: &mut Claim, blocks: &mut Vec<Block>) {
        if let (Claim::Readings { unverified, .. }, Some(open)) = (claim, self.state.fsm.open_write()) {
            *unverified = Some(open.target.clone());
            blocks.insert(0, super::say::plans::still_unverified(&open.call, open.target.as_str()));
            self.count_final_block();
        }
    }

    /// An answer met the workflow's rule for answers (TEL-02).
    pub(super) fn count_final_block(&mut self) {
        let state = self.state.fsm.state().as_str();
        self.count("fsm_final_block_total", &[("state", state)]);
    }

    /// With the first message about a plan that nobody was asked about, why that is so.
    fn why_unasked(&self, request: &Request) -> Option<Block> {
        let filed = self.state.desk.get(request.carrying.as_ref().filter(|_| request.next_post == 0)?)?;
        let decided = filed.standing.decided.as_ref().filter(|decided| decided.signal == request.signal.id)?;
        super::say::grants::unasked(decided, self.env.ledger)
    }

    /// Asks a question with choices and ends the request: waiting is a state, not a task.
    pub(crate) fn ask(&mut self, request: Request, question: &str, choices: Vec<(Choice, Resume)>) {
        let blocks = vec![super::say::line(question.to_owned())];
        self.offer(request, (Mark::Question, Claim::Nothing, blocks), choices);
    }

    /// Says this with choices below it, where there are any, and ends the request.
    pub(super) fn offer(
        &mut self,
        mut request: Request,
        (mark, claim, mut blocks): (Mark, Claim, Vec<Block>),
        choices: Vec<(Choice, Resume)>,
    ) {
        blocks.extend(self.choices(&request, choices));
        self.say(&mut request, mark, claim, blocks);
        self.finish(request, Ending::Answered);
    }

    /// Makes the choices, where there are any, what the asker may pick from next. They replace those of an earlier message.
    pub(super) fn choices(&mut self, request: &Request, choices: Vec<(Choice, Resume)>) -> Option<Block> {
        let id = QuestionId::new(format!("{:032x}", self.now.seed ^ u128::from(request.turn)));
        let (shown, resumes): (Vec<_>, Vec<_>) = choices.into_iter().map(|(c, r)| (c.clone(), (c.label, r))).unzip();
        let to = self.env.rights.person(&request.signal.thread.platform, &request.signal.actor);
        if shown.is_empty() {
            return None;
        }
        self.state.question = Some(Question { id: id.clone(), to, asked: request.words(), choices: resumes });
        Some(Block::Choices { question: id, choices: shown })
    }

    /// Ends the request. What it did stays for `why`; the words of one that is set aside are not looked at.
    pub(crate) fn finish(&mut self, mut request: Request, ending: Ending) {
        if ending != Ending::Interrupted {
            talk::keep(self, &request);
            self.note_paths(&request);
        }
        self.give_up_what_waits(&mut request);
        let Request { again, next_call, next_post, .. } = request;
        self.state.ended = Some(Ended { signal: request.signal.id.clone(), again, next_call, next_post });
        if !request.judged.is_empty() {
            self.state.last_judged = request.judged;
        }
        if !request.outputs.is_empty() {
            self.state.outputs = request.outputs;
        }
        self.effects.push(Effect::Finish { signal: request.signal.id, ending });
    }

    /// Notes the paths in what a person wrote who may talk here. What a machine wrote names nothing.
    fn note_paths(&mut self, request: &Request) {
        let is_person = request.signal.actor.kind == ActorKind::Human;
        if is_person && self.env.rights.may(&request.signal.asker(), &Right::Talk) {
            self.state.named.note(&request.signal.payload.words());
        }
    }

    /// What was begun for a request and has not answered is wanted no more. A question to a model was used all the same, as
    /// far as anybody can know.
    pub(crate) fn give_up_what_waits(&mut self, request: &mut Request) {
        let (calls, asked) = (request.open_readings(), request.asked.take());
        request.waiting.retain(|id, _| !calls.contains(id));
        if let Some(usage) = asked {
            self.count_use(&request.signal, Origin::Model, usage);
        }
        if !calls.is_empty() || asked.is_some() {
            self.effects.push(Effect::GiveUp { calls, asks: asked.is_some() });
        }
    }

    pub(crate) fn ctx<'b>(&'b self, request: &'b Request) -> Ctx<'b>
    where
        'a: 'b,
    {
        Ctx {
            env: self.env,
            now: self.now,
            signal: &request.signal,
            fsm: &self.state.fsm,
            resolved: &self.state.resolved,
            budget: &request.budget,
            spent: self.spent.as_ref(),
            effects: &self.effects,
            desk: &self.state.desk,
            carrying: request.carrying.as_ref(),
            offered: &request.offered,
            named: &self.state.named,
        }
    }

    pub(super) fn on_post_refused(&mut self, request: &Request, refusal: &Refusal) {
        self.count("gate_block_total", &[("gate", refusal.gate), ("code", refusal.code.as_str()), ("tool", "message")]);
        if refusal.gate == "workflow" {
            self.count_final_block();
        }
        let about =
            AuditAbout { call: "message", detail: &refusal.message, refusal: Some(refusal), ..AuditAbout::default() };
        self.audit("refused", &request.signal, about);
    }
}

/// An answer to a request, for everybody in its thread.
pub(super) fn outgoing(request: &Request, mark: Mark, claim: Claim, blocks: Vec<Block>) -> Outgoing {
    let has_choices = blocks.iter().any(|block| matches!(block, Block::Choices { .. } | Block::Card { .. }));
    let lane = if has_choices { Lane::Decision } else { Lane::Answer };
    let (to, answers) = (request.signal.thread.clone(), request.signal.id.clone());
    Outgoing { to, answers, mark, lane, visibility: Visibility::Everybody, claim, blocks }
}

/// What an audit row is about.
#[derive(Clone, Copy, Default)]
pub(crate) struct AuditAbout<'a> {
    pub call: &'a str,
    pub target: Option<&'a str>,
    pub detail: &'a str,
    pub recovery: Option<&'a str>,
    pub refusal: Option<&'a Refusal>,
    pub plan: Option<&'a Filed>,
}
