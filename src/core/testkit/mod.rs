//! For tests only: a world in which one thread runs with scripted tools and a clock that is moved by hand. It drives the
//! same `step` as production and never mints a clearance.

mod fixtures;
mod people;
mod shapes;
#[cfg(test)]
pub(crate) mod scene;
mod world;

pub use fixtures::{INTENTS, TOOLS, resource, signal, thread_key, yard};
pub use people::{Anybody, People};
pub use shapes::{Chance, SecretShape, secret_shapes};
pub use world::{Script, Told, World, plain};
