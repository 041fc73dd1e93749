//! What can be pressed under a message: buttons, or menus where there are many. Their data names the outbox row and a
//! position and nothing else: what they mean is looked up by the core, so that nobody gains anything by forging one.

use std::fmt;

use countersign_core::port::{Block, CardChoice, Choice};
use serenity::all::{
    ButtonStyle, CreateActionRow, CreateButton, CreateSelectMenu, CreateSelectMenuKind, CreateSelectMenuOption,
};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The most bytes of a button's data (Discord's component reference: 100 characters).
pub(crate) const DATA_BYTES_MAX: usize = 100;

/// The most columns of a button's label: a phone shows no more. Discord takes 80 characters.
const LABEL_COLUMNS_MAX: usize = 40;

/// The most characters of a line about an option of a menu.
const ABOUT_CHARS_MAX: usize = 100;

/// The most choices that become buttons; more become menus. It is what fits into one row.
const BUTTONS_MAX: usize = 5;

/// The most options of a menu.
const OPTIONS_MAX: usize = 25;

/// The most rows under a message.
const ROWS_MAX: usize = 5;

/// The position of a card's button that shows the whole plan.
const DETAILS: usize = 2;

/// How a button looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Plain,
    Good,
    Bad,
}

/// Something to press.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Button {
    /// What stands on it; never empty.
    pub(crate) label: String,
    /// One line about it, which only a menu shows.
    pub(crate) about: String,
    /// What a press sends back, from 1 to 100 bytes.
    pub(crate) data: String,
    pub(crate) look: Look,
}

/// A row under a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    /// From 1 to 5.
    Buttons(Vec<Button>),
    /// From 1 to 25, under one heading.
    Menu {
        /// Says which they are.
        heading: String,
        /// They.
        options: Vec<Button>,
    },
}

/// Rows, from 1 to 5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Keyboard(pub(crate) Vec<Row>);

/// What Discord would refuse. The message is then not sent: without its buttons, or in part, it would be another one.
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
                write!(f, "the button data `{data}` has {} bytes, and Discord takes {DATA_BYTES_MAX}", data.len())
            }
            Self::Place(parts) => write!(f, "it is longer than what it takes the place of, which has {parts} parts"),
            Self::Buttons(count) => write!(f, "it has {count} choices, and Discord takes {}", ROWS_MAX * OPTIONS_MAX),
        }
    }
}

impl Keyboard {
    /// As Discord's components.
    pub(crate) fn components(&self) -> Vec<CreateActionRow> {
        self.0.iter().enumerate().map(row).collect()
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
    Ok((!rows.is_empty()).then_some(Keyboard(rows)))
}

/// One row of buttons, or menus of 25.
fn of_choices(choices: &[Choice], post: &str) -> Result<Vec<Row>, Unfit> {
    let button = |(position, choice): (usize, &Choice)| {
        let label = if choice.label.trim().is_empty() { format!("{}", position + 1) } else { cut(&choice.label) };
        Ok(Button { label, about: choice.about.clone(), data: data(post, position)?, look: Look::Plain })
    };
    let buttons: Vec<Button> = choices.iter().enumerate().map(button).collect::<Result<_, _>>()?;
    if buttons.len() > ROWS_MAX * OPTIONS_MAX {
        return Err(Unfit::Buttons(buttons.len()));
    }
    if buttons.len() <= BUTTONS_MAX {
        return Ok(if buttons.is_empty() { Vec::new() } else { vec![Row::Buttons(buttons)] });
    }
    let count = buttons.len();
    let menu = |(at, options): (usize, &[Button])| {
        let (first, last) = (at * OPTIONS_MAX + 1, at * OPTIONS_MAX + options.len());
        let heading = if count <= OPTIONS_MAX { "Choose".to_owned() } else { format!("Choose: {first} to {last}") };
        Row::Menu { heading, options: options.to_vec() }
    };
    Ok(buttons.chunks(OPTIONS_MAX).enumerate().map(menu).collect())
}

/// One row.
fn of_card(choices: &[CardChoice], post: &str) -> Result<Vec<Row>, Unfit> {
    let button = |choice: &CardChoice| {
        let (label, position, look) = match choice {
            CardChoice::Approve => ("Approve", 0, Look::Good),
            CardChoice::Deny => ("Deny", 1, Look::Bad),
        };
        Ok(Button { label: label.to_owned(), about: String::new(), data: data(post, position)?, look })
    };
    let mut row: Vec<Button> = choices.iter().map(button).collect::<Result<_, _>>()?;
    if row.is_empty() {
        return Ok(Vec::new());
    }
    let (label, about) = ("Details".to_owned(), String::new());
    row.push(Button { label, about, data: data(post, DETAILS)?, look: Look::Plain });
    Ok(vec![Row::Buttons(row)])
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

fn row((at, row): (usize, &Row)) -> CreateActionRow {
    match row {
        Row::Buttons(buttons) => CreateActionRow::Buttons(buttons.iter().map(button).collect()),
        Row::Menu { heading, options } => {
            let kind = CreateSelectMenuKind::String { options: options.iter().map(option).collect() };
            CreateActionRow::SelectMenu(CreateSelectMenu::new(format!("menu:{at}"), kind).placeholder(heading))
        }
    }
}

fn button(button: &Button) -> CreateButton {
    let style = match button.look {
        Look::Plain => ButtonStyle::Secondary,
        Look::Good => ButtonStyle::Success,
        Look::Bad => ButtonStyle::Danger,
    };
    CreateButton::new(&button.data).label(&button.label).style(style)
}

fn option(button: &Button) -> CreateSelectMenuOption {
    let option = CreateSelectMenuOption::new(&button.label, &button.data);
    match button.about.trim() {
        "" => option,
        about => option.description(countersign_core::text::cut(about, ABOUT_CHARS_MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_does_not_fit_is_an_error_and_never_a_missing_button() {
        let post = "0123456789abcdef0123456789abcdef";
        assert_eq!(data(post, 1), Ok(format!("{post}:1")));
        assert_eq!(data(&"x".repeat(98), 9).map(|data| data.len()), Ok(100));
        let error = data(&"x".repeat(99), 9).map_err(|error| error.to_string());
        let expected = format!("the button data `{}:9` has 101 bytes, and Discord takes 100", "x".repeat(99));
        assert_eq!(error, Err(expected));
    }

    #[test]
    fn a_label_is_cut_by_its_columns() {
        assert_eq!(cut(&"x".repeat(40)), "x".repeat(40));
        assert_eq!(cut(&"x".repeat(41)), format!("{}…", "x".repeat(39)));
        assert_eq!(cut(&"日".repeat(21)).width(), 39, "a wide character that would stand over the edge is left out");
    }
}
