//! Everything in a text that looks like a secret, whoever's it is: what the prefilter says is worth a search, and the same
//! in the texts that this one was made from.

use super::known::formats;
use super::own::Own;
use super::prefilter::Hits;
use super::rules::{self, Find};
use super::view::{self, View};
use super::{block, flow, table};

/// How many texts inside of texts are looked into: a string in a string of JSON, with numbers before its lines.
const VIEWS_MAX: usize = 3;

/// What is to be masked, in no order, overlaps included.
pub(super) fn finds(text: &str, own: &Own) -> Vec<Find> {
    let mut found = within(text, 0);
    if !own.is_empty() {
        found.extend(own.finds(text));
        let in_view = |view: &View| {
            let located = |find: Find| Find { at: view.locate(&find.at), class: find.class };
            own.finds(&view.text).into_iter().map(located).collect::<Vec<_>>()
        };
        found.extend(view::unescaped(text).iter().flat_map(in_view));
        let rows = view::without_columns(text);
        found.extend(
            rows.iter()
                .flat_map(in_view)
                .map(|find| Find { at: find.at.start..view::row_end(text, find.at.end), ..find }),
        );
    }
    found
}

fn within(text: &str, depth: usize) -> Vec<Find> {
    let hits = Hits::in_text(text);
    // Escapes of letters may hide the word that the prefilter looks for.
    if hits.is_empty() && !text.contains("\\u00") && !text.contains("\\x") {
        return Vec::new();
    }
    let mut found = rules::finds(text, hits.general, &hits.rules);
    found.extend(hits.formats.iter().filter_map(|n| formats().get(*n)).flat_map(|format| format.finds(text)));
    let has_lines = text.contains('\n');
    if hits.general {
        found.extend(flow::finds(text));
        found.extend(table::inserts(text));
        if has_lines {
            found.extend(block::finds(text));
            found.extend(table::finds(text));
        }
    }
    if depth < VIEWS_MAX {
        for (start, view) in view::strings(text) {
            let inside = in_view(&view, depth + 1).into_iter();
            found.extend(inside.map(|find| Find { at: start + find.at.start..start + find.at.end, ..find }));
        }
        for view in [view::without_line_starts(text), view::without_signs(text)].iter().flatten() {
            found.extend(in_view(view, depth + 1));
        }
        if let Some(view) = view::unescaped(text) {
            found.sort_by_key(|find| find.at.start);
            // Without its escapes a text ends its quotes too early, so that too much would count for what is found already.
            let more = in_view(&view, depth + 1).into_iter().filter(|find| !overlaps(&found, find));
            found.extend(more.collect::<Vec<_>>());
        }
    }
    found
}

/// Whether a find overlaps one of those in a sorted list.
fn overlaps(sorted: &[Find], find: &Find) -> bool {
    let after = sorted.partition_point(|other| other.at.start < find.at.end);
    sorted.get(..after).is_some_and(|before| before.iter().rev().take(8).any(|other| other.at.end > find.at.start))
}

fn in_view(view: &View, depth: usize) -> Vec<Find> {
    let located = |find: Find| Find { at: view.locate(&find.at), class: find.class };
    within(&view.text, depth).into_iter().map(located).collect()
}
