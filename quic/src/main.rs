//! One end of a QUIC flow: a stack of others over a UDP socket, told when to begin and to end by lines on standard input.
//! Or a whole run: stacks at both ends of simulated flows.
//!
//! `crates/quic-lines` declares what is said on both sides of an end, `simulate` what is said of a run.

mod application;
mod arguments;
mod clock;
mod end;
mod host;
mod libc_of_simulations;
mod link;
mod program;
mod qlog;
mod simulate;
mod stack;
mod stacks;

use std::process::ExitCode;

use anyhow::Result;

use crate::arguments::Arguments;
use crate::stacks::STACKS;

fn main() -> ExitCode {
    // SAFETY: there is no other thread yet.
    unsafe { stacks::prepare() };
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
        Arguments::Simulate(directory) => simulate::run(&directory)?,
        Arguments::SimulateMany => simulate::run_many()?,
    }
    Ok(())
}
