//! Files are changed for real, in a directory of the test, through the calls that the core makes: find, preview, write,
//! look again.

use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;

use countersign_core::approval::Digest;

use super::*;

const WRITE: (&str, &str) = ("host_file", "write");
const APPEND: (&str, &str) = ("host_file", "append");

/// A file of the test, by its real path.
fn file(machine: &Machine, name: &str, content: &str) -> PathBuf {
    let path = machine.dir.path().canonicalize().expect("the directory is there").join(name);
    std::fs::write(&path, content).expect("a file can be written");
    path
}

fn content(path: &Path) -> String {
    std::fs::read_to_string(path).expect("the file is there")
}

fn sum(text: &str) -> String {
    Digest::of(text.as_bytes()).as_str().to_owned()
}

/// A file as `locate` finds it.
struct Located {
    target: String,
    sha256: String,
    access: String,
    resource: Resource,
}

impl Located {
    /// What a plan says that the file was.
    fn before(&self) -> [(&str, &str); 2] {
        [("sha256", &self.sha256), ("access", &self.access)]
    }
}

impl Machine {
    async fn locate(&self, query: &Path) -> Located {
        let mut found = self.resources("host_file", json!({ "action": "locate", "query": query })).await;
        assert_eq!(found.len(), 1);
        let resource = found.remove(0);
        let attr = |name: &str| resource.attrs[name].clone();
        Located { target: resource.id.to_string(), sha256: attr("sha256"), access: attr("access"), resource }
    }

    async fn not_located(&self, query: impl serde::Serialize) -> Failure {
        self.refused("host_file", json!({ "action": "locate", "query": query })).await
    }

    async fn preview(&self, call: (&str, &str), found: &Located, text: &str) -> Value {
        let action = format!("preview_{}", call.1);
        let args = json!({ "action": action, "target": found.target, "content": text });
        self.found("host_file", args).await.data
    }

    async fn write(&self, call: (&str, &str), found: &Located, text: &str) -> Value {
        let envelope = self.send(call, found, text).await;
        assert!(envelope.ok, "{call:?}: {:?}", envelope.error);
        envelope.data
    }

    async fn not_written(&self, call: (&str, &str), found: &Located, text: &str) -> Failure {
        nothing_done(self.send(call, found, text).await)
    }

    /// A change as the core sends it: its plan expects what the preview said. Where the preview is refused, the change is
    /// sent all the same.
    async fn send(&self, call: (&str, &str), found: &Located, text: &str) -> Envelope {
        let action = format!("preview_{}", call.1);
        let args = json!({ "action": action, "target": found.target, "content": text });
        let preview = self.ask("host_file", args).await;
        let after = preview.data["after"].as_str().unwrap_or("refused");
        let (before, expect) = (found.before(), [("sha256", after)]);
        self.order_expecting(call, &found.target, json!({ "content": text }), &before, &expect).await
    }

    /// Nothing is left in the directory but these.
    fn holds(&self, names: &[&str]) {
        let entries = std::fs::read_dir(self.dir.path()).expect("the directory is there").flatten();
        let mut found: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        found.sort();
        assert_eq!(found, names);
    }
}

#[tokio::test]
async fn a_file_is_found_previewed_written_and_verified() {
    let machine = Machine::new();
    let path = file(&machine, "motd", "one\ntwo\nthree\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("the mode can be set");
    let before = path.metadata().expect("it is there");
    let found = machine.locate(&path).await;
    assert_eq!(found.resource.name, path.display().to_string());
    let attrs = &found.resource.attrs;
    assert_eq!((attrs["exists"].as_str(), attrs["size"].as_str()), ("yes", "14"));
    assert_eq!(found.sha256, sum("one\ntwo\nthree\n"));

    let preview = machine.preview(WRITE, &found, "one\n2\nthree").await;
    assert_eq!(
        (&preview["after"], &preview["before"]),
        (&json!(sum("one\n2\nthree\n")), &json!({ "sha256": found.sha256, "access": found.access }))
    );
    assert_eq!(preview["parses"], json!("not checked: this kind of file is not known here"));
    let shown = preview["preview"].as_str().expect("a text").replace(&path.display().to_string(), "PATH");
    insta::assert_snapshot!(shown, @"
    --- PATH (line ends LF)
    +++ PATH (line ends LF)
    @@ -1,3 +1,3 @@
     one
    -two
    +2
     three
    ");
    assert_eq!(content(&path), "one\ntwo\nthree\n", "a preview changes nothing");

    let done = machine.write(WRITE, &found, "one\n2\nthree").await;
    assert_eq!((&done["sha256"], &done["size"]), (&preview["after"], &json!(12)));
    assert_eq!(content(&path), "one\n2\nthree\n");
    let after = path.metadata().expect("it is there");
    assert_eq!((after.mode(), after.uid(), after.gid()), (before.mode(), before.uid(), before.gid()));
    let state = machine.state("host_file", &found.target).await;
    assert_eq!((&state["present"], &state["sha256"], &state["size"]), (&json!(true), &preview["after"], &json!(12)));
    let again = machine.locate(Path::new(&found.target)).await;
    assert_eq!(
        (again.target.as_str(), again.sha256.as_str()),
        (found.target.as_str(), preview["after"].as_str().expect("a text"))
    );
    machine.holds(&["motd"]);
}

#[tokio::test]
async fn a_text_is_replaced_wherever_it_stands_and_one_that_stands_nowhere_is_refused() {
    let machine = Machine::new();
    let path = file(&machine, "app.conf", "port = 80\nadmin = 8080\n# Port\n");
    let found = machine.locate(&path).await;
    let preview =
        |old: &str, new: &str| json!({ "action": "preview_replace", "target": found.target, "from": old, "to": new });
    let shown = machine.found("host_file", preview("80", "81")).await.data;
    let after = shown["after"].as_str().expect("a text");
    assert_eq!(after, sum("port = 81\nadmin = 8181\n# Port\n"));
    let emptied = machine.found("host_file", preview(" = 80\n", "")).await.data;
    assert_eq!(emptied["after"].as_str(), Some(sum("portadmin = 8080\n# Port\n").as_str()));

    for (from, to, why) in [
        ("PORT", "x", "does not contain `PORT`"),
        ("443", "x", "does not contain `443`"),
        ("", "x", "does not contain ``"),
        ("80", "80", "changes nothing"),
    ] {
        let refused = machine.refused("host_file", preview(from, to)).await;
        assert!(refused.message.contains(why), "{from}: {}", refused.message);
    }
    let many = file(&machine, "many.conf", &"0".repeat(30_000));
    let long = json!({ "action": "preview_replace", "target": machine.locate(&many).await.target, "from": "0", "to": "x".repeat(1_000) });
    assert!(machine.refused("host_file", long).await.message.contains("larger than 256 KiB"));
    let call = ("host_file", "replace");
    let expect = [("sha256", after)];
    let args = json!({ "from": "80", "to": "82" });
    let other = machine.order_expecting(call, &found.target, args, &found.before(), &expect).await;
    assert!(nothing_done(other).message.contains("would not become what the card showed"));
    let args = json!({ "from": "80", "to": "81" });
    let done = machine.order_expecting(call, &found.target, args, &found.before(), &expect).await;
    assert!(done.ok, "{:?}", done.error);
    assert_eq!(content(&path), "port = 81\nadmin = 8181\n# Port\n");
}

#[tokio::test]
async fn lines_are_added_after_a_line_that_has_no_end() {
    let machine = Machine::new();
    let path = file(&machine, "hosts", "a\nb");
    let found = machine.locate(&path).await;
    let preview = machine.preview(APPEND, &found, "c\nd").await;
    let shown = preview["preview"].as_str().expect("a text").replace(&path.display().to_string(), "PATH");
    insta::assert_snapshot!(shown, @r"
    --- PATH (line ends LF, the last line has none)
    +++ PATH (line ends LF)
    @@ -1,2 +1,4 @@
     a
    -b
    \ No newline at end of file
    +b
    +c
    +d
    ");
    machine.write(APPEND, &found, "c\nd").await;
    assert_eq!(content(&path), "a\nb\nc\nd\n");
    assert_eq!(machine.state("host_file", &found.target).await["sha256"], preview["after"]);

    // Line ends that cannot be seen are named.
    let path = file(&machine, "dos", "a\r\nb\r\n");
    let preview = machine.preview(WRITE, &machine.locate(&path).await, "a\nb\n").await;
    let shown = preview["preview"].as_str().expect("a text").replace(&path.display().to_string(), "PATH");
    insta::assert_snapshot!(shown, @"
    Marks: ␍ a carriage return
    --- PATH (line ends CRLF)
    +++ PATH (line ends LF)
    @@ -1,2 +1,2 @@
    -a␍
    -b␍
    +a
    +b
    ");
}

#[tokio::test]
async fn a_new_file_is_made_where_its_folder_is() {
    let machine = Machine::new();
    let path = file(&machine, "folder", "").with_file_name("new.txt");
    let found = machine.locate(&path).await;
    assert_eq!((found.sha256.as_str(), found.resource.attrs["exists"].as_str()), ("none", "no"));
    assert_eq!(machine.state("host_file", &found.target).await["present"], json!(false));
    let preview = machine.preview(APPEND, &found, "first").await;
    let shown = preview["preview"].as_str().expect("a text").replace(&path.display().to_string(), "PATH");
    insta::assert_snapshot!(shown, @"
    --- PATH (does not exist)
    +++ PATH (line ends LF)
    @@ -0,0 +1 @@
    +first
    ");
    machine.write(APPEND, &found, "first").await;
    assert_eq!(content(&path), "first\n");
    assert_eq!(path.metadata().expect("it is there").mode() & 0o7777, 0o644);
    let failure = machine.not_written(WRITE, &found, "second").await;
    assert_eq!(failure.code, Code::Drifted, "somebody has made one since");
    assert_eq!(content(&path), "first\n");
    machine.holds(&["folder", "new.txt"]);
    let failure = machine.not_located(machine.dir.path().join("no-folder/new.txt")).await;
    assert_eq!(failure.code, Code::NotFound);
}

#[tokio::test]
async fn a_file_that_changed_since_is_left_alone() {
    let machine = Machine::new();
    let path = file(&machine, "motd", "one\n");
    let found = machine.locate(&path).await;
    std::fs::write(&path, "other\n").expect("a file can be written");
    for call in [WRITE, APPEND] {
        let failure = machine.not_written(call, &found, "two").await;
        let expected = format!("`{}` has changed since the change was shown; nothing was done", path.display());
        assert_eq!((failure.code, failure.message), (Code::Drifted, expected));
    }
    assert_eq!(content(&path), "other\n");
    std::fs::remove_file(&path).expect("it can be removed");
    assert_eq!(machine.not_written(WRITE, &found, "two").await.code, Code::Drifted);
    assert_eq!(machine.state("host_file", &found.target).await["present"], json!(false));
    symlink("/etc/hostname", &path).expect("a link can be made");
    assert_eq!(machine.not_written(WRITE, &found, "two").await.code, Code::Drifted, "what was a file is a link now");
    assert_eq!(machine.state("host_file", &found.target).await["state"], json!("no plain file"));
    machine.holds(&["motd"]);
    let failure = machine.not_done(WRITE, &found.target, json!({ "content": "two" }), &[]).await;
    assert_eq!(failure.code, Code::Drifted);
}

#[tokio::test]
async fn a_plan_that_does_not_say_what_the_file_held_writes_nothing() {
    let machine = Machine::new();
    let path = file(&machine, "motd", "one\n");
    let found = machine.locate(&path).await;
    let failure = machine.not_done(WRITE, &found.target, json!({ "content": "two" }), &[]).await;
    assert_eq!((failure.code, content(&path)), (Code::PolicyBlocked, "one\n".to_owned()));
}

#[tokio::test]
async fn what_would_not_parse_is_refused_in_the_preview_and_in_the_write() {
    let machine = Machine::new();
    let table = [
        ("a.json", "{\"a\": 1}\n", "{\"a\": 1,}", WRITE, "as JSON, line 1 does not parse"),
        ("a.yaml", "a: 1\n", "b: [", APPEND, "as YAML, line"),
        ("a.toml", "a = 1\n", "a = 2", APPEND, "as TOML, line 2 does not parse"),
        ("a.service", "[Service]\n", "ExecStart", APPEND, "as a systemd unit, line 2 does not parse"),
        ("a.sh", "if true; then\n:\nfi\n", "fi", APPEND, "as a shell script, line 4 does not parse"),
        ("script", "#!/bin/bash\n", "done", APPEND, "as a bash script, line 2 does not parse"),
    ];
    for (name, before, text, call, expected) in table {
        let path = file(&machine, name, before);
        let found = machine.locate(&path).await;
        let action = format!("preview_{}", call.1);
        let preview = json!({ "action": action, "target": found.target, "content": text });
        let failure = machine.refused("host_file", preview).await;
        assert_eq!((failure.code, failure.blocked), (Code::InvalidInput, true), "{name}");
        assert!(failure.message.contains(expected), "{name}: {}", failure.message);
        let failure = machine.not_written(call, &found, text).await;
        assert!(
            failure.code == Code::InvalidInput && failure.message.contains(expected),
            "{name}: {}",
            failure.message
        );
        assert_eq!(content(&path), before, "{name}");
    }
}

#[tokio::test]
async fn an_access_list_stays_with_its_file() {
    let machine = Machine::new();
    let path = file(&machine, "motd", "one\n");
    // Version 2; then tag, permissions and id of: owner, user 1000, group, mask, everybody else (`acl(5)`).
    let entries: [(u16, u16, u32); 5] =
        [(1, 6, u32::MAX), (2, 4, 1000), (4, 0, u32::MAX), (16, 4, u32::MAX), (32, 0, u32::MAX)];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        list.extend([&tag.to_le_bytes()[..], &permissions.to_le_bytes(), &id.to_le_bytes()].concat());
    }
    let attributes = [("system.posix_acl_access", list.as_slice()), ("user.note", b"kept")];
    for (name, value) in attributes {
        let set = rustix::fs::setxattr(&path, name, value, rustix::fs::XattrFlags::empty());
        set.expect("the file system keeps attributes");
    }
    let mode = path.metadata().expect("it is there").mode();
    machine.write(WRITE, &machine.locate(&path).await, "two").await;
    for (name, value) in attributes {
        let mut kept = vec![0; 1024];
        let length = rustix::fs::getxattr(&path, name, kept.as_mut_slice()).expect(name);
        assert_eq!(&kept[..length], value, "{name}");
    }
    assert_eq!((path.metadata().expect("it is there").mode(), content(&path)), (mode, "two\n".to_owned()));
}

#[tokio::test]
async fn a_link_is_followed_to_its_file_and_stays_a_link() {
    let machine = Machine::new();
    let path = file(&machine, "real.conf", "one\n");
    let link = path.with_file_name("link.conf");
    symlink("real.conf", &link).expect("a link can be made");
    let found = machine.locate(&link).await;
    assert_eq!(found.resource.name, path.display().to_string());
    assert_eq!(found.resource.aliases, [link.display().to_string()]);
    machine.write(WRITE, &found, "two").await;
    assert_eq!(content(&path), "two\n");
    assert!(link.symlink_metadata().expect("it is there").is_symlink());
    let dangling = path.with_file_name("dangling");
    symlink("nowhere", &dangling).expect("a link can be made");
    assert_eq!(machine.not_located(&dangling).await.code, Code::NotFound);
}

#[tokio::test]
async fn what_is_nobodys_business_in_a_chat_is_neither_found_nor_written() {
    let machine = Machine::with(|host, dir| {
        let own = dir.join("own");
        std::fs::create_dir(&own).expect("a directory can be made");
        *host = host.clone().keeping_out(vec![own]);
    });
    let real = machine.dir.path().canonicalize().expect("the directory is there");
    let secret = file(&machine, "id_rsa", "x\n");
    let own = file(&machine, "own/data", "x\n");
    let link = real.join("notes.txt");
    symlink(&own, &link).expect("a link can be made");
    let secret_link = real.join("notes2.txt");
    symlink(&secret, &secret_link).expect("a link can be made");
    let new_secret = real.join("server.key");
    let new_own = real.join("own/new");
    let key = file(&machine, "key.txt", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n");
    for path in [&secret, &own, &link, &secret_link, &new_secret, &new_own, &key] {
        let failure = machine.not_located(path).await;
        assert_eq!((failure.code, failure.blocked), (Code::PolicyBlocked, true), "{}", path.display());
        // Also for whoever gives an id without having found it.
        let target = format!("{}:{}", machine.id.replace("host:", "file:"), path.display());
        let args = json!({ "content": "y" });
        let failure = machine.not_done(WRITE, &target, args, &[("sha256", &sum("x\n"))]).await;
        assert!(matches!(failure.code, Code::PolicyBlocked | Code::Drifted), "{}: {failure:?}", path.display());
    }
    assert_eq!((content(&secret), content(&own)), ("x\n".to_owned(), "x\n".to_owned()));
    assert!(!new_secret.exists() && !new_own.exists());
    let state =
        json!({ "action": "state", "target": format!("{}:{}", machine.id.replace("host:", "file:"), own.display()) });
    assert_eq!(machine.refused("host_file", state).await.code, Code::PolicyBlocked);
}

#[tokio::test]
async fn what_is_no_small_text_file_is_not_changed() {
    let machine = Machine::new();
    let real = machine.dir.path().canonicalize().expect("the directory is there");
    let large = file(&machine, "large", &"x".repeat(256 * 1024 + 1));
    let binary = real.join("binary");
    std::fs::write(&binary, b"\xff\xfe\x00").expect("a file can be written");
    let fifo = real.join("pipe");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo runs").success());
    for path in [large, binary, real.clone(), fifo, "/dev/null".into(), "/proc/self/comm".into(), "/proc/new".into()] {
        assert_eq!(machine.not_located(&path).await.code, Code::InvalidInput, "{}", path.display());
    }
    for query in ["etc/motd", "/etc/../etc/motd", "motd", "service:web-1:x", "/"] {
        assert_eq!(machine.not_located(query).await.code, Code::InvalidInput, "{query}");
    }
    let first = file(&machine, "first", "x\n");
    std::fs::hard_link(&first, real.join("second")).expect("a second name can be given");
    let found = machine.locate(&first).await;
    let failure = machine.not_written(WRITE, &found, "y").await;
    assert!(failure.message.contains("has a second name (a hard link)"), "{}", failure.message);
    let nearly = file(&machine, "nearly", &"x".repeat(256 * 1024 - 1));
    let failure = machine.not_written(APPEND, &machine.locate(&nearly).await, "y").await;
    assert!(failure.message.contains("would be larger than 256 KiB"), "{}", failure.message);
    machine.holds(&["binary", "first", "large", "nearly", "pipe", "second"]);
}

#[tokio::test]
async fn what_would_not_become_what_was_countersigned_is_not_written() {
    let machine = Machine::new();
    let path = file(&machine, "motd", "one\n");
    let found = machine.locate(&path).await;
    let before = found.before();
    for (call, other) in [(WRITE, sum("three\n")), (APPEND, sum("two\n"))] {
        let args = json!({ "content": "two" });
        let expect = [("sha256", other.as_str())];
        let failure = nothing_done(machine.order_expecting(call, &found.target, args, &before, &expect).await);
        let expected = format!("`{}` would not become what the card showed; nothing was done", path.display());
        assert_eq!((failure.code, failure.message), (Code::Drifted, expected));
    }
    let failure = machine.not_done(WRITE, &found.target, json!({ "content": "two" }), &before).await;
    assert_eq!(failure.code, Code::PolicyBlocked, "a plan that expects nothing can be verified by nothing");
    assert_eq!(content(&path), "one\n");
    machine.holds(&["motd"]);
}

#[tokio::test]
async fn what_was_written_can_be_verified_whatever_it_holds() {
    let machine = Machine::new();
    let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n";
    let path = file(&machine, "notes.txt", "one\n");
    let found = machine.locate(&path).await;
    std::fs::write(&path, key).expect("a file can be written");
    assert_eq!(machine.state("host_file", &found.target).await["sha256"], json!(sum(key)));
    std::fs::write(&path, "two\n").expect("a file can be written");
    std::fs::hard_link(&path, path.with_file_name("second")).expect("a second name can be given");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("the mode can be set");
    assert_eq!(machine.state("host_file", &found.target).await["sha256"], json!(sum("two\n")));
}

#[tokio::test]
async fn what_could_not_be_looked_at_afterwards_is_not_written() {
    let machine = Machine::new();
    let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n";
    let path = file(&machine, "notes.txt", "one\n");
    let found = machine.locate(&path).await;
    for call in [WRITE, APPEND] {
        let action = format!("preview_{}", call.1);
        let preview = json!({ "action": action, "target": found.target, "content": key });
        let expected = format!("`{}` would hold a private key; none is written from a chat", path.display());
        let failure = machine.refused("host_file", preview).await;
        assert_eq!((failure.code, failure.message.as_str()), (Code::PolicyBlocked, expected.as_str()));
        let failure = machine.not_written(call, &found, key).await;
        assert_eq!((failure.code, failure.message), (Code::PolicyBlocked, expected));
    }
    assert_eq!(content(&path), "one\n");
}

#[tokio::test]
async fn a_file_of_too_many_lines_to_compare_is_not_changed() {
    let machine = Machine::new();
    let most = "a\n".repeat(3_000);
    let long = file(&machine, "long", &format!("{most}a\n"));
    let failure = machine.not_located(&long).await;
    assert_eq!(failure.code, Code::InvalidInput);
    assert!(
        failure.message.ends_with("has more than 3000 lines; it is not changed from a chat"),
        "{}",
        failure.message
    );
    let full = file(&machine, "full", &most);
    let found = machine.locate(&full).await;
    for (call, text) in [(APPEND, "b".to_owned()), (WRITE, "\n".repeat(3_001))] {
        let failure = machine.not_written(call, &found, &text).await;
        assert_eq!(failure.code, Code::InvalidInput);
        assert_eq!(failure.message, "the file would have more than 3000 lines");
    }
    assert_eq!(machine.preview(WRITE, &found, "b").await["after"], json!(sum("b\n")), "as many as may be are compared");
}

/// Nothing in common, on the only thread that carries messages: each step on it must be short.
#[tokio::test]
async fn a_long_comparison_holds_no_message_up() {
    use tokio::time::Instant;
    let machine = Machine::new();
    let found = machine.locate(&file(&machine, "long", &"a\n".repeat(1_500))).await;
    let text = "z\n".repeat(1_500);
    let mut preview = std::pin::pin!(machine.preview(WRITE, &found, &text));
    let (since, mut longest) = (Instant::now(), std::time::Duration::ZERO);
    std::future::poll_fn(|cx| {
        let step = Instant::now();
        let poll = preview.as_mut().poll(cx);
        longest = longest.max(step.elapsed());
        poll.map(drop)
    })
    .await;
    let whole = since.elapsed();
    assert!(longest * 2 < whole, "one step took {longest:?} of {whole:?}");
}
