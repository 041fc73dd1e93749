//! What a change is before it happens: the frozen plan and its digest, the life of a plan from proposal to verification,
//! the one function that may decide it, what may be allowed beforehand, the card that shows it, and what its verification says. Pure. Which calls carry
//! a plan out, and in which order, is the thread's business.

mod card;
mod decide;
mod desk;
mod grant;
mod hint;
mod life;
mod places;
mod plan;
mod terms;
mod told;
mod verify;
mod vote;

pub use card::{CARD_BYTES_MAX, NAMED_DECIDERS_MAX, card, details, heading, short};
pub use decide::{Allowed, Ask, Verb, WHOSE_ACCOUNT_IS_THIS, is_somebody, judge};
pub use desk::{CARD_LATE_MS_MAX, CLOSED_MAX, Decided, Desk, Due, Filed, Move, Standing, Unasked};
pub(crate) use grant::still_unasked;
pub use grant::{Extent, allowed_now, covers, is_live, may_act_alone, may_be_given, not_used_now, shown};
pub use hint::Hint;
pub use life::{Outcome, PlanState, may_become};
pub use places::Places;
pub(crate) use places::risk_of;
pub use plan::{BadPlan, Digest, Expectation, Frozen, Plan, PlanId, Risk};
pub use terms::{Circle, Escalation, Terms};
pub use told::{Told, Withdrawal, told};
pub use verify::{Finding, Verified, is_success, verify};
pub use vote::{Vote, is_still_enough, may_waive_from_the_start, no_further_accounts};
