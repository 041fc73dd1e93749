//! The one test binary of the root package: what needs the real binary, a real server or the whole tree. Tests of a
//! single room live beside that room.

mod audit;
mod budget;
mod commands;
mod compile;
#[cfg(feature = "full")]
mod conformance;
mod console;
mod counted;
mod credentials;
#[cfg(feature = "full")]
mod doctor;
#[cfg(feature = "full")]
mod faults;

mod git;
mod hidden_names;
mod kill;
mod limits;
mod link;
#[cfg(feature = "full")]
mod model;
mod own;
mod places;
#[cfg(feature = "full")]
mod mutated;
mod policy;
mod readme;
mod scenes;
mod sandbox;
mod seals;
mod secrets;
#[cfg(feature = "full")]
mod set_aside;
mod simulate;
mod spoke_trouble;
mod startup;
mod supergroup;
mod store;
mod store_trouble;
mod support;
mod tidy;
#[cfg(feature = "full")]
mod trouble;
mod typed;
