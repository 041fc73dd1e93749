//! The gates.
mod cleared;
pub use cleared::{Cleared, ToolCall};
