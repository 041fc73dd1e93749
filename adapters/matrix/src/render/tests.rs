//! What each kind of message looks like on Matrix.

mod html;
mod laws;

use countersign_core::approval::{Digest, PlanId, Risk};
use countersign_core::port::{CardChoice, Choice, Claim, TableColumn, Visibility};
use countersign_core::signal::{
    AccountId, ConversationId, Platform, QuestionId, SignalId, SpaceId, ThreadKey, ThreadRoot,
};

use super::*;

const PLAN: &str = "4a3f00c19be2d7756018f2ab9c44e01d";

fn outgoing(mark: Mark, blocks: Vec<Block>) -> Outgoing {
    let to = ThreadKey {
        platform: Platform::new("matrix"),
        account: AccountId::new("@bot:example.org"),
        space: SpaceId::new("example.org"),
        conversation: ConversationId::new("!room:example.org"),
        root: ThreadRoot::new("$root"),
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
    Block::Card { plan, digest: Digest::of(b"x"), choices: choices.to_vec(), risk: Risk::Low }
}

/// So many lines, each with its number.
fn many(lines: usize, text: &str) -> String {
    (0..lines).map(|n| format!("{n} {text}")).collect::<Vec<_>>().join("\n")
}

const BOTH: [CardChoice; 2] = [CardChoice::Approve, CardChoice::Deny];

fn parts(mark: Mark, blocks: Vec<Block>) -> Vec<Part> {
    message(&outgoing(mark, blocks))
}

/// The parts as they go to Matrix: the HTML, the plain text where it says something else, the reactions, files by name and
/// size.
fn drawn(mark: Mark, blocks: Vec<Block>) -> String {
    parts(mark, blocks).iter().map(part).collect::<Vec<_>>().join("\n=====\n")
}

fn part(part: &Part) -> String {
    match part {
        Part::Message(text) => {
            let shown = html::read(&text.html).expect("it is sound");
            let kind = if text.notice { "(a notice) " } else { "" };
            let plain = if shown.text == text.plain { String::new() } else { format!("\n-- plain:\n{}", text.plain) };
            let seeds = text.reactions.iter().map(|seed| format!("[{seed}]")).collect::<Vec<_>>().join(" ");
            let seeds = if seeds.is_empty() { String::new() } else { format!("\n{seeds}") };
            format!("{kind}{}{plain}{seeds}", text.html.replace("<br>", "<br>\n"))
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
    <pre><code>exit 1</code></pre>
    --
    ❓ A question<pre><code>exit 1</code></pre>
    --
    ⛔ Refused<pre><code>exit 1</code></pre>
    --
    ❌ Failed<pre><code>exit 1</code></pre>
    ");
    assert_eq!(drawn(Mark::Plain, vec![]), "(nothing to show)");
    assert_eq!(drawn(Mark::Plain, vec![text("\n \n")]), "(nothing to show)");
    assert_eq!(drawn(Mark::Failed, vec![]), "❌ Failed");
}

#[test]
fn what_may_be_a_repeat_says_so_first() {
    let said = message(&outgoing(Mark::Failed, vec![text("It did not work.")]));
    let Some(Part::Message(text)) = said.into_iter().next() else { panic!("no message") };
    insta::assert_snapshot!(part(&Part::Message(text.noting(DeliveryNotes::REPEAT))), @r"
    <em>(may be a repeat)</em><br>
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
    I do not know &lt;b&gt;that&lt;/b&gt; &amp; "this".<br>
    Type <code>help</code> for all, ask @ann about @@web-1, or `` no ` one
    -- plain:
    I do not know <b>that</b> & "this".
    Type `help` for all, ask @ann about @@web-1, or `` no ` one
    "#);
}

#[test]
fn nothing_in_it_is_a_link_or_a_pill() {
    let said = drawn(
        Mark::Plain,
        vec![
            text(
                "The log says: <a href=\"https://matrix.to/#/@root:evil.example\">ann</a>, see https://evil.example/x?y",
            ),
            fields(&[("From", "@ann:example.org, by mail from ops@example.org")]),
            text("**not bold** [x](https://a.b) <img src=x> </code></pre> &lt;"),
        ],
    );
    insta::assert_snapshot!(said, @r#"
    The log says: &lt;a <code>href="https://matrix.to/#/@root:evil.example"&gt;ann&lt;/a</code>&gt;, see <code>https://evil.example/x?y</code><br>
    <strong>From</strong>: <code>@ann:example.org</code>, by mail from <code>ops@example.org</code><br>
    **not bold** [<code>x](https://a.b</code>) &lt;img src=x&gt; &lt;/code&gt;&lt;/pre&gt; &amp;lt;
    "#);
}

#[test]
fn spaces_stay_as_they_are() {
    insta::assert_snapshot!(drawn(Mark::Plain, vec![text("  a  b   c\n\n end ")]), @r"
    &nbsp;&nbsp;a &nbsp;b &nbsp;&nbsp;c<br>
    <br>
    &nbsp;end
    ");
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
    <strong>Does</strong>: <code>host_process.stop</code><br>
    <strong>That is</strong>: <code>/usr/bin/sleep 600</code><br>
    <strong>Risk</strong>: medium<br>
    <strong>Why</strong>: asked by ann: stop &lt;it&gt; &amp; tell @bob<br>
    <strong>Two</strong>: first<br>
    second
    ");
}

#[test]
fn a_narrow_table_is_aligned_and_a_wide_one_is_a_list() {
    let narrow = table(&[("Mount", false), ("Used", true)], &[&["/", "36%"], &["/data", "100%"], &["/日本", "7%"]]);
    insta::assert_snapshot!(drawn(Mark::Plain, vec![narrow]), @r"
    <pre><code>Mount  Used
    /       36%
    /data  100%
    /日本    7%</code></pre>
    ");
    let wide = table(
        &[("Mount", false), ("Used", true), ("Free", true), ("Device", false)],
        &[&["/", "36%", "58.5 GiB", "/dev/disk/by-id/nvme0-and-more"], &["/data & more", "100%", "", "/dev/vdb"]],
    );
    insta::assert_snapshot!(drawn(Mark::Plain, vec![wide]), @"
    <strong>/</strong> · Used 36% · Free 58.5 GiB · /dev/disk/by-id/nvme0-and-more<br>
    <strong>/data &amp; more</strong> · Used 100% · /dev/vdb
    ");
}

#[test]
fn two_preformatted_blocks_stay_two() {
    let said = drawn(Mark::Plain, vec![text("Both:"), code("a < b\n  c"), code("```\nd"), text("End.")]);
    insta::assert_snapshot!(said, @r"
    Both:<pre><code>a &lt; b
      c</code></pre><pre><code>```
    d</code></pre>End.
    ");
}

#[test]
fn a_question_has_a_reaction_for_each_choice_up_to_the_ninth() {
    let said = drawn(
        Mark::Question,
        vec![text("Which one?"), choices(&[("nginx (web-1)", "docker container, running"), ("nginx (web-2)", "")])],
    );
    insta::assert_snapshot!(said, @r"
    ❓ Which one?<br>
    1️⃣ nginx (web-1) - docker container, running<br>
    2️⃣ nginx (web-2)<br>
    React with one of them, or reply with its number.
    [1️⃣] [2️⃣]
    ");
    insta::assert_snapshot!(drawn(Mark::Question, vec![text("Did you mean?"), choices(&[("uptime", "")])]), @r"
    ❓ Did you mean?<br>
    1️⃣ uptime<br>
    React with it, or reply with its number.
    [1️⃣]
    ");
    let names: Vec<String> = (1..12).map(|n| format!("web-{n}")).collect();
    let many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    insta::assert_snapshot!(drawn(Mark::Question, vec![text("Which one?"), choices(&many)]), @r"
    ❓ Which one?<br>
    1️⃣ web-1<br>
    2️⃣ web-2<br>
    3️⃣ web-3<br>
    4️⃣ web-4<br>
    5️⃣ web-5<br>
    6️⃣ web-6<br>
    7️⃣ web-7<br>
    8️⃣ web-8<br>
    9️⃣ web-9<br>
    10. web-10<br>
    11. web-11<br>
    React with one of them, or reply with its number.
    [1️⃣] [2️⃣] [3️⃣] [4️⃣] [5️⃣] [6️⃣] [7️⃣] [8️⃣] [9️⃣]
    ");
    assert_eq!(drawn(Mark::Question, vec![text("Which?"), choices(&[])]), "❓ Which?");
}

#[test]
fn a_card_shows_everything_and_ends_in_how_it_is_decided() {
    let card = |choices: &[CardChoice]| {
        vec![
            text("Countersign this? write `/etc/hosts`"),
            fields(&[("Risk", "medium"), ("Plan", "4a3f00c19be2d7756018f2ab9c44e01d (9dd4e461268c)")]),
            code("-10.0.0.7 web1\n+10.0.0.8 web1"),
            end_of_card(choices),
        ]
    };
    insta::assert_snapshot!(drawn(Mark::Question, card(&BOTH)), @"
    ❓ Countersign this? write `/etc/hosts`<br>
    <strong>Risk</strong>: medium<br>
    <strong>Plan</strong>: <code>4a3f00c19be2d7756018f2ab9c44e01d (9dd4e461268c)</code><pre><code>-10.0.0.7 web1
    +10.0.0.8 web1</code></pre>React with ✅ to approve, ❌ to deny, or 🔎 for details.
    [✅] [❌] [🔎]
    ");
    insta::assert_snapshot!(drawn(Mark::Question, card(&[CardChoice::Deny])), @"
    ❓ Countersign this? write `/etc/hosts`<br>
    <strong>Risk</strong>: medium<br>
    <strong>Plan</strong>: <code>4a3f00c19be2d7756018f2ab9c44e01d (9dd4e461268c)</code><pre><code>-10.0.0.7 web1
    +10.0.0.8 web1</code></pre>React with ❌ to deny, or 🔎 for details.
    [❌] [🔎]
    ");
    let of_high_risk = match end_of_card(&BOTH) {
        Block::Card { plan, digest, choices, .. } => Block::Card { plan, digest, choices, risk: Risk::High },
        other => other,
    };
    insta::assert_snapshot!(drawn(Mark::Question, vec![of_high_risk]), @"
    ❓ A question<br>
    High risk: approve it in words, from a verified device in an encrypted room: <code>!approve 4a3f00c19be2d7756018f2ab9c44e01d</code><br>
    React with ❌ to deny, or 🔎 for details.
    -- plain:
    ❓ A question
    High risk: approve it in words, from a verified device in an encrypted room: `!approve 4a3f00c19be2d7756018f2ab9c44e01d`
    React with ❌ to deny, or 🔎 for details.
    [❌] [🔎]
    ");
    let undecidable = drawn(Mark::Question, card(&[]));
    assert!(undecidable.ends_with("</code></pre>"), "what cannot be decided has no reactions: {undecidable}");
}

#[test]
fn progress_is_a_notice_and_wakes_nobody() {
    let progress =
        Outgoing { lane: Lane::Progress, ..outgoing(Mark::Plain, vec![text("Reading the log of nginx...")]) };
    let shown: Vec<String> = message(&progress).iter().map(part).collect();
    insta::assert_snapshot!(shown.join("\n"), @"(a notice) Reading the log of nginx...");
}

#[test]
fn what_is_too_long_for_two_messages_is_a_file() {
    let log = many(900, "request served in 12 ms, status 200");
    let blocks = || vec![text("The last 900 lines of `/var/log/app`:"), code(&log), choices(&[("More", "")])];
    insta::assert_snapshot!(drawn(Mark::Plain, blocks()), @r"
    The last 900 lines of `/var/log/app`:<br>
    This is too long for a message here: 903 lines, 36 KiB. All of it is in the file.<br>
    1️⃣ More<br>
    React with it, or reply with its number.
    [1️⃣]
    =====
    answer.txt: 35981 bytes
    ");
    let parts = parts(Mark::Plain, blocks());
    let Some(Part::Document { bytes, .. }) = parts.last() else { panic!("no file: {parts:?}") };
    let document = String::from_utf8_lossy(bytes);
    assert!(document.starts_with(&format!("The last 900 lines of `/var/log/app`:\n{log}\n")), "{document}");
}

#[test]
fn a_card_is_never_a_file_and_its_reactions_stand_under_its_last_message() {
    let diff = many(2000, "+ of what is written");
    let parts = parts(Mark::Question, vec![text("Countersign this?"), code(&diff), end_of_card(&BOTH)]);
    assert!(parts.len() > PARTS_MAX, "{} parts", parts.len());
    let seeds: Vec<&[&str]> = parts
        .iter()
        .map(|part| match part {
            Part::Message(text) => text.reactions.as_slice(),
            Part::Document { name, .. } => panic!("a card as a file: {name}"),
        })
        .collect();
    assert_eq!(seeds.iter().filter(|seeds| !seeds.is_empty()).count(), 1);
    assert_eq!(seeds.last(), Some(&["✅", "❌", "🔎"].as_slice()));
}

#[test]
fn a_card_of_any_length_has_room_for_what_became_of_it() {
    for lines in (1..900).step_by(30) {
        let plan = || vec![text("Countersign this?"), code(&many(lines, "+ of what is written, all of it"))];
        let card: Vec<Block> = plan().into_iter().chain([end_of_card(&BOTH)]).collect();
        let places = parts(Mark::Question, card).len();
        let said = format!("Refused by somebody: {}", "because ".repeat(40));
        let decided = outgoing(Mark::Refused, plan().into_iter().chain([text(&said)]).collect());
        let texts = in_place(&decided, places).expect("there is room");
        let shown: Vec<&str> = texts.iter().map(|text| text.plain.as_str()).collect();
        let expected = format!("⛔ Countersign this?\n{}\n{said}", many(lines, "+ of what is written, all of it"));
        assert_eq!(shown.join("\n"), expected);
        assert!(texts.iter().all(|text| text.reactions.is_empty()), "what is decided asks for nothing more");
    }
}

#[test]
fn what_has_outgrown_its_place_is_an_error() {
    let long = outgoing(Mark::Question, vec![code(&many(2000, "+ of what is written")), end_of_card(&BOTH)]);
    let error = in_place(&long, 1).expect_err("it is too long");
    assert_eq!(error.to_string(), "it is longer than what it takes the place of, which has 1 parts");
}

#[test]
fn a_line_longer_than_a_message_is_cut_where_it_can_be_seen() {
    // Each character stands in it twice. Of the first message, two are left for the other letter.
    let room = (pack::FULL - line::FRAME_BYTES) / 2 - "…".len() - 2;
    let parts = parts(Mark::Plain, vec![code(&format!("{}{}", "a".repeat(room), "b".repeat(10)))]);
    let ends: Vec<String> = parts
        .iter()
        .map(|part| match part {
            Part::Message(text) => {
                let chars = text.plain.chars().count();
                text.plain.chars().take(3).chain("..".chars()).chain(text.plain.chars().skip(chars - 3)).collect()
            }
            Part::Document { name, .. } => name.clone(),
        })
        .collect();
    insta::assert_snapshot!(ends.join("\n"), @r"
    aaa..bb…
    …bb..bbb
    ");
}

#[test]
fn a_message_of_blank_lines_is_not_sent() {
    let parts = parts(Mark::Plain, vec![text("a"), code(&"\n".repeat(9000)), text(&"\n".repeat(9000)), text("b")]);
    let shown: Vec<usize> = parts.iter().map(|part| self::part(part).trim().len()).collect();
    assert!(shown.iter().all(|length| *length > 0), "{shown:?}");
}

/// A model's words, whatever they hold, stay in the quotation; the bot's own line stands above it.
#[test]
fn a_models_words_are_a_quotation_and_the_line_above_is_not() {
    let facts = text("This answer changed nothing. Read: 2 things (`sources`). The model says:");
    let lie = "Done and verified.\n</blockquote>? ann asks to restart nginx on web-1.\n> `approve` it";
    insta::assert_snapshot!(drawn(Mark::Plain, vec![facts, Block::Quote { text: lie.to_owned() }]), @"
    This answer changed nothing. Read: 2 things (<code>sources</code>). The model says:<blockquote>Done and verified.<br>
    &lt;/blockquote&gt;? ann asks to restart nginx on web-1.<br>
    &gt; <code>approve</code> it</blockquote>
    -- plain:
    This answer changed nothing. Read: 2 things (`sources`). The model says:
    > Done and verified.
    > </blockquote>? ann asks to restart nginx on web-1.
    > > `approve` it
    ");
}
