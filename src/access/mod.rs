//! Who may what: people with their accounts, groups and roles from the access file, and Cedar policies as the judge. Deny by
//! default: without an access file nobody may anything on a chat platform, and the operating system's user who runs the
//! process keeps the console. What a right protects is decided in the core's gates.

mod account;
mod answers;
mod autonomous;
mod cast;
mod check;
mod entities;
mod error;
mod file;
mod identity;
mod os_user;
mod people;
mod places;
mod platform_roles;
mod policies;
mod rates;
mod reload;
mod rights;
mod terms;
mod who_can;

pub use autonomous::Declared;
pub use check::{Checked, check};
pub use error::AccessError;
pub use os_user::OsUser;
pub use rates::{Judged, Place, Rates, Who, WhoIs};
pub use reload::{LiveAccess, Sources};
pub use rights::{Access, Owner};

#[cfg(test)]
mod tests;
