//! The files that rights come from, and taking them up again while the bot runs. A set is swapped whole, or it is refused and
//! the one before stays. What is in the files is read elsewhere.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use tokio::time::Instant;

use countersign_core::approval::{Plan, Risk, Terms};
use countersign_core::ledger::{Account, Ledger, Link};
use countersign_core::people::{Holding, People, Portrait, RoleRights};
use countersign_core::port::{Asker, Right, Rights, Standing, TermsAbout};
use countersign_core::resource::ResourceId;
use countersign_core::signal::{Actor, Platform};

use super::autonomous::Declared;
use super::error::AccessError;
use super::identity::{Links, Moved, links_of, moved_of};
use super::rights::{Access, Owner};

/// How often the files are looked at while nobody asks.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How long files stay as they are before a change of them counts as whole.
const SETTLES_AFTER: Duration = Duration::from_secs(1);

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

/// What changes with a file's content, or with the files of a folder: its number, its size, and when it changed last. None
/// where it cannot be looked at.
type Stamp = Option<(u64, u64, i64, i64)>;

/// The stamps of all files and folders that rights come from.
type Stamps = Vec<(PathBuf, Stamp)>;

impl Sources {
    /// Looks at each file and folder, without reading it.
    fn stamps(&self) -> Stamps {
        let policies = self.policies.iter().flat_map(|dir| {
            let entries = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
            let own = entries.filter(|path| path.extension().is_some_and(|extension| extension == "cedar"));
            own.chain([dir.clone()])
        });
        let mut all: Stamps =
            self.file.iter().cloned().chain(policies).map(|path| (path.clone(), stamp(&path))).collect();
        all.sort();
        all
    }

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

fn stamp(path: &Path) -> Stamp {
    let meta = path.metadata().ok()?;
    Some((meta.ino(), meta.len(), meta.ctime(), meta.ctime_nsec()))
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
    followed: Mutex<(Links, Moved)>,
    /// What was read last, taken into use or refused, so that each change is told once.
    seen: RwLock<Result<Texts, AccessError>>,
    looked: Mutex<Looked>,
}

/// The last look at the files.
struct Looked {
    /// What they were when they were read last.
    read: Stamps,
    /// Whether that was sound.
    is_sound: bool,
    /// What they have become, and when that was seen first.
    changed: Option<(Stamps, Instant)>,
}

impl LiveAccess {
    /// Reads the files for the first time; whatever is wrong with them is an error. Reads files.
    pub fn open(sources: Sources, owner: Option<Owner>) -> Result<Self, AccessError> {
        let looked = Looked { read: sources.stamps(), is_sound: true, changed: None };
        let texts = sources.read()?;
        let access = sources.access_of(&texts, owner.clone())?;
        let (now, followed, seen) = (RwLock::new(Arc::new(access)), Mutex::default(), RwLock::new(Ok(texts)));
        let live = Live { sources, owner, now, followed, seen, looked: Mutex::new(looked) };
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
        let followed = self.live.followed.lock().unwrap_or_else(PoisonError::into_inner);
        self.take_up(access.with(&followed.0, &followed.1));
        Ok(true)
    }

    fn take_up(&self, access: Access) {
        *self.live.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(access);
    }

    /// One look: a change is taken up once the files have stayed as they are for a second, so that none is taken up half.
    /// Looks at files, reads those that changed, and writes to the log.
    pub(super) fn look(&self, now: Instant) -> Standing {
        let stamps = self.live.sources.stamps();
        let mut looked = self.live.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if stamps == looked.read {
            looked.changed = None;
        } else {
            let since = looked.changed.take().filter(|(before, _)| *before == stamps).map_or(now, |(_, since)| since);
            if now.duration_since(since) < SETTLES_AFTER {
                looked.changed = Some((stamps, since));
                return Standing::Changing;
            }
            let read = self.live.sources.read();
            if self.live.sources.stamps() != stamps {
                return Standing::Changing;
            }
            looked.read = stamps;
            match self.take(read) {
                Ok(false) => {}
                Ok(true) => {
                    tracing::info!("the access file and the policies changed; they are in use now");
                    looked.is_sound = true;
                }
                Err(error) => {
                    tracing::error!(%error, "the changed access set is refused; the one before stays, and decides nothing");
                    looked.is_sound = false;
                }
            }
        }
        if looked.is_sound { Standing::Current } else { Standing::Unsound }
    }

    /// Looks at the files every second, for as long as the bot runs. Reads files, writes to the log.
    pub async fn follow_files(self) {
        if self.live.sources.file.is_none() && self.live.sources.policies.is_none() {
            return;
        }
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let again = self.clone();
            if let Err(error) = tokio::task::spawn_blocking(move || again.look(Instant::now())).await {
                tracing::error!(%error, "the access files could not be looked at");
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

    fn linked_by_another(&self, platform: &Platform, actor: &Actor) -> Option<Link> {
        self.snapshot().linked_by_another(platform, actor)
    }

    fn knows_person(&self, name: &str) -> bool {
        self.snapshot().knows_person(name)
    }

    fn terms(&self, about: &TermsAbout<'_>) -> Terms {
        self.snapshot().terms(about)
    }

    fn is_in(&self, asker: &Asker<'_>, group: &str) -> bool {
        self.snapshot().is_in(asker, group)
    }

    fn environment(&self, id: &ResourceId, labels: &[String]) -> Option<String> {
        self.snapshot().environment(id, labels)
    }

    fn deciders(&self, plan: &Plan) -> Option<Vec<String>> {
        self.snapshot().deciders(plan)
    }

    fn at_this_moment(&self) -> Option<Arc<dyn Rights>> {
        Some(self.snapshot())
    }

    fn standing(&self) -> Standing {
        self.look(Instant::now())
    }

    fn follow(&self, ledger: &Ledger) {
        let new = (links_of(ledger), moved_of(ledger));
        let mut followed = self.live.followed.lock().unwrap_or_else(PoisonError::into_inner);
        if *followed != new {
            self.take_up(self.snapshot().with(&new.0, &new.1));
            *followed = new;
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
