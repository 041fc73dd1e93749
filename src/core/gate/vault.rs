//! Gate `vault`: the credential that a tool needs is present, private and unchanged since it was loaded (GAT-03). The
//! shell looks at the files; this gate looks at what it found.

use crate::env::Credential;
use crate::envelope::Code;

use super::stack::not_about_messages;
use super::{CallCase, Ctx, Gate, Verdict};

pub(super) const GATE: Gate = Gate { name: "vault", priority: 560, call, post: not_about_messages };

fn call(case: &CallCase<'_>, ctx: &Ctx<'_>) -> Verdict {
    let needed = case.spec.map(|spec| spec.credentials.as_slice()).unwrap_or_default();
    let trouble = needed.iter().find_map(|name| match ctx.env.vault.credentials.get(name) {
        Some(Credential::Sound) => None,
        Some(Credential::Exposed) => Some(format!("the credential `{name}` can be read by others; make it private")),
        Some(Credential::Changed) => {
            Some(format!("the credential `{name}` changed since it was loaded; restart the bot"))
        }
        None => Some(format!("the credential `{name}` is not configured")),
    });
    trouble.map_or(Verdict::Pass, |message| Verdict::refuse(Code::PolicyBlocked, message))
}
