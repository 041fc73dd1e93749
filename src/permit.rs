//! Permits: how a tool server knows that a write was countersigned (DESIGN.md section 2). The client makes one for each
//! write, immediately before it is sent; the server checks it before it begins. What a plan is, and who may approve it,
//! is decided in the core.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use countersign_core::approval::{Digest, Frozen, Plan};
use countersign_core::gate::Warrant;
use countersign_core::signal::Wall;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::Sha256;
use thiserror::Error;
use tokio::time::Instant;

use crate::clock::random_bytes;

/// The key of a call's `_meta` under which its permit travels.
pub const META_KEY: &str = "countersign/permit";

/// The key of a call's `_meta` under which [`MODEL`] stands where a model thought of it.
pub const PROPOSED_BY_KEY: &str = "countersign/proposed-by";

/// What stands there.
pub const MODEL: &str = "model";

/// The environment variable that hands a server process its key, as 64 hexadecimal digits.
pub const KEY_VARIABLE: &str = "SPOKE_PERMIT_KEY";

/// The longest life of a permit, in milliseconds (DESIGN.md section 2: 10 s at most).
pub const LIFETIME_MS_MAX: i64 = 10_000;

/// Keeps these codes apart from any other use that a key might find.
const DOMAIN: &[u8] = b"countersign/permit/1\0";

/// How many random bytes make a permit one of its kind.
const NONCE_BYTES: usize = 16;

/// The secret that one client shares with one server process. It is never logged.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; 32]);

impl Key {
    /// A key that nobody else has, from the operating system's randomness.
    pub fn fresh() -> Self {
        Self(random_bytes())
    }

    /// The value of [`KEY_VARIABLE`].
    pub fn to_hex(&self) -> String {
        hex(&self.0)
    }

    /// Reads the value of [`KEY_VARIABLE`]; none where it is no key.
    pub fn from_hex(text: &str) -> Option<Self> {
        bytes(text).map(Self)
    }

    /// The code over what makes a permit. Every part has a fixed length, so that no two permits have the same input.
    fn code(&self, digest: &Digest, expires_at: Wall, nonce: &[u8; NONCE_BYTES]) -> Hmac<Sha256> {
        let mut code = Hmac::<Sha256>::new_from_slice(&self.0).expect("invariant: HMAC takes a key of any length");
        code.update(DOMAIN);
        code.update(digest.as_str().as_bytes());
        code.update(&expires_at.0.to_be_bytes());
        code.update(nonce);
        code
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// A permit as it travels.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    plan: String,
    expires_at: Wall,
    nonce: String,
    mac: String,
}

/// Makes the permit for a warrant: the value under [`META_KEY`]. It is good until `warrant.until`, whatever time went by
/// since, and for [`LIFETIME_MS_MAX`] at most.
pub fn mint(key: &Key, warrant: &Warrant, now: Wall) -> Value {
    let expires_at = warrant.until.min(Wall(now.0.saturating_add(LIFETIME_MS_MAX)));
    let nonce: [u8; NONCE_BYTES] = random_bytes();
    // Over the bytes that are sent, whatever digest stands beside them: the server has nothing else to go by.
    let digest = Digest::of(warrant.bytes.as_bytes());
    let mac = hex(&key.code(&digest, expires_at, &nonce).finalize().into_bytes());
    serde_json::json!({ "plan": warrant.bytes, "expires_at": expires_at, "nonce": hex(&nonce), "mac": mac })
}

/// Why a write is not permitted. Each is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    /// The server has no key.
    #[error("this tool server was started without a key for permits, so that it changes nothing")]
    NoKey,
    /// The call has none.
    #[error("a change needs a permit, and this call has none")]
    Missing,
    /// What the call has is none.
    #[error("the permit of this call cannot be read")]
    Malformed,
    /// Made with another key, or changed on its way.
    #[error("the permit of this call was not made for this tool server, or was changed on its way")]
    Forged,
    /// Its time is over.
    #[error("the permit of this call has expired; ask for the change again")]
    Expired,
    /// No client of ours makes such a one.
    #[error("the permit of this call is good for longer than a permit may be; check the clocks")]
    TooLong,
    /// It was used before.
    #[error("the permit of this call was used before; a permit is good for one change")]
    Replayed,
    /// It was made for something else.
    #[error("the permit of this call was made for another change")]
    OtherPlan,
}

/// Checks permits on behalf of one server process, each at most once.
#[derive(Debug)]
pub struct Checker {
    key: Option<Key>,
    used: Mutex<BTreeMap<[u8; NONCE_BYTES], Wall>>,
}

impl Checker {
    /// With the key that the server was started with. Without one every permit is refused.
    pub const fn new(key: Option<Key>) -> Self {
        Self { key, used: Mutex::new(BTreeMap::new()) }
    }

    /// Checks the permit in a call's `_meta` and uses it up: a second check of the same one is refused. Whether the call
    /// is the one that the plan speaks of is checked by [`Permit::covers`].
    pub fn check(&self, meta: &Map<String, Value>, now: Wall) -> Result<Permit, Refused> {
        let key = self.key.as_ref().ok_or(Refused::NoKey)?;
        let value = meta.get(META_KEY).ok_or(Refused::Missing)?;
        let wire: Wire = serde_json::from_value(value.clone()).map_err(|_| Refused::Malformed)?;
        let nonce: [u8; NONCE_BYTES] = bytes(&wire.nonce).ok_or(Refused::Malformed)?;
        let mac: [u8; 32] = bytes(&wire.mac).ok_or(Refused::Malformed)?;
        let digest = Digest::of(wire.plan.as_bytes());
        // Compares in constant time, so that its duration tells nobody how near a guess was.
        key.code(&digest, wire.expires_at, &nonce).verify_slice(&mac).map_err(|_| Refused::Forged)?;
        if now >= wire.expires_at {
            return Err(Refused::Expired);
        }
        if wire.expires_at.0.saturating_sub(now.0) > LIFETIME_MS_MAX {
            return Err(Refused::TooLong);
        }
        let plan = Frozen::read(wire.plan, &digest).map_err(|_| Refused::Malformed)?;
        self.use_up(nonce, wire.expires_at, now)?;
        let left = u64::try_from(wire.expires_at.0.saturating_sub(now.0)).unwrap_or(0);
        let good_for = Duration::from_millis(left);
        Ok(Permit { plan, expires_at: wire.expires_at, received: Instant::now(), good_for })
    }

    /// Only permits of ours come here, so that nobody else can fill the memory.
    fn use_up(&self, nonce: [u8; NONCE_BYTES], expires_at: Wall, now: Wall) -> Result<(), Refused> {
        // A panic elsewhere leaves a list that is complete up to then.
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|_, expires_at| *expires_at > now);
        match used.insert(nonce, expires_at) {
            None => Ok(()),
            Some(_) => Err(Refused::Replayed),
        }
    }
}

/// A permit that was checked: this change may be made once, and soon.
#[derive(Clone, Debug)]
pub struct Permit {
    plan: Frozen,
    expires_at: Wall,
    /// On the stopwatch too: a clock on the wall that is set back must not make it good again.
    received: Instant,
    good_for: Duration,
}

impl Permit {
    /// The change that was countersigned.
    pub const fn plan(&self) -> &Plan {
        self.plan.plan()
    }

    /// Whether it is still good. Asked once more directly before anything is done.
    pub fn still_valid(&self, now: Wall) -> bool {
        now < self.expires_at && self.received.elapsed() < self.good_for
    }

    /// Whether it was made for exactly this call: the tool, the action, the target's id and the cast arguments.
    pub fn covers(
        &self,
        (tool, action): (&str, &str),
        target: Option<&str>,
        args: &Map<String, Value>,
    ) -> Result<(), Refused> {
        let plan = self.plan();
        let same = plan.tool == tool && plan.action == action && target == Some(plan.target.as_str());
        if same && plan.args == *args { Ok(()) } else { Err(Refused::OtherPlan) }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |text, byte| text + format!("{byte:02x}").as_str())
}

/// Exactly as many bytes as there must be, written in lower case as [`hex`] writes them.
fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if text.len() != N * 2 || !text.bytes().all(digit) {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
pub(crate) mod tests;
