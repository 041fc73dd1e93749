//! What a message is looked at with: parsing an event, patterns, exact look-ups, a rate limit.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hint::black_box;
use std::num::NonZeroU32;
use std::time::Instant;

use anyhow::Context;
use governor::{Quota, RateLimiter};
use regex::Regex;
use regex::bytes::{RegexSet, RegexSetBuilder};
use serde::Deserialize;

use crate::report_many;

/// An event of Discord as it comes over the gateway.
const EVENT: &str = include_str!("event.json");
const MISS: &str = "hey can someone tell me why the dashboards look odd since this morning";

/// The parts of the event that a bot reads, without a copy where none is needed.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "t")]
    _kind: &'a str,
    #[serde(borrow, rename = "d")]
    _message: Message<'a>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(rename = "id")]
    _id: &'a str,
    #[serde(rename = "channel_id")]
    _channel: &'a str,
    #[serde(default, rename = "guild_id")]
    _guild: Option<&'a str>,
    #[serde(borrow, rename = "content")]
    _content: Cow<'a, str>,
    #[serde(borrow, rename = "author")]
    _author: Author<'a>,
}

#[derive(Deserialize)]
struct Author<'a> {
    #[serde(rename = "id")]
    _id: &'a str,
    #[serde(borrow, rename = "username")]
    _name: Cow<'a, str>,
    #[serde(default, rename = "bot")]
    _is_bot: bool,
}

pub(crate) fn measure() -> anyhow::Result<()> {
    events()?;
    for unicode in [true, false] {
        for count in [10, 50, 200, 1_000] {
            patterns(count, unicode)?;
        }
    }
    one_by_one()?;
    look_ups()
}

fn events() -> anyhow::Result<()> {
    // Once outside the loops, so that a mistake in it is not measured as speed.
    serde_json::from_str::<Event>(EVENT).context("event.json")?;
    report_many("event of Discord, to a value", 2_000, || {
        let _ = black_box(serde_json::from_str::<serde_json::Value>(black_box(EVENT)));
    });
    report_many("event of Discord, to a borrowed structure", 5_000, || {
        let _ = black_box(serde_json::from_str::<Event>(black_box(EVENT)));
    });
    Ok(())
}

fn texts(count: usize, unicode: bool) -> Vec<String> {
    let word = if unicode { r"\w+" } else { "[a-z0-9_]+" };
    let verbs = "restart|stop|start|scale|logs|status|deploy";
    (0..count).map(|at| format!(r"(?i)^(?:please )?(?:{verbs}) svc-{at}\b(?: in ({word}))?")).collect()
}

fn compiled(texts: &[String], unicode: bool) -> Result<RegexSet, regex::Error> {
    RegexSetBuilder::new(texts).unicode(unicode).size_limit(1 << 30).dfa_size_limit(64 << 20).build()
}

fn patterns(count: usize, unicode: bool) -> anyhow::Result<()> {
    let (texts, kind) = (texts(count, unicode), if unicode { "Unicode" } else { "ASCII" });
    let began = Instant::now();
    let set = compiled(&texts, unicode)?;
    let built = began.elapsed();
    let fits = RegexSetBuilder::new(&texts).unicode(unicode).build().is_ok();
    let by_default = if fits { "fits" } else { "does not fit" };
    println!("   {count} {kind} patterns: built in {built:.1?}, {by_default} into the default size");
    let hit = format!("please restart svc-{} in prod", count - 1);
    report_many(&format!("set of {count} {kind} patterns, the last fits"), 2_000, || {
        black_box(set.matches(black_box(hit.as_bytes())).iter().next());
    });
    report_many(&format!("set of {count} {kind} patterns, none fits"), 2_000, || {
        black_box(set.is_match(black_box(MISS.as_bytes())));
    });
    Ok(())
}

fn one_by_one() -> anyhow::Result<()> {
    let patterns = texts(200, true).iter().map(|text| Regex::new(text)).collect::<Result<Vec<_>, _>>()?;
    report_many("200 patterns one after another, none fits", 200, || {
        black_box(patterns.iter().position(|pattern| pattern.is_match(black_box(MISS))));
    });
    Ok(())
}

fn look_ups() -> anyhow::Result<()> {
    let known: HashMap<String, u32> = (0..10_000).map(|at| (format!("restart svc-{at} in prod"), at)).collect();
    report_many("exact look-up among 10,000 texts", 20_000, || {
        black_box(known.get(black_box("restart svc-77 in prod")));
    });
    let limiter = RateLimiter::keyed(Quota::per_second(NonZeroU32::new(1_000_000).context("not zero")?));
    let mut key = 0_u64;
    report_many("governor, one of 10,000 keys", 20_000, || {
        key = (key + 7_919) % 10_000;
        black_box(limiter.check_key(&key).is_ok());
    });
    Ok(())
}
