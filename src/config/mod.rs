//! The configuration: its sections with their defaults, and where they come from. The first that gives a key wins: command
//! line, environment, `.env`, file, default. Nothing here acts on a value; each room takes its own section.

mod budget;
mod credentials;
mod data;
mod database;
mod discord;
mod error;
mod keys;
mod load;
mod matrix;
mod model;
mod rates;
mod secret;
mod sections;
mod source;
mod spokes;
mod telegram;

pub use budget::Budget;
pub use credentials::CredentialConfig;
pub use data::{DataLock, lock_data_dir};
pub use discord::Discord;
pub use error::{ConfigError, Line, Problem};
pub use load::{LoadOptions, Override};
pub use matrix::{Encryption, Matrix};
pub use model::{Calls, Model};
pub use rates::{Rate, Rates};
pub use secret::Secret;
pub use sections::{Access, Config, Intents, Limits, Log, LogFormat, Metrics, Store, Tools};
pub use spokes::{Egress, Run, SandboxMode, Spoke};
pub use telegram::Telegram;
