//! The command line.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

pub const HELP: &str = "\
usage: dumbbell-quic stacks
       dumbbell-quic receive STACK ADDRESS:PORT INTERVAL_NS [QLOG]
       dumbbell-quic send STACK CC ADDRESS ADDRESS:PORT INTERVAL_NS [QLOG]
       dumbbell-quic simulate DIRECTORY
       dumbbell-quic simulate-many

stacks   lists stacks with their congestion controls, as JSON
receive  waits for a connection at an address
send     connects from the first address to the second, and sends what it is ordered to
simulate carries out plan.json of a directory in the simulator, and writes its records there
simulate-many does so with many plans, which come on standard input, and keeps their figures

QLOG is a file to which the stack writes its qlog, if the stack has one.
Orders come on standard input, lines go to standard output, one each INTERVAL_NS: see crates/quic-lines.
";

/// What a command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum Arguments {
    /// This text.
    Help,
    /// The list of stacks.
    Stacks,
    /// An end of a flow.
    Run(Settings),
    /// The plan of this directory, in the simulator.
    Simulate(PathBuf),
    /// Many plans, in the simulator.
    SimulateMany,
}

/// An end of a flow.
#[derive(Debug, PartialEq, Eq)]
pub struct Settings {
    /// Name of the stack.
    pub stack: String,
    /// Which end.
    pub end: End,
    /// Time between samples.
    pub interval_ns: i64,
    /// File of the stack's qlog, if it is to write one.
    pub qlog: Option<PathBuf>,
}

/// The settings of an end.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// Waits for a connection.
    Receiver {
        /// Address at which it waits.
        at: SocketAddr,
    },
    /// Connects, and sends.
    Sender {
        /// Name of the congestion control.
        cc: String,
        /// Own address.
        from: IpAddr,
        /// Receiver's address.
        to: SocketAddr,
    },
}

impl Arguments {
    /// Reads a command line without the program's name.
    ///
    /// # Errors
    /// Words that are missing, too many, or no values.
    pub fn parse(words: impl Iterator<Item = String>) -> Result<Arguments> {
        let words: Vec<String> = words.collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let interval = |word: &str| -> Result<i64> {
            let interval = word.parse().with_context(|| format!("the interval {word}"))?;
            ensure!(interval > 0, "the interval {word} is not a time");
            Ok(interval)
        };
        let file = |rest: &[&str]| rest.first().map(PathBuf::from);
        Ok(match words[..] {
            ["--help" | "-h"] => Arguments::Help,
            ["stacks"] => Arguments::Stacks,
            ["simulate", directory] => Arguments::Simulate(directory.into()),
            ["simulate-many"] => Arguments::SimulateMany,
            ["receive", stack, at, every, ref rest @ ..] if rest.len() < 2 => Arguments::Run(Settings {
                stack: stack.to_owned(),
                end: End::Receiver { at: at.parse().with_context(|| format!("the address {at}"))? },
                interval_ns: interval(every)?,
                qlog: file(rest),
            }),
            ["send", stack, cc, from, to, every, ref rest @ ..] if rest.len() < 2 => Arguments::Run(Settings {
                stack: stack.to_owned(),
                end: End::Sender {
                    cc: cc.to_owned(),
                    from: from.parse().with_context(|| format!("the address {from}"))?,
                    to: to.parse().with_context(|| format!("the address {to}"))?,
                },
                interval_ns: interval(every)?,
                qlog: file(rest),
            }),
            _ => bail!("not understood: {}\n\n{HELP}", words.join(" ")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments> {
        Arguments::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn a_sender_has_both_addresses_and_perhaps_a_qlog() {
        let Ok(Arguments::Run(settings)) = parse("send quinn cubic 10.0.0.1 10.0.0.2:5001 10000000 f1.sqlog") else {
            panic!("it is a sender");
        };
        assert_eq!(settings.qlog, Some(PathBuf::from("f1.sqlog")));
        let End::Sender { cc, to, .. } = settings.end else { panic!("it is a sender") };
        assert_eq!((cc.as_str(), to.port(), settings.interval_ns), ("cubic", 5001, 10_000_000));
    }

    #[test]
    fn a_line_with_a_mistake_is_refused() {
        for line in [
            "",
            "send quinn",
            "receive quinn 10.0.0.1 1",
            "receive quinn 10.0.0.1:1 0",
            "stacks all",
            "receive quinn 10.0.0.1:1 1 a b",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
