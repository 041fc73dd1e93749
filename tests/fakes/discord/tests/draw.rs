//! The picture of a conversation: everything that it can show, in one snapshot each.

use countersign_discord_fake::{BOT, Fake, Say};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::support::{Bot, everywhere, id};

#[tokio::test]
async fn a_conversation_looks_as_on_discord() {
    let fake = Fake::start().await;
    let (bot, carol, dave, ops) = (Bot::new(&fake), fake.user(11, "Carol"), fake.user(12, "Dave"), fake.channel("ops"));
    let asked = fake.say(Say::new(carol, ops, "Ops restart nginx on web-1, it answers with 502").mention(BOT, "Ops"));
    let go = |label: &str, style: u64| json!({ "type": 2, "style": style, "label": label, "custom_id": label });
    let rows = json!([{ "type": 1, "components": [go("Approve", 3), go("Deny", 4)] }]);
    let fields = json!([{ "name": "Risk", "value": "medium", "inline": true }, { "name": "Why", "value": "nginx does not answer on web-1" }]);
    let embed = json!({ "title": "Restart nginx on web-1?", "description": "Asked by <@11>.\n```sh\nsystemctl restart nginx.service\n```", "fields": fields });
    let card = json!({ "content": "**A plan**\n> with a quotation", "embeds": [embed], "components": rows,
        "message_reference": { "message_id": asked.to_string() }, "allowed_mentions": { "parse": [] } });
    let card = id(&bot.post(ops, card).await);
    fake.react(dave, ops, card, "👍");
    fake.react(carol, ops, card, "👍");
    let pressed = fake.press(carol, ops, card, "Approve");
    let private =
        json!({ "type": 4, "data": { "content": "You asked for it; somebody else must approve.", "flags": 64 } });
    bot.call("POST", &Bot::callback(&pressed), private).await;
    let progress = bot.send(ops, "Restarting…").await;
    let path = format!("/channels/{}/messages/{progress}", ops.0);
    bot.call("PATCH", &path, json!({ "content": "Restarted; it answers with 200 again." })).await;
    fake.say(Say::new(dave, ops, "danke 😀").reply_to(progress));
    fake.say(Say::new(dave, ops, "the log").document("nginx.log", b"502 502 502"));
    let thread = fake.thread_from(carol, ops, progress, "after the restart");
    fake.say(Say::new(carol, thread, "who looks at the cause?"));
    bot.call("POST", &format!("/channels/{}/typing", ops.0), Value::Null).await;
    insta::assert_snapshot!(fake.draw(ops), @"
     # ops                                              channel
    ────────────────────────────────────────────────────────────
    Carol
      @Ops restart nginx on web-1, it answers with 502
    ╭ Carol: @Ops restart nginx on web-1, it answers with 502
    Ops [APP]
      A plan
      ┃ with a quotation
      ▌ Restart nginx on web-1?
      ▌ Asked by @Carol.
      ▌ ▏systemctl restart nginx.service
      ▌ Risk: medium
      ▌ Why
      ▌   nginx does not answer on web-1
      [ Approve ] [ Deny ]
      👍 2
    ╭ Ops: A plan
    Ops [APP]
      You asked for it; somebody else must approve.
      ◉ Only Carol can see this
    Ops [APP]
      Restarted; it answers with 200 again. (edited)
      └ after the restart · 1 message
    ╭ Ops: Restarted; it answers with 200 again.
    Dave
      danke 😀
      the log
      ▤ nginx.log · 11 bytes
    ● Ops is typing…
    ");
    insta::assert_snapshot!(fake.draw(thread), @"
     # ops › after the restart                           thread
    ────────────────────────────────────────────────────────────
    Ops [APP]
      Restarted; it answers with 200 again. (edited)
    Carol
      who looks at the cause?
    ");
    let others = fake.draw_for(dave, ops);
    assert!(!others.contains("Only Carol"), "{others}");
}

#[tokio::test]
async fn commands_menus_and_promises() {
    let fake = Fake::start().await;
    let (bot, carol) = (Bot::new(&fake), fake.user(11, "Carol"));
    let mine = fake.private(carol);
    bot.call(
        "PUT",
        &format!("/applications/{BOT}/commands"),
        json!([everywhere(json!({ "name": "status", "description": "d" }))]),
    )
    .await;
    let run = fake.command(carol, mine, "status", &[]);
    let options = json!([{ "label": "web-1", "value": "1" }, { "label": "web-2", "value": "2" }]);
    let menu = json!({ "type": 3, "custom_id": "m", "options": options, "placeholder": "Which machine?" });
    let rows = json!([{ "type": 1, "components": [menu] }]);
    bot.call(
        "POST",
        &Bot::callback(&run),
        json!({ "type": 4, "data": { "content": "Status of what?", "components": rows } }),
    )
    .await;
    let response = fake.response(&run).await;
    let chosen = fake.select(carol, mine, response.id, &["web-2"]);
    bot.call("POST", &Bot::callback(&chosen), json!({ "type": 5, "data": {} })).await;
    let link = json!({ "type": 2, "style": 5, "label": "Runbook", "url": "https://example.org/" });
    let off = json!({ "type": 2, "style": 2, "label": "Approved", "custom_id": "x", "disabled": true });
    let text = "```\nFilesystem  Use%\n/dev/sda1    91%\n```\n\\*not bold\\* `code`";
    bot.post(mine, json!({ "content": text, "components": [{ "type": 1, "components": [off, link] }] })).await;
    insta::assert_snapshot!(fake.draw(mine), @"
     @ Carol                                    direct messages
    ────────────────────────────────────────────────────────────
    ╭ Carol used /status
    Ops [APP]
      Status of what?
      [ Which machine? ▾ ]
    ╭ Ops: Status of what?
    Ops [APP]
      ● ● ● is thinking…
      ▏Filesystem  Use%
      ▏/dev/sda1    91%
      *not bold* code
      ( Approved ) [ Runbook ↗ ]
    ");
}

#[tokio::test]
async fn it_is_never_wider_than_sixty_columns() {
    let fake = Fake::start().await;
    let (bot, carol) = (Bot::new(&fake), fake.user(11, &"Carolina ".repeat(12)));
    let ops = fake.channel(&"operations ".repeat(9));
    fake.say(Say::new(carol, ops, &format!("{} {}", "x".repeat(200), "漢字".repeat(40))));
    let label = "A label that is far too long for a screen, and still allowed";
    let row: Vec<_> = (0..5)
        .map(|at| json!({ "type": 2, "style": 5, "label": label, "url": format!("https://e.org/{at}") }))
        .collect();
    let text = format!("> {}\n```\n{}\n```", "z".repeat(100), "y".repeat(130));
    let embed = json!({ "title": "t".repeat(200), "fields": [{ "name": "n".repeat(200), "value": "v".repeat(200) }] });
    bot.post(ops, json!({ "content": text, "embeds": [embed], "components": [{ "type": 1, "components": row }] }))
        .await;
    let drawn = fake.draw(ops);
    let wide = drawn.lines().map(UnicodeWidthStr::width).max();
    assert!(wide.is_some_and(|wide| wide <= 60), "{wide:?}\n{drawn}");
}
