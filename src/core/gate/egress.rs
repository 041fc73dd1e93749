//! Gate `egress`: where anything may go. A call talks only to destinations that the configuration names; a message goes
//! only to the thread that asked, and calls nobody by the dozen.

use crate::envelope::Code;
use crate::port::Outgoing;
use crate::text;
use crate::tool::ArgKind;

use super::secrets::texts_of;
use super::{CallCase, Ctx, Gate, Standing, Verdict};

pub(super) const GATE: Gate = Gate { name: "egress", priority: 450, call, post };

fn call(case: &CallCase<'_>, ctx: &Ctx<'_>) -> Verdict {
    let allowed = &ctx.env.limits.egress_allowed;
    let refused =
        case.args_of(ArgKind::Destination).find(|(_, place)| !allowed.iter().any(|host| host == host_of(place)));
    match refused {
        Some((_, place)) => {
            let host = text::one_line(host_of(&place), 100);
            Verdict::refuse(
                Code::PolicyBlocked,
                format!("`{host}` is not among the destinations that tools may talk to"),
            )
        }
        None => Verdict::Pass,
    }
}

/// The host of `host`, `host:port`, `scheme://user@host:port/path`, `[v6]:port`.
fn host_of(place: &str) -> &str {
    let rest = place.split_once("://").map_or(place, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    }
}

fn post(post: &Outgoing, standing: &Standing<'_>) -> Verdict {
    if let Standing::Fresh { ctx, .. } = standing
        && post.to != ctx.signal.thread
    {
        return Verdict::refuse(Code::PolicyBlocked, "an answer goes to the thread that asked, and nowhere else");
    }
    if post.blocks.iter().flat_map(texts_of).any(text::mentions_everyone) {
        return Verdict::refuse(Code::PolicyBlocked, "the message would call everybody in the room");
    }
    Verdict::Pass
}

#[cfg(test)]
mod tests {
    use super::host_of;

    #[test]
    fn the_host_is_what_is_talked_to() {
        let table = [
            ("web-1", "web-1"),
            ("web-1:8080", "web-1"),
            ("https://good.example@evil.example:1/x?y#z", "evil.example"),
            ("http://[::1]:80/", "::1"),
            ("", ""),
        ];
        for (place, host) in table {
            assert_eq!(host_of(place), host, "{place}");
        }
    }
}
