//! Gate `vault`: the credential that a tool needs is present, private and unchanged since it was loaded (GAT-03), and an
//! argument names none but those that its action declares. The shell looks at the files; this gate looks at what it found.

use crate::env::Credential;
use crate::envelope::{Code, Details};
use crate::tool::{ArgKind, credential_in};

use super::stack::not_about_messages;
use super::{CallCase, Ctx, Gate, Verdict};

pub(super) const GATE: Gate = Gate { name: "vault", priority: 560, call, post: not_about_messages };

fn call(case: &CallCase<'_>, ctx: &Ctx<'_>) -> Verdict {
    let needed = case.spec.map(|spec| spec.credentials.as_slice()).unwrap_or_default();
    let is_needed = |value: &str| credential_in(value).is_some_and(|named| needed.iter().any(|name| name == named));
    if let Some((argument, _)) = case.args_of(ArgKind::Credential).find(|(_, value)| !is_needed(value)) {
        let message = format!("`{argument}` names a credential that `{}` is not declared to need", case.shown_name());
        let details = Details { argument: Some(argument.to_owned()), ..Details::default() };
        return Verdict::refuse_with(Code::PolicyBlocked, message, details);
    }
    let trouble = needed.iter().find_map(|name| match ctx.env.vault.credentials.get(name) {
        Some(Credential::Sound) => None,
        Some(Credential::Exposed) => Some(format!("the credential `{name}` can be read by others; make it private")),
        Some(Credential::Changed) => {
            Some(format!("the credential `{name}` changed since it was loaded; restart the bot"))
        }
        Some(Credential::Missing) => {
            Some(format!("the credential `{name}` is missing; `countersign doctor` says where"))
        }
        None => Some(format!("the credential `{name}` is not configured; add `[credentials.{name}]`")),
    });
    trouble.map_or(Verdict::Pass, |message| Verdict::refuse(Code::PolicyBlocked, message))
}
