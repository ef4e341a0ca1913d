//! Print each packet's passage of a plan as CSV: `packets PLAN.json [instant]`. With `instant`, hosts take no time.

use std::io::{BufWriter, Write};
use std::path::Path;

use plan::{Hosts, Plan};
use sim::{Observer, Options, PacketRow, Simulation};

struct Rows(BufWriter<std::io::Stdout>);

impl Observer for Rows {
    const PACKETS: bool = true;
    /// Taking them moves the clock of hosts in virtual time: these are a run's packets.
    const SAMPLES: bool = true;
    fn packet(&mut self, row: &PacketRow<'_>) {
        let p = row.passage;
        let t = |t: Option<units::Time>| t.map_or(-1, |t| t.0);
        let s = row.segment;
        let sacks: Vec<_> = s.sack_blocks().map(|(a, b)| format!("{a}-{b}")).collect();
        writeln!(
            self.0,
            "{},{},{},{},{},{},{:?},{},{},{},{}",
            row.link,
            p.packet.flow,
            p.arrival.0,
            t(p.departure),
            t(p.delivery),
            s.seq,
            p.fate,
            row.payload_bytes,
            s.ack,
            sacks.join(" "),
            p.packet.id,
        )
        .unwrap();
    }
}

fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let mut plan = Plan::read(Path::new(&args.next().expect("a plan")))?;
    let how = args.next();
    if how.as_deref() == Some("virtual") {
        plan.simulate.hosts = Some(Hosts::Virtual);
    }
    let options = Options { turnaround: how.as_deref() != Some("instant"), ..Options::default() };
    let mut simulation = Simulation::new(&plan, options, Rows(BufWriter::new(std::io::stdout())))?;
    simulation.run();
    simulation.finish();
    Ok(())
}
