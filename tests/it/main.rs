//! The one test binary of the root package: what needs the real binary, a real server or the whole tree. Tests of a
//! single room live beside that room.

mod compile;
mod readme;
mod store;
mod support;
mod tidy;
