//! How a write that must be countersigned becomes a plan: what it would change is looked up where the action can say so,
//! then everything is frozen, filed and shown. Nothing is changed here, and nothing decided.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::answer;
use crate::approval::{self, Expectation, Filed, Frozen, Plan, PlanId, PlanState, Risk, Standing};
use crate::effect::{Effect, Ending};
use crate::envelope::{Code, Details, Envelope};
use crate::gate::{Judged, Refusal, ToolCall, texts_of};
use crate::port::{Block, Claim, Mark, TermsAbout};
use crate::proposal::Proposal;
use crate::resource::{Resource, ResourceId};
use crate::signal::Wall;
use crate::tool::{ActionSpec, ChangeSpec, cast};
use crate::usage::Origin;

use super::decision::was_decided_by;
use super::follow_up::LastAsked;
use super::request::{Driver, Request};
use super::run::{Proposed, found_by, propose};
use super::state::{AuditAbout, Turn};
use super::{Entity, grants, link_news, say, trouble};

/// How many open plans a thread may have: more are nobody's careful decision any more.
const OPEN_MAX: usize = 20;

/// The most characters of the reason on a card: what is to be written into a file stands there already.
const BECAUSE_CHARS_MAX: usize = 200;

/// A plan in the making.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// What was proposed.
    proposal: Proposal,
    /// Who thought of it.
    by: By,
    /// How far it has come.
    stage: Stage,
}

/// Who thought of a plan.
#[derive(Clone, Debug)]
pub(super) enum By {
    /// A route that a person typed.
    Rule {
        /// What "it" became, to be said before the card.
        said_it: Option<String>,
    },
    /// A model. What it has read may have led it: nothing that was allowed beforehand covers it (SEC-05).
    Model,
}

impl By {
    fn said_it(&self) -> Option<String> {
        match self {
            Self::Rule { said_it } => said_it.clone(),
            Self::Model => None,
        }
    }

    const fn is_model(&self) -> bool {
        matches!(self, Self::Model)
    }
}

/// What is being found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// How the target is now, by its own id: what was discovered by half a name, or long ago, says too little.
    Look,
    /// What would change.
    Preview,
}

/// What every part of a draft needs of its proposal.
struct Wanted<'a> {
    spec: &'a ActionSpec,
    change: &'a ChangeSpec,
    tool: String,
    action: String,
    target: Resource,
    args: Map<String, Value>,
}

/// The approval gate has asked for a countersignature on this proposal.
pub(super) fn begin(turn: &mut Turn<'_>, request: Request, proposal: Proposal, by: By) {
    let draft = Draft { proposal, by, stage: Stage::Look };
    let resolver = match wanted(turn, &draft.proposal) {
        Ok(wanted) => wanted.spec.resolve.clone(),
        Err(refusal) => return refuse(turn, request, &refusal),
    };
    let Some((tool, action)) = resolver.as_deref().and_then(|call| call.split_once('.')) else {
        return preview(turn, request, draft);
    };
    let target = draft.proposal.target.clone().unwrap_or_default();
    let look = Proposal {
        tool: tool.to_owned(),
        action: action.to_owned(),
        target: None,
        args: [("query".to_owned(), Value::from(target))].into_iter().collect(),
        because: draft.proposal.because.clone(),
    };
    find_out(turn, request, draft, &look);
}

/// What would change, where the action can say so.
fn preview(turn: &mut Turn<'_>, request: Request, draft: Draft) {
    let draft = Draft { stage: Stage::Preview, ..draft };
    let preview = match wanted(turn, &draft.proposal) {
        Ok(wanted) => wanted.change.preview.clone(),
        Err(refusal) => return refuse(turn, request, &refusal),
    };
    let Some((tool, action)) = preview.as_deref().and_then(|call| call.split_once('.')) else {
        return freeze(turn, request, &draft, &Value::Null);
    };
    let look = Proposal { tool: tool.to_owned(), action: action.to_owned(), ..draft.proposal.clone() };
    find_out(turn, request, draft, &look);
}

fn find_out(turn: &mut Turn<'_>, mut request: Request, draft: Draft, look: &Proposal) {
    match propose(turn, &mut request, look, Origin::Rule) {
        Proposed::Called(_) => {
            request.driver = Some(Driver::Draft(draft));
            turn.state.request = Some(request);
        }
        Proposed::Known(envelope) => on_answer(turn, request, draft, None, &envelope),
        Proposed::Refused(refusal) => {
            turn.say(&mut request, Mark::Refused, Claim::Nothing, say::refused(&refusal, turn.env.mask));
            turn.finish(request, Ending::Answered);
        }
    }
}

/// Something was found out, or cannot be: then there is nothing to countersign.
pub(super) fn on_answer(
    turn: &mut Turn<'_>,
    request: Request,
    draft: Draft,
    call: Option<&ToolCall>,
    envelope: &Envelope,
) {
    if let Some(failure) = &envelope.error {
        return trouble::tell(turn, request, call, failure);
    }
    match draft.stage {
        Stage::Preview => freeze(turn, request, &draft, &envelope.data),
        Stage::Look => {
            let found = found_by(call, envelope);
            let is_there = found.iter().any(|one| Some(one.id.as_str()) == draft.proposal.target.as_deref());
            if is_there {
                return preview(turn, request, draft);
            }
            refuse(turn, request, &refusal(Code::NotFound, "it is not there any more".to_owned()));
        }
    }
}

fn freeze(turn: &mut Turn<'_>, mut request: Request, draft: &Draft, preview: &Value) {
    let plan = wanted(turn, &draft.proposal).and_then(|wanted| plan(turn, &request, draft, wanted, preview));
    let frozen = match plan {
        Ok(plan) => Frozen::freeze(plan),
        Err(refusal) => return refuse(turn, request, &refusal),
    };
    if let Some(same) = same_pending(turn, frozen.plan()) {
        // Asked again: one change is one plan, and its card is shown once more, with the words that were asked first.
        let above = draft.by.said_it().into_iter().chain([say::plans::waits_already()]).collect::<Vec<_>>().join("\n");
        if show(turn, &mut request, &same, Some(above)) {
            became(&mut request, same.id());
        }
        return turn.finish(request, Ending::Answered);
    }
    if turn.state.desk.open().len() >= OPEN_MAX {
        let message =
            format!("{OPEN_MAX} plans are open in this thread; decide or cancel some, `approvals` lists them");
        return refuse(turn, request, &refusal(Code::BudgetExceeded, message));
    }
    let filed = Filed { frozen, standing: Standing::new() };
    let env = turn.env;
    grants::take_out_ended(turn, &request, |grant| approval::covers(grant, filed.frozen.plan(), &env));
    // "It" can mean another thing than the requester thinks, and a pick can miss: a card shows the target before anything is changed.
    let is_named = draft.by.said_it().is_none() && request.chosen.is_none();
    match grants::permit(turn, &request, &filed).filter(|_| is_named && drawn(turn, &filed).is_ok()) {
        Some(permit) => {
            file(turn, &request, filed.clone());
            became(&mut request, filed.id());
            grants::go_ahead(turn, request, &filed, permit);
        }
        None => ask(turn, request, filed, draft.by.said_it()),
    }
}

fn ask(turn: &mut Turn<'_>, mut request: Request, filed: Filed, said_it: Option<String>) {
    let filed = with_deciders(turn, filed);
    if show(turn, &mut request, &filed, said_it) {
        became(&mut request, filed.id());
        file(turn, &request, filed);
    }
    turn.finish(request, Ending::Answered);
}

/// Names the people on the card. Looked up only where a card is shown.
fn with_deciders(turn: &Turn<'_>, filed: Filed) -> Filed {
    let plan = filed.frozen.plan();
    let plan = Plan { deciders: turn.env.rights.deciders(plan), ..plan.clone() };
    Filed { frozen: Frozen::freeze(plan), ..filed }
}

/// The judgement that asked for a countersignature led to this plan.
fn became(request: &mut Request, plan: &PlanId) {
    let asked =
        |judged: &&mut Judged| judged.refusal.as_ref().is_some_and(|refusal| refusal.code == Code::ApprovalRequired);
    if let Some(judged) = request.judged.iter_mut().rev().find(asked) {
        judged.plan = Some(plan.clone());
    }
}

/// The step that filed a plan and used a permission for it was not stored: somebody else changed the permission first. The
/// same plan is asked for. The request comes back where it is about no plan of its own.
pub(super) fn ask_after_all(turn: &mut Turn<'_>, request: Request) -> Option<Request> {
    let Some(filed) = turn.state.desk.asked_by(&request.signal.id).cloned() else {
        return Some(request);
    };
    let filed = Filed { standing: Standing::new(), ..filed };
    ask(turn, request, filed, None);
    None
}

/// The plan that this signal asked for and that began without a card before a restart: it goes on from where it was.
pub(super) fn begun_by(turn: &Turn<'_>, request: &Request) -> Option<Filed> {
    let filed = turn.state.desk.asked_by(&request.signal.id).filter(|_| request.again)?;
    was_decided_by(filed, request).then(|| filed.clone())
}

/// The plan that this signal carries, where it has come further than being asked for.
pub(super) fn under_way(turn: &Turn<'_>, request: &Request) -> Option<Filed> {
    let own = |filed: &&&Filed| was_decided_by(filed, request);
    turn.state.desk.open().iter().find(own).copied().cloned()
}

fn file(turn: &mut Turn<'_>, request: &Request, filed: Filed) {
    let plan = filed.frozen.plan();
    let (call, target) = (plan.call(), plan.target.clone());
    let entity = Entity { id: target.clone(), name: plan.target_name.clone() };
    // What a model chose was not spoken of: "it" is what a person meant.
    if !plan.tainted {
        turn.state.entities.remember(&request.signal.actor.id, request.turn, vec![entity]);
    }
    turn.count("plans_total", &[("became", "pending"), ("risk", plan.risk.as_str())]);
    let detail = format!("{}; {}", plan.title, plan.because);
    let about = AuditAbout {
        call: &call,
        target: Some(target.as_str()),
        detail: &detail,
        plan: Some(&filed),
        ..AuditAbout::default()
    };
    turn.audit("proposed", &request.signal, about);
    turn.state.last_asked = LastAsked::Change;
    turn.state.desk.put(filed.clone(), turn.now);
    turn.effects.push(Effect::File(Box::new(filed)));
}

/// Shows a plan's card. False where it cannot be shown whole: then it cannot be approved either, and is not filed.
pub(super) fn show(turn: &mut Turn<'_>, request: &mut Request, filed: &Filed, said_it: Option<String>) -> bool {
    match drawn(turn, filed) {
        Ok(card) => {
            let voted = say::waiting::so_far(filed);
            let not_counted = link_news::not_counted(turn, filed).map(say::line);
            let (buttons, plan): (Vec<Block>, Vec<Block>) =
                card.into_iter().partition(|block| matches!(block, Block::Card { .. }));
            let above = said_it.map(say::line).into_iter().chain(voted);
            let blocks = above.chain(plan).chain(not_counted).chain(buttons).collect();
            turn.say(request, Mark::Question, Claim::Nothing, blocks)
        }
        Err(problem) => {
            let message = format!("this change cannot be shown whole, so it cannot be countersigned: {problem}");
            let refusal = refusal(Code::PolicyBlocked, message);
            turn.note_refusal(request, &refusal, Some(filed));
            turn.say(request, Mark::Refused, Claim::Nothing, say::refused(&refusal, turn.env.mask));
            false
        }
    }
}

/// The card, or why it cannot be shown whole.
fn drawn(turn: &Turn<'_>, filed: &Filed) -> Result<Vec<Block>, String> {
    let card = approval::card(&filed.frozen)?;
    let details = approval::details(&filed.frozen)?;
    match card.iter().chain(&details).flat_map(texts_of).find_map(|text| turn.env.mask.class_of(text)) {
        None => Ok(card),
        Some(class) => Err(format!("its card would show a secret ({class}); make this change on the machine itself")),
    }
}

fn same_pending(turn: &Turn<'_>, plan: &Plan) -> Option<Filed> {
    let same = |filed: &&&Filed| {
        let known = filed.frozen.plan();
        filed.state() == PlanState::Pending
            && known.is_same_change(plan)
            && known.requester.id == plan.requester.id
            && known.labels == plan.labels
    };
    turn.state.desk.open().iter().find(same).map(|filed| (*filed).clone())
}

fn wanted<'a>(turn: &Turn<'a>, proposal: &Proposal) -> Result<Wanted<'a>, Box<Refusal>> {
    let found = turn.env.registry.named(&format!("{}.{}", proposal.tool, proposal.action).to_lowercase());
    let (tool, action, spec) = found.ok_or_else(|| refusal(Code::NotFound, "there is no such action".to_owned()))?;
    let change = spec.change.as_ref().ok_or_else(|| {
        refusal(Code::PolicyBlocked, format!("`{tool}.{action}` does not declare how it is verified"))
    })?;
    let target: Option<ResourceId> = proposal.target.as_deref().and_then(|target| target.parse().ok());
    let target = target.and_then(|id| turn.state.resolved.peek(&id)).cloned();
    let target = target.ok_or_else(|| refusal(Code::StrictResolution, "its target is not known here".to_owned()))?;
    let args = cast(&spec.args, &proposal.args).map_err(|error| refusal(Code::InvalidInput, error.to_string()))?;
    Ok(Wanted { spec, change, tool: tool.to_owned(), action: action.to_owned(), target, args })
}

fn plan(
    turn: &Turn<'_>,
    request: &Request,
    draft: &Draft,
    wanted: Wanted<'_>,
    preview: &Value,
) -> Result<Plan, Box<Refusal>> {
    let Wanted { spec, change, tool, action, target, args } = wanted;
    if let Some(name) = changed_meanwhile(&target, preview) {
        let message = format!("its {name} changed while the plan was made; ask again");
        return Err(refusal(Code::Drifted, message));
    }
    let scope = json!({ "target": target_data(&target), "preview": preview });
    let title = answer::sentence(&change.title, &scope, &args).ok_or_else(|| {
        refusal(Code::InvalidInput, "the change cannot be put into words: a value is missing".to_owned())
    })?;
    let expect = expectation(&change.expect, &scope, &args)?;
    let before = change.precondition.iter();
    let before = before.filter_map(|name| Some((name.clone(), target.attrs.get(name)?.clone()))).collect();
    let signal = &request.signal;
    let labels = target.attrs.iter().map(|(name, value)| turn.env.mask.apply(&format!("{name}={value}")).into_owned());
    let labels: Vec<String> = labels.collect();
    let call = format!("{tool}.{action}");
    let (risk, risk_because) = approval::risk_of(change.risk, (spec, &target.id, &args), &turn.env);
    let about = TermsAbout { risk, target: &target.id, labels: &labels, tool: &call };
    let terms = turn.env.rights.terms(&about);
    let lifetime_ms = terms.expires_ms.into_iter().chain([turn.env.limits.plan_ms_max]).min();
    let lifetime = i64::try_from(lifetime_ms.unwrap_or_default()).unwrap_or(i64::MAX);
    let plan = Plan {
        form: 0,
        id: PlanId::from_random(turn.now.seed),
        thread: signal.thread.clone(),
        signal: signal.id.clone(),
        event: Some(signal.event.clone()),
        requester: signal.actor.clone(),
        requester_person: turn.env.rights.person(&signal.thread.platform, &signal.actor),
        requester_roles: signal.platform_roles.clone(),
        room: signal.room,
        tool,
        action,
        environment: turn.env.rights.environment(&target.id, &labels),
        target: target.id,
        target_name: target.name,
        deciders: None,
        labels,
        target_about: turn.env.mask.apply(&target.about).into_owned(),
        args,
        title,
        because: crate::text::cut(&turn.env.mask.apply(&draft.proposal.because), BECAUSE_CHARS_MAX),
        risk,
        risk_because: risk_because.map(str::to_owned),
        tainted: draft.by.is_model(),
        before,
        expect,
        preview: preview.get("preview").and_then(Value::as_str).map(str::to_owned),
        limit_ms: spec.limit_ms,
        alone: false,
        terms,
        requested_at: turn.now.wall,
        expires_at: Wall(turn.now.wall.0.saturating_add(lifetime)),
    };
    with_waiver(turn, plan)
}

/// The plan with whether its requester may countersign it. Where nobody could, that is said before there is a card.
fn with_waiver(turn: &Turn<'_>, plan: Plan) -> Result<Plan, Box<Refusal>> {
    let rights = turn.env.rights;
    let alone = approval::may_waive_from_the_start(&plan, rights);
    let is_somebody = approval::is_somebody(rights, &plan.thread.platform, &plan.requester);
    if plan.risk >= Risk::Medium && !alone && !is_somebody {
        return Err(refusal(Code::Forbidden, approval::WHOSE_ACCOUNT_IS_THIS.to_owned()));
    }
    Ok(Plan { alone, ..plan })
}

/// What the preview saw must be what the plan binds: `before` in its data holds attributes of the target by name. Without
/// this a card could show the change of another content than the one that is changed.
fn changed_meanwhile(target: &Resource, preview: &Value) -> Option<String> {
    let seen = preview.get("before")?.as_object()?;
    let differs = |(name, value): &(&String, &Value)| value.as_str() != target.attrs.get(*name).map(String::as_str);
    seen.iter().find(differs).map(|(name, _)| name.clone())
}

fn target_data(target: &Resource) -> BTreeMap<&str, &str> {
    let own = [("id", target.id.as_str()), ("name", target.name.as_str())];
    target.attrs.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain(own).collect()
}

/// What is expected, with its templates filled in. An expectation that cannot be filled in would verify nothing.
fn expectation(declared: &Expectation, scope: &Value, args: &Map<String, Value>) -> Result<Expectation, Box<Refusal>> {
    let mut expect = declared.clone();
    for (path, value) in &mut expect.equals {
        *value = answer::sentence(value, scope, args).ok_or_else(|| {
            refusal(Code::InvalidInput, format!("it cannot be said what `{path}` should be afterwards"))
        })?;
    }
    Ok(expect)
}

fn refuse(turn: &mut Turn<'_>, mut request: Request, refusal: &Refusal) {
    turn.note_refusal(&request, refusal, None);
    turn.say(&mut request, Mark::Refused, Claim::Nothing, say::refused(refusal, turn.env.mask));
    turn.finish(request, Ending::Answered);
}

fn refusal(code: Code, message: String) -> Box<Refusal> {
    Box::new(Refusal { gate: "plan", code, message, details: Details::default() })
}
