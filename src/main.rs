//! The binary: hands the command line over and ends with its exit code. Everything else is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    countersign::cli::main()
}
