use std::ffi::{CString, c_char};

use cc::state::{NONE, STATE_SETS};
use cc::{AckSample, CongestionControl, Setting, Socket, State};

use crate::ffi::TcpSock;

/// `struct ack_sample`.
#[repr(C)]
struct Acked {
    pkts_acked: u32,
    rtt_us: i32,
    in_flight: u32,
}

/// `struct callbacks` of `include/dumbbell/congestion_control.h`.
#[repr(C)]
#[derive(Debug)]
struct Callbacks {
    init: Option<extern "C" fn(&mut TcpSock)>,
    ssthresh: extern "C" fn(&mut TcpSock) -> u32,
    cong_avoid: extern "C" fn(&mut TcpSock, u32, u32),
    pkts_acked: Option<extern "C" fn(&mut TcpSock, &Acked)>,
    undo_cwnd: extern "C" fn(&mut TcpSock) -> u32,
}

/// The functions of `program.c` for one algorithm.
#[derive(Clone, Copy, Debug)]
struct Functions {
    callbacks: extern "C" fn() -> &'static Callbacks,
    publishes: extern "C" fn() -> u8,
    set_parameter: unsafe extern "C" fn(*const c_char, u32) -> bool,
}

/// Declares the functions of each algorithm, and a table with all algorithms.
macro_rules! programs {
    ($($name:ident: $callbacks:literal, $publishes:literal, $set_parameter:literal;)*) => {
        $(mod $name {
            use super::*;
            // SAFETY: the callbacks are a constant of this type, whose functions use a socket and a sample only while
            // they are called; what is published is a constant, too.
            unsafe extern "C" {
                #[link_name = $callbacks]
                pub(super) safe fn callbacks() -> &'static Callbacks;
                #[link_name = $publishes]
                pub(super) safe fn publishes() -> u8;
                #[link_name = $set_parameter]
                pub(super) fn set_parameter(name: *const c_char, value: u32) -> bool;
            }
            pub(super) const FUNCTIONS: Functions = Functions { callbacks, publishes, set_parameter };
        })*

        const PROGRAMS: &[(&str, Functions)] = &[$((stringify!($name), $name::FUNCTIONS)),*];

        impl Program {
            /// The algorithms whose programs are compiled.
            pub const NAMES: &[&str] = &[$(stringify!($name)),*];
        }
    };
}

programs! {
    htcp: "htcp_callbacks", "htcp_publishes", "htcp_set_parameter";
    reno: "reno_callbacks", "reno_publishes", "reno_set_parameter";
    westwood: "westwood_callbacks", "westwood_publishes", "westwood_set_parameter";
}

/// A flow of a window-based algorithm's BPF program.
#[derive(Debug)]
pub struct Program {
    name: &'static str,
    functions: Functions,
    callbacks: &'static Callbacks,
    /// All parameters: threads share the program's constants among their flows.
    settings: Vec<(CString, u32)>,
    /// `icsk_ca_priv`.
    private: [u64; 13],
}

impl Program {
    /// A flow with `settings` in place of defaults; [`CongestionControl::init`] comes first. Panics if there is no program
    /// `name`, or it has no such parameter.
    pub fn new(name: &str, settings: &[(&str, Setting)]) -> Program {
        let &(name, functions) = PROGRAMS.iter().find(|(known, _)| *known == name).expect("a program of this name");
        let value = |setting| match setting {
            Setting::Flag(flag) => u32::from(flag),
            Setting::Number(number) => u32::try_from(number).expect("32 bits"),
        };
        let defaults = cc::parameters(name).expect("an algorithm").iter().map(|one| (one.name, one.default));
        let all = defaults.chain(settings.iter().copied());
        let settings = all.map(|(name, setting)| (CString::new(name).expect("a name"), value(setting))).collect();
        let callbacks = (functions.callbacks)();
        Program { name, functions, callbacks, settings, private: [0; 13] }
    }

    /// Calls a function of C on what it may see of `sk`, and takes over what it may write.
    fn call<R>(&mut self, sk: &mut Socket, function: impl FnOnce(&mut TcpSock) -> R) -> R {
        for (name, value) in &self.settings {
            // SAFETY: a string that lives as long as the call.
            assert!(unsafe { (self.functions.set_parameter)(name.as_ptr(), *value) }, "no parameter {name:?}");
        }
        let mut tcp_sock = TcpSock {
            tcp_mstamp: sk.tcp_mstamp,
            snd_cwnd: sk.snd_cwnd,
            snd_cwnd_cnt: sk.snd_cwnd_cnt,
            snd_cwnd_clamp: sk.snd_cwnd_clamp,
            snd_ssthresh: sk.snd_ssthresh,
            prior_cwnd: sk.prior_cwnd,
            max_packets_out: sk.max_packets_out,
            is_cwnd_limited: sk.is_cwnd_limited,
            delivered: sk.delivered,
            srtt_us: sk.srtt_us,
            icsk_ca_priv: self.private,
            ..TcpSock::default()
        };
        let result = function(&mut tcp_sock);
        (sk.snd_cwnd, sk.snd_cwnd_cnt) = (tcp_sock.snd_cwnd, tcp_sock.snd_cwnd_cnt);
        sk.snd_ssthresh = tcp_sock.snd_ssthresh;
        self.private = tcp_sock.icsk_ca_priv;
        result
    }
}

impl CongestionControl for Program {
    fn name(&self) -> &'static str {
        self.name
    }

    fn init(&mut self, sk: &mut Socket) {
        if let Some(init) = self.callbacks.init {
            self.call(sk, |sk| init(sk));
        }
    }

    fn ssthresh(&mut self, sk: &mut Socket) -> u32 {
        let ssthresh = self.callbacks.ssthresh;
        self.call(sk, |sk| ssthresh(sk))
    }

    fn cong_avoid(&mut self, sk: &mut Socket, ack: u32, acked: u32) {
        let cong_avoid = self.callbacks.cong_avoid;
        self.call(sk, |sk| cong_avoid(sk, ack, acked));
    }

    fn pkts_acked(&mut self, sk: &mut Socket, sample: &AckSample) {
        let acked = Acked { pkts_acked: sample.pkts_acked, rtt_us: sample.rtt_us, in_flight: sample.in_flight };
        if let Some(pkts_acked) = self.callbacks.pkts_acked {
            self.call(sk, |sk| pkts_acked(sk, &acked));
        }
    }

    fn undo_cwnd(&mut self, sk: &mut Socket) -> u32 {
        let undo_cwnd = self.callbacks.undo_cwnd;
        self.call(sk, |sk| undo_cwnd(sk))
    }

    /// The first words of the private state, as the probe reads them.
    fn state(&self) -> State {
        let of = (self.functions.publishes)();
        let known = of.checked_sub(1).map_or(0, |at| STATE_SETS[usize::from(at)].columns.len());
        let word = |i: usize| (self.private[i / 2] >> (32 * (i % 2))) as u32;
        let values = std::array::from_fn(|i| if i < known { word(i) } else { NONE });
        State::published(of, values).expect("a state that its columns can show")
    }
}
