//! What a secret looks like, so that none is read, shown or stored by accident: files that hold secrets ([`secret_path`])
//! and secrets inside text and JSON ([`Mask`]). Which calls are refused because of it is the gate `secrets`' to say.

mod block;
mod detect;
mod flow;
mod json;
mod known;
mod mask;
mod names;
mod own;
mod path;
mod prefilter;
mod rules;
mod structure;
mod table;
mod view;

pub use mask::Mask;
pub use path::secret_path;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod shape_tests;
