//! Flows of QUIC, with a stack of this test's own that sends one datagram each millisecond, and answers each.

use std::sync::Mutex;

use anyhow::{Result, bail};
use link::Ecn;
use quic_lines::{Order, Received, Sent, Write};
use serde_json::{Value, json};
use sim::{FlowRow, Observer, Options, QuicAccount, QuicEnd, QuicEnds, QuicStacks, Simulation, Turn};
use units::{Duration, Time};

use crate::common::{Dumbbell, bulk};

const MS: i64 = 1_000_000;

/// Datagrams of this length, up to a number of bytes.
#[derive(Debug)]
struct Toy {
    length: usize,
}

impl QuicStacks for Toy {
    fn create(&self, flow: &plan::Flow, _: u64) -> Result<QuicEnds> {
        let plan::Workload::Quic { stack, bytes, .. } = &flow.workload else { bail!("not a QUIC flow") };
        let end = |is_sender| Box::new(End { is_sender, length: self.length, size: *bytes, ..End::default() });
        Ok(QuicEnds { sender: end(true), receiver: end(false), version: stack.clone() })
    }
}

#[derive(Debug, Default)]
struct End {
    is_sender: bool,
    length: usize,
    size: Option<u64>,
    order: Write,
    next: Option<Time>,
    answers: u64,
    sent: Sent,
    received: Received,
}

impl QuicEnd for End {
    fn begin(&mut self, now: Time) -> Result<()> {
        self.next = self.is_sender.then_some(now);
        Ok(())
    }

    fn order(&mut self, order: Order) -> Result<()> {
        let Order::Write(write) = order else { bail!("{order:?}") };
        self.order = write;
        Ok(())
    }

    fn receive(&mut self, now: Time, ecn: Ecn, datagram: &[u8]) {
        if self.is_sender {
            // An answer is the datagram, as it was sent.
            assert_eq!((datagram.len(), ecn), (self.length, Ecn::Ect0));
            self.received.bytes += 1;
            return;
        }
        assert!(datagram.iter().all(|byte| *byte == datagram[0]), "contents are mixed up");
        self.received.bytes += datagram.len() as u64;
        self.received.first_ns.get_or_insert(now.as_nanos());
        self.received.complete = Some(self.received.bytes) == self.size;
        self.answers += 1;
    }

    fn turn(&mut self, now: Time, send: &mut dyn FnMut(Ecn, &[u8])) -> Result<Turn> {
        for _ in 0..std::mem::take(&mut self.answers) {
            send(Ecn::Ect0, &vec![0; self.length]);
        }
        if let Some(next) = self.next.filter(|next| *next <= now) {
            send(Ecn::NotEct, &vec![self.sent.sent_packets as u8; self.length]);
            self.sent.sent_packets += 1;
            self.sent.sent_bytes += self.length as u64;
            self.sent.written_bytes = self.sent.sent_bytes;
            let is_last = self.order.bytes.is_some_and(|bytes| bytes <= self.sent.sent_bytes);
            self.next = (!is_last).then_some(next + Duration::from_millis(1));
        }
        if self.sent.sent_packets == 66 {
            bail!("sixty-six datagrams");
        }
        let is_connected = self.received.bytes > 0;
        let is_closed = self.is_sender && self.size == Some(self.received.bytes * self.length as u64);
        Ok(Turn { next: self.next.unwrap_or(Time::NEVER), is_connected, is_closed })
    }

    fn sent(&mut self) -> Sent {
        self.sent
    }

    fn received(&self) -> Received {
        self.received
    }
}

fn quic(bytes: Option<u64>) -> Value {
    json!({"kind": "quic", "stack": "toy", "cc": "cubic", "bytes": bytes})
}

/// Samples of QUIC flows.
#[derive(Default)]
struct Samples(Mutex<Vec<(Time, u64, bool)>>);

impl Observer for Samples {
    const SAMPLES: bool = true;

    fn flow(&mut self, row: &FlowRow<'_>) {
        let quic = row.quic.unwrap();
        self.0.lock().unwrap().push((row.time, quic.sent.sent_packets, quic.connected.is_some()));
    }
}

fn run(plan: &Dumbbell, length: usize) -> (Vec<sim::FlowReport>, Vec<QuicAccount>, Samples, usize) {
    let toy = Toy { length };
    let options = Options { turnaround: false, quic: Some(&toy), ..Options::default() };
    let mut simulation = Simulation::new(&plan.plan(), options, Samples::default()).unwrap();
    simulation.run();
    simulation.finish();
    let reports = simulation.reports().collect();
    let accounts = simulation.quic_accounts().map(|account| account.unwrap().clone()).collect();
    let inside = simulation.packets_inside();
    (reports, accounts, simulation.into_observer(), inside)
}

#[test]
fn datagrams_arrive_as_they_were_sent_and_both_ends_account_for_them() {
    // 1,000 bytes and headers at 10 Mbit/s take 0.834 ms each way, besides 40 ms.
    let plan = Dumbbell::new(10, 40.0).seconds(1.0).flow(quic(Some(50_000)), 0.1);
    let (reports, accounts, samples, inside) = run(&plan, 1000);
    let (report, account) = (reports[0], &accounts[0]);
    assert_eq!((report.received_bytes, report.sent_bytes, report.completed), (50_000, 50_000, true));
    assert_eq!((account.sent.sent_packets, account.failure.as_deref(), account.version.as_str()), (50, None, "toy"));
    let way = 20 * MS + 8 * 1042 * 100;
    assert_eq!(report.first_byte, Some(Time(100 * MS + way)));
    assert_eq!(account.connected, Some(Time(100 * MS + 2 * way)));
    // Its program's timers are 50 us late, and the next is set for what is left: no error adds up.
    let last = 100 * MS + 49 * MS + 50_000 + way;
    assert_eq!(report.end, Some(Time(last)));
    assert_eq!(inside, 0);
    let rows = samples.0.into_inner().unwrap();
    assert_eq!(rows.last(), Some(&(Time(last + way), 50, true)), "a flow that ends by itself has a last sample");
    assert!(rows.iter().filter(|row| row.0 < Time(100 * MS + 2 * way)).all(|row| !row.2));
}

#[test]
fn what_links_copy_drop_and_reorder_is_not_mixed_up() {
    let impaired = json!({"duplication": {"probability": 0.3, "correlation": 0.0}, "reordering": true,
        "jitter": {"distribution": {"kind": "uniform", "min_ns": 0, "max_ns": 5 * MS}, "correlation": 0.0},
        "loss_before": [{"model": "independent", "probability": 0.3}]});
    let plan = Dumbbell::new(10, 40.0).seconds(0.16).with(impaired).flow(quic(None), 0.1).flow(quic(None), 0.1);
    let (reports, accounts, ..) = run(&plan, 700);
    for (report, account) in reports.iter().zip(&accounts) {
        assert_eq!(account.sent.sent_packets, 60);
        assert!(report.received_bytes > 0 && report.received_bytes % 700 == 0, "{report:?}");
        assert!(report.completed, "it has no size, and was connected at its stop");
    }
}

#[test]
fn a_datagram_above_the_mtu_is_not_sent() {
    let plan = Dumbbell::new(10, 40.0).seconds(0.2).flow(quic(None), 0.15);
    assert!(run(&plan, 1472).0[0].received_bytes > 0);
    let (reports, accounts, ..) = run(&plan, 1473);
    assert_eq!((reports[0].received_bytes, reports[0].is_connected, reports[0].completed), (0, false, false));
    assert_eq!(accounts[0].sent.sent_packets, 50);
}

#[test]
fn a_stack_that_fails_ends_its_flow_with_its_reason() {
    let (reports, accounts, ..) = run(&Dumbbell::new(10, 40.0).seconds(1.0).flow(quic(None), 0.0), 100);
    assert_eq!(accounts[0].failure.as_deref(), Some("its QUIC sender failed: sixty-six datagrams"));
    assert!(!reports[0].completed);
}

#[test]
fn without_stacks_a_flow_is_refused_and_beside_others_it_shares_the_links() {
    let plan = Dumbbell::new(10, 40.0).seconds(1.0).flow(quic(Some(30_000)), 0.0).flow(bulk("cubic"), 0.0);
    let problems = sim::check(&plan.plan(), Options::default());
    assert_eq!(problems.iter().map(|one| one.flow.as_deref()).collect::<Vec<_>>(), [Some("f1")]);
    assert!(problems[0].failure.hint.contains("dumbbell run"), "{problems:?}");
    let toy = Toy { length: 1000 };
    let mut simulation = Simulation::new(&plan.plan(), Options { quic: Some(&toy), ..Options::default() }, ()).unwrap();
    simulation.run();
    let received: Vec<u64> = simulation.reports().map(|report| report.received_bytes).collect();
    assert!(received[0] == 30_000 && received[1] > 500_000, "{received:?}");
}
