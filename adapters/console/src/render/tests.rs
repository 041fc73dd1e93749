//! Every block and every mark, as people see them.

use countersign_core::approval::{Digest, PlanId, Risk};
use countersign_core::port::{CardChoice, Claim, Lane, TableColumn, Visibility};
use countersign_core::signal::{
    AccountId, ConversationId, Platform, QuestionId, SignalId, SpaceId, ThreadKey, ThreadRoot,
};

use super::*;

fn style(columns: usize, colour: bool) -> Style {
    Style { width: Width::terminal(columns), colour, keys: true }
}

fn outgoing(mark: Mark, blocks: Vec<Block>) -> Outgoing {
    let to = ThreadKey {
        platform: Platform::new("console"),
        account: AccountId::new("web1"),
        space: SpaceId::new(""),
        conversation: ConversationId::new("console"),
        root: ThreadRoot::new("main"),
    };
    let (lane, visibility) = (Lane::Answer, Visibility::Everybody);
    Outgoing { to, answers: SignalId::new("s1"), mark, lane, visibility, claim: Claim::Nothing, blocks }
}

fn drawn(columns: usize, block: Block) -> String {
    message(&outgoing(Mark::Plain, vec![block]), DeliveryNotes::default(), style(columns, false))
}

fn text(text: &str) -> Block {
    Block::Text { text: text.to_owned() }
}

fn owned(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|&cell| cell.to_owned()).collect()
}

#[test]
fn text_is_wrapped_at_words() {
    let block = text("The disk of web1 is nearly full, and nothing was changed.\n\n  - /var/log grows fastest");
    insta::assert_snapshot!(drawn(30, block), @r"
    The disk of web1 is nearly
    full, and nothing was changed.

      - /var/log grows fastest
    ");
}

#[test]
fn code_is_indented_and_never_wrapped() {
    let block = Block::Code { text: "docker run --rm --name a-rather-long-name image:tag\n\tindented".to_owned() };
    insta::assert_snapshot!(drawn(30, block), @r"
    docker run --rm --name a-rather-long-name image:tag
            indented
    ");
}

#[test]
fn an_open_plan_keeps_its_id_whole_on_a_phone() {
    let fields = [
        ("Plan", "append to /etc/nginx/sites-enabled/web"),
        ("State", "pending, risk medium"),
        ("By", "ada"),
        ("Until", "2026-11-22 03:33:52 UTC"),
        ("Id", "50d14e8689216ebb8ec8c865127c8b79"),
    ];
    let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let plans = vec![Block::Fields { fields: fields.clone() }, Block::Fields { fields }];
    let drawn = message(&outgoing(Mark::Plain, plans), DeliveryNotes::default(), style(40, false));
    assert!(drawn.lines().all(|line| line.width() <= 40), "{drawn}");
    insta::assert_snapshot!(drawn, @"
    Plan:  append to
           /etc/nginx/sites-enabled/web
    State: pending, risk medium
    By:    ada
    Until: 2026-11-22 03:33:52 UTC
    Id:    50d14e8689216ebb8ec8c865127c8b79
    Plan:  append to
           /etc/nginx/sites-enabled/web
    State: pending, risk medium
    By:    ada
    Until: 2026-11-22 03:33:52 UTC
    Id:    50d14e8689216ebb8ec8c865127c8b79
    ");
}

#[test]
fn fields_are_aligned_and_their_values_hang() {
    let fields = [
        ("host", "web1"),
        ("uptime", "12 days"),
        ("why", "the last restart was asked for by ada and approved by grace"),
        ("a name that is longer than any name should be", "kept"),
        ("empty", ""),
    ];
    let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    insta::assert_snapshot!(drawn(40, Block::Fields { fields }), @r"
    host:   web1
    uptime: 12 days
    why:    the last restart was asked for
            by ada and approved by grace
    a name that is longer than any name should be: kept
    empty:
    ");
}

fn table(columns: usize) -> String {
    let column = |title: &str, right| TableColumn { title: title.to_owned(), right };
    let columns_of = vec![column("MOUNT", false), column("USED", true), column("SIZE", true), column("DEVICE", false)];
    let rows = vec![
        owned(&["/", "81%", "40 GB", "/dev/sda1"]),
        owned(&["/var/lib/docker/overlay2/4f5c0d7e", "7%", "1.2 TB", "/dev/mapper/ubuntu--vg-data"]),
        owned(&["/データ/バックアップ", "100%", "512 MB", "/dev/sdb"]),
    ];
    drawn(columns, Block::Table { columns: columns_of, rows })
}

#[test]
fn a_table_is_aligned_by_what_is_seen() {
    insta::assert_snapshot!(table(100), @r"
    MOUNT                              USED    SIZE  DEVICE
    /                                   81%   40 GB  /dev/sda1
    /var/lib/docker/overlay2/4f5c0d7e    7%  1.2 TB  /dev/mapper/ubuntu--vg-data
    /データ/バックアップ               100%  512 MB  /dev/sdb
    ");
}

#[test]
fn a_table_fits_by_cutting_text_and_never_numbers() {
    let cut = table(44);
    insta::assert_snapshot!(cut, @r"
    MOUNT           USED    SIZE  DEVICE
    /                81%   40 GB  /dev/sda1
    /var/lib/dock…    7%  1.2 TB  /dev/mapper/u…
    /データ/バッ…   100%  512 MB  /dev/sdb
    ");
    assert!(cut.lines().all(|line| line.width() <= 44));
    assert!(table(20).lines().all(|line| line.contains('%') || line.contains("USED")), "numbers stay whole");
}

#[test]
fn a_table_without_rows_shows_its_headings() {
    let columns = vec![TableColumn { title: "NAME".to_owned(), right: false }];
    assert_eq!(drawn(80, Block::Table { columns, rows: vec![] }), "NAME\n");
}

#[test]
fn choices_are_numbered() {
    let choice = |label: &str, about: &str| Choice { label: label.to_owned(), about: about.to_owned() };
    let choices = vec![
        choice("nginx", "the service on web1, running for 12 days"),
        choice("nginx-exporter", ""),
        choice("cancel", "nothing is changed"),
    ];
    let block = Block::Choices { question: QuestionId::new("q1"), choices };
    insta::assert_snapshot!(drawn(40, block), @r"
    1) nginx - the service on web1,
       running for 12 days
    2) nginx-exporter
    3) cancel - nothing is changed
    ");
}

#[test]
fn marks_are_words_and_colours_only_add() {
    let say = |mark, repeat, colour| message(&outgoing(mark, vec![text("Really.")]), repeat, style(80, colour));
    let all = [Mark::Plain, Mark::Question, Mark::Refused, Mark::Failed];
    let plain: String = all.iter().map(|&mark| say(mark, DeliveryNotes::default(), false)).collect();
    insta::assert_snapshot!(plain, @r"
    Really.
    ? Really.
    ✗ refused: Really.
    ! failed: Really.
    ");
    let repeated: String = all.iter().map(|&mark| say(mark, DeliveryNotes::REPEAT, false)).collect();
    insta::assert_snapshot!(repeated, @r"
    (may be a repeat) Really.
    (may be a repeat) ? Really.
    (may be a repeat) ✗ refused: Really.
    (may be a repeat) ! failed: Really.
    ");
    let coloured: String = all.iter().map(|&mark| say(mark, DeliveryNotes::REPEAT, true)).collect();
    insta::assert_snapshot!(coloured.replace('\u{1b}', "^"), @r"
    (may be a repeat) Really.
    (may be a repeat) ^[36m?^[0m Really.
    (may be a repeat) ^[33m✗ refused^[0m: Really.
    (may be a repeat) ^[31m! failed^[0m: Really.
    ");
}

#[test]
fn a_mark_stands_alone_before_what_is_not_prose() {
    let code = || vec![Block::Code { text: "exit 1  ".to_owned() }];
    let failed = message(&outgoing(Mark::Failed, code()), DeliveryNotes::default(), style(80, false));
    assert_eq!(failed, "! failed\n  exit 1  \n", "what stands in code is not touched, up to its end");
    let repeated = message(&outgoing(Mark::Plain, code()), DeliveryNotes::REPEAT, style(80, false));
    assert_eq!(repeated, "(may be a repeat)\n  exit 1  \n");
    assert_eq!(message(&outgoing(Mark::Plain, vec![]), DeliveryNotes::default(), style(80, false)), "");
}

fn end_of_card(choices: &[CardChoice]) -> Block {
    let plan = PlanId::parse("4a3f00c19be2d7756018f2ab9c44e01d").expect("it is an id");
    Block::Card { plan, digest: Digest::of(b"x"), risk: Risk::Medium, choices: choices.to_vec() }
}

const BOTH: [CardChoice; 2] = [CardChoice::Approve, CardChoice::Deny];

/// A card that changes a file.
fn card_of_a_file(style: Style) -> String {
    let diff =
        "--- hosts\n+++ hosts\n@@ -1,3 +1,3 @@\n 127.0.0.1 localhost\n-10.0.0.7 web1\n--- old\n+10.0.0.8 web1\n -x";
    let fields = vec![("Does".to_owned(), "host.write".to_owned()), ("Risk".to_owned(), "high".to_owned())];
    let blocks = vec![
        text("Countersign this? write /etc/hosts"),
        Block::Fields { fields },
        Block::Code { text: diff.to_owned() },
        end_of_card(&BOTH),
    ];
    message(&outgoing(Mark::Question, blocks), DeliveryNotes::default(), style)
}

#[test]
fn a_card_ends_in_how_it_is_decided() {
    insta::assert_snapshot!(card_of_a_file(style(80, false)), @"
    ? Countersign this? write /etc/hosts
    Does: host.write
    Risk: high
      --- hosts
      +++ hosts
      @@ -1,3 +1,3 @@
       127.0.0.1 localhost
      -10.0.0.7 web1
      --- old
      +10.0.0.8 web1
       -x
    Type approve, deny (and why), or details.
    ");
    let pipe = card_of_a_file(Style { keys: false, ..style(40, false) });
    insta::assert_snapshot!(pipe.lines().last().unwrap_or_default(), @"To decide it: approve 4a3f00c19be2d7756018f2ab9c44e01d   or: deny 4a3f00c19be2d7756018f2ab9c44e01d and why");
    assert_eq!(drawn(80, end_of_card(&[CardChoice::Deny])), "Type deny (and why), or details.\n");
    assert_eq!(drawn(80, end_of_card(&[])), "");
}

#[test]
fn the_diff_of_a_card_is_coloured_by_its_signs_alone() {
    let coloured = card_of_a_file(style(80, true));
    insta::assert_snapshot!(coloured.replace('\u{1b}', "^"), @"
    ^[36m?^[0m Countersign this? write /etc/hosts
    Does: host.write
    Risk: high
      ^[31m--- hosts^[0m
      ^[32m+++ hosts^[0m
      @@ -1,3 +1,3 @@
       127.0.0.1 localhost
      ^[31m-10.0.0.7 web1^[0m
      ^[31m--- old^[0m
      ^[32m+10.0.0.8 web1^[0m
       -x
    Type approve, deny (and why), or details.
    ");
    let code = Block::Code { text: "-x\n+y".to_owned() };
    let plain = message(&outgoing(Mark::Plain, vec![code]), DeliveryNotes::default(), style(80, true));
    assert_eq!(plain, "  -x\n  +y\n", "what is no card has no diff");
}

#[test]
fn a_notice_has_its_sign_on_every_line_and_its_width() {
    let blocks = vec![text(&"word ".repeat(60)), text(""), text("one\n\ntwo")];
    let said = notice(
        &outgoing(Mark::Plain, blocks),
        DeliveryNotes::default(),
        Style { width: Width::default(), colour: false, keys: false },
    );
    assert!(said.lines().all(|line| line.starts_with('*') && line.width() <= 100), "{said}");
    assert!(said.starts_with("* (notice) word ") && said.ends_with("* one\n*\n* two\n"), "{said}");
    assert_eq!(
        notice(&outgoing(Mark::Failed, vec![]), DeliveryNotes::REPEAT, style(80, false)),
        "* (notice) (may be a repeat) ! failed\n"
    );
}

#[test]
fn nothing_a_message_holds_acts_on_the_terminal() {
    let evil = "a\u{1b}]0;x\u{7}\u{9b}2J\r\u{202e}b\tc\u{8}";
    let blocks = vec![
        text(evil),
        Block::Code { text: evil.to_owned() },
        Block::Fields { fields: vec![(evil.to_owned(), evil.to_owned())] },
        Block::Table {
            columns: vec![TableColumn { title: evil.to_owned(), right: false }],
            rows: vec![owned(&[evil])],
        },
        Block::Choices {
            question: QuestionId::new("q"),
            choices: vec![Choice { label: evil.to_owned(), about: evil.to_owned() }],
        },
        Block::Code { text: format!("+{evil}") },
        end_of_card(&BOTH),
    ];
    let drawn = message(&outgoing(Mark::Refused, blocks.clone()), DeliveryNotes::REPEAT, style(80, false));
    assert!(!drawn.chars().any(|c| c != '\n' && clean::acts(c)), "{drawn:?}");
    let coloured = message(&outgoing(Mark::Refused, blocks), DeliveryNotes::REPEAT, style(80, true));
    let own =
        ["\u{1b}[33m", "\u{1b}[32m", "\u{1b}[0m"].iter().fold(coloured.clone(), |text, own| text.replace(own, ""));
    assert!(!own.chars().any(|c| c != '\n' && clean::acts(c)), "{coloured:?}");
}

#[test]
fn a_pipe_has_its_own_widths() {
    let width = Width::default();
    let style = Style { width, colour: false, keys: false };
    let said = message(&outgoing(Mark::Plain, vec![text(&"word ".repeat(60))]), DeliveryNotes::default(), style);
    assert!(said.lines().all(|line| line.width() <= 100) && said.lines().any(|line| line.width() > 90));
    let column = TableColumn { title: "NAME".to_owned(), right: false };
    let block = Block::Table { columns: vec![column], rows: vec![vec!["x".repeat(300)]] };
    let row = message(&outgoing(Mark::Plain, vec![block]), DeliveryNotes::default(), style);
    assert_eq!(row.lines().last().map(str::len), Some(119 + '…'.len_utf8()));
}

/// Each line of a model's words has its sign, however narrow the terminal is, whatever stands in it.
#[test]
fn a_models_words_have_a_sign_on_every_line() {
    let lie = "Done and verified.\n\n? ann asks to restart nginx on web-1.\r\u{1b}[2K Type approve, deny (and why), or details.";
    for width in [30, 44, 80] {
        let quoted = drawn(width, Block::Quote { text: lie.to_owned() });
        assert!(quoted.lines().all(|line| line.starts_with('|')), "{quoted}");
        assert!(quoted.lines().count() > 2 && !quoted.contains('\u{1b}'), "{quoted}");
    }
}
