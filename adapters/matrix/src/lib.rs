//! Matrix as a platform.
#![recursion_limit = "256"]

mod ids;
mod render;
mod translate;
