//! What a secret looks like, so that none is read, shown or stored by accident: files that hold secrets ([`secret_path`])
//! and secrets inside text and JSON ([`Mask`]). Which calls are refused because of it is the gate `secrets`' to say.

mod json;
mod mask;
mod names;
mod path;
mod rules;

pub use mask::Mask;
pub use path::secret_path;

#[cfg(test)]
mod tests;
