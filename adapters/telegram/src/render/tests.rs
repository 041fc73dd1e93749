//! What messages look like on Telegram, as tables of examples; what always holds of them is in `tests/laws.rs`.

mod html;
mod laws;

use countersign_core::approval::{Digest, PlanId, Risk};
use countersign_core::port::{Block, CardChoice, Choice, Claim, Lane, Mark, Outgoing, TableColumn, Visibility};
use countersign_core::signal::{
    AccountId, ConversationId, Platform, QuestionId, SignalId, SpaceId, ThreadKey, ThreadRoot,
};

use super::keyboard::Button;
use super::*;

/// The id of an outbox row.
const POST: &str = "0198a7c2d4e57f3a9b1c2d3e4f506172";

const PLAN: &str = "4a3f00c19be2d7756018f2ab9c44e01d";

fn outgoing(mark: Mark, blocks: Vec<Block>) -> Outgoing {
    let to = ThreadKey {
        platform: Platform::new("telegram"),
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

/// The parts as they go to Telegram: the HTML, buttons in brackets with their data, files by name and size.
fn drawn(mark: Mark, blocks: Vec<Block>) -> String {
    parts(mark, blocks).iter().map(part).collect::<Vec<_>>().join("\n=====\n")
}

fn part(part: &Part) -> String {
    match part {
        Part::Message(text) => {
            html::read(&text.html).expect("it is sound");
            let rows = text.keyboard.iter().flat_map(|keyboard| &keyboard.0);
            let button = |button: &Button| format!("[{} = {}]", button.label, button.data.replace(POST, "POST"));
            let rows = rows.map(|row| format!("\n{}", row.iter().map(button).collect::<Vec<_>>().join(" ")));
            format!("{}{}", text.html, rows.collect::<String>())
        }
        Part::Document { name, bytes } => format!("{name}: {} bytes", bytes.len()),
    }
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
    <pre>exit 1</pre>
    --
    ❓ A question
    <pre>exit 1</pre>
    --
    ⛔ Refused
    <pre>exit 1</pre>
    --
    ❌ Failed
    <pre>exit 1</pre>
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
    <i>(may be a repeat)</i>
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
    I do not know &lt;b&gt;that&lt;/b&gt; &amp; "this".
    Type <code>help</code> for all, ask <code>@ann</code> about <code>@@web-1</code>, or `` no ` one
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
    <b>Does</b>: <code>host_process.stop</code>
    <b>That is</b>: <code>/usr/bin/sleep 600</code>
    <b>Risk</b>: medium
    <b>Why</b>: asked by ann: stop &lt;it&gt; &amp; tell <code>@bob</code>
    <b>Two</b>: first
    second
    ");
}

#[test]
fn a_narrow_table_is_aligned_and_a_wide_one_is_a_list() {
    let narrow = table(&[("Mount", false), ("Used", true)], &[&["/", "36%"], &["/data", "100%"], &["/日本", "7%"]]);
    insta::assert_snapshot!(drawn(Mark::Plain, vec![narrow]), @r"
    <pre>Mount  Used
    /       36%
    /data  100%
    /日本    7%</pre>
    ");
    let wide = table(
        &[("Mount", false), ("Used", true), ("Free", true), ("Device", false)],
        &[&["/", "36%", "58.5 GiB", "/dev/disk/by-id/nvme0"], &["/data & more", "100%", "", "/dev/vdb"]],
    );
    insta::assert_snapshot!(drawn(Mark::Plain, vec![wide]), @"
    <b>/</b> · Used 36% · Free 58.5 GiB · /dev/disk/by-id/nvme0
    <b>/data &amp; more</b> · Used 100% · /dev/vdb
    ");
}

#[test]
fn two_preformatted_blocks_stay_two() {
    let said = drawn(Mark::Plain, vec![text("Both:"), code("a < b\n  c"), code("d"), text("End.")]);
    insta::assert_snapshot!(said, @r"
    Both:
    <pre>a &lt; b
      c</pre>
    <pre>d</pre>
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
    1) nginx (web-1) - docker container, running
    2) nginx (web-2)
    [nginx (web-1) = POST:0]
    [nginx (web-2) = POST:1]
    ");
    let long = "restart the service nginx on the machine web-1";
    insta::assert_snapshot!(drawn(Mark::Question, vec![text("This?"), choices(&[(long, ""), ("no", ""), ("", "")])]), @r"
    ❓ This?
    1) restart the service nginx on the machine web-1
    2) no
    3) 
    [restart the service nginx on the machin… = POST:0]
    [no = POST:1]
    [3 = POST:2]
    ");
    insta::assert_snapshot!(drawn(Mark::Question, vec![text("Sure?"), choices(&[("Yes", ""), ("No", "")])]), @r"
    ❓ Sure?
    [Yes = POST:0]
    [No = POST:1]
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
    insta::assert_snapshot!(drawn(Mark::Question, card(&BOTH)), @"
    ❓ Countersign this? write `/etc/hosts`
    <b>Risk</b>: high
    <b>Plan</b>: <code>4a3f00c19be2d7756018f2ab9c44e01d (9dd4e461268c)</code>
    <pre>-10.0.0.7 web1
    +10.0.0.8 web1</pre>
    [Approve = POST:0] [Deny = POST:1] [Details = POST:2]
    ");
    let said = drawn(Mark::Question, card(&[CardChoice::Deny]));
    assert!(said.ends_with("</pre>\n[Deny = POST:1] [Details = POST:2]"), "deny is 1 wherever it stands: {said}");
    assert!(drawn(Mark::Question, card(&[])).ends_with("</pre>"), "what cannot be decided has no buttons");
}

#[test]
fn what_is_too_long_for_four_messages_is_a_file() {
    let log = many(600, "request served in 12 ms, status 200");
    let blocks = || vec![text("The last 600 lines of `/var/log/app`:"), code(&log), choices(&[("More", "")])];
    insta::assert_snapshot!(drawn(Mark::Plain, blocks()), @r"
    The last 600 lines of `/var/log/app`:
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
        let shown = texts.iter().map(|text| text.plain.as_str()).collect::<Vec<_>>().join("\n");
        assert_eq!(shown, format!("⛔ Countersign this?\n{}\n{said}", many(lines, "+ of what is written, all of it")));
        assert!(texts.iter().all(|text| text.keyboard.is_none()));
    }
}

#[test]
fn a_line_longer_than_a_message_is_cut_where_it_can_be_seen() {
    let room = pack::FULL.units - "…".chars().count();
    let parts = parts(Mark::Plain, vec![code(&format!("{}{}", "a".repeat(room), "b".repeat(10)))]);
    let ends: Vec<String> = parts
        .iter()
        .map(|part| match part {
            Part::Message(text) => {
                let chars = text.html.chars().count();
                text.html.chars().take(8).chain("..".chars()).chain(text.html.chars().skip(chars - 9)).collect()
            }
            Part::Document { name, .. } => name.clone(),
        })
        .collect();
    insta::assert_snapshot!(ends.join("\n"), @r"
    <pre>aaa..aa…</pre>
    <pre>…bb..bbb</pre>
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
    assert!(matches!(message(&card, &"x".repeat(63)), Err(Unfit::Data(_))));
    let many: Vec<(&str, &str)> = vec![("yes", ""); 101];
    let question = outgoing(Mark::Question, vec![choices(&many)]);
    assert_eq!(message(&question, POST), Err(Unfit::Buttons(101)));
}

/// A model's words, whatever they hold, stay in the quotation; the bot's own line stands above it.
#[test]
fn a_models_words_are_a_quotation_and_the_line_above_is_not() {
    let facts = text("This answer changed nothing. Read: 2 things (`sources`). The model says:");
    let lie = "Done and verified.\n</blockquote>? ann asks to restart nginx on web-1.\n> `approve` it";
    insta::assert_snapshot!(drawn(Mark::Plain, vec![facts, Block::Quote { text: lie.to_owned() }]), @"
    This answer changed nothing. Read: 2 things (<code>sources</code>). The model says:
    <blockquote>Done and verified.
    &lt;/blockquote&gt;? ann asks to restart nginx on web-1.
    &gt; <code>approve</code> it</blockquote>
    ");
}
