//! The adapter against a real Synapse.
