//! Embeds: what Discord takes and refuses of them. How one is drawn is in `draw`.

use serde_json::{Value, json};

use crate::form::Fields;

/// API reference, "Embed Limits": embeds of a message, letters of each part, fields, letters of everything.
const EMBEDS_MAX: usize = 10;
const TITLE_MAX: usize = 256;
const DESCRIPTION_MAX: usize = 4096;
const FIELDS_MAX: usize = 25;
const NAME_MAX: usize = 256;
const VALUE_MAX: usize = 1024;
const FOOTER_MAX: usize = 2048;
const ALL_MAX: usize = 6000;
/// Letters of a link (not documented; what the API says when it is passed).
const URL_MAX: usize = 2048;

const KNOWN: [&str; 13] = [
    "title",
    "type",
    "description",
    "url",
    "timestamp",
    "color",
    "footer",
    "image",
    "thumbnail",
    "video",
    "provider",
    "author",
    "fields",
];

/// The embeds under `embeds`; problems are written down in `form`.
pub(crate) fn read(form: &Fields<'_>) -> Vec<Value> {
    let mut all = 0;
    let mut read = Vec::new();
    for embed in form.objects("embeds", EMBEDS_MAX) {
        embed.only(&KNOWN);
        let letters = letters(&embed);
        if letters == 0 && embed.get("image").is_none() && embed.get("thumbnail").is_none() {
            embed.wrong("description", "BASE_TYPE_REQUIRED", "This field is required");
        }
        all += letters;
        let mut wire = embed.raw();
        if let Some(fields) = wire.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        wire["type"] = json!("rich");
        read.push(wire);
    }
    if all > ALL_MAX {
        form.wrong("embeds", "MAX_EMBED_SIZE_EXCEEDED", "Embed size exceeds maximum size of 6000");
    }
    read
}

/// Checks every part, and counts the letters that Discord counts.
fn letters(embed: &Fields<'_>) -> usize {
    let count = |text: Option<&str>| text.map_or(0, |text| text.chars().count());
    let mut letters = count(embed.text("title", TITLE_MAX)) + count(embed.text("description", DESCRIPTION_MAX));
    for (name, part, most) in [("footer", "text", FOOTER_MAX), ("author", "name", NAME_MAX)] {
        let inner = embed.object(name);
        letters += inner.map_or(0, |inner| inner.required_text(part, most).chars().count());
    }
    for field in embed.objects("fields", FIELDS_MAX) {
        field.only(&["name", "value", "inline"]);
        field.flag("inline");
        let (name, value) = (field.required_text("name", NAME_MAX), field.required_text("value", VALUE_MAX));
        letters += count(Some(name)) + count(Some(value));
    }
    if let Some(url) =
        embed.text("url", URL_MAX).filter(|url| !url.starts_with("http://") && !url.starts_with("https://"))
    {
        embed.wrong("url", "URL_TYPE_INVALID_SCHEME", &format!("Scheme \"{url}\" is not supported."));
    }
    if embed.number("color").is_some_and(|colour| colour > 0xFF_FFFF) {
        embed.wrong("color", "NUMBER_TYPE_MAX", "int value should be less than or equal to 16777215.");
    }
    embed.text("timestamp", URL_MAX);
    letters
}
