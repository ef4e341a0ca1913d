//! The state that the probe publishes of the kernel's own algorithms, from the fields that their structures have.

use cc::State;
use cc::state::NONE;

use crate::ffi::TcpSock;

const SLOTS: usize = 12;

/// `struct db_ack` of `include/dumbbell/ack.h`.
#[repr(C)]
struct Row {
    mss: u32,
    state_of: u32,
    state: [u32; SLOTS],
}

unsafe extern "C" {
    fn host_publish_htcp(sk: *mut TcpSock, row: *mut Row, beta: u8, min_rtt: u32, max_rtt: u32, bandwidth: u32);
    fn host_publish_westwood(sk: *mut TcpSock, row: *mut Row, bw_est: u32, rtt_min: u32);
    fn host_publish_vegas(sk: *mut TcpSock, row: *mut Row, base_rtt: u32, min_rtt: u32);
}

/// H-TCP: `beta` of 128, RTTs in jiffies of 4 ms, `bandwidth` in packets/s.
pub fn htcp(beta: u8, min_rtt: u32, max_rtt: u32, bandwidth: u32) -> State {
    // SAFETY: a socket and a row that live as long as the call.
    published(0, |sk, row| unsafe { host_publish_htcp(sk, row, beta, min_rtt, max_rtt, bandwidth) })
}

/// Westwood+ of a flow with segments of `mss` bytes: `bw_est` in bytes per jiffy of 4 ms, `rtt_min` in jiffies.
pub fn westwood(mss: u32, bw_est: u32, rtt_min: u32) -> State {
    // SAFETY: as above.
    published(mss, |sk, row| unsafe { host_publish_westwood(sk, row, bw_est, rtt_min) })
}

/// Vegas: RTTs in us.
pub fn vegas(base_rtt: u32, min_rtt: u32) -> State {
    // SAFETY: as above.
    published(0, |sk, row| unsafe { host_publish_vegas(sk, row, base_rtt, min_rtt) })
}

fn published(mss: u32, publish: impl FnOnce(*mut TcpSock, *mut Row)) -> State {
    let mut row = Row { mss, state_of: 0, state: [NONE; SLOTS] };
    publish(&mut TcpSock::default(), &mut row);
    State::published(row.state_of as u8, row.state).expect("a state that its columns can show")
}
