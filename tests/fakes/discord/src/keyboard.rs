//! Buttons and menus below a message: what Discord takes, what it refuses, and the form in which it shows them again.
//! Pressing one is in `interact`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::form::Fields;

/// Rows of a message, buttons of a row, choices of a menu (API reference, "Component").
const ROWS_MAX: usize = 5;
const BUTTONS_MAX: usize = 5;
const OPTIONS_MAX: usize = 25;
/// Letters of what the bot gets back, of a button's label, of a choice's texts, of a menu's hint.
pub(crate) const CUSTOM_ID_MAX: usize = 100;
const LABEL_MAX: usize = 80;
const OPTION_MAX: usize = 100;
const HINT_MAX: usize = 150;
const URL_MAX: usize = 512;

const ROW: u64 = 1;
const BUTTON: u64 = 2;
const STRING_MENU: u64 = 3;
/// Menus of users, roles, both, and channels.
const OTHER_MENUS: [u64; 4] = [5, 6, 7, 8];
const LINK: u64 = 5;

/// A button as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Button {
    /// The label, or the emoji of one without a label.
    pub text: String,
    /// What the bot gets when it is pressed: its `custom_id`.
    pub data: Option<String>,
    /// What it opens.
    pub url: Option<String>,
    /// Discord's number: 1 blurple, 2 grey, 3 green, 4 red, 5 a link.
    pub style: u8,
    /// Shown, but not to be pressed.
    pub disabled: bool,
}

/// A choice of a menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What is shown.
    pub text: String,
    /// What the bot gets.
    pub value: String,
}

/// A menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Select {
    /// What the bot gets besides the choices: its `custom_id`.
    pub data: String,
    /// Shown while nothing is chosen.
    pub hint: Option<String>,
    /// What can be chosen; empty in menus of users, roles and channels, which the fake cannot play.
    pub options: Vec<Choice>,
    /// How many must be chosen at least, and may be at most.
    pub bounds: (u64, u64),
    /// Shown, but not to be used.
    pub disabled: bool,
    kind: u64,
}

/// One thing in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// To be pressed.
    Button(Button),
    /// To be chosen from; alone in its row.
    Select(Select),
}

/// All rows of a message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Keyboard {
    /// From top to bottom, each from left to right.
    pub rows: Vec<Vec<Key>>,
    /// As it goes over the wire again.
    pub(crate) wire: Vec<Value>,
}

impl Keyboard {
    /// Whether there is nothing to press or to choose.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn buttons(&self) -> impl Iterator<Item = &Button> {
        self.rows.iter().flatten().filter_map(|key| match key {
            Key::Button(button) => Some(button),
            Key::Select(_) => None,
        })
    }

    pub(crate) fn menus(&self) -> impl Iterator<Item = &Select> {
        self.rows.iter().flatten().filter_map(|key| match key {
            Key::Select(menu) => Some(menu),
            Key::Button(_) => None,
        })
    }

    /// Discord's number for the component that bears this `custom_id`.
    pub(crate) fn kind_of(&self, data: &str) -> u64 {
        self.menus().find(|menu| menu.data == data).map_or(BUTTON, |menu| menu.kind)
    }

    /// The rows under `components`; problems are written down in `form`.
    pub(crate) fn read(form: &Fields<'_>) -> Self {
        let mut keyboard = Self::default();
        let mut seen = BTreeSet::new();
        for (at, row) in form.objects("components", ROWS_MAX).iter().enumerate() {
            if row.number("type") != Some(ROW) {
                row.wrong("type", "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (1,).");
                continue;
            }
            row.only(&["type", "components", "id"]);
            let keys: Vec<Key> =
                row.objects("components", BUTTONS_MAX).iter().filter_map(|key| read_key(key, &mut seen)).collect();
            if keys.is_empty() {
                row.wrong("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.");
            }
            if keys.len() > 1 && keys.iter().any(|key| matches!(key, Key::Select(_))) {
                row.wrong(
                    "components",
                    "COMPONENT_LAYOUT_WIDTH_EXCEEDED",
                    "The specified component exceeds the maximum width",
                );
            }
            keyboard.wire.push(wire_row(at, &keys, row));
            keyboard.rows.push(keys);
        }
        keyboard
    }
}

fn read_key(key: &Fields<'_>, seen: &mut BTreeSet<String>) -> Option<Key> {
    let read = match key.number("type") {
        Some(BUTTON) => Some(Key::Button(read_button(key))),
        Some(kind) if kind == STRING_MENU || OTHER_MENUS.contains(&kind) => Some(Key::Select(read_menu(key, kind))),
        _ => {
            key.wrong("type", "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (2, 3, 5, 6, 7, 8).");
            None
        }
    };
    let data = match &read {
        Some(Key::Button(button)) => button.data.clone(),
        Some(Key::Select(menu)) => Some(menu.data.clone()),
        None => None,
    };
    if data.is_some_and(|data| !seen.insert(data)) {
        key.wrong("custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated");
    }
    read
}

fn read_button(key: &Fields<'_>) -> Button {
    key.only(&["type", "id", "style", "label", "emoji", "custom_id", "sku_id", "url", "disabled"]);
    let style = key.number("style").filter(|style| (1..=LINK).contains(style));
    if style.is_none() {
        key.wrong("style", "BASE_TYPE_CHOICES", "Value must be one of (1, 2, 3, 4, 5).");
    }
    let label = key.text("label", LABEL_MAX).unwrap_or_default();
    let emoji = key.object("emoji").and_then(|emoji| emoji.text("name", LABEL_MAX)).unwrap_or_default();
    if label.is_empty() && emoji.is_empty() {
        key.wrong("", "BUTTON_COMPONENT_INVALID_LABEL_OR_EMOJI", "A button must have a label or an emoji");
    }
    let (data, url) = (key.text("custom_id", CUSTOM_ID_MAX), key.text("url", URL_MAX));
    let (data, url) = (data.filter(|data| !data.is_empty()), url.filter(|url| !url.is_empty()));
    if style == Some(LINK) {
        if data.is_some() {
            key.wrong(
                "custom_id",
                "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE",
                "A custom id and url cannot both be specified",
            );
        }
        if !url.is_some_and(|url| ["http://", "https://", "discord://"].iter().any(|start| url.starts_with(start))) {
            key.wrong("url", "URL_TYPE_INVALID_URL", "Not a well formed URL.");
        }
    } else if data.is_none() || url.is_some() {
        key.wrong("custom_id", "BUTTON_COMPONENT_CUSTOM_ID_REQUIRED", "A custom id is required");
    }
    let text = if label.is_empty() { emoji } else { label };
    let style = style.and_then(|style| u8::try_from(style).ok()).unwrap_or(2);
    let (data, url) = (data.map(str::to_owned), url.map(str::to_owned));
    Button { text: text.to_owned(), data, url, style, disabled: key.flag("disabled") }
}

fn read_menu(key: &Fields<'_>, kind: u64) -> Select {
    let known = ["type", "id", "custom_id", "options", "placeholder", "min_values", "max_values", "disabled"];
    key.only(&[&known[..], &["channel_types", "default_values", "required"]].concat());
    let read = |option: &Fields<'_>| {
        option.only(&["label", "value", "description", "emoji", "default"]);
        option.text("description", OPTION_MAX);
        option.flag("default");
        let (text, value) = (option.required_text("label", OPTION_MAX), option.required_text("value", OPTION_MAX));
        Choice { text: text.to_owned(), value: value.to_owned() }
    };
    let options: Vec<Choice> = key.objects("options", OPTIONS_MAX).iter().map(read).collect();
    if kind == STRING_MENU && options.is_empty() {
        key.wrong("options", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 25 in length.");
    }
    let values: BTreeSet<&str> = options.iter().map(|option| option.value.as_str()).collect();
    if values.len() < options.len() {
        key.wrong("options", "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", "The specified option value is already used");
    }
    let bounds = (key.number("min_values").unwrap_or(1), key.number("max_values").unwrap_or(1));
    if bounds.0 > bounds.1 || bounds.1 > OPTIONS_MAX as u64 || (kind == STRING_MENU && bounds.0 > options.len() as u64)
    {
        key.wrong("max_values", "SELECT_COMPONENT_MIN_VALUES_LARGER_THAN_OPTIONS", "The bounds do not fit the options");
    }
    Select {
        data: key.required_text("custom_id", CUSTOM_ID_MAX).to_owned(),
        hint: key.text("placeholder", HINT_MAX).map(str::to_owned),
        options,
        bounds,
        disabled: key.flag("disabled"),
        kind,
    }
}

/// Discord numbers components and leaves out what was not given.
fn wire_row(at: usize, keys: &[Key], row: &Fields<'_>) -> Value {
    let mut components = Vec::new();
    for (place, (_, key)) in keys.iter().zip(row.objects("components", BUTTONS_MAX)).enumerate() {
        let mut raw = key.raw();
        if let Some(fields) = raw.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        raw["id"] = json!((at + 1) * 10 + place);
        components.push(raw);
    }
    json!({ "type": ROW, "id": at + 1, "components": components })
}
