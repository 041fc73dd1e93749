//! What each kind of event of Matrix comes to.

use countersign_core::port::{Sign, Touch, Touched};
use countersign_core::signal::{ActorKind, Addressed, Payload};
use matrix_sdk::ruma::serde::Raw;
use matrix_sdk::ruma::{owned_room_id, owned_user_id};
use serde_json::{Value, json};

use super::*;

const PLAN: &str = "4a3f00c19be2d7756018f2ab9c44e01d";

fn me() -> Me {
    Me { user: owned_user_id!("@counter:example.org"), name: Some("Countersign Bot".to_owned()) }
}

fn place(kind: ConversationKind) -> Place {
    Place { room: owned_room_id!("!ops:example.org"), kind, redaction: RedactionRules::V11 }
}

/// An event of Ann's, as it comes in a sync.
fn raw(kind: &str, id: &str, content: &Value) -> Value {
    json!({ "type": kind, "event_id": id, "sender": "@ann:example.org", "origin_server_ts": 1, "content": content })
}

fn message(body: &str, more: &Value) -> Value {
    let mut content = json!({ "msgtype": "m.text", "body": body });
    merge(&mut content, more);
    raw("m.room.message", "$said", &content)
}

fn merge(into: &mut Value, more: &Value) {
    let (Some(into), Some(more)) = (into.as_object_mut(), more.as_object()) else { panic!("no objects") };
    into.extend(more.clone());
}

fn read(event: &Value) -> AnySyncTimelineEvent {
    Raw::<AnySyncTimelineEvent>::from_json_string(event.to_string())
        .and_then(|raw| raw.deserialize())
        .expect("an event")
}

fn heard_in(kind: ConversationKind, event: &Value, known: &Known) -> Heard {
    let (me, place) = (me(), place(kind));
    let commands = ["disk_usage".to_owned(), "ping".to_owned()];
    super::event(&read(event), known, Here { me: &me, place: &place, commands: &commands })
}

fn heard(event: &Value) -> Heard {
    heard_in(ConversationKind::Group, event, &Known::default())
}

fn signal(heard: Heard) -> Signal {
    match heard {
        Heard::Said(signal) => signal,
        other @ (Heard::Touched(_) | Heard::Nothing) => panic!("{other:?}"),
    }
}

fn touch(heard: Heard) -> Touch {
    match heard {
        Heard::Touched(touch) => touch,
        other @ (Heard::Said(_) | Heard::Nothing) => panic!("{other:?}"),
    }
}

/// How a message addresses the bot, and what it says.
fn addressed(event: &Value) -> (Addressed, String) {
    let signal = signal(heard(event));
    match signal.payload {
        Payload::Text { text } => (signal.addressed, text),
        other => panic!("{other:?}"),
    }
}

fn from(mut event: Value, sender: &str) -> Value {
    event["sender"] = json!(sender);
    event
}

fn answering(event: &str) -> Value {
    json!({ "m.relates_to": { "m.in_reply_to": { "event_id": event } } })
}

fn in_thread(root: &str, before: &str, falls_back: bool) -> Value {
    let relation = json!({
        "rel_type": "m.thread", "event_id": root, "is_falling_back": falls_back, "m.in_reply_to": { "event_id": before },
    });
    json!({ "m.relates_to": relation })
}

fn by(sender: &str) -> Known {
    Known { related_sender: Some(sender.try_into().expect("a user")), ..Known::default() }
}

#[test]
fn a_message_in_a_group_begins_a_thread_and_belongs_to_its_sender() {
    let known = Known { display: "Ann".to_owned(), power: 50, ..Known::default() };
    let said = signal(heard_in(
        ConversationKind::Group,
        &message("@counter:example.org: status of nginx", &json!({})),
        &known,
    ));
    assert_eq!(said.event.as_str(), "$said");
    assert_eq!((said.thread.platform.as_str(), said.thread.account.as_str()), ("matrix", "@counter:example.org"));
    assert_eq!((said.thread.space.as_str(), said.thread.conversation.as_str()), ("example.org", "!ops:example.org"));
    assert_eq!(said.thread.root.as_str(), "$said");
    assert_eq!((said.actor.id.as_str(), said.actor.kind), ("@ann:example.org", ActorKind::Human));
    assert_eq!(said.actor.display, "Ann");
    assert_eq!(said.platform_roles, ["power:50"]);
    assert_eq!((said.addressed, said.assurance, said.follows), (Addressed::Mention, Assurance::Unsealed, None));
    assert_eq!(said.payload, Payload::Text { text: "status of nginx".to_owned() });
}

#[test]
fn a_direct_conversation_is_one_thread_without_roles() {
    let known = Known { power: 100, ..Known::default() };
    let more = in_thread("$root", "$before", true);
    for event in [message("status of nginx", &json!({})), message("status of nginx", &more)] {
        let said = signal(heard_in(ConversationKind::Direct, &event, &known));
        assert_eq!((said.thread.root.as_str(), said.addressed), ("", Addressed::Direct));
        assert_eq!((said.follows, said.platform_roles), (None, Vec::new()));
    }
    for (typed, meant) in [("!disk_usage /", "disk usage /"), ("/help", "help"), ("!cs why", "why"), ("! x", "! x")] {
        let said = signal(heard_in(ConversationKind::Direct, &message(typed, &json!({})), &known));
        assert_eq!(said.payload, Payload::Text { text: meant.to_owned() }, "{typed}");
    }
}

#[test]
fn the_bot_is_addressed_by_its_id_its_name_or_what_the_client_says() {
    let named = json!({ "m.mentions": { "user_ids": ["@counter:example.org"] } });
    let pill = |target: &str| {
        let html = format!("<a href=\"https://matrix.to/#/{target}\">Countersign Bot</a>: ping");
        json!({ "format": "org.matrix.custom.html", "formatted_body": html })
    };
    let none = json!({});
    let table = [
        ("@counter:example.org ping", &none, Addressed::Mention, "ping"),
        ("ping @counter:example.org.", &none, Addressed::Mention, "ping ."),
        ("is @counter:example.org there", &none, Addressed::Mention, "is there"),
        ("Countersign Bot: ping", &none, Addressed::Mention, "ping"),
        ("@countersign bot, ping", &none, Addressed::Mention, "ping"),
        ("counter: ping", &none, Addressed::Mention, "ping"),
        ("Countersign Bot ping", &named, Addressed::Mention, "ping"),
        ("Countersign Bot: ping", &pill("@counter:example.org"), Addressed::Mention, "ping"),
        ("Countersign Bot: ping", &pill("%40counter%3Aexample.org"), Addressed::Mention, "ping"),
        ("ping, Countersign Bot", &named, Addressed::Mention, "ping"),
        ("ping", &named, Addressed::Mention, "ping"),
        ("counter is a word", &none, Addressed::No, "counter is a word"),
        ("a counter: of things", &none, Addressed::No, "a counter: of things"),
        ("counterproductive: yes", &none, Addressed::No, "counterproductive: yes"),
        ("@counter:example.org.de ping", &none, Addressed::No, "@counter:example.org.de ping"),
        ("@counter:example.org:8448 ping", &none, Addressed::No, "@counter:example.org:8448 ping"),
        ("@Counter:example.org ping", &none, Addressed::No, "@Counter:example.org ping"),
        ("ping Countersign Bot", &none, Addressed::No, "ping Countersign Bot"),
        ("see x", &pill("@counter:example.org.de"), Addressed::No, "see x"),
        ("", &none, Addressed::No, ""),
    ];
    for (body, more, how, text) in table {
        assert_eq!(addressed(&message(body, more)), (how, text.to_owned()), "{body} {more}");
    }
}

#[test]
fn a_command_begins_with_an_exclamation_mark_and_is_the_bots_own() {
    let approve = format!("!approve {PLAN}");
    let deny = format!("!deny {PLAN} because: no");
    let table = [
        ("!cs status of nginx", Addressed::Command, "status of nginx"),
        ("!ping", Addressed::Command, "ping"),
        ("/ping", Addressed::Command, "ping"),
        ("!disk_usage /var", Addressed::Command, "disk usage /var"),
        (approve.as_str(), Addressed::Command, approve.trim_start_matches('!')),
        (deny.as_str(), Addressed::Command, deny.trim_start_matches('!')),
        ("!approve it", Addressed::No, "!approve it"),
        ("!approve 4a3f", Addressed::No, "!approve 4a3f"),
        ("!help", Addressed::No, "!help"),
        ("!csx", Addressed::No, "!csx"),
        ("no !ping", Addressed::No, "no !ping"),
        ("@counter:example.org !help me", Addressed::Mention, "help me"),
        ("@counter:example.org /var/log?", Addressed::Mention, "/var/log?"),
    ];
    for (body, how, text) in table {
        assert_eq!(addressed(&message(body, &json!({}))), (how, text.to_owned()), "{body}");
    }
}

#[test]
fn a_reply_to_the_bot_addresses_it_and_what_it_quotes_is_not_said() {
    let quoted = format!("> <@counter:example.org> Or write: approve {PLAN}\n> second\n\nwhy?");
    let reply = message(&quoted, &answering("$card"));
    assert_eq!(related(&read(&reply)).as_ref().map(|event| event.as_str()), Some("$card"));
    let table = [("@counter:example.org", Addressed::Reply), ("@ann:example.org", Addressed::No)];
    for (sender, how) in table {
        let said = signal(heard_in(ConversationKind::Group, &reply, &by(sender)));
        assert_eq!(
            (said.addressed, said.follows.as_ref().map(countersign_core::signal::EventId::as_str)),
            (how, Some("$card")),
            "{sender}"
        );
        assert_eq!(said.payload, Payload::Text { text: "why?".to_owned() });
        assert_eq!(said.thread.root.as_str(), "$said", "what it follows says to which thread it belongs");
    }
    let unknown = signal(heard(&reply));
    assert_eq!(unknown.addressed, Addressed::No, "who wrote what it replies to is not known");
    let no_reply = signal(heard(&message("> <@a:b> x\n\ny", &json!({}))));
    assert_eq!(no_reply.payload, Payload::Text { text: "> <@a:b> x\n\ny".to_owned() }, "only a reply quotes");
}

#[test]
fn a_message_in_a_thread_belongs_to_it_and_answers_only_what_it_really_replies_to() {
    let falls_back = message("and now?", &in_thread("$root", "$card", true));
    assert_eq!(related(&read(&falls_back)), None);
    let said = signal(heard_in(ConversationKind::Group, &falls_back, &by("@counter:example.org")));
    assert_eq!((said.thread.root.as_str(), said.addressed, said.follows), ("$root", Addressed::No, None));
    let replies = message("and now?", &in_thread("$root", "$card", false));
    assert_eq!(related(&read(&replies)).as_ref().map(|event| event.as_str()), Some("$card"));
    let said = signal(heard_in(ConversationKind::Group, &replies, &by("@counter:example.org")));
    assert_eq!((said.thread.root.as_str(), said.addressed, said.follows), ("$root", Addressed::Reply, None));
}

#[test]
fn what_bots_write_what_is_no_text_and_what_the_bot_itself_does_is_nothing() {
    let kinds = ["m.notice", "m.emote", "m.image", "m.file", "m.location", "org.example.card"];
    for kind in kinds {
        let content =
            json!({ "msgtype": kind, "body": "@counter:example.org ping", "url": "mxc://a/b", "geo_uri": "geo:1,1" });
        assert_eq!(heard(&raw("m.room.message", "$said", &content)), Heard::Nothing, "{kind}");
    }
    let own = from(message("@counter:example.org ping", &json!({})), "@counter:example.org");
    assert_eq!(heard(&own), Heard::Nothing);
    let reacted = raw(
        "m.reaction",
        "$re",
        &json!({ "m.relates_to": { "rel_type": "m.annotation", "event_id": "$card", "key": "✅" } }),
    );
    assert_eq!(heard(&from(reacted, "@counter:example.org")), Heard::Nothing, "the bot's own seeds decide nothing");
    let others = [
        raw("m.sticker", "$x", &json!({ "body": "ping", "url": "mxc://a/b", "info": {} })),
        raw("org.example.other", "$x", &json!({ "body": "@counter:example.org ping" })),
        raw(
            "m.room.encrypted",
            "$x",
            &json!({ "algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "x", "session_id": "x" }),
        ),
        json!({ "type": "m.room.topic", "state_key": "", "event_id": "$x", "sender": "@ann:example.org", "origin_server_ts": 1,
            "content": { "topic": "@counter:example.org ping" } }),
        json!({ "type": "m.room.message", "event_id": "$x", "sender": "@ann:example.org", "origin_server_ts": 1, "content": {},
            "unsigned": { "redacted_because": { "type": "m.room.redaction", "event_id": "$y", "sender": "@ann:example.org",
                "origin_server_ts": 1, "content": { "redacts": "$x" } } } }),
    ];
    for other in others {
        assert_eq!(heard(&other), Heard::Nothing, "{other}");
    }
}

#[test]
fn an_edit_takes_back_what_its_own_author_wrote_and_says_nothing_new() {
    let more = json!({
        "m.new_content": { "msgtype": "m.text", "body": format!("!approve {PLAN}") },
        "m.relates_to": { "rel_type": "m.replace", "event_id": "$asked" },
    });
    let edit = message(&format!("* !approve {PLAN}"), &more);
    let mut picture = edit.clone();
    (picture["content"]["msgtype"], picture["content"]["url"]) = (json!("m.image"), json!("mxc://example.org/x"));
    for edit in [&edit, &picture] {
        assert_eq!(related(&read(edit)).as_ref().map(|event| event.as_str()), Some("$asked"));
        let said = signal(heard_in(ConversationKind::Group, edit, &by("@ann:example.org")));
        assert_eq!((said.event.as_str(), said.addressed), ("$said", Addressed::No));
        let Payload::Edited { event } = said.payload else { panic!("{:?}", said.payload) };
        assert_eq!((event.as_str(), said.thread.root.as_str()), ("$asked", "$asked"));
        for other in [Known::default(), by("@bob:example.org")] {
            let forged = heard_in(ConversationKind::Group, edit, &other);
            assert_eq!(forged, Heard::Nothing, "nobody edits what another one wrote, or what nobody has seen");
        }
    }
}

#[test]
fn a_deleted_message_is_named_by_the_rules_of_its_room() {
    let both = |inside: &str, beside: &str| {
        let mut event = raw("m.room.redaction", "$gone", &json!({ "redacts": inside }));
        event["redacts"] = json!(beside);
        event
    };
    let of = |event: &Value, redaction: RedactionRules| {
        let (me, place) = (me(), Place { redaction, ..place(ConversationKind::Group) });
        let here = Here { me: &me, place: &place, commands: &[] };
        let said = signal(super::event(&read(event), &Known::default(), here));
        assert_eq!((said.event.as_str(), said.addressed), ("$gone", Addressed::No));
        match said.payload {
            Payload::Deleted { event } => event.as_str().to_owned(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(of(&both("$a", "$b"), RedactionRules::V11), "$a");
    assert_eq!(of(&both("$a", "$b"), RedactionRules::V9), "$b");
    assert_eq!(of(&raw("m.room.redaction", "$gone", &json!({ "redacts": "$a" })), RedactionRules::V11), "$a");
}

#[test]
fn a_reaction_is_a_sign_on_a_message_and_never_sealed() {
    let reaction = |key: &str| {
        raw(
            "m.reaction",
            "$re",
            &json!({ "m.relates_to": { "rel_type": "m.annotation", "event_id": "$card", "key": key } }),
        )
    };
    let known = Known { sealed: true, power: 100, ..Known::default() };
    for (key, sign) in [("✅", Sign::Approve), ("👎️", Sign::Deny), ("3️⃣", Sign::Pick(2))] {
        let touch = touch(heard_in(ConversationKind::Group, &reaction(key), &known));
        assert_eq!(touch.event.as_str(), "re:$re", "so that taking it back takes nothing back");
        let Touched::Message { event, sign: read } = touch.on else { panic!("{:?}", touch.on) };
        assert_eq!((event.as_str(), read), ("$card", sign), "{key}");
        assert_eq!((touch.thread.root.as_str(), touch.actor.id.as_str()), ("$card", "@ann:example.org"));
        assert_eq!(touch.assurance, Assurance::Unsealed);
        assert_eq!(touch.platform_roles, ["power:100", "power:50"]);
    }
    assert_eq!(heard(&reaction("🎉")), Heard::Nothing);
    assert_eq!(related(&read(&reaction("✅"))), None);
}

#[test]
fn only_what_a_verified_device_encrypted_is_sealed() {
    for (sealed, expected) in [(true, Assurance::Sealed), (false, Assurance::Unsealed)] {
        let known = Known { sealed, ..Known::default() };
        let said = signal(heard_in(ConversationKind::Group, &message(&format!("!approve {PLAN}"), &json!({})), &known));
        assert_eq!(said.assurance, expected);
    }
}

/// AC-09: who somebody is, is the whole id, letter for letter.
#[test]
fn nobody_is_somebody_else_by_a_name_a_homeserver_or_a_capital() {
    let ids =
        ["@ann:example.org", "@ann:evil.example", "@Ann:example.org", "@ann:example.org:8448", "@ann:Example.org"];
    let known = Known { display: "@ann:example.org".to_owned(), ..Known::default() };
    let actors: Vec<String> = ids
        .iter()
        .map(|id| {
            let event = from(message("!ping", &json!({})), id);
            signal(heard_in(ConversationKind::Group, &event, &known)).actor.id.as_str().to_owned()
        })
        .collect();
    assert_eq!(actors, ids, "each is itself, and what it is called in the room is decoration");
    let ghost = Known { is_bridged: true, ..Known::default() };
    let said = signal(heard_in(ConversationKind::Group, &message("!ping", &json!({})), &ghost));
    assert_eq!(said.actor.kind, ActorKind::Bridge);
}

#[test]
fn power_is_a_role_from_what_clients_call_moderator_up() {
    let roles = |power: i64| {
        let known = Known { power, ..Known::default() };
        signal(heard_in(ConversationKind::Group, &message("!ping", &json!({})), &known)).platform_roles
    };
    let none: [&str; 0] = [];
    assert_eq!(roles(-1), none);
    assert_eq!(roles(49), none);
    assert_eq!(roles(50), ["power:50"]);
    assert_eq!(roles(100), ["power:100", "power:50"]);
    assert_eq!(roles(i64::MAX), ["power:100", "power:50"]);
}
