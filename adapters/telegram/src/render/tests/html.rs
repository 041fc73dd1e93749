//! A strict reader of the HTML that a message may hold: five tags, three entities, nothing crossed and nothing left open.
//! What Telegram would refuse, and what was never meant as markup, fails here.

/// What Telegram would show: the text, and how many pieces of it are marked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) text: String,
    /// The same without the sign before each line of a quotation.
    pub(super) bare: String,
    pub(super) entities: usize,
    /// The text that stands in no tag and in bold or italic alone: where Telegram looks for mentions.
    pub(super) open: String,
}

/// Reads a message, or says what is wrong with it and where.
pub(super) fn read(html: &str) -> Result<Shown, String> {
    let mut shown = Shown { text: String::new(), bare: String::new(), entities: 0, open: String::new() };
    let mut stack: Vec<&str> = Vec::new();
    let mut rest = html;
    let mut is_fresh = true;
    while let Some(c) = rest.chars().next() {
        let at = html.len() - rest.len();
        let (read, after) = match c {
            '<' => {
                let end = rest.find('>').ok_or(format!("an open tag at {at}"))?;
                if rest.starts_with("</blockquote>") && is_fresh {
                    shown.text.push_str("> ");
                    shown.open.push_str("> ");
                }
                tag(&rest[1..end], &mut stack, &mut shown).map_err(|error| format!("{error} at {at}"))?;
                rest = &rest[end + 1..];
                continue;
            }
            '>' => return Err(format!("a bare > at {at}")),
            '&' => entity(rest).ok_or(format!("a bare & at {at}"))?,
            c => (c, &rest[c.len_utf8()..]),
        };
        let is_quoted = stack.contains(&"blockquote");
        shown.text.push_str(if is_quoted && is_fresh { "> " } else { "" });
        shown.open.push_str(if is_quoted && is_fresh { "> " } else { "" });
        is_fresh = read == '\n';
        shown.text.push(read);
        shown.bare.push(read);
        shown.open.push(if stack.iter().any(|tag| matches!(*tag, "code" | "pre")) { ' ' } else { read });
        rest = after;
    }
    if stack.is_empty() { Ok(shown) } else { Err(format!("left open: {stack:?}")) }
}

fn tag<'h>(name: &'h str, stack: &mut Vec<&'h str>, shown: &mut Shown) -> Result<(), String> {
    match name.strip_prefix('/') {
        Some(name) if stack.last() == Some(&name) => {
            stack.pop();
            Ok(())
        }
        None if ["b", "i", "code"].contains(&name) && *stack == ["blockquote"] => {
            stack.push(name);
            shown.entities += 1;
            Ok(())
        }
        None if ["b", "i", "code", "pre", "blockquote"].contains(&name) && stack.is_empty() => {
            stack.push(name);
            shown.entities += 1;
            Ok(())
        }
        Some(_) | None => Err(format!("<{name}> within {stack:?}")),
    }
}

fn entity(rest: &str) -> Option<(char, &str)> {
    [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>')]
        .into_iter()
        .find_map(|(entity, c)| rest.strip_prefix(entity).map(|after| (c, after)))
}

#[test]
fn the_reader_refuses_what_telegram_would() {
    for wrong in ["<b>x", "x</b>", "<b>x</i>", "<u>x</u>", "a < b", "a > b", "a & b", "&quot;", "<b><i>x</i></b>", "<b"]
    {
        assert!(read(wrong).is_err(), "{wrong}");
    }
    let right = read("a &lt;b&gt; <b>c</b> <pre>d\n&amp;</pre>");
    let text = "a <b> c d\n&".to_owned();
    assert_eq!(right, Ok(Shown { bare: text.clone(), text, entities: 2, open: "a <b> c    ".to_owned() }));
}
