//! Objects that somebody has damaged are refused, or run within their bounds.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bbr_host::PROGRAMS;
use bpf_vm::{Flow, Program};
use cc::{AckSample, CongestionControl, Socket};
use messages::Failure;
use proptest::prelude::*;

fn object(name: &str) -> &'static [u8] {
    let label = cc::declared(name).and_then(|declared| declared.label).expect("an algorithm with an object");
    bpf::bundled(label).expect("an object")
}

/// A few calls; a fault is a failure in words.
fn calls(program: Program) -> Result<(), Failure> {
    let run = AssertUnwindSafe(|| {
        let (mut flow, mut sk) = (Flow::new(Arc::new(program)), Socket::new(1448, 1));
        flow.init(&mut sk);
        sk.is_cwnd_limited = true;
        flow.pkts_acked(&mut sk, &AckSample { pkts_acked: 2, rtt_us: 30_000, in_flight: 14_480 });
        flow.cong_avoid(&mut sk, 2_896, 2);
        sk.snd_ssthresh = flow.ssthresh(&mut sk);
        flow.undo_cwnd(&mut sk);
        flow.state();
    });
    catch_unwind(run).map_err(|panic| *panic.downcast::<Failure>().expect("a failure, not a bug"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_object_does_no_harm(
        name in prop::sample::select(PROGRAMS),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = object(name).to_vec();
        for (at, value) in damage {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        match Program::parse("damaged", &bytes, &[]).and_then(calls) {
            Ok(()) => {}
            Err(failure) => prop_assert!(failure.to_string().starts_with("the congestion control damaged: ")),
        }
    }
}

#[test]
fn what_is_not_modelled_is_refused_by_name_and_line() {
    let refusal = Program::parse("bbr3", object("bbr3"), &[]).unwrap_err();
    assert!(refusal.why.starts_with("the simulator does not have "), "{refusal}");
    assert!(refusal.why.contains(".h:") || refusal.why.contains(".bpf.c:"), "{refusal}");
}

#[test]
fn a_parameter_that_it_lacks_is_refused() {
    let settings = [("beta", cc::Setting::Number(700)), ("nothing", cc::Setting::Number(1))];
    assert_eq!(Program::parse("cubic", object("cubic"), &settings).unwrap_err().why, "it has no parameter nothing");
}
