//! Blocks as plain text: for a model, which reads no markup.

use crate::port::Block;

/// The text of what is shown; a table a row a line. What is to be pressed is not in it.
pub(crate) fn plain(blocks: &[Block]) -> String {
    let lines = blocks.iter().flat_map(|block| match block {
        Block::Text { text } | Block::Quote { text } | Block::Code { text } => vec![text.clone()],
        Block::Fields { fields } => fields.iter().map(|(name, value)| format!("{name}: {value}")).collect(),
        Block::Table { columns, rows } => {
            let titles: Vec<&str> = columns.iter().map(|column| column.title.as_str()).collect();
            std::iter::once(titles.join(" | ")).chain(rows.iter().map(|row| row.join(" | "))).collect()
        }
        Block::Card { .. } | Block::Choices { .. } => Vec::new(),
    });
    lines.collect::<Vec<_>>().join("\n")
}
