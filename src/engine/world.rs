//! The snapshots that every step looks at, and how an `Env` is made of them.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use countersign_core::answer::{Claims, Errors};
use countersign_core::approval::Places;
use countersign_core::command::Tables;
use countersign_core::effect::{Effect, Input};
use countersign_core::env::{Env, Limits, OwnDeployment, PlatformStatus, SpokeStatus, Vault};
use countersign_core::gate::{Cleared, Refusal, reissue};
use countersign_core::ledger::Ledger;
use countersign_core::mind::Minds;
use countersign_core::port::{Outgoing, Rights, Similarity, Standing};
use countersign_core::rate::Allowance;
use countersign_core::route::{Catalogue, ExactRoutes, Intents, Lexical, Route};
use countersign_core::secrets::Mask;
use countersign_core::signal::{Now, Signal, ThreadKey};
use countersign_core::step;
use countersign_core::thread::{ThreadState, is_heard_at_once};
use countersign_core::tool::Registry;
use countersign_core::usage::{Budgets, Spent};

use tokio::time::{Instant, sleep};

use crate::access::Rates;

/// How the tool servers do, asked for at each step.
pub type SpokesView = Box<dyn Fn() -> Vec<SpokeStatus> + Send + Sync>;

/// The state of the tool servers' credentials, asked for at each step.
pub type VaultView = Box<dyn Fn() -> Vault + Send + Sync>;

/// Everything that a step may look at and that does not belong to a thread.
pub struct World {
    /// The declared tools.
    pub registry: Arc<Registry>,
    /// The intents.
    pub intents: Intents,
    /// What somebody may mean, of both.
    pub catalogue: Catalogue,
    /// Who may what.
    pub rights: Box<dyn Rights>,
    /// Limits.
    pub limits: Limits,
    /// How many tokens and how much money a day.
    pub budgets: Budgets,
    /// What is the bot's own.
    pub own: OwnDeployment,
    /// The places in which a change is of high risk.
    pub places: Places,
    /// Credentials.
    pub vault: VaultView,
    /// What may never be shown.
    pub mask: Arc<Mask>,
    /// What each tool of a command line does.
    pub commands: Tables,
    /// The tool servers.
    pub spokes: SpokesView,
    /// Routes of questions asked before.
    pub exact: RwLock<ExactRoutes>,
    /// What stands in the ledger, as the store last had it.
    pub ledger: RwLock<Arc<Ledger>>,
    /// How much of the bot somebody may have.
    pub rates: Rates,
    /// The models that can be asked.
    pub minds: Minds,
    /// What words claim something about the world.
    pub claims: Claims,
    /// What tools say when something does not work.
    pub errors: Errors,
}

/// How long a signal waits for rights that are being changed: longer than a change takes to count as whole.
const RIGHTS_SETTLE_MAX: Duration = Duration::from_secs(3);

/// How often they are looked at meanwhile.
const RIGHTS_LOOK_EVERY: Duration = Duration::from_millis(100);

/// What a step is about, as far as the shell knows it.
pub(super) struct About<'a> {
    /// What those who pay for it have used today.
    pub spent: Option<&'a Spent>,
    /// Whoever's signal is worked on.
    pub signal: Option<&'a Signal>,
    /// How the platforms do.
    pub platforms: Vec<PlatformStatus>,
    /// How many messages were set aside in the last days.
    pub set_aside: usize,
}

/// Snapshots that one step borrows.
#[derive(Default)]
struct Lent {
    spokes: Vec<SpokeStatus>,
    platforms: Vec<PlatformStatus>,
    set_aside: usize,
    ledger: Arc<Ledger>,
    vault: Vault,
    allowances: Vec<Allowance>,
    rights: Option<Arc<dyn Rights>>,
    standing: Standing,
}

impl World {
    /// These tools, intents and rights, and of everything else what it is where nothing is configured: the limits as they
    /// ship, no budget, no model, no secret.
    pub fn new(registry: Arc<Registry>, intents: Intents, rights: Box<dyn Rights>, rates: Rates) -> Self {
        Self {
            catalogue: Catalogue::new(&registry, &intents, &Lexical),
            registry,
            intents,
            rights,
            limits: Limits::default(),
            budgets: Budgets::default(),
            own: OwnDeployment::default(),
            places: Places::default(),
            vault: Box::new(Vault::default),
            mask: Arc::default(),
            commands: Tables::default(),
            spokes: Box::new(Vec::new),
            exact: RwLock::default(),
            ledger: RwLock::default(),
            rates,
            minds: Minds::default(),
            claims: Claims::default(),
            errors: Errors::default(),
        }
    }

    /// One step of one thread.
    pub(super) fn step(
        &self,
        state: ThreadState,
        input: Input,
        about: About<'_>,
        now: Now,
    ) -> (ThreadState, Vec<Effect>) {
        let allowances = about.signal.map(|signal| self.rates.allowances(&signal.asker(), now.mono));
        let lent = Lent {
            spokes: (self.spokes)(),
            platforms: about.platforms,
            set_aside: about.set_aside,
            ledger: self.ledger(),
            vault: (self.vault)(),
            allowances: allowances.unwrap_or_default(),
            standing: self.rights.standing(),
            rights: self.rights.at_this_moment(),
        };
        // Steps of different threads only read it, and beside each other; a new route waits for them.
        let exact = self.exact.read().unwrap_or_else(PoisonError::into_inner);
        step(Env { spent: about.spent, ..self.env(&exact, &lent) }, state, input, now)
    }

    /// Waits until rights that were just changed can be taken up, for some seconds at most. Looks at files.
    pub(super) async fn rights_settled(&self) {
        let end = Instant::now() + RIGHTS_SETTLE_MAX;
        while self.rights.standing() == Standing::Changing && Instant::now() < end {
            sleep(RIGHTS_LOOK_EVERY).await;
        }
    }

    /// Whether a thread hears this also while it works on something else.
    pub(super) fn is_heard_at_once(&self, signal: &Signal) -> bool {
        is_heard_at_once(signal, &self.intents)
    }

    /// Shows it as a step would see it, with nobody asking.
    pub fn look<T>(&self, see: impl FnOnce(Env<'_>) -> T) -> T {
        let exact = self.exact.read().unwrap_or_else(PoisonError::into_inner);
        see(self.env(&exact, &Lent { vault: (self.vault)(), ..Lent::default() }))
    }

    /// Clears a message again that was read back from the outbox.
    pub(super) fn reissue(&self, message: Outgoing) -> Result<Cleared<Outgoing>, Box<Refusal>> {
        reissue(message, self.env(&ExactRoutes::new(0), &Lent::default()))
    }

    /// Remembers the route of a question.
    pub(super) fn remember(&self, key: (ThreadKey, String, String), route: Route) {
        self.exact.write().unwrap_or_else(PoisonError::into_inner).remember(key, route);
    }

    /// Takes over what the store has; the rights follow it.
    pub(super) fn keep(&self, ledger: Ledger, now: Now) {
        let ledger = ledger.timed(&self.ledger(), now);
        self.rights.follow(&ledger);
        *self.ledger.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(ledger);
    }

    pub(super) fn ledger(&self) -> Arc<Ledger> {
        Arc::clone(&self.ledger.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn env<'a>(&'a self, exact: &'a ExactRoutes, lent: &'a Lent) -> Env<'a> {
        const LEXICAL: &dyn Similarity = &Lexical;
        Env {
            registry: &self.registry,
            intents: &self.intents,
            catalogue: &self.catalogue,
            exact,
            rights: lent.rights.as_deref().unwrap_or(self.rights.as_ref()),
            standing: lent.standing,
            ledger: &lent.ledger,
            similarity: LEXICAL,
            limits: &self.limits,
            budgets: &self.budgets,
            spent: None,
            own: &self.own,
            places: &self.places,
            vault: &lent.vault,
            mask: &self.mask,
            commands: &self.commands,
            spokes: &lent.spokes,
            platforms: &lent.platforms,
            set_aside: lent.set_aside,
            allowances: &lent.allowances,
            minds: &self.minds,
            claims: &self.claims,
            errors: &self.errors,
        }
    }
}
