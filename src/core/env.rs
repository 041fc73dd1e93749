//! What a decision needs from outside, as snapshots and pure traits. The shell fills it for each step; nothing here
//! changes while a step runs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::answer::{Claims, Errors};
use crate::approval::Places;
use crate::command::Tables;
use crate::egress::Destinations;
use crate::ledger::Ledger;
use crate::mind::Minds;
use crate::port::{Rights, Similarity, Standing};
use crate::rate::Allowance;
use crate::route::{Catalogue, ExactRoutes, Intents};
use crate::secrets::Mask;
use crate::tool::Registry;
use crate::usage::{Budgets, Spent};

/// Everything outside that a step may look at.
#[derive(Clone, Copy)]
pub struct Env<'a> {
    /// The declared tools.
    pub registry: &'a Registry,
    /// The patterns of `config/intents.toml`.
    pub intents: &'a Intents,
    /// Routes of questions asked before.
    pub exact: &'a ExactRoutes,
    /// Who may what.
    pub rights: &'a dyn Rights,
    /// Whether they are the ones that were written last: nothing is decided by others.
    pub standing: Standing,
    /// What people wrote down in chat about who may what.
    pub ledger: &'a Ledger,
    /// What somebody may mean, of the tools and the intents.
    pub catalogue: &'a Catalogue,
    /// How alike texts are; used for suggestions only.
    pub similarity: &'a dyn Similarity,
    /// Numbers from the configuration.
    pub limits: &'a Limits,
    /// How many tokens and how much money a day.
    pub budgets: &'a Budgets,
    /// What was used today by those who pay for this step's request; none where nobody can say.
    pub spent: Option<&'a Spent>,
    /// What belongs to the bot itself.
    pub own: &'a OwnDeployment,
    /// The places in which a change is of high risk.
    pub places: &'a Places,
    /// The credentials that tools need.
    pub vault: &'a Vault,
    /// What may never be shown.
    pub mask: &'a Mask,
    /// What each tool of a command line does.
    pub commands: &'a Tables,
    /// How the tool servers do, for `status`.
    pub spokes: &'a [SpokeStatus],
    /// How the platforms do, for `status`; one that says nothing of itself is not in it.
    pub platforms: &'a [PlatformStatus],
    /// How many messages were set aside in the last days, for `status`.
    pub set_aside: usize,
    /// How much the one who asks may still have. What is not in it is not limited.
    pub allowances: &'a [Allowance],
    /// The models that can be asked.
    pub minds: &'a Minds,
    /// What words claim something about the world.
    pub claims: &'a Claims,
    /// What tools say when something does not work, and what it means.
    pub errors: &'a Errors,
}

/// Limits that the configuration may set. The defaults are those of REQUIREMENTS.md section 2, C-13.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many rounds of proposals one request may take.
    pub turns_max: u32,
    /// How long one request may take, in milliseconds (SIG-18).
    pub request_ms_max: u64,
    /// For how long "recently" is, in milliseconds (RES-16).
    pub recently_ms: u64,
    /// How long a plan may be decided, in milliseconds.
    pub plan_ms_max: u64,
    /// How long a permit lets a tool server begin a write, in milliseconds: at most 10 s (DESIGN.md section 2).
    pub permit_ms: u64,
    /// Where tools may send anything.
    pub egress: Destinations,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            turns_max: 20,
            request_ms_max: 120_000,
            recently_ms: 15 * 60 * 1000,
            plan_ms_max: 15 * 60 * 1000,
            permit_ms: 5_000,
            egress: Destinations::default(),
        }
    }
}

/// What belongs to the bot itself and is nobody's business in a chat (gate `self`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnDeployment {
    /// Files and folders that are neither read nor written: the data directory, the configuration, the policies, the files
    /// of secrets.
    pub paths: Vec<PathBuf>,
    /// Files that are not written, because they start the bot or one of its tool servers. Anybody may read them.
    pub programs: Vec<PathBuf>,
    /// Resources, by canonical id.
    pub resources: Vec<String>,
}

/// The state of a credential, as the shell last found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    /// Present, private and unchanged since it was loaded.
    Sound,
    /// Others than its owner can read it.
    Exposed,
    /// It changed since it was loaded.
    Changed,
    /// It is configured, and was not there to be loaded or is not there any more.
    Missing,
}

/// The credentials that tools need, by name; what is not in it is not configured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vault {
    /// By the name that a tool's declaration uses.
    pub credentials: BTreeMap<String, Credential>,
}

/// How one platform does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformStatus {
    /// Its name.
    pub name: String,
    /// A few words: `heard 3 s ago`, `not reached for 40 s: ...; tried again in 8 s`.
    pub state: String,
}

/// How one tool server does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpokeStatus {
    /// Its name in the configuration.
    pub name: String,
    /// A few words: `running`, `starts when needed`, `is tried again in 4 s: ...`.
    pub state: String,
}
