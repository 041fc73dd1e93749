//! Windows to fill in: what Discord takes and refuses of them. Filling one in is in `interact`.

use crate::form::Fields;
use crate::interactions::{Input, Modal};
use crate::keyboard::CUSTOM_ID_MAX;

/// API reference, "Modal" and "Text Input": letters of the title and of a label, inputs, letters of a hint and a text.
const TITLE_MAX: usize = 45;
const INPUTS_MAX: usize = 5;
const HINT_MAX: usize = 100;
const TEXT_MAX: usize = 4000;

const ROW: u64 = 1;
const INPUT: u64 = 4;
/// The newer form, in which a label holds the input.
const LABEL: u64 = 18;

/// The modal under `data`; problems are written down.
pub(super) fn read(data: &Fields<'_>) -> Modal {
    data.only(&["custom_id", "title", "components"]);
    let inputs: Vec<Input> = data.objects("components", INPUTS_MAX).iter().filter_map(row).collect();
    if inputs.is_empty() {
        data.wrong("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.");
    }
    Modal {
        title: data.required_text("title", TITLE_MAX).to_owned(),
        data: data.required_text("custom_id", CUSTOM_ID_MAX).to_owned(),
        inputs,
    }
}

fn row(row: &Fields<'_>) -> Option<Input> {
    match row.number("type") {
        Some(ROW) => {
            row.only(&["type", "id", "components"]);
            let inner = row.objects("components", 1);
            let only = inner.first()?;
            let label = only.required_text("label", TITLE_MAX).to_owned();
            input(only, label)
        }
        Some(LABEL) => {
            row.only(&["type", "id", "label", "description", "component"]);
            let label = row.required_text("label", TITLE_MAX).to_owned();
            input(&row.object("component")?, label)
        }
        _ => {
            row.wrong("type", "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (1, 18).");
            None
        }
    }
}

fn input(input: &Fields<'_>, label: String) -> Option<Input> {
    let known =
        ["type", "id", "custom_id", "style", "label", "min_length", "max_length", "required", "value", "placeholder"];
    input.only(&known);
    if input.number("type") != Some(INPUT) {
        input.wrong("type", "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (4,).");
        return None;
    }
    let style = input.number("style");
    if !style.is_some_and(|style| [1, 2].contains(&style)) {
        input.wrong("style", "BASE_TYPE_CHOICES", "Value must be one of (1, 2).");
    }
    input.text("placeholder", HINT_MAX);
    input.text("value", TEXT_MAX);
    let (least, most) =
        (input.number("min_length").unwrap_or(0), input.number("max_length").unwrap_or(TEXT_MAX as u64));
    if least > most || most > TEXT_MAX as u64 || most == 0 {
        input.wrong("max_length", "NUMBER_TYPE_MAX", "int value should be between min_length, 1 and 4000.");
    }
    let data = input.required_text("custom_id", CUSTOM_ID_MAX).to_owned();
    let required = input.get("required").is_none_or(|required| required == true);
    Some(Input { label, data, required, bounds: (least, most), long: style == Some(2) })
}
