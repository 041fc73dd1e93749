//! What the metrics endpoint, `why` and the log tell of refusals and failures, with the real binary: why a command does not end,
//! which tool fails with which code, what was meant instead of a host, and one id from a refusal to its recovery.

use serde_json::json;

use crate::support::bot::{Bot, Home};
use crate::support::metrics::{free_address, scrape};
use crate::support::shop::Shop;

/// The value of a counter; 0 where it is not there.
fn counted(address: &str, counter: &str) -> u64 {
    let metrics = scrape(address);
    let line = metrics.lines().find_map(|line| line.strip_prefix(&format!("countersign_{counter} ")));
    line.map_or(0, |value| value.parse().expect("a whole number"))
}

#[test]
fn a_command_that_does_not_end_is_counted_by_why() {
    let home = Home::new();
    let address = free_address();
    let mut bot = Bot::spawn(home.bot().arg("--json").env("COUNTERSIGN_METRICS__LISTEN", &address));
    bot.ask("status");
    let table = [
        ("docker exec -it web sh", "tty_flag"),
        ("less /etc/hosts", "pager"),
        ("tail -f /var/log/syslog", "unbounded_stream"),
        ("psql", "interactive_repl"),
        ("touch /tmp/x", "none"),
    ];
    for (line, category) in table {
        let counter = format!("read_only_violation_total{{tool=\"host_command\",category=\"{category}\"}}");
        let before = counted(&address, &counter);
        let refused = bot.ask(&format!("run {line}")).text();
        assert!(refused.contains("READ_ONLY_VIOLATION"), "{line}: {refused}");
        assert_eq!(counted(&address, &counter), before + 1, "{line}: {refused}");
    }
}

#[test]
fn a_tool_that_fails_is_counted_by_its_code() {
    let (home, shop) = (Home::new(), Shop::new());
    let config = home.write("bot.toml", shop.config());
    let address = free_address();
    let mut command = home.bot();
    command.arg("--json").arg("--config").arg(config).env("COUNTERSIGN_METRICS__LISTEN", &address);
    let mut bot = Bot::spawn(&mut command);
    bot.ask("how is pod till");
    shop.fails("status", "the shop is closed");
    bot.ask("how is pod till");
    bot.ask("how is pod till");
    let table = [
        ("tool_calls_total{tool=\"shop_pods\",action=\"status\",ok=\"true\"}", 1),
        ("tool_calls_total{tool=\"shop_pods\",action=\"status\",ok=\"false\"}", 2),
        ("tool_errors_total{tool=\"shop_pods\",code=\"EXECUTION_FAILED\"}", 2),
    ];
    for (counter, expected) in table {
        assert_eq!(counted(&address, counter), expected, "{counter} in {}", scrape(&address));
    }
}

/// What the shop's server says of a box that stands inside this machine.
const BOXES: &str = r#"
[tool.action.find_box]
kind = "resolve"
resolves = "container"
about = "find a box"
limit_ms = 20000
args.query = { type = "text", about = "a name" }

[tool.action.box]
kind = "read"
about = "how a box does"
limit_ms = 20000
target = "container"
resolve = "shop_pods.find_box"
show.lead = "{name} is {state}."
"#;

const BOX_INTENT: &str = r#"
[[intent]]
name = "box"
about = "how a box does"
examples = ["how is box media"]
patterns = ['how is box (?P<box>\S+)']
call = "shop_pods.box"
target = "box"
domain = "shop"
"#;

#[test]
fn one_id_leads_from_a_refusal_to_its_recovery_and_says_what_was_meant() {
    let (home, shop) = (Home::new(), Shop::new());
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("it has a name");
    let machine = machine.trim();
    let media =
        json!({ "id": format!("container:{machine}:media"), "name": "media", "chain": [format!("host:{machine}")] });
    shop.answers("find_box", &json!({ "resources": [media] }));
    shop.answers("box", &json!({ "name": "media", "state": "running" }));
    home.write("tools/shop.toml", format!("{}{BOXES}", include_str!("../fakes/shop/tools/shop.toml")));
    let intents = home.write("intents.toml", format!("{}{BOX_INTENT}", include_str!("../fakes/shop/intents.toml")));
    let config = shop.config().replace(&format!("{}/tests/fakes/shop/tools", env!("CARGO_MANIFEST_DIR")), "tools");
    let fake = format!("{}/tests/fakes/shop/intents.toml", env!("CARGO_MANIFEST_DIR"));
    let config = home.write("bot.toml", config.replace(&fake, &intents.display().to_string()));
    let mut command = home.bot();
    command.arg("--json").arg("--config").arg(config).env("COUNTERSIGN_LOG__LEVEL", "gate=debug");
    let mut bot = Bot::spawn(&mut command);
    bot.ask("memory");
    let meant = bot.ask("how is box media").text();
    assert!(meant.contains("media is running"), "{meant}");
    let refused = bot.ask("memory").text();
    assert!(refused.contains("ROUTING_MISMATCH"), "{refused}");
    let why = bot.ask("why").text();
    let said = format!("target_host: {machine}; more_specific_resource_ids: container:{machine}:media");
    assert!(why.contains(&said), "{why}");
    let recovery =
        why.lines().find_map(|line| line.trim().strip_prefix("recovery: ")).unwrap_or_else(|| panic!("{why}"));
    let id = recovery.to_owned();
    // Naming the machine itself is a change of mind, so that the same tool works again.
    bot.ask(&format!("what do you know about @@{machine}"));
    let again = bot.ask("memory").text();
    assert!(!again.contains("ROUTING_MISMATCH"), "{again}");
    let log = bot.end().err;
    let with_id: Vec<&str> = log.lines().filter(|line| line.contains(&format!("recovery=\"{id}\""))).collect();
    let has = |word: &str| with_id.iter().any(|line| line.contains(word));
    assert!(has("ROUTING_MISMATCH") && has(" recovered "), "{log}");
}
