//! What the tool server has to work on: services with a state and a counter of their runs. How it works on them is in
//! `sim/server.rs`.

use serde_json::{Value, json};

use crate::envelope::{Envelope, Meta};
use crate::gate::ToolCall;
use crate::resource::{Resource, ResourceId};
use crate::sim::dice::Dice;

/// One service.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) name: &'static str,
    pub(super) state: &'static str,
    pub(super) run: u64,
    pub(super) present: bool,
}

#[derive(Debug)]
pub(super) struct Spoke {
    pub(super) services: [Service; 2],
}

impl Spoke {
    pub(super) fn new() -> Self {
        let service = |name| Service { name, state: "running", run: 1, present: true };
        Self { services: [service("nginx"), service("postgres")] }
    }

    /// The write takes effect, for better or worse.
    pub(super) fn restart(&mut self, target: Option<&ResourceId>, dice: &mut Dice) {
        let Some(service) = target.and_then(|target| self.services.iter_mut().find(|s| s.name == target.uid())) else {
            return;
        };
        service.run += 1;
        match dice.below(16) {
            0 => service.present = false,
            1 | 2 => service.state = "stopped",
            _ => service.state = "running",
        }
    }

    /// What a read or a discovery says now.
    pub(super) fn answer(&self, call: &ToolCall, known: &[Resource]) -> Envelope {
        let data = match (call.tool.as_str(), call.action.as_str()) {
            ("lab_find", kind) => self.found(call, kind, known),
            ("lab_read", "status") => self.status(call.target.as_ref()),
            _ => json!({ "load": "0.5" }),
        };
        Envelope::success(data, Meta { observed_at: 1, left_out: String::new() })
    }

    fn found(&self, call: &ToolCall, kind: &str, known: &[Resource]) -> Value {
        let query = call.args.get("query").and_then(Value::as_str);
        let fits = |resource: &&Resource| {
            resource.id.kind() == kind && query.is_none_or(|q| resource.name == q || resource.id.as_str() == q)
        };
        let mut found: Vec<Resource> = known.iter().filter(fits).cloned().collect();
        for service in &self.services {
            found.retain(|resource| service.present || resource.name != service.name);
            for resource in found.iter_mut().filter(|resource| resource.name == service.name) {
                resource.attrs.insert("run".to_owned(), service.run.to_string());
            }
        }
        json!({ "resources": found })
    }

    fn status(&self, target: Option<&ResourceId>) -> Value {
        match target.and_then(|target| self.services.iter().find(|s| s.name == target.uid() && s.present)) {
            Some(service) => {
                let run = service.run.to_string();
                json!({ "name": service.name, "present": true, "state": service.state, "run": run })
            }
            None => json!({ "present": false }),
        }
    }
}
