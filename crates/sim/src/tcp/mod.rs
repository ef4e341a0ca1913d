//! TCP as Linux runs it: a sender and a receiver of one stream, each a pure state machine. A [`Duplex`] has two streams, one in
//! each direction. Congestion controls are those of the crate `cc`.

mod duplex;
mod receiver;
mod sender;
mod settings;
pub(crate) mod ticks;

pub use duplex::{Duplex, End};
pub use receiver::Receiver;
pub use sender::{AckReport, Counters, Sender};
pub(crate) use settings::HEADERS_IN_VIRTUAL_TIME;
pub use settings::Settings;
