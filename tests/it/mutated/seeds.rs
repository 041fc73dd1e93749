//! What people type, and what somebody types who means harm: the texts that are mutated. All of them are made here or come
//! from the intents and the fixtures of commands.

use serde_json::Value;

use super::chance::Chance;

/// What the bot understands, as the intents give it.
const INTENTS: &str = include_str!("../../../config/intents.toml");

/// Commands, one JSON object a line.
const COMMANDS: [&str; 3] = [
    include_str!("../../fixtures/commands/benign.jsonl"),
    include_str!("../../fixtures/commands/refuse-platforms.jsonl"),
    include_str!("../../fixtures/commands/refuse-tools.jsonl"),
];

/// What a text may begin with so that it is understood.
const OPENINGS: [&str; 8] = [
    "run ",
    "write /tmp/x.yaml: ",
    "write /tmp/x.json: ",
    "append to /etc/hosts: ",
    "show file ",
    "service ",
    "about ",
    "",
];

/// Characters that are handled on their own somewhere.
const ODD: [&str; 24] = [
    "\u{202e}",
    "\u{200b}",
    "\u{200d}",
    "\u{fe0f}",
    "\u{feff}",
    "\u{0}",
    "\u{1b}[31m",
    "\u{e0061}",
    "\u{2028}",
    "👩‍💻",
    "é",
    "\u{301}",
    "\\",
    "\"",
    "'",
    "`",
    "```\n",
    "<b>",
    "&#x41;",
    "@everyone",
    "@@",
    "$(",
    "{a,b}",
    "\r\n",
];

/// The texts: what is understood, what is run, and what means harm. Each kind is as likely as the others.
pub(super) struct Seeds([Vec<String>; 3]);

impl Seeds {
    /// Reads and makes all of them.
    pub(super) fn new() -> Self {
        let intents: toml::Table = toml::from_str(INTENTS).expect("the intents are sound");
        let intents = intents["intent"].as_array().expect("a list").iter();
        let examples = intents.flat_map(|intent| intent["examples"].as_array().expect("a list"));
        let examples = examples.filter_map(|example| example.as_str()).map(str::to_owned).collect();
        let commands = COMMANDS.iter().flat_map(|file| file.lines()).map(|line| {
            let line: Value = serde_json::from_str(line).expect("a line of a fixture is JSON");
            format!("run {}", line["command"].as_str().expect("it has a command"))
        });
        Self([examples, commands.collect(), bombs()])
    }

    /// One of them, as it is or changed.
    pub(super) fn text(&self, chance: &mut Chance) -> String {
        let mut text = match chance.below(12) {
            0 => format!("{}{}", chance.pick(&OPENINGS), huge(chance)),
            1 => format!("{}{}", chance.pick(&OPENINGS), self.one(chance)),
            _ => self.one(chance).to_owned(),
        };
        for _ in 0..chance.below(4) {
            text = self.changed(&text, chance);
        }
        text
    }

    fn one(&self, chance: &mut Chance) -> &str {
        let kind = &self.0[chance.index(self.0.len())];
        &kind[chance.index(kind.len())]
    }

    /// One change of a text: a flip, a cut, a splice, a repetition, or something put in.
    fn changed(&self, text: &str, chance: &mut Chance) -> String {
        let at = boundary(text, chance.index(text.len() + 1));
        let to = boundary(text, at + chance.index(text.len() - at + 1));
        let (before, part, after) = (&text[..at], &text[at..to], &text[to..]);
        match chance.below(7) {
            0 => flipped(text, chance),
            1 => before.to_owned(),
            2 => format!("{before}{after}"),
            3 => format!("{before}{}{after}", self.one(chance)),
            4 => {
                let most = 60_000 / part.len().max(1);
                let times = 1 + chance.index(most.clamp(1, 3_000));
                format!("{before}{}{after}", part.repeat(times))
            }
            5 => format!("{before}{}{part}{after}", chance.pick(&ODD)),
            _ => format!("{before}{}{after}", chance.pick(&ODD).repeat(1 + chance.index(500))),
        }
    }
}

/// The nearest place at or before this one at which a text can be cut.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The text with some of its bytes changed; what is no UTF-8 any more is replaced.
fn flipped(text: &str, chance: &mut Chance) -> String {
    let mut bytes = text.as_bytes().to_owned();
    for _ in 0..=chance.below(4) {
        if !bytes.is_empty() {
            let at = chance.index(bytes.len());
            bytes[at] ^= 1 << chance.below(8);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What is long for its own sake.
fn huge(chance: &mut Chance) -> String {
    let length = [2_000, 4_096, 16_000, 60_000, 60_000, 1_000_000][chance.index(6)];
    let unit = match chance.below(8) {
        0 => "a",
        1 => "a ",
        2 => "line\n",
        3 => "password=",
        4 => chance.pick(&ODD),
        5 => "@@thing ",
        6 => "hi ",
        _ => "0123456789abcdef0123456789abcdef ",
    };
    unit.repeat(length / unit.len())
}

/// What is small and wants to become large, and what is deep.
fn bombs() -> Vec<String> {
    let mut all = vec![
        format!("run x=a;{}echo $x", "x=$x$x;".repeat(34)),
        format!("run ls {}", "{a,b}".repeat(30)),
        "run echo {1..999999999}".to_owned(),
        "run echo {a..z}{a..z}{a..z}{a..z}{a..z}".to_owned(),
        "run for i in 1 2 3; do for j in 1 2 3; do echo $i$j; done; done".to_owned(),
        "run while true; do :; done".to_owned(),
        "run :(){ :|:& };:".to_owned(),
        "run cat <<< $(cat <<< $(cat <<< $(cat <<< x)))".to_owned(),
        "run psql -c 'select 1' -c 'select (((((1)))))'".to_owned(),
        "write /tmp/x.yaml: a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: &d [*c,*c]\ne: [*d,*d]".to_owned(),
    ];
    for levels in [50, 500, 4_000] {
        let nested = |open: &str, close: &str| format!("{}{}", open.repeat(levels), close.repeat(levels));
        all.extend([
            format!("run echo {}", nested("$(echo ", ")")),
            format!("run echo {}", nested("{a,", "}")),
            format!("run {}", nested("(", ")")),
            format!("run {}true{}", "if true; then ".repeat(levels), "; fi".repeat(levels)),
            format!("run echo {}", "'\"".repeat(levels)),
            format!("run echo $(({}))", nested("(", ")")),
            format!("run psql -c 'select {}'", nested("(", ")")),
            format!("run awk 'BEGIN {}'", nested("{", "}")),
            format!("run sed '{}'", nested("{", "}")),
            format!("run echo {}", "a|".repeat(levels)),
            format!("run {} true", "nice ".repeat(levels)),
            format!("write /tmp/x.json: {}", nested("[", "]")),
            format!("write /tmp/x.json: {}", nested("{\"a\":", "}")),
            format!("write /tmp/x.yaml: {}", nested("[", "]")),
            format!("write /tmp/x.yaml: {}", "- ".repeat(levels)),
            format!("write /tmp/x.yaml: {}", "? ".repeat(levels)),
            format!("write /tmp/x.toml: a = {}", nested("[", "]")),
            format!("write /tmp/x.toml: {}x = 1", "a.".repeat(levels)),
            format!("write /tmp/x.sh: {}", nested("{ ", "; }")),
            "approve ".repeat(levels),
            format!("grep {} in /etc/hosts", "(a*)*".repeat(levels)),
        ]);
    }
    all
}
