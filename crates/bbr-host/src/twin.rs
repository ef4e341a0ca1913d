use cc::bbr::{Bbr, Parameters};
use cc::{AckSample, CaEvent, CaState, Column, CongestionControl, LostPacket, RateSample, Setting, Socket, State};

use crate::Core;
use crate::program::{PROGRAMS, program};

/// The C source and the Rust implementation of an algorithm side by side: the same calls must have the same effects.
///
/// After each callback everything that they may write must be equal (window, pacing rate, threshold, app_limited and the
/// state of the random numbers), and so must be all columns that they publish.
#[derive(Debug)]
pub struct Twin {
    rust: Box<dyn CongestionControl>,
    c: Box<dyn CongestionControl>,
}

impl Twin {
    /// Flows of BBR with these parameters.
    pub fn new(parameters: &Parameters) -> Twin {
        Twin::of(parameters, parameters)
    }

    /// Flows of BBR with parameters that may differ.
    pub fn of(rust: &Parameters, c: &Parameters) -> Twin {
        Twin { rust: Box::new(Bbr::new(rust.clone())), c: Box::new(Core::new(c)) }
    }

    /// Flows of a window-based algorithm, `name` of [`PROGRAMS`], with `settings` in place of defaults. Panics if there
    /// is none of this name, or a setting does not fit.
    pub fn of_program(name: &str, settings: &[(&str, Setting)]) -> Twin {
        let rust = cc::create_with(name, settings).expect("an algorithm with these parameters");
        Twin { rust, c: Box::new(program(name, settings)) }
    }

    fn both<R: PartialEq + std::fmt::Debug>(
        &mut self,
        what: impl std::fmt::Debug,
        sk: &mut Socket,
        mut callback: impl FnMut(&mut dyn CongestionControl, &mut Socket) -> R,
    ) -> R {
        let before = sk.clone();
        let mut twin = sk.clone();
        let result = callback(&mut *self.rust, sk);
        let twins = callback(&mut *self.c, &mut twin);
        let name = self.rust.name();
        assert_eq!(result, twins, "{name} differs from C in {what:#?} after {before:#?}");
        assert_eq!(*sk, twin, "{name} differs from C in {what:#?} after {before:#?}");
        let twins = columns(&*self.c);
        // An object shows its published state alone.
        if !twins.is_empty() {
            assert_eq!(columns(&*self.rust), twins, "{name} differs from C in {what:#?} after {before:#?}");
        }
        let published = self.c.state();
        if !published.is_empty() {
            assert_eq!(self.rust.state(), published, "{name} differs from C in {what:#?} after {before:#?}");
        }
        result
    }
}

/// The columns of `cc`, sorted by name.
fn columns(cc: &dyn CongestionControl) -> Vec<Column> {
    let mut columns = Vec::with_capacity(32);
    cc.publish(&mut |column| columns.push(column));
    columns.sort_unstable_by_key(|column| column.name);
    columns
}

/// Like `cc::create`, but both run if there is a C source of the algorithm, too.
pub fn create(name: &str) -> Option<Box<dyn CongestionControl>> {
    let parameters = match name {
        "bbr2" => Parameters::v2(),
        "bbr3" => Parameters::v3(),
        "bbr3-draft" => Parameters::v3_draft(),
        _ if PROGRAMS.contains(&name) => return Some(Box::new(Twin::of_program(name, &[]))),
        _ => return cc::create(name),
    };
    Some(Box::new(Twin::new(&parameters)))
}

impl CongestionControl for Twin {
    fn name(&self) -> &'static str {
        self.rust.name()
    }

    fn init(&mut self, sk: &mut Socket) {
        self.both("init", sk, |cc, sk| cc.init(sk));
    }

    fn ssthresh(&mut self, sk: &mut Socket) -> u32 {
        self.both("ssthresh", sk, |cc, sk| cc.ssthresh(sk))
    }

    fn cong_avoid(&mut self, sk: &mut Socket, ack: u32, acked: u32) {
        self.both(("cong_avoid", acked), sk, |cc, sk| cc.cong_avoid(sk, ack, acked));
    }

    fn has_cong_control(&self) -> bool {
        self.rust.has_cong_control()
    }

    fn cong_control(&mut self, sk: &mut Socket, rs: &RateSample) {
        self.both(rs, sk, |cc, sk| cc.cong_control(sk, rs));
    }

    fn set_state(&mut self, sk: &mut Socket, state: CaState) {
        self.both(("set_state", state), sk, |cc, sk| cc.set_state(sk, state));
    }

    fn cwnd_event(&mut self, sk: &mut Socket, event: CaEvent) {
        // BBR answers marks as a receiver outside of its core, in `bpf/bbr/callbacks.h`.
        if self.rust.has_cong_control() && matches!(event, CaEvent::EcnIsCe | CaEvent::EcnNoCe) {
            return self.rust.cwnd_event(sk, event);
        }
        self.both(("cwnd_event", event), sk, |cc, sk| cc.cwnd_event(sk, event));
    }

    fn in_ack_event(&mut self, sk: &mut Socket, flags: u32) {
        self.both("in_ack_event", sk, |cc, sk| cc.in_ack_event(sk, flags));
    }

    fn undo_cwnd(&mut self, sk: &mut Socket) -> u32 {
        self.both("undo_cwnd", sk, |cc, sk| cc.undo_cwnd(sk))
    }

    fn pkts_acked(&mut self, sk: &mut Socket, sample: &AckSample) {
        self.both("pkts_acked", sk, |cc, sk| cc.pkts_acked(sk, sample));
    }

    fn skb_marked_lost(&mut self, sk: &mut Socket, packet: &LostPacket) {
        self.both(packet, sk, |cc, sk| cc.skb_marked_lost(sk, packet));
    }

    fn min_tso_segs(&self, sk: &Socket) -> u32 {
        let segments = self.rust.min_tso_segs(sk);
        assert_eq!(segments, self.c.min_tso_segs(sk));
        segments
    }

    fn sndbuf_expand(&self) -> u32 {
        self.rust.sndbuf_expand()
    }

    fn state(&self) -> State {
        self.rust.state()
    }

    fn publish(&self, column: &mut dyn FnMut(Column)) {
        self.rust.publish(column);
    }
}
