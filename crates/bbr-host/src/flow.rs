use std::ffi::{CString, c_void};

use cc::bbr::{Parameters, Version};
use cc::{CaEvent, CaState, Column, CongestionControl, LostPacket, RateSample, Socket, Value};

use crate::ffi::{Ack, Functions, Lost, TcpSock, V2, V3, View, with_random};

/// A flow of the C core.
#[derive(Clone, Debug)]
pub struct Core {
    parameters: Parameters,
    pub(crate) functions: &'static Functions,
    /// The parts of a kernel beyond a [`Socket`].
    pub(crate) beyond: TcpSock,
    /// `struct host_flow`.
    flow: Vec<u64>,
}

impl Core {
    /// A flow with these parameters; [`CongestionControl::init`] comes first.
    pub fn new(parameters: &Parameters) -> Core {
        let mut core = Core::with_defaults(parameters);
        for (name, value) in parameters.values() {
            core.set(name, value as u32);
        }
        core
    }

    /// A flow with the C side's defaults for the version of `parameters`.
    pub fn with_defaults(parameters: &Parameters) -> Core {
        let functions = if parameters.version == Version::V2 { &V2 } else { &V3 };
        // SAFETY: it takes nothing and has no effect.
        let size = unsafe { (functions.flow_size)() };
        let flow = vec![0; size.div_ceil(8)];
        let mut core = Core { parameters: parameters.clone(), functions, beyond: TcpSock::default(), flow };
        // SAFETY: the flow is as large as C says, and aligned for all that is in it.
        unsafe { (core.functions.use_defaults)(core.flow()) };
        core
    }

    /// The parameter `name`; panics if there is none.
    pub fn get(&mut self, name: &str) -> u32 {
        let c_name = CString::new(name).expect("a name");
        let mut value = 0;
        // SAFETY: a flow, a string and a number that live as long as the call.
        let is_known = unsafe { (self.functions.get_parameter)(self.flow(), c_name.as_ptr(), &mut value) };
        assert!(is_known, "no parameter {name}");
        value
    }

    fn set(&mut self, name: &str, value: u32) {
        let c_name = CString::new(name).expect("a name");
        // SAFETY: a flow and a string that live as long as the call.
        let is_known = unsafe { (self.functions.set_parameter)(self.flow(), c_name.as_ptr(), value) };
        assert!(is_known, "no parameter {name}");
    }

    fn flow(&mut self) -> *mut c_void {
        self.flow.as_mut_ptr().cast()
    }

    /// Calls a function of C on the flow and on what it may see of `sk`, and takes over what it may write.
    pub(crate) fn call<R>(&mut self, sk: &mut Socket, function: impl FnOnce(*mut c_void, *mut TcpSock) -> R) -> R {
        // v3 answers marks where both ends negotiated ECN and the route says that they are of the shallow kind. Routes
        // say nothing in mainline Linux: only the parameter counts there.
        let is_v3 = self.parameters.version == Version::V3;
        let is_ecn_low = is_v3 && sk.ecn_flags.ok && sk.ecn_flags.low;
        self.set("ecn", u32::from(self.parameters.ecn || is_ecn_low));

        let mut tcp_sock = TcpSock {
            sk_pacing_rate: sk.sk_pacing_rate,
            sk_max_pacing_rate: sk.sk_max_pacing_rate,
            sk_pacing_shift: sk.sk_pacing_shift,
            is_pacing_requested: sk.sk_pacing_needed,
            ca_state: sk.ca_state as u8,
            tcp_mstamp: sk.tcp_mstamp,
            tcp_clock_cache: sk.tcp_clock_cache,
            tcp_wstamp_ns: sk.tcp_wstamp_ns,
            delivered_mstamp: sk.delivered_mstamp,
            snd_cwnd: sk.snd_cwnd,
            snd_cwnd_clamp: sk.snd_cwnd_clamp,
            snd_ssthresh: sk.snd_ssthresh,
            packets_out: sk.packets_out,
            retrans_out: sk.retrans_out,
            lost_out: sk.lost_out,
            sacked_out: sk.sacked_out,
            delivered: sk.delivered,
            delivered_ce: sk.delivered_ce,
            app_limited: sk.app_limited,
            srtt_us: sk.srtt_us,
            min_rtt_us: sk.min_rtt_us,
            mss_cache: sk.mss_cache,
            lost: sk.lost,
            snd_una: sk.snd_una,
            snd_nxt: sk.snd_nxt,
            is_cwnd_limited: sk.is_cwnd_limited,
            ..self.beyond
        };
        let flow = self.flow();
        let result = with_random(&mut sk.random, || function(flow, &mut tcp_sock));
        sk.sk_pacing_rate = tcp_sock.sk_pacing_rate;
        sk.sk_pacing_needed = tcp_sock.is_pacing_requested;
        sk.snd_cwnd = tcp_sock.snd_cwnd;
        sk.snd_ssthresh = tcp_sock.snd_ssthresh;
        sk.app_limited = tcp_sock.app_limited;
        result
    }

    /// The bytes of `struct bbr`.
    pub fn bytes(&self) -> &[u8] {
        let mut size = 0;
        // SAFETY: the state lies in the flow, which lives as long as the slice and does not change meanwhile.
        unsafe {
            let state = (self.functions.state)(self.flow.as_ptr().cast(), &mut size);
            std::slice::from_raw_parts(state, size)
        }
    }

    fn view(&self) -> View {
        let mut view = View::default();
        // SAFETY: a flow that is read and a view that is written, both for as long as the call.
        unsafe { (self.functions.view)(self.flow.as_ptr().cast(), &mut view) };
        view
    }
}

impl CongestionControl for Core {
    fn name(&self) -> &'static str {
        self.parameters.name
    }

    fn init(&mut self, sk: &mut Socket) {
        let begin = self.functions.begin;
        // SAFETY: `call` hands over a flow of the right size and a socket, which live as long as the call.
        self.call(sk, |flow, sk| unsafe { begin(flow, sk) });
    }

    fn ssthresh(&mut self, sk: &mut Socket) -> u32 {
        let begin_recovery = self.functions.begin_recovery;
        // SAFETY: `call` hands over a flow of the right size and a socket, which live as long as the call.
        self.call(sk, |flow, sk| unsafe { begin_recovery(flow, sk) });
        sk.snd_ssthresh
    }

    fn has_cong_control(&self) -> bool {
        true
    }

    fn cong_control(&mut self, sk: &mut Socket, rs: &RateSample) {
        let on_ack = self.functions.on_ack;
        let ack = Ack {
            bw: 0,
            interval_us: rs.interval_us,
            rtt_us: rs.rtt_us,
            prior_delivered: rs.prior_delivered,
            delivered: rs.delivered,
            delivered_ce: rs.delivered_ce,
            newly_lost: rs.losses,
            lost: rs.lost,
            newly_acked: rs.acked_sacked,
            prior_in_flight: rs.prior_in_flight,
            tx_in_flight: rs.tx_in_flight,
            is_app_limited: rs.is_app_limited,
            is_ack_delayed: rs.is_ack_delayed,
            is_ece: rs.is_ece,
            is_of_tlp: rs.is_acking_tlp_retrans_seq,
        };
        // SAFETY: `call` hands over a flow of the right size and a socket, which live as long as the call.
        self.call(sk, |flow, sk| unsafe { on_ack(flow, sk, &ack) });
    }

    fn set_state(&mut self, sk: &mut Socket, state: CaState) {
        let change_ca_state = self.functions.change_ca_state;
        // SAFETY: `call` hands over a flow of the right size and a socket, which live as long as the call.
        self.call(sk, |flow, sk| unsafe { change_ca_state(flow, sk, state as u8) });
    }

    fn cwnd_event(&mut self, sk: &mut Socket, event: CaEvent) {
        let Functions { restart_from_idle, repaired_by_tlp, .. } = *self.functions;
        let is_app_limited = sk.tlp_orig_data_app_limited;
        match event {
            // SAFETY: `call` hands over a flow of the right size and a socket, which live as long as the call.
            CaEvent::TxStart => self.call(sk, |flow, sk| unsafe { restart_from_idle(flow, sk) }),
            CaEvent::TlpRecovery if self.parameters.version == Version::V3 => {
                // SAFETY: `call` hands over a flow of the right size and a socket, which live as long as the call.
                self.call(sk, |flow, sk| unsafe { repaired_by_tlp(flow, sk, is_app_limited) })
            }
            _ => {}
        }
    }

    fn undo_cwnd(&mut self, sk: &mut Socket) -> u32 {
        let undo_recovery = self.functions.undo_recovery;
        // SAFETY: `call` hands over a flow of the right size and a socket, which live as long as the call.
        self.call(sk, |flow, sk| unsafe { undo_recovery(flow, sk) })
    }

    fn skb_marked_lost(&mut self, sk: &mut Socket, packet: &LostPacket) {
        let packet_lost = self.functions.packet_lost;
        let lost = Lost {
            tx_in_flight: packet.tx_in_flight,
            lost: sk.lost.wrapping_sub(packet.tx_lost) as i32,
            segments: packet.segments,
            is_app_limited: packet.is_app_limited,
            was_sacked: packet.was_sacked,
        };
        // SAFETY: `call` hands over a flow of the right size and a socket, which live as long as the call.
        self.call(sk, |flow, sk| unsafe { packet_lost(flow, sk, &lost) });
    }

    fn min_tso_segs(&self, sk: &Socket) -> u32 {
        let tcp_sock = TcpSock { sk_pacing_rate: sk.sk_pacing_rate, ..TcpSock::default() };
        // SAFETY: a socket that is read, and lives as long as the call.
        unsafe { (self.functions.train_floor)(&tcp_sock) }
    }

    fn sndbuf_expand(&self) -> u32 {
        3
    }

    fn publish(&self, column: &mut dyn FnMut(Column)) {
        const BW: &str = "packets/us<<24";
        let view = self.view();
        let mut text = |name, value| column(Column { name, unit: "", value: Value::Text(value) });
        text("bbr.state", STATES[usize::from(view.state)]);
        text("bbr.ack_phase", ACK_PHASES[usize::from(view.ack_phase)]);
        let mut wide = |name, unit, value: u64| {
            column(Column { name, unit, value: Value::U64(Some(value).filter(|&value| value != u64::MAX)) });
        };
        wide("bbr.bw", BW, view.bw);
        wide("bbr.max_bw", BW, view.max_bw);
        wide("bbr.bw_lo", BW, view.bw_lo);
        wide("bbr.bw_hi", BW, view.bw_hi);
        wide("bbr.full_bw", BW, view.full_bw);
        wide("bbr.cycle_start", "us", view.cycle_start);
        let mut number = |name, unit, value: u32| {
            column(Column { name, unit, value: Value::U32(Some(value).filter(|&value| value != u32::MAX)) });
        };
        number("bbr.min_rtt", "us", view.min_rtt);
        number("bbr.pacing_gain", "1/256", view.pacing_gain);
        number("bbr.cwnd_gain", "1/256", view.cwnd_gain);
        number("bbr.inflight_lo", "packets", view.inflight_lo);
        number("bbr.inflight_hi", "packets", view.inflight_hi);
        number("bbr.extra_acked", "packets", view.extra_acked);
        number("bbr.prior_cwnd", "packets", view.prior_cwnd);
        number("bbr.round", "rounds", view.round);
        number("bbr.probes", "probes", view.probes);
        number("bbr.rounds_since_probe", "rounds", view.rounds_since_probe);
        number("bbr.probe_wait", "us", view.probe_wait);
        number("bbr.ecn_alpha", "1/256", view.ecn_alpha);
        let mut flag = |name, value| column(Column { name, unit: "", value: Value::Bool(value) });
        flag("bbr.full_bw_reached", view.full_bw_reached);
        flag("bbr.ecn_eligible", view.ecn_eligible);
        flag("bbr.loss_in_round", view.loss_in_round);
        flag("bbr.ecn_in_round", view.ecn_in_round);
    }
}

/// `enum bbr_state`, as the cc crate names it.
const STATES: [&str; 7] =
    ["STARTUP", "DRAIN", "PROBE_BW_DOWN", "PROBE_BW_CRUISE", "PROBE_BW_REFILL", "PROBE_BW_UP", "PROBE_RTT"];

/// `enum bbr_ack_phase`.
const ACK_PHASES: [&str; 5] = ["INIT", "REFILLING", "PROBE_STARTING", "PROBE_FEEDBACK", "PROBE_STOPPING"];
