//! Each kind of neutral block as lines. Cutting, markup and reactions are elsewhere.

use countersign_core::approval::{PlanId, Risk};
use countersign_core::port::{Block, CardChoice, Choice};
use countersign_core::value::is_technical;

use super::line::{Line, Span, Style};
use super::{seeds, table};

/// How a message is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drawing {
    /// Whether there is room for any width, as in a file.
    pub(super) wide: bool,
    /// Whether each character of prose is shown as it is, as on a plan's card.
    pub(super) verbatim: bool,
}

/// A block as lines. `at` is its position in the message.
pub(super) fn lines(at: usize, block: &Block, drawing: Drawing) -> Vec<Line> {
    match block {
        Block::Text { text } => text.lines().map(|line| Line::prose(words(line, drawing))).collect(),
        Block::Quote { text } => text.lines().map(|line| Line::quoted(at, words(line, drawing))).collect(),
        Block::Code { text } => text.lines().map(|line| Line::fenced(at, line)).collect(),
        Block::Fields { fields } => fields.iter().flat_map(|(name, value)| field(name, value)).collect(),
        Block::Table { columns, rows } => table::table(at, columns, rows, drawing.wide),
        Block::Choices { choices, .. } => listed(choices),
        Block::Card { plan, choices, risk, .. } => decided(plan, choices, *risk),
    }
}

/// A line of prose, in which the core writes `words to type` between backticks. In a file they stay, and on a card nothing
/// is read into what it shows.
fn words(line: &str, drawing: Drawing) -> Vec<Span> {
    if drawing.wide || drawing.verbatim {
        return vec![Span::new(Style::Plain, line)];
    }
    let mut spans = Vec::new();
    let mut rest = line;
    while let Some((before, quoted, after)) = quoted(rest) {
        spans.push(Span::new(Style::Plain, before));
        spans.push(Span::new(Style::Typed, quoted));
        rest = after;
    }
    spans.push(Span::new(Style::Plain, rest));
    spans
}

/// What stands before the first pair of backticks with words right between them, those, and what follows.
fn quoted(text: &str) -> Option<(&str, &str, &str)> {
    text.match_indices('`').find_map(|(open, _)| {
        let inside = text.get(open + 1..)?;
        let close = inside.find('`')?;
        let quoted = &inside[..close];
        (!quoted.is_empty() && quoted.trim() == quoted).then(|| (&text[..open], quoted, &inside[close + 1..]))
    })
}

/// A name and its value; the further lines of a value stand under it.
fn field(name: &str, value: &str) -> Vec<Line> {
    let style = if is_technical(value) { Style::Code } else { Style::Plain };
    let mut lines = value.lines();
    let first = vec![
        Span::new(Style::Bold, name),
        Span::new(Style::Plain, ": "),
        Span::new(style, lines.next().unwrap_or_default()),
    ];
    std::iter::once(Line::prose(first)).chain(lines.map(Line::plain)).collect()
}

/// The choices, each with the reaction that picks it, and how else it is picked.
fn listed(choices: &[Choice]) -> Vec<Line> {
    let line = |(at, choice): (usize, &Choice)| {
        let number = seeds::pick(at).map_or_else(|| format!("{}.", at + 1), str::to_owned);
        let about = if choice.about.is_empty() { String::new() } else { format!(" - {}", choice.about) };
        Line::plain(&format!("{number} {}{about}", choice.label))
    };
    let how = match choices.len() {
        0 => return Vec::new(),
        1 => "React with it, or reply with its number.",
        _ => "React with one of them, or reply with its number.",
    };
    choices.iter().enumerate().map(line).chain([Line::plain(how)]).collect()
}

/// Draws the ways to decide a card: reactions, and words where a homeserver could forge a reaction (DESIGN.md section 4). Empty for a
/// decided card.
fn decided(plan: &PlanId, choices: &[CardChoice], risk: Risk) -> Vec<Line> {
    if choices.is_empty() {
        return Vec::new();
    }
    let sign = |choice: &CardChoice| match choice {
        CardChoice::Approve => format!("{} to approve", seeds::of_card(*choice)),
        CardChoice::Deny => format!("{} to deny", seeds::of_card(*choice)),
    };
    let signs: Vec<String> = seeds::decisions(choices, risk).iter().map(sign).collect();
    let by_sign = format!("React with {}, or {} for details.", signs.join(", "), seeds::DETAILS);
    let is_sealed = choices.contains(&CardChoice::Approve) && risk >= Risk::High;
    let by_words = is_sealed.then(|| {
        let lead = "High risk: approve it in words, from a verified device in an encrypted room: ";
        Line::prose(vec![Span::new(Style::Plain, lead), Span::new(Style::Typed, &format!("!approve {plan}"))])
    });
    by_words.into_iter().chain([Line::plain(&by_sign)]).collect()
}
