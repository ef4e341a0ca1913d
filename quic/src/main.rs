//! One end of a QUIC flow: a stack of others over a UDP socket, told when to begin and to end by lines on standard input.
//!
//! `crates/quic-lines` declares what is said on both sides.

mod application;
mod arguments;
mod clock;
mod host;
mod link;
mod program;
mod qlog;
mod stack;
mod stacks;

use std::process::ExitCode;

use anyhow::Result;

use crate::arguments::Arguments;
use crate::stacks::STACKS;

fn main() -> ExitCode {
    match run_command() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("dumbbell-quic: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run_command() -> Result<()> {
    match Arguments::parse(std::env::args().skip(1))? {
        Arguments::Help => print!("{}", arguments::HELP),
        Arguments::Stacks => {
            let listed = STACKS.iter().map(|stack| quic_lines::Stack {
                name: stack.name.to_owned(),
                version: stack.version.to_owned(),
                algorithms: stack.algorithms.iter().map(|name| (*name).to_owned()).collect(),
            });
            print!("{}", quic_lines::line(&listed.collect::<Vec<_>>()));
        }
        Arguments::Run(settings) => program::run(settings)?,
    }
    Ok(())
}
