//! Congestion controls as pure state machines, in Linux's vocabulary.
//!
//! A [`CongestionControl`] has the callbacks of `tcp_congestion_ops`, and works on a [`Socket`] that holds the fields of
//! `tcp_sock` that it may read and write. It has no clock (`tcp_mstamp` is the time), no floating point and no other source
//! of chance than [`Socket::random`]: the same calls give the same integers on every machine. It publishes the part of
//! its private state that records show as a [`State`].
//!
//! ```
//! use cc::{CaState, Socket};
//!
//! let mut sk = Socket::new(1448, 1);
//! let mut reno = cc::create("reno").unwrap();
//! reno.init(&mut sk);
//! sk.is_cwnd_limited = true;
//! reno.cong_avoid(&mut sk, 0, 10); // Slow start: a packet more for each packet that was acknowledged ...
//! assert_eq!(sk.snd_cwnd, 20);
//! assert_eq!(reno.ssthresh(&mut sk), 10); // ... and half of it after a loss.
//! ```

#![no_std]

extern crate alloc;

mod algorithms;
pub mod bbr;
mod ce_echo;
mod column;
mod cubic;
mod dctcp;
mod event;
mod htcp;
mod ops;
mod random;
mod reno;
mod sample;
mod seq;
mod socket;
pub mod state;
mod tunable;
mod vegas;
mod westwood;
mod window;

pub use algorithms::{DECLARED, Declared, KERNEL, NAMES, create, create_with, declared, parameters, twin_of};
pub use column::{Column, Value};
pub use cubic::Cubic;
pub use dctcp::Dctcp;
pub use event::{CaEvent, CaState, ack_event};
pub use ops::CongestionControl;
pub use random::Random;
pub use reno::Reno;
pub use sample::{AckSample, LostPacket, RateSample};
pub use seq::{after, before};
pub use socket::{EcnFlags, ImmediateAck, Socket, TICK_US};
pub use state::State;
pub use tunable::{Parameter, Setting, Unfit};
pub use vegas::Vegas;
