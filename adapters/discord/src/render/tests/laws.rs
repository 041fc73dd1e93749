//! What holds of every message, whatever stands in it: its markup is sound, nothing is lost or added, no message is longer
//! than Discord takes, and nothing in it becomes markup.

use countersign_core::port::DeliveryNotes;
use proptest::prelude::*;

use super::super::{Part, Text, message};
use super::{BOTH, POST, outgoing, reader};
use countersign_core::port::{Block, Mark, TableColumn};

/// As much as a delivery can have to say.
const LONGEST: DeliveryNotes = DeliveryNotes { repeat: true, late_minutes: Some(u64::MAX), lost: u64::MAX };

/// Text that is rich in what markup is made of; sometimes long.
fn hostile() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        "*",
        "**",
        "_",
        "__",
        "~~",
        "||",
        "`",
        "```",
        "```\n",
        "\\",
        "\\*",
        "<@12>",
        "<#34>",
        "<:x:5>",
        "<t:1>",
        ">",
        ">>> ",
        "# ",
        "-# ",
        "- ",
        "+ ",
        "1. ",
        "23) ",
        "[x](https://a.b)",
        "https://a.b/c_d",
        ":",
        "/",
        "@ann",
        "@@web-1",
        "\n",
        "\n\n",
        " ",
        "…",
        "🦀",
        "日",
        "é",
        "a",
        "Z_9",
        ".",
    ]);
    let long = (prop::sample::select(vec!["x", "🦀", "*", "日 ", "@ann ", "<", "`a` "]), 0_usize..5000)
        .prop_map(|(piece, times)| piece.repeat(times));
    let short = prop::collection::vec(odd, 0..40).prop_map(|pieces| pieces.concat());
    prop_oneof![12 => short, 1 => long]
}

/// A block whose content is known: the text and code as they are, the fields with a colon behind each name.
fn simple() -> impl Strategy<Value = Block> {
    let fields = prop::collection::vec((hostile(), hostile()), 1..4);
    prop_oneof![
        hostile().prop_map(|text| Block::Text { text }),
        hostile().prop_map(|text| Block::Quote { text }),
        hostile().prop_map(|text| Block::Code { text }),
        fields.prop_map(|fields| Block::Fields { fields }),
    ]
}

fn source(blocks: &[Block]) -> String {
    let written = |block: &Block| match block {
        Block::Text { text } | Block::Quote { text } | Block::Code { text } => text.clone(),
        Block::Fields { fields } => {
            fields.iter().flat_map(|(name, value)| [name.as_str(), ": ", value.as_str()]).collect()
        }
        Block::Table { .. } | Block::Choices { .. } | Block::Card { .. } => String::new(),
    };
    blocks.iter().map(written).collect()
}

/// A text without what drawing it may change: where its lines break, the backticks around code, and the sign of a cut.
fn essence(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '`' | '…')).collect()
}

fn texts(parts: &[Part]) -> Vec<&Text> {
    let mut texts = Vec::new();
    for part in parts {
        match part {
            Part::Message(text) => texts.push(text),
            Part::Document { .. } => {}
        }
    }
    texts
}

/// What every message must be, for Discord to take it and to show what was meant: what it shows.
fn is_sound(text: &Text) -> Result<String, TestCaseError> {
    let shown =
        reader::read(&text.content).map_err(|error| TestCaseError::fail(format!("{error}: {}", text.content)))?;
    prop_assert!(text.content.encode_utf16().count() <= 2000, "{} units", text.content.encode_utf16().count());
    prop_assert!(!shown.trim().is_empty());
    Ok(shown)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn nothing_is_lost_and_nothing_becomes_markup(blocks in prop::collection::vec(simple(), 1..4)) {
        let mut blocks = blocks;
        // A card is never a file, so that all of it must come in messages.
        blocks.push(super::end_of_card(&[]));
        let parts = message(&outgoing(Mark::Plain, blocks.clone()), POST).expect("it fits");
        let texts = texts(&parts);
        prop_assert_eq!(texts.len(), parts.len());
        let mut all = String::new();
        for text in texts {
            all.push_str(&is_sound(text)?);
            is_sound(&text.clone().noting(LONGEST))?;
        }
        let (drawn, said) = (essence(&all), essence(&source(&blocks)));
        prop_assert!(!parts.is_empty());
        let nothing = said.is_empty() && drawn == "(nothingtoshow)";
        prop_assert!(nothing || drawn == said, "{drawn}\n{said}");
    }

    #[test]
    fn what_becomes_a_file_is_whole_in_it(blocks in prop::collection::vec(simple(), 1..4)) {
        let enough = 20_000 / source(&blocks).len().max(100) + 1;
        let blocks: Vec<Block> = blocks.iter().cycle().take(blocks.len() * enough).cloned().collect();
        let parts = message(&outgoing(Mark::Refused, blocks.clone()), POST).expect("it fits");
        for text in texts(&parts) {
            is_sound(text)?;
        }
        if let Some(Part::Document { bytes, .. }) = parts.last() {
            let document = String::from_utf8(bytes.clone()).expect("it is UTF-8");
            // In a file each line of a quotation has its sign.
            let unsigned = |text: &str| essence(text).replace('>', "");
            let (said, all) = (unsigned(&document), unsigned(&source(&blocks)));
            prop_assert_eq!(parts.len(), 2);
            let marked = [format!("⛔{all}"), format!("⛔Refused{all}")];
            prop_assert!(marked.contains(&said), "{said}");
        } else {
            prop_assert!(parts.len() <= super::PARTS_MAX);
        }
    }

    #[test]
    fn each_cell_of_a_table_is_shown(
        titles in prop::collection::vec("[A-Z<&]{1,8}", 1..5),
        cells in prop::collection::vec(hostile(), 0..20),
    ) {
        let columns: Vec<TableColumn> =
            titles.iter().map(|title| TableColumn { title: title.clone(), right: title.len() % 2 == 0 }).collect();
        let rows: Vec<Vec<String>> = cells.chunks_exact(columns.len()).map(<[String]>::to_vec).collect();
        let blocks = vec![Block::Table { columns, rows: rows.clone() }, super::end_of_card(&BOTH)];
        let parts = message(&outgoing(Mark::Plain, blocks), POST).expect("it fits");
        let mut all = String::new();
        for text in texts(&parts) {
            all.push_str(&is_sound(text)?);
        }
        let all = essence(&all);
        let mut rest = all.as_str();
        for cell in rows.iter().flat_map(|row| row.iter().take(4)).map(|cell| essence(cell)) {
            let at = rest.find(&cell);
            prop_assert!(at.is_some(), "{cell} is missing in {all}");
            rest = &rest[at.unwrap_or(0) + cell.len()..];
        }
    }
}
