//! `countersign spoke NAME`: a built-in tool server on standard input and output.

use countersign_core::egress::Destinations;

use super::{Failed, SpokeLimits, SpokeName};
use crate::spokes::host::Limits;

/// Serves until standard input closes.
pub(super) fn serve(name: SpokeName, given: SpokeLimits) -> Result<(), Failed> {
    let SpokeLimits { keep_out, keep_unchanged, commands, egress, hide, show, best_effort } = given;
    let egress = Destinations::parse(egress).map_err(|error| Failed::Usage(anyhow::anyhow!("`--egress` {error}")))?;
    let commands = super::setup::load_commands(commands.as_deref()).map_err(Failed::Usage)?;
    let limits = Limits { keep_out, keep_unchanged, commands, egress, hide, show, best_effort };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| Failed::Internal(error.into()))?;
    let served = match name {
        SpokeName::Host => {
            runtime.block_on(crate::spokes::host::serve(limits, tokio::io::stdin(), tokio::io::stdout()))
        }
    };
    // A read of standard input cannot be cancelled, and nobody waits for it.
    runtime.shutdown_background();
    served.map_err(Failed::Internal)
}
