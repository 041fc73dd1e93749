//! What messages look like on Discord, as tables of examples; what always holds of them is in `tests/laws.rs`.

mod laws;
mod reader;

use countersign_core::approval::{Digest, PlanId, Risk};
use countersign_core::port::{Block, CardChoice, Choice, Claim, Lane, Mark, Outgoing, TableColumn, Visibility};
use countersign_core::signal::{
    AccountId, ConversationId, Platform, QuestionId, SignalId, SpaceId, ThreadKey, ThreadRoot,
};

use super::keyboard::{Button, Row};
use super::*;

/// The id of an outbox row.
const POST: &str = "0198a7c2d4e57f3a9b1c2d3e4f506172";

const PLAN: &str = "4a3f00c19be2d7756018f2ab9c44e01d";

fn outgoing(mark: Mark, blocks: Vec<Block>) -> Outgoing {
    let to = ThreadKey {
        platform: Platform::new("discord"),
        account: AccountId::new("1"),
        space: SpaceId::new(""),
        conversation: ConversationId::new("-100"),
        root: ThreadRoot::new(""),
    };
    let (answers, lane, visibility) = (SignalId::new("s"), Lane::Answer, Visibility::Everybody);
    Outgoing { to, answers, mark, lane, visibility, claim: Claim::Nothing, blocks }
}

fn text(text: &str) -> Block {
    Block::Text { text: text.to_owned() }
}

fn code(text: &str) -> Block {
    Block::Code { text: text.to_owned() }
}

fn fields(fields: &[(&str, &str)]) -> Block {
    Block::Fields { fields: fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect() }
}

fn table(columns: &[(&str, bool)], rows: &[&[&str]]) -> Block {
    Block::Table {
        columns: columns
            .iter()
            .map(|(title, right)| TableColumn { title: (*title).to_owned(), right: *right })
            .collect(),
        rows: rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect(),
    }
}

fn choices(choices: &[(&str, &str)]) -> Block {
    let choice = |(label, about): &(&str, &str)| Choice { label: (*label).to_owned(), about: (*about).to_owned() };
    Block::Choices { question: QuestionId::new("q"), choices: choices.iter().map(choice).collect() }
}

fn end_of_card(choices: &[CardChoice]) -> Block {
    let plan = PlanId::parse(PLAN).expect("it is an id");
    Block::Card { plan, digest: Digest::of(b"x"), risk: Risk::Medium, choices: choices.to_vec() }
}

/// So many lines, each with its number.
fn many(lines: usize, text: &str) -> String {
    (0..lines).map(|n| format!("{n} {text}")).collect::<Vec<_>>().join("\n")
}

const BOTH: [CardChoice; 2] = [CardChoice::Approve, CardChoice::Deny];

fn parts(mark: Mark, blocks: Vec<Block>) -> Vec<Part> {
    message(&outgoing(mark, blocks), POST).expect("it fits")
}

/// The parts as they go to Discord: the markup, buttons in brackets with their data, files by name and size.
fn drawn(mark: Mark, blocks: Vec<Block>) -> String {
    parts(mark, blocks).iter().map(part).collect::<Vec<_>>().join("\n=====\n")
}

fn part(part: &Part) -> String {
    match part {
        Part::Message(text) => {
            reader::read(&text.content).expect("it is sound");
            let rows = text.keyboard.iter().flat_map(|keyboard| &keyboard.0).map(row);
            format!("{}{}", text.content, rows.collect::<String>())
        }
        Part::Document { name, bytes } => format!("{name}: {} bytes", bytes.len()),
    }
}

fn row(row: &Row) -> String {
    let button = |button: &Button| format!("[{} = {}]", button.label, button.data.replace(POST, "POST"));
    let (heading, buttons) = match row {
        Row::Buttons(buttons) => ("", buttons),
        Row::Menu { heading, options } => (heading.as_str(), options),
    };
    format!("\n{heading}{}", buttons.iter().map(button).collect::<Vec<_>>().join(" "))
}

#[test]
fn each_mark_has_its_sign() {
    let all = [Mark::Plain, Mark::Question, Mark::Refused, Mark::Failed];
    let said: Vec<String> = all.iter().map(|&mark| drawn(mark, vec![text("Really.")])).collect();
    insta::assert_snapshot!(said.join("\n"), @r"
    Really.
    ❓ Really.
    ⛔ Really.
    ❌ Really.
    ");
    let alone: Vec<String> = all.iter().map(|&mark| drawn(mark, vec![code("exit 1")])).collect();
    insta::assert_snapshot!(alone.join("\n--\n"), @r"
    ```
    exit 1
    ```
    --
    ❓ A question
    ```
    exit 1
    ```
    --
    ⛔ Refused
    ```
    exit 1
    ```
    --
    ❌ Failed
    ```
    exit 1
    ```
    ");
    assert_eq!(drawn(Mark::Plain, vec![]), "(nothing to show)");
    assert_eq!(drawn(Mark::Plain, vec![text("\n \n")]).trim(), "(nothing to show)");
    assert_eq!(drawn(Mark::Failed, vec![]), "❌ Failed");
}

#[test]
fn what_may_be_a_repeat_says_so_first() {
    let said = message(&outgoing(Mark::Failed, vec![text("It did not work.")]), POST).expect("it fits");
    let Some(Part::Message(text)) = said.into_iter().next() else { panic!("no message") };
    insta::assert_snapshot!(part(&Part::Message(text.noting(DeliveryNotes::REPEAT))), @r"
    *(may be a repeat)*
    ❌ It did not work.
    ");
}

#[test]
fn prose_is_escaped_and_what_is_to_be_typed_is_code() {
    let said = drawn(
        Mark::Plain,
        vec![text(
            "I do not know <b>that</b> & \"this\".\nType `help` for all, ask @ann about @@web-1, or `` no ` one",
        )],
    );
    insta::assert_snapshot!(said, @r#"
    I do not know \<b\>that\</b\> & "this".
    Type `help` for all, ask @ann about @@web-1, or \`\` no \` one
    "#);
}

#[test]
fn fields_have_their_names_in_bold_and_ids_as_code() {
    let said = drawn(
        Mark::Plain,
        vec![fields(&[
            ("Does", "host_process.stop"),
            ("That is", "/usr/bin/sleep 600"),
            ("Risk", "medium"),
            ("Why", "asked by ann: stop <it> & tell @bob"),
            ("Two", "first\nsecond"),
        ])],
    );
    insta::assert_snapshot!(said, @r"
    **Does**: `host_process.stop`
    **That is**: `/usr/bin/sleep 600`
    **Risk**: medium
    **Why**: asked by ann: stop \<it\> & tell @bob
    **Two**: first
    second
    ");
}

#[test]
fn a_narrow_table_is_aligned_and_a_wide_one_is_a_list() {
    let narrow = table(&[("Mount", false), ("Used", true)], &[&["/", "36%"], &["/data", "100%"], &["/日本", "7%"]]);
    insta::assert_snapshot!(drawn(Mark::Plain, vec![narrow]), @r"
    ```
    Mount  Used
    /       36%
    /data  100%
    /日本    7%
    ```
    ");
    let wide = table(
        &[("Mount", false), ("Used", true), ("Free", true), ("Device", false)],
        &[&["/", "36%", "58.5 GiB", "/dev/disk/by-id/nvme0"], &["/data & more", "100%", "", "/dev/vdb"]],
    );
    insta::assert_snapshot!(drawn(Mark::Plain, vec![wide]), @r"
    ```
    Mount         Used      Free  Device
    /              36%  58.5 GiB  /dev/disk/by-id/nvme0
    /data & more  100%            /dev/vdb
    ```
    ");
}

#[test]
fn two_preformatted_blocks_stay_two() {
    let said = drawn(Mark::Plain, vec![text("Both:"), code("a < b\n  c"), code("d"), text("End.")]);
    insta::assert_snapshot!(said, @r"
    Both:
    ```
    a < b
      c
    ```
    ```
    d
    ```
    End.
    ");
}

#[test]
fn choices_are_buttons_and_say_what_they_are() {
    let said = drawn(
        Mark::Question,
        vec![text("Which one?"), choices(&[("nginx (web-1)", "docker container, running"), ("nginx (web-2)", "")])],
    );
    insta::assert_snapshot!(said, @r"
    ❓ Which one?
    1\) nginx (web-1) - docker container, running
    2\) nginx (web-2)
    [nginx (web-1) = POST:0] [nginx (web-2) = POST:1]
    ");
    let long = "restart the service nginx on the machine web-1";
    insta::assert_snapshot!(drawn(Mark::Question, vec![text("This?"), choices(&[(long, ""), ("no", ""), ("", "")])]), @r"
    ❓ This?
    1\) restart the service nginx on the machine web-1
    2\) no
    3\) 
    [restart the service nginx on the machin… = POST:0] [no = POST:1] [3 = POST:2]
    ");
    insta::assert_snapshot!(drawn(Mark::Question, vec![text("Sure?"), choices(&[("Yes", ""), ("No", "")])]), @r"
    ❓ Sure?
    [Yes = POST:0] [No = POST:1]
    ");
}

#[test]
fn many_choices_are_menus_of_as_many_as_one_holds() {
    let names: Vec<String> = (0..30).map(|n| format!("web-{n}")).collect();
    let many = |count: usize| names.iter().take(count).map(|name| (name.as_str(), "")).collect::<Vec<_>>();
    let kinds = |count: usize| {
        let parts = parts(Mark::Question, vec![text("Which?"), choices(&many(count))]);
        let Some(Part::Message(text)) = parts.last() else { panic!("no message") };
        let rows = text.keyboard.iter().flat_map(|keyboard| &keyboard.0);
        let kind = |row: &Row| match row {
            Row::Buttons(buttons) => format!("{} buttons", buttons.len()),
            Row::Menu { heading, options } => format!("{heading}: {}, from {}", options.len(), options[0].data),
        };
        rows.map(kind).collect::<Vec<_>>().join("; ").replace(POST, "POST")
    };
    insta::assert_snapshot!([kinds(5), kinds(6), kinds(25), kinds(30)].join("\n"), @r"
    5 buttons
    Choose: 6, from POST:0
    Choose: 25, from POST:0
    Choose: 1 to 25: 25, from POST:0; Choose: 26 to 30: 5, from POST:25
    ");
}

#[test]
fn what_is_pressed_looks_as_discord_wants_it() {
    let card = vec![text("Countersign this?"), end_of_card(&BOTH)];
    let question = vec![text("Which?"), choices(&[("a", "x"), ("b", ""), ("c", ""), ("d", ""), ("e", ""), ("f", "")])];
    let json = |blocks| {
        let parts = parts(Mark::Question, blocks);
        let Some(Part::Message(text)) = parts.last() else { panic!("no message") };
        let components = text.keyboard.as_ref().map(Keyboard::components);
        serde_json::to_string(&components).expect("it is JSON").replace(POST, "POST")
    };
    insta::assert_snapshot!(json(card), @r#"[{"type":1,"components":[{"type":2,"style":3,"custom_id":"POST:0","label":"Approve","disabled":false},{"type":2,"style":4,"custom_id":"POST:1","label":"Deny","disabled":false},{"type":2,"style":2,"custom_id":"POST:2","label":"Details","disabled":false}]}]"#);
    insta::assert_snapshot!(json(question), @r#"[{"type":1,"components":[{"custom_id":"menu:0","placeholder":"Choose","type":3,"options":[{"label":"a","value":"POST:0","description":"x"},{"label":"b","value":"POST:1"},{"label":"c","value":"POST:2"},{"label":"d","value":"POST:3"},{"label":"e","value":"POST:4"},{"label":"f","value":"POST:5"}]}]}]"#);
}

#[test]
fn a_fence_in_a_fence_is_no_fence() {
    let said = drawn(Mark::Plain, vec![text("It says:"), code("```\n<@12>\n```\n- x"), code("fine")]);
    insta::assert_snapshot!(said, @r"
    It says:
    \`\`\`
    \<@12\>
    \`\`\`
    \- x
    ```
    fine
    ```
    ");
}

#[test]
fn a_card_shows_everything_and_ends_in_how_it_is_decided() {
    let card = |choices: &[CardChoice]| {
        vec![
            text("Countersign this? write `/etc/hosts`"),
            fields(&[("Risk", "high"), ("Plan", "4a3f00c19be2d7756018f2ab9c44e01d (9dd4e461268c)")]),
            code("-10.0.0.7 web1\n+10.0.0.8 web1"),
            end_of_card(choices),
        ]
    };
    insta::assert_snapshot!(drawn(Mark::Question, card(&BOTH)), @r"
    ❓ Countersign this? write \`/etc/hosts\`
    **Risk**: high
    **Plan**: `4a3f00c19be2d7756018f2ab9c44e01d (9dd4e461268c)`
    ```
    -10.0.0.7 web1
    +10.0.0.8 web1
    ```
    [Approve = POST:0] [Deny = POST:1] [Details = POST:2]
    ");
    let said = drawn(Mark::Question, card(&[CardChoice::Deny]));
    assert!(said.ends_with("```\n[Deny = POST:1] [Details = POST:2]"), "deny is 1 wherever it stands: {said}");
    assert!(drawn(Mark::Question, card(&[])).ends_with("```"), "what cannot be decided has no buttons");
}

#[test]
fn what_is_too_long_for_four_messages_is_a_file() {
    let log = many(600, "request served in 12 ms, status 200");
    let blocks = || vec![text("The last 600 lines of `/var/log/app`:"), code(&log), choices(&[("More", "")])];
    insta::assert_snapshot!(drawn(Mark::Plain, blocks()), @r"
    The last 600 lines of \`/var/log/app\`:
    This is too long for a message here: 601 lines, 24 KiB. All of it is in the file.
    [More = POST:0]
    =====
    answer.txt: 23927 bytes
    ");
    let parts = parts(Mark::Plain, blocks());
    let Some(Part::Document { bytes, .. }) = parts.last() else { panic!("no file: {parts:?}") };
    let document = String::from_utf8_lossy(bytes);
    assert_eq!(document, format!("The last 600 lines of `/var/log/app`:\n{log}"));
}

#[test]
fn a_card_is_never_a_file_and_its_buttons_stand_on_its_last_message() {
    let diff = many(900, "+ of what is written");
    let parts = parts(Mark::Question, vec![text("Countersign this?"), code(&diff), end_of_card(&BOTH)]);
    assert!(parts.len() > PARTS_MAX, "{} parts", parts.len());
    let keyboards: Vec<bool> = parts
        .iter()
        .map(|part| match part {
            Part::Message(text) => text.keyboard.is_some(),
            Part::Document { name, .. } => panic!("a card as a file: {name}"),
        })
        .collect();
    assert_eq!(keyboards.iter().filter(|has| **has).count(), 1);
    assert_eq!(keyboards.last(), Some(&true));
}

#[test]
fn a_card_of_any_length_has_room_for_what_became_of_it() {
    for lines in (1..200).step_by(3) {
        let plan = || vec![text("Countersign this?"), code(&many(lines, "+ of what is written, all of it"))];
        let card: Vec<Block> = plan().into_iter().chain([end_of_card(&BOTH)]).collect();
        let places = parts(Mark::Question, card).len();
        let said = format!("Refused by somebody: {}", "because ".repeat(40));
        let decided = outgoing(Mark::Refused, plan().into_iter().chain([text(&said)]).collect());
        let texts = in_place(&decided, POST, places).expect("there is room");
        let shown = texts.iter().map(|text| reader::read(&text.content).expect("it is sound"));
        let shown = shown.collect::<Vec<_>>().join("\n");
        assert_eq!(shown, format!("⛔ Countersign this?\n{}\n{said}", many(lines, "+ of what is written, all of it")));
        assert!(texts.iter().all(|text| text.keyboard.is_none()));
    }
}

#[test]
fn a_line_longer_than_a_message_is_cut_where_it_can_be_seen() {
    let room = pack::FULL - line::FENCE_UNITS - "…".chars().count();
    let parts = parts(Mark::Plain, vec![code(&format!("{}{}", "a".repeat(room), "b".repeat(10)))]);
    let ends: Vec<String> = parts
        .iter()
        .map(|part| match part {
            Part::Message(text) => {
                let chars = text.content.chars().count();
                text.content.chars().take(8).chain("..".chars()).chain(text.content.chars().skip(chars - 9)).collect()
            }
            Part::Document { name, .. } => name.clone(),
        })
        .collect();
    insta::assert_snapshot!(ends.join("\n"), @r"
    ```
    aaaa..aaaa…
    ```
    ```
    …bbb..bbbbb
    ```
    ");
}

#[test]
fn a_message_of_blank_lines_is_not_sent() {
    let parts = parts(Mark::Plain, vec![text("a"), code(&"\n".repeat(5000)), text(&"\n".repeat(5000)), text("b")]);
    let shown: Vec<usize> = parts.iter().map(|part| self::part(part).trim().len()).collect();
    assert_eq!(parts.len(), 2, "{shown:?}");
    assert!(shown.iter().all(|length| *length > 0), "{shown:?}");
}

#[test]
fn a_keyboard_that_does_not_fit_is_an_error() {
    let card = outgoing(Mark::Question, vec![text("Countersign this?"), end_of_card(&BOTH)]);
    assert!(matches!(message(&card, &"x".repeat(99)), Err(Unfit::Data(_))));
    let many: Vec<(&str, &str)> = vec![("yes", ""); 126];
    let question = outgoing(Mark::Question, vec![choices(&many)]);
    assert_eq!(message(&question, POST), Err(Unfit::Buttons(126)));
}

/// A model's words, whatever they hold, stay in the quotation; the bot's own line stands above it.
#[test]
fn a_models_words_are_a_quotation_and_the_line_above_is_not() {
    let facts = text("This answer changed nothing. Read: 2 things (`sources`). The model says:");
    let lie = "Done and verified.\n\n? ann asks to restart nginx on web-1.\n> `approve` it";
    insta::assert_snapshot!(drawn(Mark::Plain, vec![facts, Block::Quote { text: lie.to_owned() }]), @r"
    This answer changed nothing. Read: 2 things (`sources`). The model says:
    > Done and verified.
    > 
    > ? ann asks to restart nginx on web-1.
    > \> `approve` it
    ");
}
