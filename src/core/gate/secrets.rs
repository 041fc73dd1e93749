//! Gate `secrets`: no secret path and no credential in arguments, no credential in a message. It names the class of what
//! it found and never the thing itself (REJ-04).

use crate::envelope::{Code, Details};
use crate::port::{Block, Outgoing};
use crate::secrets::secret_path;
use crate::tool::ArgKind;

use super::{CallCase, Ctx, Gate, Standing, Verdict};

pub(super) const GATE: Gate = Gate { name: "secrets", priority: 550, call, post };

fn call(case: &CallCase<'_>, ctx: &Ctx<'_>) -> Verdict {
    if let Some((argument, class)) = secret_location(case) {
        return refuse(
            argument,
            format!("that is a place for secrets ({class}); it is never read or written from a chat"),
        );
    }
    let kinds = [ArgKind::Text, ArgKind::Path, ArgKind::Destination, ArgKind::Command, ArgKind::Content];
    let found = kinds.into_iter().flat_map(|kind| case.args_of(kind)).find_map(|(name, value)| {
        let class = ctx.env.mask.class_of(&value)?;
        Some((name.to_owned(), class))
    });
    match found {
        Some((argument, class)) => {
            refuse(argument, format!("it holds a secret ({class}); change that secret now, it was sent to a chat"))
        }
        None => Verdict::Pass,
    }
}

fn secret_location(case: &CallCase<'_>) -> Option<(String, &'static str)> {
    let path = case.paths().find_map(|(name, path)| Some((name.to_owned(), secret_path(&path)?)));
    path.or_else(|| {
        case.args_of(ArgKind::Command).find_map(|(name, line)| {
            let class = line.split_whitespace().find_map(secret_path)?;
            Some((name.to_owned(), class))
        })
    })
}

fn refuse(argument: String, message: String) -> Verdict {
    let details = Details { argument: Some(argument), ..Details::default() };
    Verdict::refuse_with(Code::PolicyBlocked, message, details)
}

fn post(post: &Outgoing, standing: &Standing<'_>) -> Verdict {
    let mask = standing.env().mask;
    match post.blocks.iter().flat_map(texts_of).find_map(|text| mask.class_of(text)) {
        Some(class) => Verdict::refuse(Code::PolicyBlocked, format!("the message would show a secret ({class})")),
        None => Verdict::Pass,
    }
}

/// Every text of a block, as it will be shown.
pub(crate) fn texts_of(block: &Block) -> Vec<&str> {
    match block {
        Block::Text { text } | Block::Quote { text } | Block::Code { text } => vec![text],
        Block::Fields { fields } => fields.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]).collect(),
        Block::Table { columns, rows } => columns
            .iter()
            .map(|column| column.title.as_str())
            .chain(rows.iter().flatten().map(String::as_str))
            .collect(),
        // Ids and digests of ours: random, and no secret.
        Block::Card { .. } => Vec::new(),
        Block::Choices { choices, .. } => {
            choices.iter().flat_map(|choice| [choice.label.as_str(), choice.about.as_str()]).collect()
        }
    }
}
