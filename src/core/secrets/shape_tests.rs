//! Shapes that secrets have, from a table, and what tools and people put around them: how many leak, and that the rest of a
//! text stays. The secrets are new in each run; the seed of a run that fails is
//! printed.

use proptest::prelude::*;
use serde_json::json;

use super::Mask;
use crate::testkit::{Chance, SecretShape, secret_shapes};

/// The most leaks of a hundred.
const LEAKS_PERCENT_MAX: usize = 5;

/// Shapes that are let through, and why.
const KNOWN_LEAKS: [(&str, &str); 2] = [
    ("tokens: new relic", "the published rule asks for the vendor's name before the token"),
    ("tokens: tailscale", "the published rule knows shorter keys only"),
];

/// What stands around a text.
#[derive(Clone, Copy, Debug)]
enum Around {
    Nothing,
    Heading,
    CodeBlock,
    OtherLines,
    JsonString,
    JsonStringInString,
    JsonLines,
    YamlText,
    LogLine,
    Numbers,
    GrepNumbers,
    Difference,
    Commit,
    Blame,
    Quote,
    ContainerLog,
}

const AROUND: [Around; 16] = [
    Around::Nothing,
    Around::Heading,
    Around::CodeBlock,
    Around::OtherLines,
    Around::JsonString,
    Around::JsonStringInString,
    Around::JsonLines,
    Around::YamlText,
    Around::LogLine,
    Around::Numbers,
    Around::GrepNumbers,
    Around::Difference,
    Around::Commit,
    Around::Blame,
    Around::Quote,
    Around::ContainerLog,
];

impl Around {
    fn masked(self, mask: &Mask, text: &str) -> String {
        let each = |before: &dyn Fn(usize) -> String| {
            let lines = text.lines().enumerate().map(|(n, line)| before(n + 1) + line);
            lines.collect::<Vec<_>>().join("\n")
        };
        let around = match self {
            Self::Nothing => text.to_owned(),
            Self::Heading => format!("web-1: /srv/app/config, read at 12:00:\n\n{text}"),
            Self::CodeBlock => format!("it says\n```\n{text}\n```\nand no more"),
            Self::OtherLines => format!("LANG=C\nstate: running\n\n{text}\n\nPATH=/usr/bin\nports: [80, 443]\n"),
            Self::JsonString => json!({"path": "/srv/app/config", "text": text}).to_string(),
            Self::JsonStringInString => json!({"event": json!({"text": text}).to_string()}).to_string(),
            Self::JsonLines => {
                let lines: Vec<&str> = text.lines().collect();
                return mask.mask_json(&json!({"lines": lines, "count": lines.len()})).to_string();
            }
            Self::YamlText => format!("files:\n- path: /srv/app\n  content: |\n{}", each(&|_| "    ".to_owned())),
            Self::LogLine => format!("2026-11-21T22:47:05Z DEBUG app: answered text={text:?} took=12ms"),
            Self::Numbers => each(&|n| format!("{n:>6}\t")),
            Self::GrepNumbers => each(&|n| format!("{n}:")),
            Self::Difference => each(&|_| "+".to_owned()),
            Self::Commit => format!(
                "commit 41f0a9c2\nAuthor: ann <ann@shop.example>\n\n    Settings\n\ndiff --git a/x b/x\nindex 41f0..a9c2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,9 @@\n listen: 80\n{}\n",
                each(&|_| "+".to_owned())
            ),
            Self::Blame => each(&|n| format!("41f0a9c2 (Ann Other 2026-11-21 22:47:05 +0000 {n:>3}) ")),
            Self::Quote => each(&|_| "> ".to_owned()),
            Self::ContainerLog => each(&|_| "web-1  | ".to_owned()),
        };
        mask.apply(&around).into_owned()
    }
}

/// The shapes that leak, each with what is shown.
fn leaks<'s>(shapes: &'s [SecretShape], masked: impl Fn(&SecretShape) -> String) -> Vec<(&'s str, String)> {
    let leak =
        |shape: &'s SecretShape| shape.leak(&masked(shape)).map(|secret| (shape.name.as_str(), secret.to_owned()));
    shapes.iter().filter_map(leak).collect()
}

fn is_known(name: &str) -> bool {
    KNOWN_LEAKS.iter().any(|(known, _)| *known == name)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1))]

    #[test]
    fn few_shapes_of_secrets_leak_and_each_is_known(seed: u64) {
        let shapes = secret_shapes(seed);
        prop_assert!(shapes.len() >= 182);
        let mask = Mask::default();
        let leaks = leaks(&shapes, |shape| mask.apply(&shape.text).into_owned());
        prop_assert!(leaks.len() * 100 <= shapes.len() * LEAKS_PERCENT_MAX, "{leaks:?}");
        // Chance may make a token of few different letters, or one that is a word.
        let unknown: Vec<_> = leaks.iter().filter(|(name, _)| !is_known(name)).collect();
        prop_assert!(unknown.len() <= 2, "{unknown:?}");
    }

    #[test]
    fn few_shapes_leak_whatever_stands_around_them(seed: u64) {
        let shapes = secret_shapes(seed);
        let mask = Mask::default();
        let mut all = 0;
        for around in AROUND {
            let leaks = leaks(&shapes, |shape| around.masked(&mask, &shape.text));
            all += leaks.len();
            prop_assert!(leaks.len() * 100 <= shapes.len() * 2 * LEAKS_PERCENT_MAX, "{around:?}: {} {leaks:?}", leaks.len());
        }
        let tried = AROUND.len() * shapes.len();
        prop_assert!(all * 100 <= tried * LEAKS_PERCENT_MAX, "{all} of {tried}");
    }

    #[test]
    fn shapes_are_settled_in_one_go(seed: u64) {
        let mask = Mask::default();
        let mut chance = Chance(seed);
        for shape in secret_shapes(seed) {
            // A list of lines is masked as one, and not again as a text.
            let around = [Around::Nothing, *chance.of(&AROUND), *chance.of(&AROUND)];
            for around in around.into_iter().filter(|around| !matches!(around, Around::JsonLines)) {
                let once = around.masked(&mask, &shape.text);
                prop_assert_eq!(mask.apply(&once), once.as_str(), "{}, {:?}", shape.name, around);
            }
            let lines: Vec<&str> = shape.text.lines().collect();
            for value in [json!(shape.text), json!({"lines": lines, "text": shape.text})] {
                let once = mask.mask_json(&value);
                prop_assert_eq!(mask.mask_json(&once), once, "{}", shape.name);
            }
        }
    }
}
