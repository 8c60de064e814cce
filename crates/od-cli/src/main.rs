//! The `od` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    od_cli::main()
}
