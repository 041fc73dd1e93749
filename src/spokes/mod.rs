//! The built-in tool servers, each its own process behind `countersign spoke NAME`, each speaking MCP. How they are
//! started and called is in `tools/`; nothing here knows of chats, people or models.

#[cfg(feature = "host")]
pub mod host;
