//! The declared tools: what each action is called, what kind it is, what it takes, what finds its target, and how its
//! answer is shown. Declarations are data (`config/tools/*.toml`), in one format for built-in and third-party servers.
//! Nothing here calls a tool.

mod args;
mod declare;
mod registry;

pub use args::{ArgError, ArgKind, ArgSpec, cast, credential_in};
pub(crate) use declare::toml_problem;
pub use declare::{ActionSpec, ChangeSpec, Column, FactSpec, Field, Show, Table, ToolFile, ToolSpec, Unit};
pub use registry::{Registry, RegistryError, ToolKind};
