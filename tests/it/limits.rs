//! Limits through the real binary: a piped session that goes over one hears of it once.

use crate::support::bot::Home;

const CONFIG: &str = "[rates.owner]\nburst = 2\nper_minute = 1\n";

#[test]
fn a_piped_flood_hears_of_the_limit_once() {
    let home = Home::new();
    home.write("countersign.toml", CONFIG);
    let done = home.pipe(&"who am i\n".repeat(6));
    assert!(done.status.success(), "{done:?}");
    let said = |words: &str| done.out.matches(words).count();
    assert_eq!(said("> who am i"), 6, "{}", done.out);
    assert_eq!(said("you are"), 2, "{}", done.out);
    assert_eq!(said("✗ refused: That was too fast: 1 messages a minute for one person. Wait"), 1, "{}", done.out);
    assert_eq!(said("(RATE_LIMITED, gate `rate`)"), 1, "{}", done.out);
    assert_eq!(said("✗ refused: Not taken: too fast."), 3, "{}", done.out);
}

#[test]
fn limits_tells_the_owner_what_is_left() {
    let home = Home::new();
    home.write("countersign.toml", CONFIG);
    let done = home.pipe("limits\n");
    let shown: Vec<&str> = done.out.lines().map(str::trim_end).collect();
    assert_eq!(
        shown,
        ["> limits", "limit          a minute  at once  left now", "your messages         1        2         1",]
    );
}
