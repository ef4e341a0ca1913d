//! A connection's algorithm.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::Arc;

use cc::state::{NONE, STATE_SETS};
use cc::{AckSample, CaEvent, CaState, CongestionControl, ImmediateAck, RateSample, Socket, State, ack_event};

use crate::interpreter::{World, call};
use crate::memory::{ARGUMENTS, Memory, SAMPLE, SOCKET};
use crate::model::{PRIVATE_AT, spell_ack, spell_rate, spell_socket, take_back};
use crate::program::Program;
use crate::trace::{Call, Tracer, Watched};

/// A flow of a program. A call that does what no kernel would let it do ends the simulation, by unwinding with a
/// [`Failure`](messages::Failure).
#[derive(Clone, Debug)]
pub struct Flow {
    program: Arc<Program>,
    /// Questions that change nothing run on it, too.
    memory: RefCell<Memory>,
    /// The tracer, and the id of the flow.
    traced: Option<(Tracer, Arc<str>)>,
}

/// Callbacks that have a result.
const ANSWERS: [&str; 4] = ["ssthresh", "undo_cwnd", "min_tso_segs", "sndbuf_expand"];

/// `cong_control`'s flag: the ACK carries ECE.
const FLAG_ECE: u64 = 0x40;

impl Flow {
    /// A flow; [`CongestionControl::init`] comes first.
    pub fn new(program: Arc<Program>) -> Flow {
        let memory = RefCell::new(program.memory());
        Flow { program, memory, traced: None }
    }

    /// The flow, whose calls `tracer` gets under the id `flow`.
    pub fn traced(self, tracer: Tracer, flow: &str) -> Flow {
        Flow { traced: Some((tracer, flow.into())), ..self }
    }

    /// Calls the function at `entry` with the socket and up to three more arguments.
    fn call(
        &self,
        callback: &'static str,
        sk: &mut Socket,
        entry: Option<usize>,
        arguments: [u64; ARGUMENTS - 1],
    ) -> Option<u64> {
        let entry = entry?;
        let memory = &mut *self.memory.borrow_mut();
        spell_socket(sk, &mut memory.socket[..PRIVATE_AT]);
        let [a, b, c] = arguments;
        for (place, argument) in memory.context.chunks_exact_mut(8).zip([SOCKET, a, b, c]) {
            place.copy_from_slice(&argument.to_le_bytes());
        }
        let mut world = World { now_ns: sk.tcp_clock_cache, ticks: sk.ticks(), random: sk.random, ack: None };
        let called = match &self.traced {
            None => self.program.folded.call(entry, memory, &mut world),
            Some((tracer, flow)) => {
                let mut watched = Watched::new(memory);
                let called = call(&self.program.code, entry, memory, &mut world, &mut watched);
                let fields = watched.fields(memory, &self.program.state, callback == "cong_control");
                tracer.take(Call {
                    flow: flow.clone(),
                    time_ns: world.now_ns,
                    callback,
                    arguments: self.named(callback, arguments),
                    read: fields.read,
                    set: fields.set,
                    returns: called.as_ref().ok().filter(|_| ANSWERS.contains(&callback)).map(|&result| result as u32),
                    fault: called.as_ref().err().map(|(fault, at)| self.program.description(fault, *at)),
                });
                called
            }
        };
        let result = match called {
            Ok(result) => result,
            Err((fault, at)) => resume_unwind(Box::new(self.program.failure(&fault, at))),
        };
        take_back(sk, &memory.socket);
        sk.random = world.random;
        if let Some((rcv_nxt, ece)) = world.ack {
            sk.immediate_ack = Some(ImmediateAck { rcv_nxt, ece });
        }
        Some(result)
    }

    /// The arguments of a callback by their names.
    fn named(&self, callback: &str, arguments: [u64; ARGUMENTS - 1]) -> Vec<(&'static str, u64)> {
        let names: &[&'static str] = match callback {
            "cong_avoid" => &["ack", "acked"],
            "cong_control" if self.program.callbacks.has_flag => &["ack", "flag"],
            "set_state" => &["new_state"],
            "cwnd_event" => &["event"],
            "in_ack_event" => &["flags"],
            _ => &[],
        };
        names.iter().copied().zip(arguments).collect()
    }

    /// The answer to a question that changes nothing.
    fn ask(&self, callback: &'static str, sk: &Socket, entry: Option<usize>) -> Option<u32> {
        entry?;
        self.call(callback, &mut sk.clone(), entry, [0; 3]).map(|answer| answer as u32)
    }
}

impl CongestionControl for Flow {
    fn name(&self) -> &'static str {
        "a BPF program"
    }

    fn init(&mut self, sk: &mut Socket) {
        let memory = self.memory.get_mut();
        memory.socket[PRIVATE_AT..].fill(0);
        memory.storage.iter_mut().for_each(|value| value.is_held = false);
        self.call("init", sk, self.program.callbacks.init, [0; 3]);
    }

    fn ssthresh(&mut self, sk: &mut Socket) -> u32 {
        self.call("ssthresh", sk, self.program.callbacks.ssthresh, [0; 3]).unwrap_or_default() as u32
    }

    fn cong_avoid(&mut self, sk: &mut Socket, ack: u32, acked: u32) {
        self.call("cong_avoid", sk, self.program.callbacks.cong_avoid, [ack.into(), acked.into(), 0]);
    }

    fn has_cong_control(&self) -> bool {
        self.program.callbacks.cong_control.is_some()
    }

    fn cong_control(&mut self, sk: &mut Socket, rs: &RateSample) {
        spell_rate(rs, &mut self.memory.get_mut().sample);
        let flag = if rs.is_ece { FLAG_ECE } else { 0 };
        let arguments =
            if self.program.callbacks.has_flag { [sk.snd_una.into(), flag, SAMPLE] } else { [SAMPLE, 0, 0] };
        self.call("cong_control", sk, self.program.callbacks.cong_control, arguments);
    }

    fn set_state(&mut self, sk: &mut Socket, state: CaState) {
        self.call("set_state", sk, self.program.callbacks.set_state, [state as u64, 0, 0]);
    }

    fn cwnd_event(&mut self, sk: &mut Socket, event: CaEvent) {
        let number = match event {
            CaEvent::TxStart => 0,
            CaEvent::CwndRestart => 1,
            CaEvent::CompleteCwr => 2,
            CaEvent::Loss => 3,
            CaEvent::EcnNoCe => 4,
            CaEvent::EcnIsCe => 5,
            // Mainline Linux does not have it.
            CaEvent::TlpRecovery => return,
        };
        self.call("cwnd_event", sk, self.program.callbacks.cwnd_event, [number, 0, 0]);
    }

    fn in_ack_event(&mut self, sk: &mut Socket, flags: u32) {
        let known = ack_event::SLOWPATH | ack_event::WIN_UPDATE | ack_event::ECE;
        self.call("in_ack_event", sk, self.program.callbacks.in_ack_event, [(flags & known).into(), 0, 0]);
    }

    fn undo_cwnd(&mut self, sk: &mut Socket) -> u32 {
        self.call("undo_cwnd", sk, self.program.callbacks.undo_cwnd, [0; 3]).unwrap_or_default() as u32
    }

    fn pkts_acked(&mut self, sk: &mut Socket, sample: &AckSample) {
        spell_ack(sample, &mut self.memory.get_mut().sample);
        self.call("pkts_acked", sk, self.program.callbacks.pkts_acked, [SAMPLE, 0, 0]);
    }

    fn min_tso_segs(&self, sk: &Socket) -> u32 {
        self.ask("min_tso_segs", sk, self.program.callbacks.min_tso_segs).unwrap_or(2)
    }

    fn sndbuf_expand(&self) -> u32 {
        // The kernel asks with the socket; no program has been seen that looks at it.
        let asked = self.ask("sndbuf_expand", &Socket::new(1448, 0), self.program.callbacks.sndbuf_expand);
        asked.unwrap_or(2)
    }

    fn needs_ecn(&self) -> bool {
        self.program.needs_ecn()
    }

    fn state(&self) -> State {
        let of = self.program.publishes;
        let known = of.checked_sub(1).map_or(0, |at| STATE_SETS[usize::from(at)].columns.len());
        let memory = self.memory.borrow();
        let word = |i: usize| {
            let at = PRIVATE_AT + 4 * i;
            u32::from_le_bytes(memory.socket[at..at + 4].try_into().expect("4 bytes"))
        };
        let values = std::array::from_fn(|i| if i < known { word(i) } else { NONE });
        State::published(of, values).unwrap_or(State::EMPTY)
    }
}
