//! Events as Discord sends them, and what they come to. Each row is one line: what was heard, where, by whom, and what of it
//! is left.

use countersign_core::port::Touched;
use countersign_core::signal::{Payload, Signal};
use serde_json::{Value, json};

use super::*;
use crate::ids::MessageRef;
use crate::places::Kind;

const GUILD: u64 = 1_000_000_000_000_000_001;
const OPS: u64 = 1_100_000_000_000_000_001;
const WEB: u64 = 1_100_000_000_000_000_077;
const ANN: u64 = 80_351_110_224_678_911;
const BOT: u64 = 80_351_110_224_678_999;

fn place(id: u64, kind: Kind) -> Place {
    let guild = (kind != Kind::Direct).then_some(GUILD);
    Place { id, guild, kind, open: false }
}

fn ops() -> Place {
    place(OPS, Kind::Room)
}

fn web() -> Place {
    place(WEB, Kind::Thread { parent: OPS, news: false })
}

fn direct() -> Place {
    place(500, Kind::Direct)
}

fn user(id: u64, name: &str) -> Value {
    json!({"id": id.to_string(), "username": name, "global_name": null, "discriminator": "0", "avatar": null})
}

fn ann() -> Value {
    json!({"id": ANN.to_string(), "username": "ann", "global_name": "Ann Lee", "discriminator": "0", "avatar": null})
}

fn ourselves() -> Value {
    json!({"id": BOT.to_string(), "username": "countersign", "discriminator": "0", "avatar": null, "bot": true})
}

/// A message of Ann's with its text; `more` is added or put in the place of what is there.
fn message(channel: u64, text: &str, more: &Value) -> Value {
    let mut message = json!({
        "id": "7", "channel_id": channel.to_string(), "author": ann(), "content": text, "type": 0,
        "timestamp": "2026-11-22T10:00:00.000000+00:00", "edited_timestamp": null, "tts": false,
        "mention_everyone": false, "mentions": [], "mention_roles": [], "attachments": [], "embeds": [],
        "pinned": false,
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        message[key] = value.clone();
    }
    message
}

fn with<T>(place: Place, own_threads: bool, act: impl FnOnce(Here<'_>) -> T) -> T {
    let me = Me { id: BOT };
    act(Here { me: &me, place, own_threads })
}

fn heard(place: Place, own_threads: bool, text: &str, more: &Value) -> Option<Signal> {
    let message = message(place.id, text, more);
    let message = serde_json::from_value(message).expect("it is a message");
    with(place, own_threads, |here| super::said(&message, here))
}

fn said(place: Place, text: &str, more: &Value) -> Signal {
    heard(place, false, text, more).expect("something was said")
}

/// How it addressed the bot, and its words.
fn address(place: Place, text: &str, more: &Value) -> String {
    let signal = said(place, text, more);
    let Payload::Text { text } = signal.payload else { panic!("no text: {signal:?}") };
    format!("{:?}: {text:?}", signal.addressed)
}

/// Where it belongs and what it follows.
fn belongs(signal: &Signal) -> String {
    let follows = signal.follows.as_ref().map_or("", |event| event.as_str());
    let key = &signal.thread;
    let short = |text: &str| text.replace("000000000000000", "..");
    format!(
        "{} {} {:?} follows {:?} ({})",
        short(key.space.as_str()),
        short(key.conversation.as_str()),
        short(key.root.as_str()),
        short(follows),
        signal.room.as_str()
    )
}

fn mentioned() -> Value {
    json!({"mentions": [ourselves()]})
}

/// In reply to a message of somebody's.
fn replying(to: &Value, more: &Value) -> Value {
    let answered = message(OPS, "earlier", &json!({"id": "3", "author": to}));
    let mut reply = json!({
        "type": 19, "referenced_message": answered,
        "message_reference": {"message_id": "3", "channel_id": OPS.to_string(), "guild_id": GUILD.to_string()},
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        reply[key] = value.clone();
    }
    reply
}

#[test]
fn who_is_addressed_and_what_is_left_of_the_text() {
    let (plain, nick) = (format!("<@{BOT}>"), format!("<@!{BOT}>"));
    let rows = [
        address(direct(), "  Disk usage ", &json!({})),
        address(ops(), "Disk usage", &json!({})),
        address(ops(), &format!("{plain} Disk  usage"), &mentioned()),
        address(ops(), &format!("{nick}: Disk usage"), &mentioned()),
        address(ops(), &format!("please {plain} show /etc/Hosts"), &mentioned()),
        address(ops(), &format!("{plain}{nick} hi {plain}"), &mentioned()),
        address(ops(), &plain, &mentioned()),
        address(ops(), &format!("`{plain}` is how one writes it"), &json!({})),
        address(ops(), "@countersign hi", &json!({})),
        address(ops(), &format!("{plain} ask <@12> about <#34>"), &mentioned()),
        address(direct(), &format!("{plain} hi"), &mentioned()),
    ];
    insta::assert_snapshot!(rows.join("\n"), @r#"
    Direct: "  Disk usage "
    No: "Disk usage"
    Mention: "Disk  usage"
    Mention: "Disk usage"
    Mention: "please show /etc/Hosts"
    Mention: "hi"
    Mention: ""
    No: "`<@80351110224678999>` is how one writes it"
    No: "@countersign hi"
    Mention: "ask <@12> about <#34>"
    Direct: "hi"
    "#);
}

#[test]
fn words_of_others_never_address_the_bot() {
    let forwarded = json!({
        "content": "", "message_reference": {"type": 1, "message_id": "3", "channel_id": OPS.to_string()},
    });
    let rows = [
        address(ops(), "approve 4a3f", &replying(&ourselves(), &json!({}))),
        address(ops(), "approve 4a3f", &replying(&user(5, "bob"), &json!({}))),
        address(ops(), "approve 4a3f", &replying(&user(5, "bob"), &mentioned())),
        address(ops(), "approve 4a3f", &json!({"type": 19, "referenced_message": null})),
    ];
    insta::assert_snapshot!(rows.join("\n"), @r#"
    Reply: "approve 4a3f"
    No: "approve 4a3f"
    No: "approve 4a3f"
    No: "approve 4a3f"
    "#);
    assert_eq!(heard(direct(), false, "", &forwarded), None, "what is forwarded is not said by whoever forwards it");
}

#[test]
fn what_says_nothing_and_what_the_bot_said_is_passed_over() {
    let rows = [
        json!({"author": ourselves()}),
        json!({"type": 7}),
        json!({"type": 6}),
        json!({"type": 18}),
        json!({"content": "", "attachments": []}),
    ];
    for more in rows {
        assert_eq!(heard(ops(), false, "x", &more), None, "{more}");
    }
}

#[test]
fn each_thread_is_what_discord_makes_of_it() {
    let reply = replying(&user(5, "bob"), &json!({}));
    let open = Place { open: true, ..ops() };
    let rows = [
        said(direct(), "x", &json!({})),
        said(direct(), "x", &reply),
        said(ops(), "x", &json!({})),
        said(ops(), "x", &reply),
        said(web(), "x", &json!({})),
        said(web(), "x", &reply),
        said(open, "x", &json!({})),
        said(place(OPS, Kind::News), "x", &json!({})),
        said(place(OPS, Kind::Other), "x", &json!({})),
        heard(ops(), true, "x", &json!({})).expect("it is heard"),
        heard(ops(), true, "x", &reply).expect("it is heard"),
        heard(web(), true, "x", &reply).expect("it is heard"),
    ];
    let rows: Vec<String> = rows.iter().map(belongs).collect();
    insta::assert_snapshot!(rows.join("\n"), @r#"
     500 "" follows "" (direct)
     500 "" follows "" (direct)
    1..001 11..01 "m:7" follows "" (group)
    1..001 11..01 "m:7" follows "11..01:3" (group)
    1..001 11..01 "thread:11..77" follows "" (group)
    1..001 11..01 "thread:11..77" follows "" (group)
    1..001 11..01 "m:7" follows "" (channel)
    1..001 11..01 "m:7" follows "" (channel)
    1..001 11..01 "m:7" follows "" (unknown)
    1..001 11..01 "thread:7" follows "" (group)
    1..001 11..01 "thread:7" follows "11..01:3" (group)
    1..001 11..01 "thread:11..77" follows "" (group)
    "#);
}

#[test]
fn only_accounts_are_people_and_their_roles_come_with_what_they_say() {
    let member = json!({"roles": ["1100000000000000009", "1100000000000000010"], "joined_at": null, "nick": "Boss"});
    let rows = [
        said(ops(), "x", &json!({"member": member})),
        said(direct(), "x", &json!({})),
        said(ops(), "x", &json!({"author": {"id": "5", "username": "other", "discriminator": "0", "bot": true}})),
        said(
            ops(),
            "x",
            &json!({"webhook_id": "6", "author": {"id": "6", "username": "Ann Lee", "discriminator": "0"}}),
        ),
    ];
    let row = |signal: &Signal| {
        format!("{} {:?} {:?} {:?}", signal.actor.id, signal.actor.kind, signal.actor.display, signal.platform_roles)
    };
    let rows: Vec<String> = rows.iter().map(row).collect();
    insta::assert_snapshot!(rows.join("\n"), @r#"
    80351110224678911 Human "Ann Lee" ["1100000000000000009", "1100000000000000010"]
    80351110224678911 Human "Ann Lee" []
    5 Bot "other" []
    6 Webhook "Ann Lee" []
    "#);
}

#[test]
fn an_edit_names_its_message_and_says_nothing_else() {
    let edited = |more: &Value| {
        let change = serde_json::from_value(message(OPS, "approve everything", more)).expect("it is a change");
        with(ops(), false, |here| changed(&change, here))
    };
    let signal = edited(&json!({"edited_timestamp": "2026-11-22T10:00:09.250000+00:00"})).expect("it is heard");
    assert_eq!(signal.event.as_str(), format!("edit:{OPS}:7:1795341609250"));
    assert_eq!(signal.addressed, countersign_core::signal::Addressed::No);
    let Payload::Edited { event } = signal.payload else { panic!("no edit") };
    assert_eq!(event, said(ops(), "x", &json!({})).event);
    assert_eq!(edited(&json!({})), None, "Discord looked at an address in it");
    let own = json!({"author": ourselves(), "edited_timestamp": "2026-11-22T10:00:09+00:00"});
    assert_eq!(edited(&own), None, "the bot edits its own messages");
}

#[test]
fn a_deletion_names_its_message_and_nobody() {
    let signal = with(ops(), false, |here| deleted(MessageRef { channel: OPS, message: 7 }, here));
    let Payload::Deleted { event } = &signal.payload else { panic!("no deletion") };
    assert_eq!(*event, said(ops(), "x", &json!({})).event);
    assert_ne!(signal.event, *event);
    assert_eq!(signal.actor.kind, countersign_core::signal::ActorKind::AnonymousAdmin);
}

fn member() -> Value {
    json!({
        "user": ann(), "roles": ["1100000000000000009"], "joined_at": "2026-01-01T00:00:00+00:00", "deaf": false,
        "mute": false, "permissions": "0", "flags": 0, "nick": null, "avatar": null, "premium_since": null,
    })
}

fn channel_of(place: Place) -> Value {
    let kind = match place.kind {
        Kind::Direct => 1,
        Kind::Thread { .. } => 11,
        Kind::Room | Kind::News | Kind::Other => 0,
    };
    json!({"id": place.id.to_string(), "type": kind, "permissions": "0"})
}

/// An interaction of Ann's.
fn interaction(kind: u8, place: Place, data: &Value) -> Interaction {
    serde_json::from_value(wire(kind, place, data)).expect("it is an interaction")
}

fn wire(kind: u8, place: Place, data: &Value) -> Value {
    let mut interaction = json!({
        "id": "8001", "application_id": "99", "type": kind, "token": "secret", "version": 1, "data": data,
        "channel": channel_of(place), "channel_id": place.id.to_string(), "locale": "en-US", "entitlements": [],
        "app_permissions": "0", "authorizing_integration_owners": {}, "context": u8::from(place.guild.is_none()),
        "attachment_size_limit": 1000,
    });
    if place.guild.is_some() {
        interaction["guild_id"] = json!(GUILD.to_string());
        interaction["member"] = member();
    } else {
        interaction["user"] = ann();
    }
    if kind == 3 {
        interaction["message"] = message(place.id, "Countersign this?", &json!({"author": ourselves(), "id": "30"}));
    }
    interaction
}

fn called(kind: u8, place: Place, data: &Value) -> Heard {
    with(place, false, |here| super::interaction(&interaction(kind, place, data), here))
}

#[test]
fn commands_are_words() {
    let command = |name: &str, text: Option<&str>, place: Place| {
        let options: Vec<Value> = text.iter().map(|text| json!({"name": "text", "type": 3, "value": text})).collect();
        match called(2, place, &json!({"id": "4", "name": name, "type": 1, "options": options})) {
            Heard::Said { signal, call: Some(call) } => {
                assert_eq!((signal.event.as_str(), call.id, call.application), ("in:8001", 8001, 99));
                let Payload::Text { text } = &signal.payload else { panic!("no text: {signal:?}") };
                format!("{:?}: {text:?} {} {:?}", signal.addressed, belongs(&signal), signal.platform_roles)
            }
            other => panic!("nothing was said: {other:?}"),
        }
    };
    let rows = [
        command("disk_usage", None, ops()),
        command("disk_usage", Some(" /data "), web()),
        command("ask", Some("Stop process 7"), ops()),
        command("help", None, direct()),
    ];
    insta::assert_snapshot!(rows.join("\n"), @r#"
    Command: "disk usage" 1..001 11..01 "in:8001" follows "" (group) ["1100000000000000009"]
    Command: "disk usage /data" 1..001 11..01 "thread:11..77" follows "" (group) ["1100000000000000009"]
    Command: "Stop process 7" 1..001 11..01 "in:8001" follows "" (group) ["1100000000000000009"]
    Command: "help"  500 "" follows "" (direct) []
    "#);
    let stray = called(2, ops(), &json!({"id": "4", "name": "Ask about this", "type": 3, "target_id": "7"}));
    assert!(matches!(stray, Heard::Stray(_)), "{stray:?}");
}

#[test]
fn a_press_carries_what_stood_in_the_button_and_who_pressed_it() {
    for (place, root) in [(ops(), "m:30"), (web(), "thread:1100000000000000077"), (direct(), "")] {
        let Heard::Touched { touch, call } = called(3, place, &json!({"custom_id": "POST:0", "component_type": 2}))
        else {
            panic!("a press is heard")
        };
        assert_eq!(touch.event.as_str(), "in:8001");
        assert!(matches!(&touch.on, Touched::Button { data, on } if data == "POST:0" && on.as_str().ends_with(":30")));
        assert_eq!((touch.actor.id.as_str(), touch.actor.display.as_str()), (ANN.to_string().as_str(), "Ann Lee"));
        assert_eq!(touch.thread.root.as_str(), root);
        assert_eq!(touch.platform_roles.len(), usize::from(place.guild.is_some()));
        let call = call.expect("Discord waits for it");
        assert_eq!(format!("{call:?}"), "Press 8001", "its token is never shown");
    }
    let picked = called(3, ops(), &json!({"custom_id": "menu:0", "component_type": 3, "values": ["POST:7"]}));
    let Heard::Touched { touch, .. } = picked else { panic!("a pick is heard") };
    assert!(matches!(&touch.on, Touched::Button { data, .. } if data == "POST:7"));
    for stray in [json!({"component_type": 5, "values": ["12"]}), json!({"component_type": 3, "values": []})] {
        let mut data = stray;
        data["custom_id"] = json!("menu:0");
        assert!(matches!(called(3, ops(), &data), Heard::Stray(_)), "{data}");
    }
}

#[test]
fn where_others_talk_among_themselves_nothing_is_heard() {
    let command = json!({"id": "4", "name": "help", "type": 1});
    let press = json!({"custom_id": "POST:0", "component_type": 2});
    let heard = |kind: u8, place: Place, context: u8, data: &Value| {
        let mut wire = wire(kind, place, data);
        wire["context"] = json!(context);
        let interaction = serde_json::from_value(wire).expect("it is an interaction");
        with(place, false, |here| super::interaction(&interaction, here))
    };
    assert!(matches!(heard(2, direct(), 1, &command), Heard::Said { .. }), "the bot's own is ours");
    let group = Place { guild: None, ..place(500, Kind::Other) };
    for (place, context) in [(direct(), 2), (direct(), 3), (group, 1), (group, 2)] {
        assert!(matches!(heard(2, place, context, &command), Heard::Stray(Call { waits: Waits::Command, .. })));
        assert!(matches!(heard(3, place, context, &press), Heard::Stray(Call { waits: Waits::Press, .. })));
        let typed = json!({"id": "4", "name": "ask", "type": 1,
            "options": [{"name": "text", "type": 3, "value": "x", "focused": true}]});
        assert!(matches!(heard(4, place, context, &typed), Heard::Nothing), "and nothing is offered");
    }
}

#[test]
fn only_a_yes_or_a_no_decides() {
    let reaction = |emoji: &str, more: &Value| {
        let mut reaction = json!({
            "user_id": ANN.to_string(), "channel_id": OPS.to_string(), "message_id": "30",
            "guild_id": GUILD.to_string(), "member": member(), "emoji": {"id": null, "name": emoji},
            "message_author_id": BOT.to_string(), "burst": false, "type": 0,
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            reaction[key] = value.clone();
        }
        let reaction = serde_json::from_value(reaction).expect("it is a reaction");
        with(ops(), false, |here| reacted(&reaction, ("abc", 17), here))
    };
    let by_ann = |emoji: &str, more: &Value| match reaction(emoji, more) {
        Heard::Touched { touch, call: None } => {
            assert_eq!(
                (touch.event.as_str(), touch.actor.kind),
                ("re:abc:17", countersign_core::signal::ActorKind::Human)
            );
            let Touched::Message { event, sign } = touch.on else { panic!("no message") };
            format!("{sign:?} {event} {:?}", touch.platform_roles)
        }
        other => format!("{other:?}"),
    };
    let rows = [
        by_ann("👍", &json!({})),
        by_ann("✅", &json!({})),
        by_ann("👎", &json!({"member": null})),
        by_ann("❌", &json!({"message_author_id": null})),
        by_ann("❤", &json!({})),
        by_ann("👍", &json!({"message_author_id": "5"})),
        by_ann("👍", &json!({"user_id": BOT.to_string()})),
        by_ann("👍", &json!({"emoji": {"id": "12", "name": "👍"}})),
    ];
    insta::assert_snapshot!(rows.join("\n"), @r#"
    Approve 1100000000000000001:30 ["1100000000000000009"]
    Approve 1100000000000000001:30 ["1100000000000000009"]
    Deny 1100000000000000001:30 []
    Deny 1100000000000000001:30 ["1100000000000000009"]
    Nothing
    Nothing
    Nothing
    Nothing
    "#);
}
