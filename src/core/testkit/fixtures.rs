//! Small, sound things to test with: a thread, a signal, a resource, and a tool file with every kind of call.

use crate::resource::Resource;
use crate::signal::{
    AccountId, Actor, ActorId, ActorKind, Addressed, Assurance, ConversationId, ConversationKind, EventId, Ground,
    Payload, Platform, Signal, SignalId, SpaceId, ThreadKey, ThreadRoot, Wall,
};

/// Tools of a small fleet: a discovery, reads on places and on services, a command, and a write that must never run
/// without a countersignature.
pub const TOOLS: &str = r#"
spoke = "lab"

[[tool]]
name = "lab_find"
about = "finds things"
[tool.action.host]
kind = "resolve"
about = "finds hosts"
limit_ms = 1000
resolves = "host"
args.query = { type = "text", about = "a name" }
[tool.action.service]
kind = "resolve"
about = "finds services"
limit_ms = 1000
resolves = "service"
args.query = { type = "text", about = "a name" }

[tool.action.file]
kind = "resolve"
about = "finds files"
limit_ms = 1000
resolves = "file"
args.query = { type = "text", about = "a path" }

[[tool]]
name = "lab_read"
about = "looks at things"
[tool.action.load]
kind = "read"
about = "how busy a host of the shop is"
limit_ms = 1000
target = "host"
resolve = "lab_find.host"
show.lead = "The load is {load}."
fact = [{ attr = "load", value = "{load}" }]
[tool.action.file]
kind = "read"
about = "reads a file"
limit_ms = 1000
target = "host"
resolve = "lab_find.host"
args.path = { type = "path", about = "which file", required = true }
[tool.action.run]
kind = "read"
about = "runs a read-only command"
limit_ms = 1000
target = "host"
resolve = "lab_find.host"
args.line = { type = "command", about = "the command", required = true, max = 400 }
[tool.action.fetch]
kind = "read"
about = "fetches a page"
limit_ms = 1000
target = "host"
resolve = "lab_find.host"
args.url = { type = "destination", about = "where", required = true }
[tool.action.status]
kind = "read"
about = "how a service does of which customers complain"
limit_ms = 1000
target = "service"
resolve = "lab_find.service"
show.lead = "{name} is {state}."
fact = [{ attr = "status", value = "{state}" }]
[tool.action.content]
kind = "read"
about = "what a file holds"
limit_ms = 1000
target = "file"
resolve = "lab_find.file"
[tool.action.preview]
kind = "read"
about = "what an edit would change"
limit_ms = 1000
target = "service"
resolve = "lab_find.service"
args.text = { type = "content", about = "the new text", required = true }
[tool.action.vaulted]
kind = "read"
about = "needs a credential"
limit_ms = 1000
target = "host"
resolve = "lab_find.host"
credentials = ["lab-token"]

[[tool]]
name = "lab_control"
about = "changes things"
[tool.action.restart]
kind = "write"
about = "restarts a service of which customers complain"
limit_ms = 1000
target = "service"
resolve = "lab_find.service"
change.title = "restart {target.name}"
change.risk = "medium"
change.precondition = ["run"]
change.verify = "lab_read.status"
change.expect.equals = { state = "running" }
change.expect.changed = ["run"]

[tool.action.edit]
kind = "write"
about = "edits what a service runs with"
limit_ms = 1000
target = "service"
resolve = "lab_find.service"
args.text = { type = "content", about = "the new text", required = true }
change.title = "edit {target.name}"
change.risk = "medium"
change.precondition = ["run"]
change.preview = "lab_read.preview"
change.verify = "lab_read.status"
change.expect.equals = { sum = "{preview.after}" }

[[tool]]
name = "lab_notes"
about = "keeps notes"
[tool.action.note]
kind = "record"
about = "keeps a note"
limit_ms = 1000
target = "host"
resolve = "lab_find.host"
args.text = { type = "text", about = "the note", required = true }
"#;

/// Intents over [`TOOLS`].
pub const INTENTS: &str = r#"
[[intent]]
name = "load"
about = "how busy the machine is"
examples = ["load", "how busy is it here"]
patterns = ["(?:the )?load", "how busy is it here"]
call = "lab_read.load"
domain = "lab"

[[intent]]
name = "status-of"
about = "how a service does"
examples = ["status of nginx", "how is nginx"]
patterns = ["status of (?P<name>.+)", "how is (?P<name>\\S+)"]
call = "lab_read.status"
target = "name"
domain = "lab"

[[intent]]
name = "file"
about = "a file"
examples = ["show file /etc/hosts"]
patterns = ["show file (?P<path>/\\S+)"]
call = "lab_read.file"
args.path = "{path}"
domain = "lab"

[[intent]]
name = "run"
about = "what a read-only command prints"
examples = ["run uptime"]
patterns = ["run (?P<line>.+)"]
call = "lab_read.run"
args.line = "{line}"
domain = "lab"

[[intent]]
name = "services"
about = "the services"
examples = ["list services"]
patterns = ["list services"]
call = "lab_find.service"
domain = "lab"

[[intent]]
name = "restart"
about = "restarts a service"
examples = ["restart nginx"]
patterns = ["restart (?P<name>\\S+)"]
call = "lab_control.restart"
target = "name"
domain = "lab"

[[intent]]
name = "edit"
about = "edits a service"
examples = ["edit nginx: text"]
patterns = ["edit (?P<name>[^ :]+): ?(?P<text>.+)"]
call = "lab_control.edit"
target = "name"
args.text = "{text}"
domain = "lab"

[[intent]]
name = "approvals"
about = "the open plans"
examples = ["approvals"]
patterns = ["approvals"]
own = "approvals"

[[intent]]
name = "approve"
about = "countersigns a plan"
examples = ["approve 00000000000000000000000000000000"]
patterns = ["approve(?: (?P<plan>\\S+?))?(?:[:,]? because (?P<reason>.+))?"]
own = "approve"
args.plan = "{plan}"
args.reason = "{reason}"

[[intent]]
name = "deny"
about = "says no to a plan"
examples = ["deny 00000000000000000000000000000000"]
patterns = ["deny(?: (?P<plan>\\S+))?(?: (?P<reason>.+))?"]
own = "deny"
args.plan = "{plan}"
args.reason = "{reason}"

[[intent]]
name = "cancel"
about = "takes a plan back"
examples = ["cancel 00000000000000000000000000000000"]
patterns = ["cancel(?: (?P<plan>\\S+))?"]
own = "cancel"
args.plan = "{plan}"

[[intent]]
name = "grant"
about = "allows beforehand what a plan does"
examples = ["grant 00000000000000000000000000000000 for 8 hours"]
patterns = ["grant(?: (?P<plan>[0-9a-f]{32}))?(?: (?P<terms>.+))?"]
own = "grant"
args.plan = "{plan}"
args.terms = "{terms}"

[[intent]]
name = "grants"
about = "what is allowed beforehand"
examples = ["grants"]
patterns = ["grants"]
own = "grants"

[[intent]]
name = "revoke"
about = "takes back what was allowed"
examples = ["revoke 00000000000000000000000000000000"]
patterns = ["revoke(?: (?P<grant>\\S+))?"]
own = "revoke"
args.grant = "{grant}"

[[intent]]
name = "verify"
about = "looks again at what was changed"
examples = ["verify"]
patterns = ["verify"]
own = "verify"

[[intent]]
name = "stop"
about = "ends what is worked on"
examples = ["stop"]
patterns = ["stop"]
own = "stop"

[[intent]]
name = "about"
about = "what is known about a thing"
examples = ["what do you know about nginx"]
patterns = ["what do you know about (?P<name>.+)"]
own = "about"
target = "name"

[[intent]]
name = "help"
about = "this list"
examples = ["help"]
patterns = ["help"]
own = "help"

[[intent]]
name = "status"
about = "how the bot does"
examples = ["status"]
patterns = ["status"]
own = "status"

[[intent]]
name = "limits"
about = "how much you may ask for"
examples = ["limits"]
patterns = ["limits"]
own = "limits"

[[intent]]
name = "who"
about = "who you are to the bot"
examples = ["who am i"]
patterns = ["who am i"]
own = "who"

[[intent]]
name = "roles"
about = "what each role may do"
examples = ["roles"]
patterns = ["roles"]
own = "roles"

[[intent]]
name = "link"
about = "makes another account yours"
examples = ["link", "link ABCDE-FGHJK"]
patterns = ["link(?: (?P<words>.+))?"]
own = "link"
args.words = "{words}"

[[intent]]
name = "unlink"
about = "takes an account away from a person"
examples = ["unlink telegram:4711"]
patterns = ["unlink (?P<account>.+)"]
own = "unlink"
args.account = "{account}"

[[intent]]
name = "pin"
about = "keep a thing known in this thread, also over `reset keep`"
examples = ["pin nginx", "pin it"]
patterns = ["pin (?:the )?(?P<thing>\\S+)"]
own = "pin"
target = "thing"

[[intent]]
name = "unpin"
about = "let a pinned thing be forgotten like others"
examples = ["unpin nginx"]
patterns = ["unpin (?:the )?(?P<thing>\\S+)"]
own = "unpin"
target = "thing"

[[intent]]
name = "history"
about = "the changes of this thread"
examples = ["history"]
patterns = ["history(?: (?P<within>.+))?"]
own = "history"
args.within = "{within}"

[[intent]]
name = "who-approved"
about = "who approved the last change"
examples = ["who approved that"]
patterns = ["who approved that"]
own = "who_approved"

[[intent]]
name = "again"
about = "the last reading once more"
examples = ["again", "once more"]
patterns = ["again|once more"]
own = "again"

[[intent]]
name = "more"
about = "more of the last reading"
examples = ["more"]
patterns = ["more"]
own = "more"

[[intent]]
name = "why"
about = "which gates the last question met"
examples = ["why"]
patterns = ["why"]
own = "why"

[[intent]]
name = "sources"
about = "what the last answer rests on"
examples = ["sources"]
patterns = ["sources"]
own = "sources"

[[intent]]
name = "budget"
about = "what is left today"
examples = ["budget"]
patterns = ["budget"]
own = "budget"

[[intent]]
name = "reset-keep"
about = "forget all but the pinned"
examples = ["reset keep"]
patterns = ["reset keep"]
own = "reset_keep"

[[intent]]
name = "reset"
about = "forget everything"
examples = ["reset"]
patterns = ["reset"]
own = "reset"
"#;

/// A resource of which only the id and the name matter.
pub fn resource(id: &str, name: &str) -> Resource {
    Resource {
        id: id.parse().expect("invariant: the test gives a canonical id"),
        name: name.to_owned(),
        aliases: Vec::new(),
        chain: Vec::new(),
        allowed: Vec::new(),
        mounts: Vec::new(),
        about: String::new(),
        attrs: std::collections::BTreeMap::new(),
    }
}

/// A thread of this name on a platform called `test`.
pub fn thread_key(name: &str) -> ThreadKey {
    ThreadKey {
        platform: Platform::new("test"),
        account: AccountId::new("bot"),
        space: SpaceId::new(""),
        conversation: ConversationId::new("room"),
        root: ThreadRoot::new(name),
    }
}

/// Somebody says something in the thread `main`.
pub fn signal(id: &str, actor: &str, text: &str) -> Signal {
    Signal {
        id: SignalId::new(id),
        event: EventId::new(id),
        thread: thread_key("main"),
        room: ConversationKind::Group,
        actor: Actor { id: ActorId::new(actor), kind: ActorKind::Human, display: actor.to_owned() },
        addressed: Addressed::Mention,
        payload: Payload::Text { text: text.to_owned() },
        depth: 0,
        ground: Ground::Foreground,
        follows: None,
        platform_roles: Vec::new(),
        assurance: Assurance::Platform,
        received_at: Wall(0),
    }
}

/// So many tools beside [`TOOLS`], as a file of tools: each reads one of many kinds of things of a host.
pub fn yard(tools: usize) -> String {
    let kinds = ["queue", "bucket", "volume", "ingress", "ledger", "tenant", "cluster", "mailbox", "runner", "cache"];
    let one = |(n, kind): (usize, &&str)| {
        format!(
            "[[tool]]\nname = \"yard_{kind}{n}\"\nabout = \"looks at {kind} {n}\"\n[tool.action.show]\nkind = \"read\"\n\
             about = \"what the {kind} number {n} holds, and since when it does\"\nlimit_ms = 1000\ntarget = \"host\"\n\
             resolve = \"lab_find.host\"\nargs.since = {{ type = \"text\", about = \"from when on, as a time or an age\" }}\n\
             args.lines = {{ type = \"integer\", about = \"how many of them at most\", min = 1, max = 500 }}\n\
             show.text = \"out\"\n"
        )
    };
    let declared: String = kinds.iter().cycle().enumerate().take(tools).map(|(n, kind)| one((n, kind))).collect();
    format!("spoke = \"yard\"\n{declared}")
}
