//! The launcher as a small program of its own: it starts in a fraction of the time that the bot's binary takes. The bot uses
//! it where it lies beside its own file.

use std::process::ExitCode;

fn main() -> ExitCode {
    countersign_sandbox::launch(std::env::args_os().skip(1))
}
