//! `host_file`, its changes: finds the one file that is meant, says how it is, shows what a change would do to it, and makes
//! the change. What may be a target is decided here; what must parse in `parse.rs`, and how a file is replaced in
//! `replace.rs`.

mod difference;
mod holder;
mod keep;
mod parse;
mod replace;
mod unit;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_core::approval::Digest;
use countersign_core::resource::{Resource, ResourceId};
use serde_json::json;

use super::answer::{Answer, Found, Trouble};
use super::call::{Call, Target, is_plain_path, parse_target};
use super::change::Change;
use super::dispatch::in_background;
use super::file;
use super::this_host::ThisHost;

/// The largest file that is changed, in bytes: far more than a card can show of a change.
const FILE_BYTES_MAX: u64 = 256 * 1024;

/// The most lines of a file that is changed, before and after: comparing two files of as many different lines takes some
/// seconds unoptimized, and that grows with the square.
const LINES_MAX: usize = 3_000;

/// What stands for the sum of a file that does not exist.
const NO_FILE: &str = "none";

/// The content of a file, who may use it, and what it was read from; or that there is none yet.
struct Now {
    path: PathBuf,
    content: Option<String>,
    /// Its mode and owner ([`holder::access`]), or [`NO_FILE`].
    access: String,
}

impl Now {
    fn sum(&self) -> String {
        self.content.as_deref().map_or_else(|| NO_FILE.to_owned(), sum)
    }

    fn text(&self) -> &str {
        self.content.as_deref().unwrap_or_default()
    }
}

/// What a change makes of a file.
struct After {
    content: String,
    parses: String,
}

/// The SHA-256 of a text, in hexadecimal digits.
fn sum(text: &str) -> String {
    Digest::of(text.as_bytes()).as_str().to_owned()
}

/// Finds the file that a path or an id means: one that can be changed, or made.
pub(super) fn locate(host: &ThisHost, call: &Call) -> Answer {
    let query = call.required("query")?;
    let path = asked_path(host, query)?;
    let real = real_path(&path)?;
    let now = read(host, &real)?;
    let shown = real.display().to_string();
    let id = real.to_str().and_then(|real| host.id_of("file", real));
    let id =
        id.ok_or_else(|| Trouble::invalid("query", format!("`{shown}` is too long a path, or an unprintable one")))?;
    let (exists, size) = (now.content.is_some(), now.text().len());
    let about = if exists { format!("a text file, {size} bytes now") } else { "does not exist yet".to_owned() };
    let attrs = [
        ("sha256", now.sum()),
        ("access", now.access.clone()),
        ("size", size.to_string()),
        ("exists", yes_or_no(exists).to_owned()),
    ];
    let resource = Resource {
        id,
        name: shown.clone(),
        aliases: Some(path.display().to_string()).filter(|asked| *asked != shown).into_iter().collect(),
        chain: host.chain(),
        allowed: Vec::new(),
        mounts: Vec::new(),
        about,
        attrs: attrs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    };
    Ok(Found::all(json!({ "resources": [resource], "nearest": [] })))
}

/// Whether a file is there, and the sum of what is in it. Always answers where the file system does, also for what would
/// not be shown: whatever was written can be verified.
pub(super) fn state(host: &ThisHost, call: &Call) -> Answer {
    let path = target(call)?;
    file::refuse_unfit(path)?;
    host.refuse_own(path)?;
    let name = path.display().to_string();
    match path.symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Found::all(json!({ "present": false, "name": name, "state": "missing" })));
        }
        Err(error) => return Err(Trouble::io(path, &error)),
        Ok(meta) if !meta.is_file() => {
            let note = "something else than a plain file has its name now";
            return Ok(Found::all(json!({ "present": true, "name": name, "state": "no plain file", "note": note })));
        }
        Ok(meta) if meta.len() > FILE_BYTES_MAX => {
            let data = json!({ "present": true, "name": name, "state": "too large to compare", "size": meta.len() });
            return Ok(Found::all(data));
        }
        Ok(_) => {}
    }
    let bytes = read_bytes(host, path)?;
    let sum = Digest::of(&bytes);
    let data = json!({ "present": true, "name": name, "state": "there", "sha256": sum.as_str(), "size": bytes.len() });
    Ok(Found::all(data))
}

/// Shows what a change would do, and refuses one after which the file would not parse.
pub(super) async fn preview(host: Arc<ThisHost>, call: Call) -> Answer {
    let (now, after) = prepare(&host, &call).await?;
    in_background(move || {
        let preview = difference::show(&now.path, now.content.as_deref(), &after.content);
        let (size, name) = (after.content.len(), now.path.display().to_string());
        let data = json!({
            "name": name,
            "preview": preview,
            "before": { "sha256": now.sum(), "access": now.access },
            "after": sum(&after.content),
            "size": size,
            "parses": after.parses,
        });
        Ok(Found::all(data))
    })
    .await
}

/// Makes a change: checks everything that the preview checks once more, that the file is what it was then, and that it
/// becomes what was shown.
pub(super) async fn change(host: Arc<ThisHost>, call: Call, change: Arc<Change>) -> Answer {
    let (now, after) = prepare(&host, &call).await?;
    let (Some(sum_before), Some(access_before)) = (change.before("sha256"), change.before("access")) else {
        let reason =
            "the plan does not say what the file held and who could use it, so that nothing tells whether that holds";
        return Err(Trouble::forbidden(reason));
    };
    if now.sum() != sum_before || now.access != access_before {
        return Err(drifted(&now.path));
    }
    let (name, size, sum) = (now.path.display().to_string(), after.content.len(), sum(&after.content));
    let expected = change.expected("sha256").ok_or_else(|| {
        Trouble::forbidden("the plan does not say what the file will hold, so that nothing tells whether it does")
    })?;
    if sum != expected {
        return Err(Trouble::drifted(format!("`{name}` would not become what the card showed; nothing was done")));
    }
    in_background(move || replace::replace(&now, &after.content, &change)).await?;
    Ok(Found::all(json!({ "name": name, "size": size, "sha256": sum })))
}

fn drifted(path: &Path) -> Trouble {
    Trouble::drifted(format!("`{}` has changed since the change was shown; nothing was done", path.display()))
}

/// What the file holds now, and what the call would make of it.
async fn prepare(host: &Arc<ThisHost>, call: &Call) -> Result<(Now, After), Trouble> {
    let (asked, path) = (Arc::clone(host), target(call)?.to_owned());
    let now = in_background(move || {
        let real = real_path(&path)?;
        if real != path {
            let message = format!("`{}` now leads to `{}`; nothing was done", path.display(), real.display());
            return Err(Trouble::drifted(message));
        }
        read(&asked, &real)
    })
    .await?;
    let content = changed(&now, call)?;
    refuse_unverifiable(&now.path, &content)?;
    let parses = parse::check(host, &now.path, &content).await?;
    Ok((now, After { content, parses }))
}

/// Returns what an action makes of a file.
fn changed(now: &Now, call: &Call) -> Result<String, Trouble> {
    match call.action().trim_start_matches("preview_") {
        "append" => Ok(appended(now.text(), call.required("content")?)),
        "replace" => replaced(now, call.required("from")?, call.required("to")?),
        _ => Ok(ended(call.required("content")?)),
    }
}

/// Replaces a text wherever it stands. A change that changes nothing was not meant, and is refused.
fn replaced(now: &Now, from: &str, to: &str) -> Result<String, Trouble> {
    let shown = now.path.display();
    let text =
        now.content.as_deref().ok_or_else(|| Trouble::invalid("target", format!("there is no file `{shown}`")))?;
    let places = if from.is_empty() { 0 } else { text.matches(from).count() };
    if places == 0 {
        let message = format!("`{shown}` does not contain `{from}`; upper and lower case and blanks count");
        return Err(Trouble::invalid("from", message));
    }
    if from == to {
        return Err(Trouble::invalid("to", format!("`{from}` in the place of itself changes nothing")));
    }
    // Looked at before anything is made: a short text in many places may become a very long one.
    let size =
        text.len().saturating_sub(places.saturating_mul(from.len())).saturating_add(places.saturating_mul(to.len()));
    refuse_too_large(size)?;
    Ok(text.replace(from, to))
}

fn refuse_too_large(size: usize) -> Result<(), Trouble> {
    if u64::try_from(size).unwrap_or(u64::MAX) <= FILE_BYTES_MAX {
        return Ok(());
    }
    Err(Trouble::invalid("content", format!("the file would be larger than {} KiB", FILE_BYTES_MAX / 1024)))
}

/// Refuses a new content that nobody could look at, compare or change again once it is written.
fn refuse_unverifiable(path: &Path, content: &str) -> Result<(), Trouble> {
    refuse_too_large(content.len())?;
    if has_too_many_lines(content) {
        return Err(Trouble::invalid("content", format!("the file would have more than {LINES_MAX} lines")));
    }
    if file::begins_with_key(content.as_bytes()) {
        let message = format!("`{}` would hold a private key; none is written from a chat", path.display());
        return Err(Trouble::forbidden(message));
    }
    Ok(())
}

/// Counted as they are compared: a carriage return ends a line too.
fn has_too_many_lines(content: &str) -> bool {
    content.split_inclusive(['\n', '\r']).nth(LINES_MAX).is_some()
}

/// A last line without an end gets one.
fn ended(content: &str) -> String {
    let end = if content.is_empty() || content.ends_with('\n') { "" } else { "\n" };
    format!("{content}{end}")
}

fn appended(now: &str, content: &str) -> String {
    format!("{}{}", ended(now), ended(content))
}

fn target(call: &Call) -> Result<&Path, Trouble> {
    match &call.target {
        Target::File(path) => Ok(path),
        _ => Err(Trouble::invalid("target", "this action runs on a file")),
    }
}

/// The path that a query means: it is one, or the id of a file on this machine.
fn asked_path(host: &ThisHost, query: &str) -> Result<PathBuf, Trouble> {
    let path = Path::new(query);
    if path.is_absolute() {
        return if is_plain_path(path) { Ok(path.to_owned()) } else { Err(no_path()) };
    }
    let id: ResourceId = query.parse().map_err(|_| no_path())?;
    match parse_target(host, "file", &id)? {
        Target::File(path) => Ok(path),
        _ => Err(no_path()),
    }
}

fn no_path() -> Trouble {
    Trouble::invalid("query", "`query` must be an absolute path without `..`, or the id of a file")
}

/// Where a path leads: all links followed, and of a file that does not exist yet, those of its folder.
fn real_path(path: &Path) -> Result<PathBuf, Trouble> {
    // What is secret by its name is refused as that, wherever it leads.
    file::refuse_unfit(path)?;
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(no_path()) };
    match path.symlink_metadata() {
        Ok(_) => file::canonical(&path.to_string_lossy()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let folder = parent.canonicalize().map_err(|error| Trouble::io(parent, &error))?;
            if !folder.is_dir() {
                return Err(Trouble::invalid("query", format!("`{}` is no folder", folder.display())));
            }
            Ok(folder.join(name))
        }
        Err(error) => Err(Trouble::io(path, &error)),
    }
}

/// Reads a file that may be changed, or finds that there is none. All links in the path have been followed.
fn read(host: &ThisHost, real: &Path) -> Result<Now, Trouble> {
    file::refuse_unfit(real)?;
    host.refuse_to_write(real)?;
    let shown = real.display();
    let Some(path) = real.to_str() else {
        return Err(Trouble::invalid("query", format!("`{shown}` is no text; its file cannot be named in a chat")));
    };
    if !real.try_exists().map_err(|error| Trouble::io(real, &error))? {
        return Ok(Now { path: real.to_owned(), content: None, access: NO_FILE.to_owned() });
    }
    let opened = file::open(path)?;
    host.refuse_to_write(&opened.path)?;
    if opened.path != real {
        return Err(Trouble::drifted(format!("`{shown}` was replaced while it was looked at; nothing was done")));
    }
    let access = opened.file.metadata().map(|meta| holder::access(&meta)).map_err(|error| Trouble::io(real, &error))?;
    let mut bytes = Vec::new();
    opened.file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| Trouble::io(real, &error))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > FILE_BYTES_MAX {
        let message = format!("`{shown}` is larger than {} KiB; it is not changed from a chat", FILE_BYTES_MAX / 1024);
        return Err(Trouble::invalid("query", message));
    }
    let content = String::from_utf8(bytes).map_err(|_| {
        Trouble::invalid("query", format!("`{shown}` is no text (UTF-8); it is not changed from a chat"))
    })?;
    if has_too_many_lines(&content) {
        let message = format!("`{shown}` has more than {LINES_MAX} lines; it is not changed from a chat");
        return Err(Trouble::invalid("query", message));
    }
    Ok(Now { path: real.to_owned(), content: Some(content), access })
}

fn read_bytes(host: &ThisHost, path: &Path) -> Result<Vec<u8>, Trouble> {
    let opened = file::open_to_compare(&path.to_string_lossy())?;
    host.refuse_own(&opened.path)?;
    let mut bytes = Vec::new();
    opened.file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| Trouble::io(path, &error))?;
    Ok(bytes)
}

const fn yes_or_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}
