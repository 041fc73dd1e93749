//! `countersign spoke NAME`: a built-in tool server on standard input and output.

use super::{Failed, SpokeName};

/// Serves until standard input closes.
pub(super) fn serve(
    name: SpokeName,
    keep_out: Vec<std::path::PathBuf>,
    commands: Option<&std::path::Path>,
) -> Result<(), Failed> {
    let commands = super::setup::load_commands(commands).map_err(Failed::Usage)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| Failed::Internal(error.into()))?;
    let served = match name {
        SpokeName::Host => {
            runtime.block_on(crate::spokes::host::serve(keep_out, commands, tokio::io::stdin(), tokio::io::stdout()))
        }
    };
    // A read of standard input cannot be cancelled, and nobody waits for it.
    runtime.shutdown_background();
    served.map_err(Failed::Internal)
}
