//! The inline keyboard under a message. A button's data names the outbox row and a position and nothing else: what they
//! mean is looked up by the core, so that nobody gains anything by forging one.

use std::fmt;

use countersign_core::port::{Block, CardChoice, Choice};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The most bytes of a button's data (the Bot API's `InlineKeyboardButton`).
pub(crate) const DATA_BYTES_MAX: usize = 64;

/// The most columns of a button's label: a phone shows no more.
const LABEL_COLUMNS_MAX: usize = 40;

/// The most buttons of a keyboard that Telegram takes.
const BUTTONS_MAX: usize = 100;

/// The position of a card's button that shows the whole plan.
const DETAILS: usize = 2;

/// A button.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Button {
    /// What stands on it; never empty.
    pub(crate) label: String,
    /// What a press sends back, from 1 to 64 bytes.
    pub(crate) data: String,
}

/// Rows of buttons, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Keyboard(pub(crate) Vec<Vec<Button>>);

/// What Telegram would refuse. The message is then not sent: without its buttons, or in part, it would be another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// The id of the outbox row is too long for a button.
    Data(String),
    /// There are too many.
    Buttons(usize),
    /// It does not fit into the messages whose place it is to take.
    Place(usize),
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data(data) => {
                write!(f, "the button data `{data}` has {} bytes, and Telegram takes {DATA_BYTES_MAX}", data.len())
            }
            Self::Place(parts) => write!(f, "it is longer than what it takes the place of, which has {parts} parts"),
            Self::Buttons(count) => write!(f, "it has {count} buttons, and Telegram takes {BUTTONS_MAX}"),
        }
    }
}

/// The keyboard of a message: that of its last question or card, which stands nearest to it. None where there is nothing
/// to press.
pub(super) fn keyboard(blocks: &[Block], post: &str) -> Result<Option<Keyboard>, Unfit> {
    let rows = blocks.iter().rev().find_map(|block| match block {
        Block::Choices { choices, .. } => Some(of_choices(choices, post)),
        Block::Card { choices, .. } => Some(of_card(choices, post)),
        Block::Text { .. } | Block::Quote { .. } | Block::Code { .. } | Block::Fields { .. } | Block::Table { .. } => {
            None
        }
    });
    let rows = rows.transpose()?.unwrap_or_default();
    let count = rows.iter().map(Vec::len).sum();
    match count {
        0 => Ok(None),
        1..=BUTTONS_MAX => Ok(Some(Keyboard(rows))),
        _ => Err(Unfit::Buttons(count)),
    }
}

/// One button a row, in order.
fn of_choices(choices: &[Choice], post: &str) -> Result<Vec<Vec<Button>>, Unfit> {
    let button = |(position, choice): (usize, &Choice)| {
        let label = if choice.label.trim().is_empty() { format!("{}", position + 1) } else { cut(&choice.label) };
        Ok(vec![Button { label, data: data(post, position)? }])
    };
    choices.iter().enumerate().map(button).collect()
}

/// One row.
fn of_card(choices: &[CardChoice], post: &str) -> Result<Vec<Vec<Button>>, Unfit> {
    let button = |choice: &CardChoice| {
        let (label, position) = match choice {
            CardChoice::Approve => ("Approve", 0),
            CardChoice::Deny => ("Deny", 1),
        };
        Ok(Button { label: label.to_owned(), data: data(post, position)? })
    };
    let mut row: Vec<Button> = choices.iter().map(button).collect::<Result<_, _>>()?;
    if row.is_empty() {
        return Ok(Vec::new());
    }
    row.push(Button { label: "Details".to_owned(), data: data(post, DETAILS)? });
    Ok(vec![row])
}

/// A button's data: the outbox row and the position.
fn data(post: &str, position: usize) -> Result<String, Unfit> {
    let data = format!("{post}:{position}");
    if data.len() > DATA_BYTES_MAX { Err(Unfit::Data(data)) } else { Ok(data) }
}

/// Whether a label stands on its button whole.
pub(super) fn fits(label: &str) -> bool {
    label.width() <= LABEL_COLUMNS_MAX
}

fn cut(label: &str) -> String {
    if fits(label) {
        return label.replace('\n', " ");
    }
    let mut out = String::new();
    let mut used = 1;
    for c in label.chars() {
        used += c.width().unwrap_or(0);
        if used > LABEL_COLUMNS_MAX {
            break;
        }
        out.push(if c == '\n' { ' ' } else { c });
    }
    out + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_does_not_fit_is_an_error_and_never_a_missing_button() {
        let post = "0123456789abcdef0123456789abcdef";
        assert_eq!(data(post, 1), Ok(format!("{post}:1")));
        assert_eq!(data(&"x".repeat(62), 9).map(|data| data.len()), Ok(64));
        let error = data(&"x".repeat(63), 9).map_err(|error| error.to_string());
        let expected = format!("the button data `{}:9` has 65 bytes, and Telegram takes 64", "x".repeat(63));
        assert_eq!(error, Err(expected));
    }

    #[test]
    fn a_label_is_cut_by_its_columns() {
        assert_eq!(cut(&"x".repeat(40)), "x".repeat(40));
        assert_eq!(cut(&"x".repeat(41)), format!("{}…", "x".repeat(39)));
        assert_eq!(cut(&"日".repeat(21)).width(), 39, "a wide character that would stand over the edge is left out");
    }
}
