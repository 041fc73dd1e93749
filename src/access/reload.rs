//! The files that rights come from, and taking them up again while the bot runs. A set is swapped whole, or it is refused and
//! the one before stays. What is in the files is read elsewhere.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use countersign_core::approval::{Risk, Terms};
use countersign_core::ledger::{Account, Ledger};
use countersign_core::people::{Holding, People, Portrait, RoleRights};
use countersign_core::port::{Asker, Right, Rights, TermsAbout};
use countersign_core::resource::ResourceId;
use countersign_core::signal::{Actor, Platform};

use super::autonomous::Declared;
use super::error::AccessError;
use super::identity::{Links, links_of};
use super::rights::{Access, Owner};

/// How often the files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Where people and policies are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// The access file. None: nobody may anything on a chat platform.
    pub file: Option<PathBuf>,
    /// The directory of the team's own policies, `*.cedar`.
    pub policies: Option<PathBuf>,
    /// What can be done, for the rooms that let something be done alone.
    pub declared: Declared,
}

/// What stands in the files: (name, text).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Texts {
    file: Option<(String, String)>,
    policies: Vec<(String, String)>,
}

impl Sources {
    /// Reads everything and makes a set of it. Reads files.
    pub fn access(&self, owner: Option<Owner>) -> Result<Access, AccessError> {
        self.access_of(&self.read()?, owner)
    }

    fn access_of(&self, texts: &Texts, owner: Option<Owner>) -> Result<Access, AccessError> {
        let access = Access::new(texts.file.as_ref(), &texts.policies, owner)?;
        self.declared.check(&access)?;
        Ok(access)
    }

    fn read(&self) -> Result<Texts, AccessError> {
        let file = self.file.as_deref().map(|path| read("access.file", path)).transpose()?;
        let policies = self.policies.as_deref().map(policy_files).transpose()?.unwrap_or_default();
        Ok(Texts { file, policies })
    }
}

/// A directory that holds no policy is refused: one that was emptied by mistake would take every `forbid` away.
fn policy_files(dir: &Path) -> Result<Vec<(String, String)>, AccessError> {
    let name = dir.display().to_string();
    let unreadable =
        |error: std::io::Error| AccessError::new(&name, None, format!("access.policies: cannot be listed ({error})"));
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "cedar") {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        let problem = "access.policies: holds no policy (*.cedar); add one, or unset the key";
        return Err(AccessError::new(&name, None, problem));
    }
    paths.sort();
    paths.iter().map(|path| policy_file(path)).collect()
}

/// A file that was cut off by a full disk must not pass for one that says nothing.
fn policy_file(path: &Path) -> Result<(String, String), AccessError> {
    let (name, text) = read("access.policies", path)?;
    let says_something = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    if text.lines().any(says_something) {
        return Ok((name, text));
    }
    Err(AccessError::new(&name, None, "access.policies: holds no policy; write one into it, or take the file away"))
}

pub(super) fn read(key: &str, path: &Path) -> Result<(String, String), AccessError> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| AccessError::new(&name, None, format!("{key}: cannot be read ({error})")))?;
    Ok((name, text))
}

/// Rights that follow their files. Each question is asked of the newest sound set. A clone is the same rights.
#[derive(Clone)]
pub struct LiveAccess {
    live: Arc<Live>,
}

struct Live {
    sources: Sources,
    owner: Option<Owner>,
    now: RwLock<Arc<Access>>,
    /// What was linked in chat. Held while a set is made of it, so that of two new sets the later one has both news.
    links: Mutex<Links>,
    /// What was read last, taken into use or refused, so that each change is told once.
    seen: RwLock<Result<Texts, AccessError>>,
}

impl LiveAccess {
    /// Reads the files for the first time; whatever is wrong with them is an error. Reads files.
    pub fn open(sources: Sources, owner: Option<Owner>) -> Result<Self, AccessError> {
        let texts = sources.read()?;
        let access = sources.access_of(&texts, owner.clone())?;
        let (now, links, seen) = (RwLock::new(Arc::new(access)), Mutex::default(), RwLock::new(Ok(texts)));
        let live = Live { sources, owner, now, links, seen };
        Ok(Self { live: Arc::new(live) })
    }

    /// The set in use.
    pub fn snapshot(&self) -> Arc<Access> {
        Arc::clone(&self.live.now.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// One look that counts at once, for tests of what a look leads to. Reads files.
    #[cfg(test)]
    pub(super) fn reload(&self) -> Result<bool, AccessError> {
        self.take(self.live.sources.read())
    }

    /// Takes up what was read, unless that is what was read last. Says whether it changed; where what it changed to is not
    /// sound, the set in use stays.
    fn take(&self, read: Result<Texts, AccessError>) -> Result<bool, AccessError> {
        if *self.live.seen.read().unwrap_or_else(PoisonError::into_inner) == read {
            return Ok(false);
        }
        self.live.seen.write().unwrap_or_else(PoisonError::into_inner).clone_from(&read);
        let access = self.live.sources.access_of(&read?, self.live.owner.clone())?;
        let links = self.live.links.lock().unwrap_or_else(PoisonError::into_inner);
        self.take_up(access.with_links(&links));
        Ok(true)
    }

    fn take_up(&self, access: Access) {
        *self.live.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(access);
    }

    /// One look: what two in a row have read alike is taken up, so that a file that is being written is not taken up half.
    /// Reads files.
    pub(super) fn reload_what_has_settled(
        &self,
        before: &mut Option<Result<Texts, AccessError>>,
    ) -> Result<bool, AccessError> {
        let read = self.live.sources.read();
        let has_settled = before.as_ref() == Some(&read);
        *before = Some(read.clone());
        // What was read and not what stands there by now, which nobody has looked at twice.
        if has_settled { self.take(read) } else { Ok(false) }
    }

    /// Looks at the files every second, for as long as the bot runs. Reads files, writes to the log.
    pub async fn follow_files(self) {
        if self.live.sources.file.is_none() && self.live.sources.policies.is_none() {
            return;
        }
        let mut before = None;
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let (again, mut last) = (self.clone(), before.take());
            let looked = tokio::task::spawn_blocking(move || (again.reload_what_has_settled(&mut last), last)).await;
            let looked = looked.map(|(reloaded, last)| {
                before = last;
                reloaded
            });
            match looked {
                Ok(Ok(false)) => {}
                Ok(Ok(true)) => tracing::info!("the access file and the policies changed; they are in use now"),
                Ok(Err(error)) => tracing::error!(%error, "the changed access set is refused; the one before stays"),
                Err(error) => tracing::error!(%error, "the access files could not be looked at"),
            }
        }
    }
}

impl Rights for LiveAccess {
    fn may(&self, asker: &Asker<'_>, right: &Right) -> bool {
        self.snapshot().may(asker, right)
    }

    fn may_decide_alone(&self, asker: &Asker<'_>, risk: Risk) -> bool {
        self.snapshot().may_decide_alone(asker, risk)
    }

    fn may_decide_unsealed(&self, asker: &Asker<'_>, risk: Risk) -> bool {
        self.snapshot().may_decide_unsealed(asker, risk)
    }

    fn acts_alone(&self, asker: &Asker<'_>, call: &str, on: (&ResourceId, &[String]), risk: Risk) -> bool {
        self.snapshot().acts_alone(asker, call, on, risk)
    }

    fn roles(&self, asker: &Asker<'_>) -> Vec<String> {
        self.snapshot().roles(asker)
    }

    fn name(&self, platform: &Platform, actor: &Actor) -> Option<String> {
        self.snapshot().name(platform, actor)
    }

    fn terms(&self, about: &TermsAbout<'_>) -> Terms {
        self.snapshot().terms(about)
    }

    fn is_in(&self, asker: &Asker<'_>, group: &str) -> bool {
        self.snapshot().is_in(asker, group)
    }

    fn at_this_moment(&self) -> Option<Arc<dyn Rights>> {
        Some(self.snapshot())
    }

    fn follow(&self, ledger: &Ledger) {
        let new = links_of(ledger);
        let mut links = self.live.links.lock().unwrap_or_else(PoisonError::into_inner);
        if *links != new {
            self.take_up(self.snapshot().with_links(&new));
            *links = new;
        }
    }

    fn people(&self) -> &dyn People {
        self
    }

    fn who_can(&self, asked: &str, by: &Asker<'_>) -> String {
        self.snapshot().who_can(asked, by)
    }
}

impl People for LiveAccess {
    fn holding(&self, account: &Account) -> Holding {
        self.snapshot().holding(account)
    }

    fn portrait(&self, person: &str) -> Option<Portrait> {
        self.snapshot().portrait(person)
    }

    fn nearest(&self, name: &str) -> Vec<String> {
        self.snapshot().nearest(name)
    }

    fn roles_here(&self, asker: &Asker<'_>) -> Vec<RoleRights> {
        self.snapshot().roles_here(asker)
    }
}
