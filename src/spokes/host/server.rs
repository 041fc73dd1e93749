//! The MCP side: the declared tools become `tools/list`, a call becomes a checked call, and whatever comes of it becomes
//! one envelope. A write needs a permit and, once begun, is carried to its end, whoever goes away. Protocol errors are
//! only for tools that do not exist.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use countersign_core::envelope::Envelope;
use countersign_core::tool::{ArgKind, ArgSpec, Registry, RegistryError, ToolKind, ToolSpec};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::answer::{Answer, Trouble};
use super::call::Call;
use super::change::{Change, Waiting};
use super::dispatch;
use super::this_host::{ThisHost, now_ms};
use crate::clock::wall_now;
use crate::permit::{self, Checker, Key, Permit, Refused};

/// The declaration that the core reads too; here it is part of the program, so that the two cannot drift apart.
const DECLARED: &str = include_str!("../../../config/tools/host.toml");

/// The server of one session.
#[derive(Clone)]
pub(super) struct HostServer {
    host: Arc<ThisHost>,
    declared: Arc<Registry>,
    permits: Arc<Checker>,
    /// Cancelled once nobody is left to work for: no change is begun after that.
    closing: CancellationToken,
    /// The changes that are under way.
    changes: TaskTracker,
}

impl HostServer {
    /// A server for this machine; without a key it refuses every write. An error means that the declaration is faulty.
    pub(super) fn new(host: Arc<ThisHost>, key: Option<Key>) -> Result<Self, RegistryError> {
        let declared = Arc::new(Registry::load([("config/tools/host.toml", DECLARED)])?);
        let permits = Arc::new(Checker::new(key));
        Ok(Self { host, declared, permits, closing: CancellationToken::new(), changes: TaskTracker::new() })
    }

    /// To be cancelled when nobody is left to work for.
    pub(super) fn closing(&self) -> CancellationToken {
        self.closing.clone()
    }

    /// Begins no change any more, and waits for those that were begun: each ends within its own time limit.
    pub(super) async fn finish(&self) {
        self.closing.cancel();
        self.changes.close();
        self.changes.wait().await;
    }

    /// What is declared.
    #[cfg(test)]
    pub(super) fn declared(&self) -> &Registry {
        &self.declared
    }

    /// Answers one call, whose permit is in `meta` where it needs one; `None` where there is no such tool.
    pub(super) async fn answer(
        &self,
        tool: &str,
        args: Map<String, Value>,
        meta: &Map<String, Value>,
    ) -> Option<Envelope> {
        let spec = self.declared.tool(tool)?;
        let answer = self.perform(spec, args, meta).await;
        let now = now_ms();
        Some(match answer {
            Ok(found) => found.into_envelope(now),
            Err(trouble) => trouble.into_envelope(now),
        })
    }

    async fn perform(&self, tool: &ToolSpec, args: Map<String, Value>, meta: &Map<String, Value>) -> Answer {
        let action = args.get("action").and_then(Value::as_str).unwrap_or_default().to_lowercase();
        let spec = tool.actions.get(&action).ok_or_else(|| unknown_action(tool))?;
        let call = Call::check(&self.host, spec, args)?;
        if meta.get(permit::PROPOSED_BY_KEY).is_some_and(|by| *by == permit::MODEL) {
            call.refuse_links(spec)?;
        }
        let work = Work { name: format!("{}.{action}", tool.name), call, limit: Duration::from_millis(spec.limit_ms) };
        match spec.kind {
            ToolKind::Resolve | ToolKind::Read => self.read(work).await,
            ToolKind::Write | ToolKind::Record => {
                let permit = self.permit((&tool.name, &action), &work.call, meta);
                self.change(work, permit.map_err(|refused| Trouble::forbidden(refused.to_string()))?).await
            }
        }
    }

    async fn read(&self, work: Work) -> Answer {
        let reading = dispatch::perform(Arc::clone(&self.host), &work.name, work.call);
        let late = |_| Err(too_slow(&work.name, work.limit));
        tokio::time::timeout(work.limit, reading).await.unwrap_or_else(late)
    }

    /// The permit for exactly this call, which is used up.
    fn permit(&self, name: (&str, &str), call: &Call, meta: &Map<String, Value>) -> Result<Permit, Refused> {
        let permit = self.permits.check(meta, wall_now())?;
        permit.covers(name, call.target_id(), call.args())?;
        Ok(permit)
    }

    /// Carries a change out as a task of its own, so that one that was begun is not broken off by whoever goes away.
    async fn change(&self, work: Work, permit: Permit) -> Answer {
        let change = Arc::new(Change::new(permit, self.closing.clone()));
        let waiting = Waiting(Arc::clone(&change));
        let host = Arc::clone(&self.host);
        let task = self.changes.spawn(async move {
            let (name, limit) = (work.name.clone(), work.limit);
            let work_done = dispatch::change(host, work.name, work.call, Arc::clone(&change));
            let answer = tokio::time::timeout(limit, work_done).await.unwrap_or_else(|_| Err(too_slow(&name, limit)));
            answer.map_err(|trouble| change.settle(trouble))
        });
        task.await.unwrap_or_else(|_| Err(waiting.0.settle(Trouble::failed("the writer broke; please report this"))))
    }
}

/// A checked call, and how long it may take.
struct Work {
    name: String,
    call: Call,
    limit: Duration,
}

fn too_slow(name: &str, limit: Duration) -> Trouble {
    Trouble::too_slow(format!("`{name}` took longer than {} s", limit.as_secs()))
}

fn unknown_action(tool: &ToolSpec) -> Trouble {
    let known: Vec<&str> = tool.actions.keys().map(String::as_str).collect();
    Trouble::invalid("action", format!("`action` must be one of {}", known.join(", ")))
}

impl ServerHandler for HostServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("countersign-host", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.declared.tools().map(describe).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let work = self.answer(&request.name, request.arguments.unwrap_or_default(), &context.meta);
        // Who cancels gets no answer; dropping the work ends the programs that a read has started. A write that was not
        // begun is given up, and one that was begun goes on.
        let envelope = tokio::select! {
            envelope = work => envelope,
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
        };
        let Some(envelope) = envelope else {
            return Err(ErrorData::invalid_params(format!("there is no tool `{}`", request.name), None));
        };
        let written = serde_json::to_value(&envelope)
            .map_err(|error| ErrorData::internal_error(format!("failed to write the answer: {error}"), None))?;
        let result =
            if envelope.ok { CallToolResult::structured(written) } else { CallToolResult::structured_error(written) };
        Ok(result.into())
    }
}

/// A declared tool as MCP describes one.
fn describe(tool: &ToolSpec) -> Tool {
    let actions: Vec<String> = tool.actions.iter().map(|(name, action)| format!("{name}: {}", action.about)).collect();
    let about = format!("{} Actions: {}", tool.about, actions.join("; "));
    let looks = |kind: ToolKind| matches!(kind, ToolKind::Resolve | ToolKind::Read);
    let only_looks = tool.actions.values().all(|action| looks(action.kind));
    Tool::new(Cow::Owned(tool.name.clone()), Cow::<'static, str>::Owned(about), Arc::new(schema(tool)))
        .with_annotations(ToolAnnotations::new().read_only(only_looks).open_world(false))
}

/// The JSON schema of a tool's arguments: its actions, and every argument that any of them takes. Which action takes
/// which is checked when it is called.
fn schema(tool: &ToolSpec) -> Map<String, Value> {
    let mut properties = Map::new();
    let names: Vec<&str> = tool.actions.keys().map(String::as_str).collect();
    properties.insert("action".to_owned(), json!({ "type": "string", "enum": names }));
    let targets: BTreeSet<&str> = tool.actions.values().filter_map(|action| action.target.as_deref()).collect();
    if !targets.is_empty() {
        let kinds = targets.into_iter().collect::<Vec<_>>().join(" or ");
        let about = format!("the id of a {kinds}, as a find action gives it");
        properties.insert("target".to_owned(), json!({ "type": "string", "description": about }));
    }
    let mut args: BTreeMap<&str, Vec<&ArgSpec>> = BTreeMap::new();
    for (name, arg) in tool.actions.values().flat_map(|action| &action.args) {
        args.entry(name).or_default().push(arg);
    }
    properties.extend(args.into_iter().map(|(name, specs)| (name.to_owned(), arg_schema(&specs))));
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": ["action"],
        "additionalProperties": false,
    });
    schema.as_object().cloned().unwrap_or_default()
}

/// What an argument is that several actions take: whatever any of them accepts.
fn arg_schema(specs: &[&ArgSpec]) -> Value {
    let least = specs.iter().map(|spec| spec.min).min().flatten();
    let greatest = specs.iter().map(|spec| spec.max.unwrap_or(i64::MAX)).max().filter(|max| *max < i64::MAX);
    let choices: BTreeSet<&str> = specs.iter().flat_map(|spec| &spec.choices).map(String::as_str).collect();
    let abouts: BTreeSet<&str> = specs.iter().map(|spec| spec.about.as_str()).collect();
    let mut schema = match specs.first().map(|spec| spec.kind) {
        Some(ArgKind::Integer) => json!({ "type": "integer", "minimum": least, "maximum": greatest }),
        Some(ArgKind::Boolean) => json!({ "type": "boolean" }),
        Some(ArgKind::Choice) => json!({ "type": "string", "enum": choices }),
        Some(
            ArgKind::Content
            | ArgKind::Text
            | ArgKind::Path
            | ArgKind::Destination
            | ArgKind::Command
            | ArgKind::Credential,
        )
        | None => {
            json!({ "type": "string", "maxLength": greatest })
        }
    };
    if let Some(fields) = schema.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
        let about = abouts.into_iter().collect::<Vec<_>>().join("; or ");
        fields.insert("description".to_owned(), json!(about));
    }
    schema
}
