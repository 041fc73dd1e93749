//! Updates as Telegram sends them, and what they come to. Each row is one line: what was heard, where, by whom, and what of
//! it is left.

use countersign_core::port::Touched;
use countersign_core::signal::{EventId, Payload, Signal, ThreadKey, ThreadRoot};
use serde_json::{Value, json};

use super::*;

const GROUP: i64 = -1_001_234;
const ANN: u64 = 11;

fn me() -> Me {
    Me { id: 99, username: "CountersignBot".to_owned(), first_ids: Arc::default() }
}

fn group() -> Value {
    json!({"id": GROUP, "type": "supergroup", "title": "ops"})
}

fn forum() -> Value {
    json!({"id": GROUP, "type": "supergroup", "title": "ops", "is_forum": true})
}

fn private() -> Value {
    json!({"id": ANN, "type": "private", "first_name": "Ann"})
}

fn ann() -> Value {
    json!({"id": ANN, "is_bot": false, "first_name": "Ann", "last_name": "Lee", "username": "ann"})
}

fn ourselves() -> Value {
    json!({"id": 99, "is_bot": true, "first_name": "Countersign", "username": "CountersignBot"})
}

/// A message of Ann's with its text; `more` is added or put in the place of what is there.
fn message(chat: &Value, text: &str, more: &Value) -> Value {
    let mut message = json!({"message_id": 7, "date": 1_700_000_000, "chat": chat, "from": ann(), "text": text});
    for (key, value) in more.as_object().into_iter().flatten() {
        message[key] = value.clone();
    }
    message
}

fn entity(kind: &str, offset: usize, length: usize) -> Value {
    json!([{"type": kind, "offset": offset, "length": length}])
}

fn heard(kind: &str, body: &Value) -> Heard {
    let text = json!({"update_id": 500, kind: body}).to_string();
    let update: Update = serde_json::from_str(&text).expect("it is an update");
    super::update(&update, &me(), &["disk_usage".to_owned(), "help".to_owned()])
}

fn said(chat: &Value, text: &str, more: &Value) -> Signal {
    match heard("message", &message(chat, text, more)) {
        Heard::Said(signal) => signal,
        other => panic!("nothing was said: {other:?}"),
    }
}

/// How it addressed the bot, and its words.
fn address(chat: &Value, text: &str, more: &Value) -> String {
    let signal = said(chat, text, more);
    let Payload::Text { text } = signal.payload else { panic!("no text: {signal:?}") };
    format!("{:?}: {text:?}", signal.addressed)
}

/// Where it belongs and what it follows.
fn place(signal: &Signal) -> String {
    let follows = signal.follows.as_ref().map_or("", |event| event.as_str());
    let key = &signal.thread;
    format!(
        "{} {} {:?} follows {follows:?} ({})",
        key.account,
        key.conversation,
        key.root.as_str(),
        signal.room.as_str()
    )
}

#[test]
fn who_is_addressed_and_what_is_left_of_the_text() {
    let mention = |offset| json!({"entities": entity("mention", offset, 15)});
    let named = json!({"entities": [{"type": "text_mention", "offset": 3, "length": 3, "user": ourselves()}]});
    let rows = [
        address(&private(), "  Disk usage ", &json!({})),
        address(&group(), "Disk usage", &json!({})),
        address(&group(), "@countersignbot Disk  usage", &mention(0)),
        address(&group(), "@CountersignBot: Disk usage", &mention(0)),
        address(&group(), "please @CountersignBot show /etc/Hosts", &mention(7)),
        address(&group(), "🦀 @CountersignBot hi", &mention(3)),
        address(&group(), "@CountersignBo2 hi", &mention(0)),
        address(&group(), "hi bot, how are you", &named),
        address(&group(), "@CountersignBot", &mention(0)),
        address(&group(), "@CountersignBot not marked", &json!({})),
        address(&group(), "@CountersignBot out of all bounds", &mention(usize::MAX)),
    ];
    insta::assert_snapshot!(rows.join("\n"), @r#"
    Direct: "  Disk usage "
    No: "Disk usage"
    Mention: "Disk  usage"
    Mention: "Disk usage"
    Mention: "please show /etc/Hosts"
    Mention: "🦀 hi"
    No: "@CountersignBo2 hi"
    Mention: "hi , how are you"
    Mention: ""
    No: "@CountersignBot not marked"
    No: "@CountersignBot out of all bounds"
    "#);
}

#[test]
fn commands_are_words_and_those_of_other_bots_are_not_ours() {
    let command = |length| json!({"entities": entity("bot_command", 0, length)});
    let rows = [
        address(&private(), "/disk_usage /data", &command(11)),
        address(&private(), "/start", &command(6)),
        address(&private(), "/start abc", &command(6)),
        address(&group(), "/start", &command(6)),
        address(&private(), "/Disk_Usage", &command(11)),
        address(&private(), "/anything else ", &command(9)),
        address(&private(), "/approve_4a3f", &command(13)),
        address(&group(), "/approve_4a3f@CountersignBot", &command(28)),
        address(&private(), "/approve 4a3f", &command(8)),
        address(&group(), "/disk_usage", &command(11)),
        address(&group(), "/anything", &command(9)),
        address(&group(), "/disk_usage@countersignbot x", &command(26)),
        address(&group(), "/anything@countersignbot x", &command(24)),
        address(&group(), "/help@OtherBot", &command(14)),
        address(&private(), "/help@OtherBot", &command(14)),
        address(&group(), "see /help", &json!({"entities": entity("bot_command", 4, 5)})),
    ];
    insta::assert_snapshot!(rows.join("\n"), @r#"
    Command: "disk usage /data"
    Command: "start"
    Command: "start"
    Command: "start"
    Command: "Disk Usage"
    Command: "/anything else "
    Command: "/approve_4a3f"
    Command: "/approve_4a3f@CountersignBot"
    Command: "/approve 4a3f"
    Command: "disk usage"
    No: "/anything"
    Command: "disk usage x"
    Command: "/anything@countersignbot x"
    No: "/help@OtherBot"
    No: "/help@OtherBot"
    No: "see /help"
    "#);
}

#[test]
fn words_of_others_never_address_the_bot() {
    let ours = json!({"message_id": 3, "date": 1, "chat": group(), "from": ourselves(), "text": "Countersign this?"});
    let forwarded = json!({"type": "hidden_user", "sender_user_name": "Eve", "date": 1});
    let rows = [
        address(&group(), "approve 4a3f", &json!({"reply_to_message": ours})),
        address(&group(), "no", &json!({"reply_to_message": ours, "quote": {"text": "approve 4a3f", "position": 0}})),
        address(&group(), "approve 4a3f", &json!({"reply_to_message": ours, "forward_origin": forwarded})),
        address(&private(), "approve 4a3f", &json!({"forward_origin": forwarded})),
        address(
            &private(),
            "typed by way of a bot",
            &json!({"via_bot": {"id": 5, "is_bot": true, "first_name": "gif"}}),
        ),
        address(&private(), "picked from what we offer", &json!({"via_bot": ourselves()})),
    ];
    insta::assert_snapshot!(rows.join("\n"), @r#"
    Reply: "approve 4a3f"
    Reply: "no"
    No: "approve 4a3f"
    No: "approve 4a3f"
    No: "typed by way of a bot"
    Direct: "picked from what we offer"
    "#);
}

#[test]
fn a_caption_is_text_and_a_message_that_says_nothing_is_none() {
    let photo = json!({
        "message_id": 7, "date": 1, "chat": private(), "from": ann(), "caption": "what is this",
        "photo": [{"file_id": "a", "file_unique_id": "b", "width": 1, "height": 1}],
    });
    let Heard::Said(signal) = heard("message", &photo) else { panic!("a caption says something") };
    assert_eq!(signal.payload, Payload::Text { text: "what is this".to_owned() });
    let joined = json!({"message_id": 7, "date": 1, "chat": group(), "from": ann(), "new_chat_members": [ann()]});
    assert_eq!(heard("message", &joined), Heard::Nothing);
}

#[test]
fn each_thread_is_what_telegram_makes_of_it() {
    let earlier = json!({"message_id": 3, "date": 1, "chat": group(), "from": ann(), "text": "earlier"});
    let opening = json!({"message_id": 40, "date": 1, "chat": forum(), "from": ourselves(),
        "forum_topic_created": {"name": "web", "icon_color": 7_322_096}});
    let in_topic = json!({"message_thread_id": 40, "is_topic_message": true});
    let formally = json!({"message_thread_id": 40, "is_topic_message": true, "reply_to_message": opening});
    let chained = json!({"message_thread_id": 3, "reply_to_message": earlier});
    let public = json!({"id": GROUP, "type": "supergroup", "title": "ops", "username": "ops_for_all"});
    let rows = [
        said(&private(), "x", &json!({})),
        said(&private(), "x", &json!({"reply_to_message": earlier})),
        said(&group(), "x", &json!({})),
        said(&group(), "x", &chained),
        said(&forum(), "x", &in_topic),
        said(&forum(), "x", &formally),
        said(&forum(), "x", &json!({})),
        said(&public, "x", &json!({})),
        said(&json!({"id": -55, "type": "group", "title": "small"}), "x", &json!({})),
    ];
    let rows: Vec<String> = rows.iter().map(place).collect();
    insta::assert_snapshot!(rows.join("\n"), @r#"
    99 11 "" follows "" (direct)
    99 11 "" follows "" (direct)
    99 -1001234 "m:7" follows "" (group)
    99 -1001234 "m:7" follows "-1001234:3" (group)
    99 -1001234 "topic:40" follows "" (group)
    99 -1001234 "topic:40" follows "" (group)
    99 -1001234 "topic:general" follows "" (group)
    99 -1001234 "m:7" follows "" (channel)
    99 -55 "m:7" follows "" (group)
    "#);
    assert_eq!(
        address(&forum(), "x", &formally),
        "No: \"x\"",
        "the bot opened the topic; nobody answers it by writing there"
    );
}

#[test]
fn only_accounts_are_people() {
    let linked = json!({"id": -7, "type": "channel", "title": "news"});
    let anonymous =
        json!({"id": 1_087_968_824, "is_bot": true, "first_name": "Group", "username": "GroupAnonymousBot"});
    let channel_bot = json!({"id": 136_817_688, "is_bot": true, "first_name": "Channel", "username": "Channel_Bot"});
    let service = json!({"id": 777_000, "is_bot": false, "first_name": "Telegram"});
    let rows = [
        said(&group(), "x", &json!({})),
        said(&group(), "x", &json!({"from": {"id": 5, "is_bot": true, "first_name": "Other"}})),
        said(&group(), "x", &json!({"from": anonymous, "sender_chat": group()})),
        said(&group(), "x", &json!({"from": channel_bot, "sender_chat": linked})),
        said(&group(), "x", &json!({"from": service, "sender_chat": linked, "is_automatic_forward": true})),
    ];
    let row = |signal: &Signal| format!("{} {:?} {:?}", signal.actor.id, signal.actor.kind, signal.actor.display);
    let rows: Vec<String> = rows.iter().map(row).collect();
    insta::assert_snapshot!(rows.join("\n"), @r#"
    11 Human "Ann Lee"
    5 Bot "Other"
    1087968824 AnonymousAdmin "Group"
    136817688 ChannelPost "Channel"
    777000 ChannelPost "Telegram"
    "#);
    let nobody = json!({"message_id": 7, "date": 1, "chat": linked, "sender_chat": linked, "text": "x"});
    assert_eq!(heard("message", &nobody), Heard::Nothing);
}

#[test]
fn an_edit_names_its_message_and_says_nothing_else() {
    let edited = message(&group(), "approve everything", &json!({"edit_date": 1_700_000_009}));
    let Heard::Said(signal) = heard("edited_message", &edited) else { panic!("an edit is heard") };
    assert_eq!(signal.event.as_str(), "edit:-1001234:7:1700000009");
    assert_eq!(signal.addressed, countersign_core::signal::Addressed::No);
    let Payload::Edited { event } = signal.payload else { panic!("no edit") };
    assert_eq!(event, said(&group(), "x", &json!({})).event);
}

fn press(message: &Value, more: &Value) -> Heard {
    let mut query = json!({"id": "8001", "from": ann(), "chat_instance": "1", "message": message, "data": "POST:0"});
    for (key, value) in more.as_object().into_iter().flatten() {
        query[key] = value.clone();
    }
    heard("callback_query", &query)
}

#[test]
fn a_press_carries_what_stood_in_the_button_and_who_pressed_it() {
    let card = json!({"message_id": 30, "date": 1, "chat": group(), "from": ourselves(), "text": "Countersign this?"});
    let gone = json!({"message_id": 30, "date": 0, "chat": group()});
    for message in [&card, &gone] {
        let Heard::Touched { touch, callback } = press(message, &json!({})) else { panic!("a press is heard") };
        assert_eq!(touch.event.as_str(), "cb:8001");
        let on = EventId::new("-1001234:30");
        assert_eq!(touch.on, Touched::Button { data: "POST:0".to_owned(), on });
        assert_eq!((touch.actor.id.as_str(), callback.as_deref()), ("11", Some("8001")));
        assert_eq!(touch.thread.conversation.as_str(), "-1001234");
    }
    for stray in [json!({"message": null, "inline_message_id": "x"}), json!({"data": null, "game_short_name": "x"})] {
        assert_eq!(press(&card, &stray), Heard::Stray("8001".to_owned()));
    }
}

fn reaction(who: (&str, &Value), old: &[&str], new: &[&str]) -> Heard {
    let list = |all: &[&str]| all.iter().map(|emoji| json!({"type": "emoji", "emoji": emoji})).collect::<Vec<_>>();
    heard(
        "message_reaction",
        &json!({"chat": group(), "message_id": 30, "date": 1, who.0: who.1, "old_reaction": list(old), "new_reaction": list(new)}),
    )
}

#[test]
fn only_a_new_yes_or_no_decides() {
    let by_ann = |old: &[&str], new: &[&str]| match reaction(("user", &ann()), old, new) {
        Heard::Touched { touch, callback: None } => {
            assert_eq!(touch.event.as_str(), "re:500");
            let Touched::Message { event, sign } = touch.on else { panic!("no message") };
            format!("{sign:?} {event}")
        }
        other => format!("{other:?}"),
    };
    let rows = [
        by_ann(&[], &["👍"]),
        by_ann(&["❤"], &["❤", "👎"]),
        by_ann(&["👎"], &["👍"]),
        by_ann(&["👍"], &[]),
        by_ann(&["👍"], &["👍", "❤"]),
        by_ann(&[], &["👍", "👎"]),
        by_ann(&[], &["✅"]),
    ];
    insta::assert_snapshot!(rows.join("\n"), @r"
    Approve -1001234:30
    Deny -1001234:30
    Approve -1001234:30
    Nothing
    Nothing
    Nothing
    Nothing
    ");
    let Heard::Touched { touch, .. } = reaction(("actor_chat", &group()), &[], &["👍"]) else {
        panic!("it is heard")
    };
    assert_eq!(touch.actor.kind, countersign_core::signal::ActorKind::AnonymousAdmin);
}

/// The chat that a group has become, and the threads of both: their messages have the same numbers.
#[test]
fn a_supergroup_is_the_group_that_it_was() {
    const OLD: i64 = -77;
    let small = json!({"id": OLD, "type": "group", "title": "ops"});
    let moved = |chat: &Value, notice: &Value| {
        let mut message = message(chat, "", notice);
        message.as_object_mut().expect("it is an object").remove("text");
        let update = json!({"update_id": 500, "message": message}).to_string();
        let update: Update = serde_json::from_str(&update).expect("it is an update");
        let chats = crate::moved::MovedChats::default();
        chats.note(&update.kind);
        let me = Me { first_ids: chats.known(), ..me() };
        match super::update(&update, &me, &[]) {
            Heard::Said(signal) => (signal, me, chats),
            other => panic!("nothing was said: {other:?}"),
        }
    };
    let (to, ..) = moved(&small, &json!({"migrate_to_chat_id": GROUP}));
    let (from, me, chats) = moved(&group(), &json!({"migrate_from_chat_id": OLD}));
    for signal in [&to, &from] {
        let Payload::RoomMoved { to, is_known: false } = &signal.payload else { panic!("{signal:?}") };
        assert_eq!((to.as_str(), signal.thread.conversation.as_str()), ("-1001234", "-77"));
        assert_eq!(signal.event.as_str(), "moved:-77:-1001234", "one event, wherever it is told");
    }
    let update = json!({"update_id": 501, "message": message(&group(), "hi", &json!({"message_id": 5}))}).to_string();
    let update: Update = serde_json::from_str(&update).expect("it is an update");
    let Heard::Said(said) = super::update(&update, &me, &[]) else { panic!("nothing was said") };
    assert_eq!(place(&said), "99 -77 \"m:5:-1001234\" follows \"\" (group)");
    assert_eq!(said.event.as_str(), "-1001234:5");
    // What is said there goes to the supergroup, and answers no message of the group.
    let sent = |root: &str, anchor: Option<&str>| {
        let thread = ThreadKey { root: ThreadRoot::new(root), ..said.thread.clone() };
        let anchor = anchor.map(EventId::new);
        format!("{:?}", crate::deliver::Target::of(&thread, anchor.as_ref(), &chats).expect("it is a thread"))
    };
    for (root, anchor, reply_to) in [
        ("m:5", None, "None"),
        ("m:5", Some("-77:9"), "None"),
        ("m:5", Some("-1001234:9"), "Some(9)"),
        ("m:5:-1001234", None, "Some(5)"),
        ("m:5:-1001234", Some("-1001234:9"), "Some(9)"),
    ] {
        let sent = sent(root, anchor);
        let expected = format!("chat: -1001234, topic: None, reply_to: {reply_to},");
        assert!(sent.contains(&expected), "{root} {anchor:?}: {sent}");
    }
}
